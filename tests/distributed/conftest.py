# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of a test: the same for one NEREID_TEST_SEED. And the same tests on another target:
NEREID_TARGET=cuda python -m pytest tests/distributed runs them on GPUs, those left out that NOT_ON_CUDA names."""

import os
import re
import traceback
import zlib

import numpy as np
import pytest

from nereid._base import targets

ON_CUDA = targets.active() == "cuda"

#: Tests by a part of their name, and why they are not for the target cuda.
NOT_ON_CUDA = (
    (r"RANKS_PER_NODE|nodes", "ranks of a GPU's job are on one node"),
    (r"SCHEDULE|random|\[7-", "programs of a GPU run in no order that a seed decides"),
    (r"test_teams.py|meets_team", "it has no teams of kernels but the one of all ranks"),
    (r"test_profiles.py|ascend910b|ACLSHMEM|test_waits_beyond", "it keeps the rules of the profiles host and cuda"),
    (r"int8|int16|MXSHMEM", "signals of 1 and 2 bytes are refused: compiler/test/Target/CUDA/errors.mlir"),
    (r"test_negative_sizes|run_time_numbers|misaligned|negative_count_at_run_time|are_not_cut",
     "a failed check ends the use of the GPU, and its text stands on standard error: tests/targets/gpu"),
    (r"far_coordinates", "it has no gather by descriptors"),
)


@pytest.fixture
def rng(request):
    return np.random.default_rng([int(os.environ["NEREID_TEST_SEED"]), zlib.crc32(request.node.nodeid.encode())])


def pytest_collection_modifyitems(items):
    if not ON_CUDA:
        return
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        text = f"{item.nodeid} {parameters}"
        for part, reason in NOT_ON_CUDA:
            if re.search(part, text):
                item.add_marker(pytest.mark.skip(reason=f"not on the target cuda: {reason}"))
                break


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """On GPUs a test runs in a process of its own: one that has used a GPU cannot fork, and an error of a GPU is
    final for the process."""
    if ON_CUDA:
        pyfuncitem.obj = _in_a_child(pyfuncitem.obj)
    return (yield)


def _in_a_child(function):
    def run(**arguments):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                function(**arguments)
                failed = 0
            except BaseException:
                os.write(writing, traceback.format_exc().encode()[-30000:])
            finally:
                os._exit(failed)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.read().decode(errors="replace")
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            pytest.fail(text or f"the test's process ended with {status}", pytrace=False)

    return run
