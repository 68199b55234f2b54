# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A build with a target from outside, whose kernels another device than the CPU runs:
Python compiles, caches and launches them like those of the CPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
NULL = ROOT / "unittests/Compiler/Registry/Null"

SCRIPT = r'''
import numpy as np
import nereid
import nereid.distributed as dl
import nereid.language as tl
import nereid.testing
from nereid import _runtime

assert _runtime.target_names()[-1] == "null" and _runtime.default_target() == "cpu"


@nereid.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(x_ptr + at, x * factor, mask=at < n)


@nereid.jit
def ring(flag_ptr):
    dl.notify(flag_ptr, (dl.rank() + 1) % dl.num_ranks(), signal=1, sig_op="add")


def job():
    x = np.ones(100, np.float32)
    for mode in ("first", "again"):
        kernel = scale[(4,)](x, 2.0, 100, BLOCK=32)
        assert kernel.target == "null" and kernel.name == "scale", kernel
        assert kernel.asm["kernel"].splitlines()[0] == "null kernel scale", kernel.asm["kernel"]
        assert [argument["type"] for argument in kernel.metadata.args] == ["*fp32", "fp32", "i32"]
        assert (x == 1).all()  # the device runs nothing
        assert kernel.from_cache or mode == "first"
        scale._clear()

    stream = nereid.Stream()
    with stream:
        scale[(4,)](x, 2.0, 100, BLOCK=32)
    stream.synchronize()

    # The rank's job runs on the device of the target, made by hand or by the first kernel.
    flags = nereid.symm.zeros(1, np.uint64)
    ring[(1,)](flags)
    assert flags[0] == 0
    try:
        ring[(1,)](np.zeros(1, np.uint64))
        raise SystemExit("memory that is not symmetric was taken")
    except nereid.ArgumentError as error:
        assert "must lie in symmetric memory" in str(error), error
    nereid.barrier()
    return nereid.rank()


job()
assert nereid.testing.spawn(job, 2) == [0, 1]
print("ok")
'''


def run(*command, environment, cwd):
    done = subprocess.run(command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300)
    return done.returncode, done.stdout


def test_a_folder_of_a_target_joins_a_build(tmp_path):
    """One line, given to CMake instead of written into targets.cmake, and everything has a rule."""
    for command in (["cmake", "--preset", "release", "-B", str(tmp_path), f"-DNEREID_EXTRA_TARGETS={NULL}",
                     "-DNEREID_BUILD_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"],
                    ["ninja", "-C", str(tmp_path), "-n", "nereid_runtime_module", "nereid_compiler_module"]):
        code, text = run(*command, environment=dict(os.environ), cwd=ROOT)
        assert code == 0, text[-5000:]
    for definitions in tmp_path.rglob("Targets.def"):
        assert definitions.read_text().splitlines()[-1] == "NEREID_TARGET(Null)"
    assert "Null/NullTarget.cpp" in (tmp_path / "build.ninja").read_text()


def test_kernels_of_another_target(tmp_path):
    # unittests/Compiler/Registry/CMakeLists.txt links it.
    package = Path(os.environ.get("NEREID_BUILD_DIR", ROOT / "build/release")) / "unittests/Compiler/Registry/python"
    assert list((package / "nereid").glob("_compiler*.so")), f"{package} is not built: run scripts/build.sh"
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    # Without site, so that an installed package does not come first.
    path = os.pathsep.join([str(package), str(Path(numpy.__file__).parents[1])])
    environment = dict(os.environ, PYTHONPATH=path, NEREID_TARGET="null", NEREID_CACHE_DIR=str(tmp_path / "cache"))
    environment.pop("NEREID_CACHE", None)
    code, text = run(sys.executable, "-S", str(script), environment=environment, cwd=tmp_path)
    assert code == 0 and text == "ok\n", text
