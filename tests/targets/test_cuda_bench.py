# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/cuda without a GPU: objects that one machine makes for another are taken for what they were made for
and for nothing else."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench" / "cuda"

TAKE = '''
import sys
from pathlib import Path

sys.path[:0] = [{bench!r}, {examples!r}]
import kernels
import objects
from nereid._kernels import compile as compilation

objects.use(Path(sys.argv[1]))
function = kernels.wait_forever
try:
    kernel = compilation._compile_or_load(function, [("*i64", 16), ("i32", 0)], function._options(dict(num_warps=int(sys.argv[2]))), None)
    print("taken", kernel.metadata.architecture, kernel.metadata.shared)
except Exception as error:
    print(type(error).__name__, error)
'''


def command(*arguments, **environment):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=600, env={
        **os.environ, "NEREID_TARGET": "cuda", "NEREID_CUDA_ARCH": "sm_90", "NEREID_PROFILE": "host", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("objects")
    assert "wait_forever" in command(BENCH / "compile.py", path, "--only", "wait_forever")
    return path


def take(folder, warps=4, **environment):
    return command("-c", TAKE.format(bench=str(BENCH), examples=str(ROOT / "examples")), folder, warps, **environment)


def test_objects_are_taken_for_what_they_were_made_for(folder):
    # Of shared memory it has what its image says: nothing but the barrier's words, if any.
    code = next(folder.glob("*.obj")).read_bytes()
    section = struct.unpack_from("<I", code, 40)[0]
    shared = struct.unpack_from("<I", code, section + 16)[0]
    assert take(folder) == f"taken sm_90 {shared}"


@pytest.mark.parametrize("environment, reason", [
    (dict(NEREID_PROFILE="cuda"), "it was compiled with profile='host', and this launch has profile='cuda'"),
    (dict(NEREID_DEBUG="1"), "it was compiled with debug=False, and this launch has debug=True"),
    (dict(NEREID_CUDA_ARCH="sm_100"), "it was compiled for sm_90, and this launch is for sm_100"),
])
def test_objects_of_other_settings_are_refused(folder, environment, reason):
    shown = take(folder, **environment)
    assert shown.startswith("ValueError") and reason in shown and "bench/cuda/compile.py" in shown


def test_objects_that_are_missing_or_of_another_source_are_refused(folder, tmp_path):
    assert take(folder, warps=8).startswith("FileNotFoundError")
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    record = next(tmp_path.glob("*.json"))
    text = json.loads(record.read_text())
    record.write_text(json.dumps({**text, "source": "0"}))
    assert "its source has changed since" in take(tmp_path)
    # compile.py makes that one again, and leaves the other.
    assert "wait_forever" in command(BENCH / "compile.py", tmp_path, "--only", "wait_forever")
    assert take(tmp_path).startswith("taken") and command(BENCH / "compile.py", folder, "--only", "wait_forever") == ""
    next(tmp_path.glob("*.json")).unlink()
    assert "there is no" in take(tmp_path)
