# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shell scripts: usage, unknown options, and that set-up changes nothing when all is there."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "scripts").glob("*.sh")) + [ROOT / ".ci" / "run"]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT, timeout=120,
                          env={**os.environ, **environment})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_parses_and_is_executable(script):
    assert os.access(script, os.X_OK)
    done = run("bash", "-n", script)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["setup.sh", "build.sh", "test.sh", "wheel.sh", "sanitizers.sh"])
def test_help_and_unknown_option(name):
    helped = run(ROOT / "scripts" / name, "--help")
    assert helped.returncode == 0
    assert f"scripts/{name}" in helped.stdout and "SPDX" not in helped.stdout
    wrong = run(ROOT / "scripts" / name, "--nonsense")
    assert wrong.returncode == 2
    assert "'--nonsense'" in wrong.stderr


def test_build_without_setup_says_what_to_do(tmp_path):
    done = run(ROOT / "scripts" / "build.sh", NEREID_VENV=str(tmp_path / "none"))
    assert done.returncode == 1
    assert "run scripts/setup.sh first" in done.stderr


def test_ci_runs_the_test_command_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "```sh\nscripts/test.sh\n```" in readme
    assert "exec scripts/test.sh\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_readmes_are_in_step():
    """Both languages show the same commands and the same kernel, and link the same pages, each in
    its own language where there are both."""
    import re

    def skeleton(name):
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
        code = [(language, re.sub(r"\s*#.*", "", body)) for language, body in blocks if language]
        links = [link.replace(".zh.md", ".md") for link in re.findall(r"\]\(([^)]+)\)", text)]
        return code, links, len(re.findall(r"^#+ ", text, re.M))

    assert skeleton("README.md") == skeleton("README.zh.md")
