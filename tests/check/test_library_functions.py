# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of library functions: each row has a test, and nothing reads meaning into a symbol's letters."""

import re
import subprocess
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


# ---- everything that the compiler makes of a call follows from the columns of its row


def table(macro: str) -> list[list[str]]:
    """The rows of one kind, as lists of their columns; operands in one column."""
    text = re.sub(r"//.*", "", TABLE.read_text())
    found = re.findall(rf"^{macro}\(((?:[^()]|\([^()]*\))*)\)", text, re.MULTILINE)
    return [[column.strip() for column in re.split(r",\s*(?![^()]*\))", row)] for row in found]


ROLES = {row[0]: row[1:] for row in table("LIBRARY_OPERAND")}
FUNCTIONS = {row[0]: row[1:] for row in table("LIBRARY_FUNCTION")}
OPT = ROOT / "build/release/tools/nereid-opt/nereid-opt"


class Case:
    """One function by its row alone: the IR of its calls, and what has to become of them."""

    def __init__(self, name: str):
        self.name = name
        operands, self.result, self.waiting, self.cores, self.ordering, self.effects = FUNCTIONS[name]
        self.roles = [role for role in re.split(r"[(),\s]+", operands) if role]
        pointees = {"Pointer": "f32", "SignalPointer": "i64", "AtomicPointer": "f32"}
        kinds = [ROLES[role][0] for role in self.roles]
        element = pointees.get(kinds[0]) if kinds else None
        integer = {"Bytes": "i64", "SignalValue": "i64"}
        self.types = [f"!tt.ptr<{pointees[kind]}>" if kind in pointees else element if kind == "Element"
                      else integer.get(role, "i32") for kind, role in zip(kinds, self.roles)]
        self.result_type = {"Nothing": "", "Int32": "i32", "Address": "!tt.ptr<f32>", "Element": element}[self.result]

    def call(self, result: str = "x", pure: str = "false") -> str:
        names = ", ".join(f"%a{i}" for i in range(len(self.types)))
        left = f"%{result} = " if self.result_type else ""
        right = self.result_type or "()"
        return (f'{left}distributed.extern_call {names} {{libname = "libshmem_device", libpath = "", pure = {pure}, '
                f'symbol = "{self.name}"}} : ({", ".join(self.types)}) -> {right}')

    def function(self, *body: str, extra: str = "") -> str:
        parameters = ", ".join([*(f"%a{i}: {type}" for i, type in enumerate(self.types)), *([extra] if extra else [])])
        return "\n".join([f"tt.func public @{self.name}({parameters}) {{", *body, "tt.return", "}"])


def opt(text: str, *passes: str) -> str:
    done = subprocess.run([OPT, *passes, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_properties_come_from_the_row(name):
    case = Case(name)
    second = "scf.if %second {\n" + case.call("y") + "\n}"
    cores = ["%id = ascend.get_sub_vec_id : i64", "%one = arith.constant 1 : i64",
             "%second = arith.cmpi eq, %id, %one : i64"]  # fmt: skip
    module = 'module attributes {ascend.launch_mode = "cv1:2"} {\n' + case.function(case.call(), *cores, second) + "\n}"
    done = opt(module, "--nereid-infer-symmetric-args", "--nereid-mark-spin-loops", "--nereid-split-vector-cores=lanes=2")
    assert f"nereid.blocking = {'true' if case.waiting != 'Never' else 'false'}" in done
    (header,) = re.findall(rf"tt\.func public @{name}\((.*)\)", done)
    marked = ["nereid.symmetric" in part for part in re.split(r",\s*(?=%)", header)] if case.roles else []
    assert marked == [ROLES[role][1] == "Symmetric" for role in case.roles]
    first, gated = done.split("distributed.extern_call")[0], "nereid.gated" in done
    assert ("scf.if" in first) == (case.cores == "Once")
    assert gated == case.cores.startswith("Together")
    mode = opt(module, "--nereid-infer-launch-mode")
    assert ('ascend.launch_mode = "cv1:2"' in mode) == (case.cores == "TogetherWithCube")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_effects_come_from_the_row(name):
    """A pure call, which the row has to allow, goes when nobody needs it, and loads are one across it. Another
    call stays, and loads are one across it only if it writes nothing."""
    case = Case(name)
    pure = "true" if case.effects == "NoMemory" else "false"
    for flag in {pure, "false"}:
        calls = case.function(case.call("x", flag), case.call("y", flag))
        assert opt(calls, "--canonicalize", "--cse").count("distributed.extern_call") == (0 if flag == "true" else 2)
    load = "= tt.load %p : !tt.ptr<f32>"
    text = case.function(f"%first {load}", case.call("x", pure), f"%then {load}", "%sum = arith.addf %first, %then : f32",
                         "tt.store %p, %sum : !tt.ptr<f32>", extra="%p: !tt.ptr<f32>")  # fmt: skip
    assert opt(text, "--cse").count("tt.load") == (1 if case.effects == "NoMemory" else 2)
