# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of a test: the same for one NEREID_TEST_SEED."""

import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # sheet


@pytest.fixture
def rng(request):
    return np.random.default_rng([int(os.environ["NEREID_TEST_SEED"]), zlib.crc32(request.node.nodeid.encode())])


def pytest_generate_tests(metafunc):
    """NEREID_TEST_FULL=1: five times, with other random numbers."""
    if os.environ.get("NEREID_TEST_FULL") and "rng" in metafunc.fixturenames:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(5))
