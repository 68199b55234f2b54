# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The finder of the vendor's tools: found, missing, and what their failures are told as."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nereid._tools import ascend

SCRIPT = Path(ascend.__file__)


def fake(folder: Path, lowering: str, compiler: str) -> None:
    """An environment with these two scripts in the tools' places."""
    site = folder / "lib" / "python3.11" / "site-packages"
    for place, text in (("triton/backends/ascend/triton-adapter-opt", lowering), ("ascendnpuir/bin/bishengir-compile", compiler)):
        path = site / place
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    info = site / "ascendnpu_ir-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ascendnpu-ir\nVersion: 9.9\n")


def test_missing_tools_say_where_they_were_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("NEREID_ASCEND_TOOLS", str(tmp_path / "nowhere"))
    with pytest.raises(ascend.ToolsMissing, match=r"nowhere: scripts/setup.sh --ascend installs it"):
        ascend.find()
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=os.environ.copy())
    assert done.returncode == 1 and "NEREID_ASCEND_TOOLS names another environment" in done.stderr


OUT = 'while [ "$1" != -o ]; do shift; done; echo text > "$2"'


@pytest.mark.parametrize("script, reason", [
    (OUT, ""),
    ("echo 'k:1:2: error: strides must not be zero' >&2; exit 1", "strides must not be zero"),
    ("echo 'loc(x): error: Failed to run BiShengHIR pipeline' >&2; echo 'loc(y): error: ub overflow' >&2; exit 1", "ub overflow"),
    ("echo 'tool: /usr1/a/b/Mask.cpp:418: void f(): Assertion `x\" failed.' >&2; kill -6 $$", "Assertion `x\" failed"),
    ("kill -11 $$", "ended by signal 11"), ("exit 3", "ended with status 3"), ("exit 0", "wrote nothing"),
    ("sleep 9", "no answer within 1 s"),
])
def test_how_a_tool_ends_is_its_answer(tmp_path, monkeypatch, script, reason):
    fake(tmp_path, script, "exit 0")
    monkeypatch.setenv("NEREID_ASCEND_TOOLS", str(tmp_path))
    monkeypatch.setattr(ascend, "TIME_LIMIT", 1)
    tools = ascend.find()
    assert tools.versions == ("triton-ascend of an unknown version", "ascendnpu-ir 9.9")
    answer = tools.lower("module {}", "Ascend910B3")
    assert answer.reason == reason and answer.accepted == (not reason) and answer.text == ("text\n" if not reason else "")


def test_what_the_code_generator_would_be_given_is_kept(tmp_path, monkeypatch):
    fake(tmp_path, "exit 0", 'echo "handed over" > given; hivmc given --flag && hivmc --version')
    monkeypatch.setenv("NEREID_ASCEND_TOOLS", str(tmp_path))
    answer = ascend.find().compile("module {}", "Ascend910B3")
    assert answer.accepted and answer.text == "handed over\n"


@pytest.mark.ascend_tools
def test_versions_are_printed():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lowering, compiler = done.stdout.splitlines()
    pinned = (SCRIPT.parents[3] / "scripts" / "requirements-ascend.txt").read_text()
    assert lowering.startswith("triton-ascend ") and "triton-adapter-opt, LLVM 2" in lowering
    assert compiler.startswith("ascendnpu-ir ") and "bishengir-compile, LLVM 1" in compiler
    for line in (lowering, compiler):
        assert line.partition(":")[0].replace(" ", "==") in pinned
