# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README.md is run: its kernel, and every command of its blocks of shell. README.zh.md shows the same
kernel and the same commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh.md").read_text(encoding="utf-8")

#: A file for Triton, which README calls script.py.
SCRIPT = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(ptr + offs, 2 * tl.load(ptr + offs, mask=offs < n), mask=offs < n)

values = np.arange(100, dtype=np.float32)
double[(triton.cdiv(100, 64),)](values, 100, BLOCK=64)
assert (values == 2 * np.arange(100)).all()
"""

#: What README shows to fail: a part of the command, and words of the report.
FAILS = {
    "--forget-fence": "--schedule=random:",
    "--ranks-per-node=2 my_kernel.py": "can be used only inside a node",
}
#: The two commands that set up and test everything are what runs this test.
WITHOUT = ("scripts/first-light.sh", "scripts/test.sh")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def kernel(text: str) -> str:
    (found,) = [block for block in blocks(text, "python") if "nereid.init()" in block]
    return found


def commands(text: str) -> list[str]:
    joined = "\n".join(blocks(text, "sh")).replace("\\\n", " ")
    lines = [re.sub(r"\s+", " ", re.sub(r"\s+#.*$", "", line)).strip() for line in joined.splitlines()]
    return [line for line in lines if line and line not in WITHOUT]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder in which README's commands find what they name."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    for name in ("gather.py", "my_kernel.py"):
        (folder / name).write_text(kernel(README), encoding="utf-8")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    return folder


def run(command: str, folder: Path) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEREID_")}
    environment["NEREID_CACHE_DIR"] = str(folder / "cache")
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=280)
    return done.returncode, done.stdout + done.stderr


def operators(text: str) -> str:
    (found,) = [block for block in blocks(text, "python") if "nereid.ops." in block]
    return found


@pytest.mark.ranks(2)
def test_operators():
    import numpy as np

    import nereid.ops

    every = [np.random.default_rng(rank).uniform(-1, 1, (256, 512)).astype(np.float16) for rank in range(2)]
    names = {"nereid": nereid, "a": every[nereid.rank()], "b": np.full((512, 512), 0.5, np.float16)}
    exec(operators(README), names)
    exact = np.concatenate(every).astype(np.float64) @ np.full((512, 512), 0.5)
    # 512 roundings of sums in fp32, one of the result to fp16.
    bound = 513 * 2.0**-24 * 0.5 * np.abs(np.concatenate(every)).astype(np.float64).sum(axis=1, keepdims=True)
    assert (np.abs(names["c"] - exact) <= bound + 2.0**-11 * np.abs(exact)).all()


def test_both_languages_show_the_same():
    assert [line.split("#")[0] for line in operators(README).splitlines()] == [
        line.split("#")[0] for line in operators(CHINESE).splitlines()]
    assert commands(README) == commands(CHINESE)

    def code(text: str) -> list[str]:
        return [line.split("#")[0].rstrip() for line in kernel(text).splitlines()]

    assert code(README) == code(CHINESE)


def test_kernel(place):
    code, output = run(".venv/bin/nereid run -n 4 --tag-output gather.py", place)
    assert code == 0, output
    assert output.count("has [0. 1. 2. 3.]") == 4, output


def test_commands(place):
    """In README's order, since a later command may read what an earlier one wrote."""
    assert len(commands(README)) >= 7
    for command in commands(README):
        code, output = run(command, place)
        (words,) = [words for part, words in FAILS.items() if part in command] or [None]
        if words is None:
            assert code == 0, f"{command}\n{output}"
        else:
            assert code != 0 and words in output, f"{command}\n{output}"
