# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the operators keep to what every target has."""

import re
from pathlib import Path

import pytest

import nereid.ops

FOLDER = Path(nereid.ops.__file__).parent
KERNELS = sorted([*FOLDER.glob("*/kernel.py"), *FOLDER.glob("lib/*.py")])

#: pattern -> why not
NOT_HERE = {
    r"barrier_all|sync_all|\bbarrier\(": "a barrier costs all programs of all ranks and ends every overlap",
    r"""sig_op=["']add|SIGNAL_ADD""": "words are set by one writer each: not every target can add to a signal",
    r"reset|tl\.store\([a-z_]*words?_ptr": "no signal is ever reset, and only signals write signal words",
    r"CMP_(?!EQ\b)\w+": "words are awaited by equality, which is what dl.wait has on every target",
}


@pytest.mark.parametrize("file", KERNELS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_kernels_are_portable(file):
    code = re.sub(r'""".*?"""|#[^\n]*', "", file.read_text(), flags=re.S)
    for pattern, reason in NOT_HERE.items():
        found = re.search(pattern, code)
        assert not found, f"{file.name} has {found.group(0)!r}: {reason}"
    imports = set(re.findall(r"^(?:from|import) (\S+)", code, flags=re.M))
    allowed = {"nereid", "nereid.language", "nereid.distributed"}
    assert all(name in allowed or name.startswith("nereid.ops.lib.") for name in imports), imports


def test_kernels_there_are():
    assert len(KERNELS) >= 6
