# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does the check see what is missing? Synchronisation of clean kernels is removed or weakened, one place at a time.

    python -m tests.check.mutants --all            every mutant of the corpus, with a table
    python -m tests.check.mutants --only put,queue those of some protocols or examples
    python -m tests.check.mutants --list           what would be run

A mutant is *found* when one checked run on RANKS ranks, in the order of the system, reports one of the codes that its
operator leads to, in the mutated file; when the compiler refuses it; or when it hangs and the runtime says who waits
for what. Wrong numbers alone do not count: no mutant checks its numbers. EQUIVALENT has those that are right
nevertheless, each with the reason. What is left is missed, and the exit code is 1; it is 2 when a script
is not clean to begin with.

Mutants of a script run in one job, one after the other; a hang ends the job, and a new one goes on behind it.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RANKS = 2

RACE = frozenset({"NRD-0001", "NRD-0002", "NRD-0003", "NRD-0004", "NRD-0005", "NRD-0007"})
UNFINISHED = frozenset({"NRD-0004", "NRD-0030", "NRD-0031", "NRD-0032", "NRD-0033"})
#: A hang is a finding when the runtime says what is waited for.
HANG = frozenset({"hang", "NRD-0050"})
REFUSED = frozenset({"refused"})

CLEAN = "tests/races/clean/protocols.py"

#: Scripts with their functions to run (None: each function of PROTOCOLS that a mutation can reach) and arguments.
CORPUS: dict[str, list[str] | None] = {
    CLEAN: None,
    "examples/04_producer_consumer.py": [],
    "examples/05_all_gather.py": ["--size", "70"],
    "examples/06_all_to_all.py": ["--shape", "33,3,70"],
    "examples/07_allgather_gemm.py": ["--shape", "37,33,65"],
    "examples/08_gemm_reduce_scatter.py": ["--shape", "37,33,65"],
    "examples/09_allgather_gemm_signals.py": ["--shape", "37,33,65"],
    "examples/10_all_gather_over_nodes.py": [],
    "examples/11_allgather_gemm_roles.py": ["--shape", "37,40,72"],
    "examples/12_gemm_reduce_scatter_roles.py": ["--shape", "37,40,72"],
}

#: (script, function, operator, the statement) -> why the program is right nevertheless.
EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (CLEAN, "nbi_kernel", "sync_all for barrier_all", "libshmem_device.barrier_all()"): "quiet has completed the transfers",
    **{(CLEAN, function, f"{put}_nbi for {put}", statement): "the source is not written again before the put is complete"
       for function, put, statement in (
        ("put_kernel", "putmem", "libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)"),
        ("put_notify_kernel", "putmem", "libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)"),
        ("relay_kernel", "putmem", "libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)"),
        ("ordered_kernel", "putmem", "libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)"),
        ("quiet_sync_kernel", "putmem", "libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)"),
        ("ordered_kernel", "putmem_signal", "libshmem_device.putmem_signal(data, more, N * 4, ready, 1, "
                                            "libshmem_device.NVSHMEM_SIGNAL_ADD, (me + 1) % world)"))},
}

