# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid compile` reports what the whole compiler checks, once; `nereid explain`."""

import os
import re
import subprocess
import sys

import pytest

UNUSED = """\
import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit(example_signature="x_ptr=*fp32, s_ptr=*i64, n=i32")
def kernel(x_ptr, s_ptr, n):
    dl.wait(s_ptr, 1, "gpu", "acquire")
    for i in range(n):
        if i == 3:
            break
    tl.store(x_ptr, 1.0)
"""


def nereid_command(*args, **environment):
    return subprocess.run(
        [sys.executable, "-m", "nereid", *map(str, args)],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "unused.py"
    path.write_text(UNUSED)
    return path


@pytest.mark.parametrize("stage", ["ttir", "llvm"])
def test_every_stage_checks_tokens(stage, file):
    result = nereid_command("compile", f"{file}:kernel", f"--emit={stage}")
    assert result.returncode == 1 and not result.stdout
    assert f"{file}:8:5: error: the token of this wait is never consumed" in result.stderr


@pytest.mark.parametrize("stage", ["ttir", "llvm", "asm"])
def test_warnings_come_once(stage, file):
    result = nereid_command("compile", f"{file}:kernel", f"--emit={stage}", NEREID_UNUSED_TOKEN="warn")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("warning: the token of this wait is never consumed") == 1, result.stderr
    if stage == "ttir":
        assert "distributed.wait" in result.stdout  # as the front end made it


def test_portable(file):
    result = nereid_command("compile", f"{file}:kernel", "--unused-token=keep", "--portable")
    assert result.returncode == 1
    assert f"{file}:11:13: error: `break` is an extension of this compiler" in result.stderr


def test_explain():
    result = nereid_command("explain", "broadcast_mismatch")
    assert result.returncode == 0
    assert result.stdout.startswith("broadcast_mismatch\n  shapes ... and ... do not broadcast")
    assert "help: sizes must be equal or 1" in result.stdout
    assert "loop_types_differ" in nereid_command("explain", "before the loop").stdout
    token = nereid_command("explain", "token_not_consumed").stdout
    assert "so nothing is ordered after it\n  help: write `ptr = dl.consume_token(ptr, token)`" in token
    assert not re.search(r"\{\d", nereid_command("explain", "_").stdout)
    names = nereid_command("explain").stdout.splitlines()
    assert "broadcast_mismatch" in names and len(names) > 100
    unknown = nereid_command("explain", "no_such_thing")
    assert unknown.returncode == 2 and "the catalogue has no 'no_such_thing'" in unknown.stderr
