# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of library functions: each row has a test, and nothing reads meaning into a symbol's letters."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "compiler/include/nereid/Dialect/Distributed/LibraryFunctions.def"
CASES = ROOT / "test/Dialect/Distributed/library-functions.mlir"


def rows() -> list[str]:
    text = re.sub(r"//.*", "", TABLE.read_text())
    return re.findall(r"^LIBRARY_FUNCTION\((\w+),", text, re.MULTILINE)


def test_each_row_has_a_case():
    """One function of that name in the lit test, which calls it; and no case without a row."""
    chunks = CASES.read_text().split("\n// -----\n")
    cases = []
    for chunk in chunks:
        (name,) = re.findall(r"tt\.func public @(\w+)\(", re.sub(r"^//.*", "", chunk, flags=re.MULTILINE))
        assert set(re.findall(r'symbol = "(\w+)"', chunk)) == {name}
        for prefix in ("FACTS", "MODE", "CPU"):
            assert re.search(rf"^// {prefix}(-NEXT)?: .*@{name}\(", chunk, re.MULTILINE), (name, prefix)
        cases.append(name)
    assert len(rows()) > 20
    assert sorted(cases) == sorted(rows())


def code_of(path: Path) -> str:
    return re.sub(r"//.*", "", path.read_text())


def readers() -> list[Path]:
    """Files that have to do with calls of library functions."""
    found = [path for folder in ("compiler", "unittests/Compiler") for path in (ROOT / folder).rglob("*")
             if path.suffix in (".h", ".cpp") and re.search(r"ExternCallOp|ShmemRules\.h|LibraryFunctions\.h",
                                                            path.read_text())]
    assert {"ExternCalls.cpp", "InferSymmetricArgs.cpp", "MarkSpinLoops.cpp", "SplitVectorCores.cpp",
            "InferLaunchMode.cpp", "BuiltinsShmem.cpp", "BuiltinsShmemTyped.cpp"} <= {path.name for path in found}
    return found


#: A look at a part of a symbol or of a function's name.
PART = re.compile(r"""(?:\bsymbol\)?|getSymbol\(\)|getWrittenName\(\)|\.name\)?)\s*
                      \.(?:contains|starts_with|ends_with|find|consume_\w+|substr|drop_\w+)\b""", re.VERBOSE)
#: A comparison with one symbol.
ONE = re.compile(r'(?:getSymbol\(\)|\bsymbol)\s*[!=]=\s*"')


@pytest.mark.parametrize("path", readers(), ids=lambda path: path.name)
def test_no_letters_decide(path):
    """What a symbol means is asked of the table, never of its letters."""
    text = code_of(path)
    assert not PART.findall(text)
    assert not ONE.findall(text)


@pytest.mark.parametrize("text", ['symbol.starts_with("put")', 'llvm::StringRef(args.info.name).contains("mem")',
                                  'call.getSymbol().ends_with("_p")', 'llvm::StringRef(c.symbol).contains("wait")',
                                  "symbol.consume_back(suffix)"])
def test_the_pattern_finds(text):
    assert PART.search(text)