#: Operators that change nothing in a function without one of these calls, with the reason.
NEEDS = {
    "notify as between nodes": (("put",), "a notify of any scope releases stores; nothing is transferred here"),
    "sync_all for barrier_all": (("put", "get"), "there are no transfers to complete"),
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    script: str
    function: str
    operator: str
    line: int
    statement: str  # of the original, on one line
    codes: frozenset
    text: str  # the whole file

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.script, self.function, self.operator, self.statement

    @property
    def reason(self) -> str:
        """Why it is right nevertheless; empty: it is not."""
        if self.operator in NEEDS:
            calls, reason = NEEDS[self.operator]
            body = next(ast.unparse(node) for node in ast.walk(ast.parse(self.text))
                        if isinstance(node, ast.FunctionDef) and node.name == self.function)
            if not any(f"libshmem_device.{call}" in body for call in calls):
                return reason
        return EQUIVALENT.get(self.key, "")

    @property
    def name(self) -> str:
        return f"{self.script}:{self.line}: {self.function}: {self.operator}: {self.statement}"


# ---- operators


def called(node: ast.AST) -> str:
    """The last name of what a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


WAITS = {"wait", "signal_wait_until"}
SIGNALS = {"notify", "signal_op"}
MEETINGS = {"barrier_all", "sync_all", "barrier", "team_sync", "quiet", "fence", "fence_pe", "quiet_pe"}
ATOMICS = {"atomic_add", "atomic_xchg", "atomic_cas"}


class Text:
    """A file whose nodes can be replaced; lines stay where they are."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        begin, end = self.span(node)
        return self.source[begin:end]

    def replaced(self, *changes: tuple[ast.AST, str]) -> str:
        out = self.source
        for node, new in sorted(changes, key=lambda change: -change[0].lineno * 10_000 - change[0].col_offset):
            begin, end = self.span(node)
            lost = self.source[begin:end].count("\n") - new.count("\n")
            out = out[:begin] + new + "\n" * max(lost, 0) + out[end:]
        return out


class Mutator:
    def __init__(self, script: str, source: str) -> None:
        self.script, self.text = script, Text(source)
        self.out: list[Mutant] = []
        self.function = ""
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.function = node.name
                jit = any("jit" in ast.unparse(d) for d in node.decorator_list)
                for statement, siblings, index in self.statements(node.body):
                    self.visit(statement, siblings, index, jit)

    def statements(self, body: list):
        for index, statement in enumerate(body):
            yield statement, body, index
            for inner in ("body", "orelse"):
                if not isinstance(statement, ast.FunctionDef):
                    yield from self.statements(getattr(statement, inner, []))

    def add(self, operator: str, node: ast.stmt, codes: frozenset, *changes: tuple[ast.AST, str]) -> None:
        statement = " ".join(self.text.of(node).split("\n")[0].split()) if hasattr(node, "body") else \
            " ".join(self.text.of(node).split())
        self.out.append(Mutant(self.script, self.function, operator, node.lineno, statement, codes,
                               self.text.replaced(*changes)))

    def visit(self, statement: ast.stmt, siblings: list, index: int, jit: bool) -> None:
        own = [statement.test] if isinstance(statement, (ast.While, ast.If)) else \
            [] if hasattr(statement, "body") else [statement]
        for part in own:
            for call in ast.walk(part):
                name = called(call)
                if not jit:
                    self.host(statement, call, name)
                elif name in WAITS | SIGNALS | MEETINGS | ATOMICS | {"consume_token"} or name.startswith(("put", "get")):
                    self.device(statement, siblings, index, call, name)

    # -- host code

    def host(self, statement: ast.stmt, call: ast.Call, name: str) -> None:
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return
        if name == "barrier" and self.text.of(call) == "nereid.barrier()":
            self.add("drop barrier of hosts", statement, RACE | {"NRD-0006", "NRD-0020"} | HANG, (statement, "pass"))
        elif name in ("fill_", "zero_"):
            self.add("drop reset", statement, RACE | {"NRD-0006", "NRD-0020"} | HANG, (statement, "pass"))
        elif name in ("signal_wait_until",):
            self.add("drop wait of host", statement, RACE, (statement, "pass"))

    # -- kernels

    def device(self, statement: ast.stmt, siblings: list, index: int, call: ast.Call, name: str) -> None:
        text = self.text
        alone = isinstance(statement, ast.Expr) and statement.value is call
        keywords = {k.arg: k.value for k in call.keywords}

        def swapped(offset: int) -> tuple | None:
            if not alone or not 0 <= index + offset < len(siblings):
                return None
            other = siblings[index + offset]
            if hasattr(other, "body") or isinstance(other, (ast.Return, ast.Pass)) or \
                    (isinstance(other, ast.Expr) and isinstance(other.value, ast.Constant)) or \
                    (isinstance(other, ast.Assign) and not any(called(n) in {"load", "wait"} for n in ast.walk(other))):
                return None
            return (statement, text.of(other)), (other, text.of(statement))

        if name in WAITS:
            self.add("drop wait", statement, RACE | UNFINISHED | HANG | {"NRD-0006", "NRD-0011"}, (statement, "pass") if alone else (call, "0"))
            if changes := swapped(+1):
                self.add("wait below the next access", statement, RACE | HANG | {"NRD-0006"}, *changes)
            value = keywords.get("waitValue") or (call.args[2] if name == "signal_wait_until" else None)
            if value is not None:
                for sign in "+-":
                    self.add(f"wait for the value {sign} 1", statement, RACE | HANG | {"NRD-0006"},
                             (value, f"({text.of(value)}) {sign} 1"))
        elif name in SIGNALS:
            self.add("drop signal", statement, RACE | HANG, (statement, "pass"))
            if changes := swapped(-1):
                self.add("signal above the access before it", statement, RACE | HANG, *changes)
            value = keywords.get("signal") or (call.args[1] if name == "signal_op" else None)
            if value is not None:
                self.add("signal the value + 1", statement, RACE | HANG, (value, f"({text.of(value)}) + 1"))
            scope = keywords.get("comm_scope")
            if scope is not None and getattr(scope, "value", "") in ("intra_node", "gpu"):
                self.add("notify as between nodes", statement, UNFINISHED, (scope, '"inter_node"'))
        elif name == "consume_token":
            self.add("drop consume_token", statement, frozenset({"NRD-0011"}) | REFUSED, (call, text.of(call.args[0])))
        elif name in ("fence", "fence_pe"):
            self.add("drop fence", statement, UNFINISHED, (statement, "pass"))
            if changes := swapped(+1):
                self.add("fence below the next operation", statement, UNFINISHED, *changes)
            if changes := swapped(-1):
                self.add("fence above the operation before it", statement, UNFINISHED, *changes)
        elif name in ("quiet", "quiet_pe"):
            self.add("drop quiet", statement, UNFINISHED | RACE, (statement, "pass"))
            self.add("fence for quiet", statement, UNFINISHED | RACE, (call, "libshmem_device.fence()"))
        elif name in ("barrier_all", "sync_all", "barrier", "team_sync"):
            self.add("drop barrier", statement, RACE | UNFINISHED | {"NRD-0006"} | HANG, (statement, "pass"))
            if name == "barrier_all":
                self.add("sync_all for barrier_all", statement, UNFINISHED, (call, "libshmem_device.sync_all()"))
        elif name in ATOMICS:
            sem, scope = keywords.get("sem"), keywords.get("scope")
            if sem is not None and sem.value != "relaxed":
                self.add("relaxed atomic", statement, frozenset({"NRD-0009", "NRD-0014"}), (sem, '"relaxed"'))
            if scope is not None and scope.value != "cta":
                self.add("atomic of scope cta", statement, frozenset({"NRD-0008"}), (scope, '"cta"'))
        elif name in ("putmem", "putmem_signal", "getmem") and alone:
            self.add(f"{name}_nbi for {name}", statement, frozenset({"NRD-0031", "NRD-0032"}) | RACE,
                     (call.func, text.of(call.func) + "_nbi"))
            if name == "putmem_signal":
                dest, source, size, word, value, op, pe = (text.of(arg) for arg in call.args)
                self.add("put and signal_op for putmem_signal", statement, frozenset({"NRD-0004"}),
                         (statement, f"libshmem_device.putmem({dest}, {source}, {size}, {pe}); "
                                     f"libshmem_device.signal_op({word}, {value}, {op}, {pe})"))


def protocols_of(source: str) -> set[str]:
    return set(re.findall(r"\w+", source.split("PROTOCOLS = ")[1].split("if __name__")[0]))


def reach(source: str, function: str) -> set[str]:
    """The functions of PROTOCOLS from which `function` can be reached."""
    tree = ast.parse(source)
    uses = {node.name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            for node in tree.body if isinstance(node, ast.FunctionDef)}
    found, work = {function}, [function]
    while work:
        name = work.pop()
        for user, names in uses.items():
            if name in names and user not in found:
                found.add(user)
                work.append(user)
    return found


def mutants_of(script: str) -> list[Mutant]:
    source = (ROOT / script).read_text(encoding="utf-8")
    mutants = Mutator(script, source).out
    if CORPUS[script] is None:
        protocols = protocols_of(source)
        return [m for m in mutants if reach(source, m.function) & protocols]
    return [m for m in mutants if m.function != "main"]


# ---- running them

DRIVER = '''
import importlib.util, json, sys
from pathlib import Path
import nereid
nereid.init()
for path, functions, args in json.loads(Path(sys.argv[1]).read_text()):
    sys.path.insert(0, str(Path(path).parent))
    for name in ("common", "07_allgather_gemm"):
        sys.modules.pop(name, None)
    spec = importlib.util.spec_from_file_location(Path(path).parent.name, path)
    module = importlib.util.module_from_spec(spec)
    error = ""
    try:
        spec.loader.exec_module(module)
        module.check = lambda *a, **k: 0.0
        if args is None:
            for name in functions:
                module.PROTOCOLS[name]()
        else:
            module.main(args)
    except BaseException as e:
        error = f"{type(e).__name__}: {e}"
    Path(f"{path}.{nereid.rank()}").write_text(error)
    sys.path.pop(0)
    nereid.barrier()
'''

HANGS = re.compile(r"deadlock|waits? for|is waiting", re.I)
REFUSALS = re.compile(r"CompilationError|CompileError")


def run_batch(script: str, batch: list[Mutant], keep: Path | None = None) -> list[set[str]]:
    """For each mutant what was said of it: codes, "hang", "refused", "error: ..."."""
    with tempfile.TemporaryDirectory(prefix="nereid-mutants-") as name:
        folder = Path(name)
        (folder / "driver.py").write_text(DRIVER)
        entries = []
        for number, mutant in enumerate(batch):
            own = folder / f"m{number}"
            own.mkdir()
            functions = []
            if CORPUS[script] is None:
                functions = sorted(reach(mutant.text, mutant.function) & protocols_of(mutant.text))
            else:
                for other in (ROOT / script).parent.glob("*.py"):
                    shutil.copy(other, own)
            path = own / Path(script).name
            path.write_text(mutant.text, encoding="utf-8")
            entries.append([str(path), functions, CORPUS[script]])
        said: list[set[str]] = [set() for _ in batch]
        left = list(range(len(batch)))
        while left:
            printed, findings = run_job(folder, [entries[number] for number in left])
            if keep:
                with keep.open("a") as file:
                    file.write(printed)
            for finding in findings:
                for number in left:
                    if entries[number][0] in (finding["first"]["file"], finding["second"]["file"]):
                        said[number].add(finding["code"])
            behind = []
            for number in left:
                results = [path.read_text() for rank in range(RANKS)
                           if (path := Path(f"{entries[number][0]}.{rank}")).exists()]
                if not results and number != left[0]:
                    behind.append(number)
                for text in results or ["the job died"]:
                    if number not in behind and text:
                        said[number].add("refused" if REFUSALS.search(text) else
                                         "hang" if HANGS.search(text) else f"error: {text[:300]}")
            left = behind
        return said


def run_job(folder: Path, entries: list) -> tuple[str, list[dict]]:
    """What the job printed, and the findings of its check."""
    (folder / "entries.json").write_text(json.dumps(entries))
    found = folder / "found.json"
    found.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "nereid", "run", "--check", "--check-events=8388608", f"--check-output={found}", "-n",
         str(RANKS), str(folder / "driver.py"), str(folder / "entries.json")], capture_output=True, text=True, timeout=1800)
    return done.stdout + done.stderr, json.loads(found.read_text())["findings"] if found.exists() else []


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.check.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every script of the corpus")
    parser.add_argument("--only", default="", metavar="NAMES", help="functions or scripts, by commas: what their names begin with")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--batch", type=int, default=40, help="mutants of one job")
    parser.add_argument("--keep", type=Path, help="a folder for what the jobs print")
    args = parser.parse_args(argv)
    wanted = [name for name in args.only.split(",") if name]
    if not args.all and not wanted and not args.list:
        parser.error("--all, --only or --list")
    table: dict[str, Counter] = {}
    missed = []
    for script in CORPUS:
        mutants = [m for m in mutants_of(script)
                   if not wanted or any(m.function.startswith(w) or Path(script).name.startswith(w) for w in wanted)]
        if args.list:
            print("\n".join(m.name for m in mutants))
            continue
        if mutants and CORPUS[script] is not None:
            as_it_is = Mutant(script, "", "", 0, "", frozenset(), (ROOT / script).read_text(encoding="utf-8"))
            if said := run_batch(script, [as_it_is])[0]:
                print(f"{script} with {' '.join(CORPUS[script])} is not clean as it is: {', '.join(sorted(said))}")
                return 2
        # What hangs ends its job: the others come first.
        mutants.sort(key=lambda m: "hang" in m.codes)
        for first in range(0, len(mutants), args.batch):
            batch = mutants[first:first + args.batch]
            keep = args.keep / f"{Path(script).stem}.{first}.txt" if args.keep else None
            for mutant, said in zip(batch, run_batch(script, batch, keep)):
                row = table.setdefault(mutant.operator, Counter())
                if said & mutant.codes:
                    row["found"] += 1
                elif mutant.reason and not said:
                    row["equivalent"] += 1
                else:
                    row["missed"] += 1
                    missed.append((mutant, said))
    if args.list:
        return 0
    print(f"{'operator':44} {'found':>6} {'equivalent':>11} {'missed':>7}")
    for operator, row in sorted(table.items()):
        print(f"{operator:44} {row['found']:6} {row['equivalent']:11} {row['missed']:7}")
    total = sum(table.values(), Counter())
    print(f"{'all':44} {total['found']:6} {total['equivalent']:11} {total['missed']:7}")
    for mutant, said in missed:
        print(f"\nmissed: {mutant.name}\n  said: {', '.join(sorted(said)) or 'nothing'}; expected one of {', '.join(sorted(mutant.codes))}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
