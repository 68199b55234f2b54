# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy of the tree without the CPU target's folder and its line configures, and all
that remains has a rule."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("CMakeLists.txt", "CMakePresets.json", "pyproject.toml", "abi", "cmake", "common", "compiler", "runtime", "test",
         "tools", "unittests")


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    copy = tmp_path_factory.mktemp("tree")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, copy / part)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, copy / part)
    return copy


def configure(tree):
    return run("cmake", "--preset", "release", "-DNEREID_BUILD_PYTHON=OFF", cwd=tree)


def test_a_line_without_its_folder_is_named(tree):
    shutil.rmtree(tree / "compiler/lib/Target/CPU")
    code, text = configure(tree)
    assert code != 0 and "The target CPU of compiler/lib/Target/targets.cmake has no file" in " ".join(text.split())


def test_the_rest_has_rules(tree):
    shutil.rmtree(tree / "compiler/lib/Target/CPU", ignore_errors=True)
    targets = tree / "compiler/lib/Target/targets.cmake"
    text = targets.read_text()
    assert text.count("  CPU\n") == 1
    targets.write_text(text.replace("  CPU\n", ""))
    code, text = configure(tree)
    assert code == 0, text
    # Everything has a rule. That what remains links and runs is NereidRegistryWithoutCPUTests of
    # the ordinary build; that nothing else includes a header of the folder is tools/check/layering.py.
    code, text = run("ninja", "-C", "build/release", "-n", "all", cwd=tree)
    assert code == 0, text
