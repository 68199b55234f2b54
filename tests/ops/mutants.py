# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators with one synchronisation removed, which their cases must notice.

    python tests/ops/mutants.py                    # all; prints which run found each
    python tests/ops/mutants.py all_gather 3       # one operator, from its mutant number 3 on

A mutant is a copy of a file of kernels with one change: a wait that does not wait, a signal that is not sent, or
sent before what it announces, a half that is always the same. It is found when the operator's cases fail (a wrong value, other bits,
a hang that is reported) under one of a few random schedules, on one node or on three.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator, NamedTuple

import nereid
import nereid.ops
from nereid.ops import selftest
from nereid.ops.core import registry

FOLDER = Path(nereid.ops.__file__).parent
PROTOCOL = "lib/protocol.py"
SEEDS = range(1, 9)

#: What `send` becomes when it announces data too early.
EARLY = '''

import nereid.distributed as _dl
from nereid import libshmem_device as _device
from nereid.ops.lib.protocol import copy as _copy, signal as _signal


@nereid.jit
def send_too_early(to_ptr, from_ptr, count, word_ptr, call, peer, REACH: tl.constexpr, BLOCK: tl.constexpr):
    if REACH == "put":
        size: tl.constexpr = from_ptr.dtype.element_ty.primitive_bitwidth // 8
        _device.signal_op(word_ptr, call, _device.NVSHMEM_SIGNAL_SET, peer)
        _device.putmem_nbi_block(to_ptr, from_ptr, count * size, peer)
    else:
        _signal(word_ptr, call, peer)
        _copy(_dl.symm_at(to_ptr, peer), from_ptr, count, BLOCK)
'''


class Mutant(NamedTuple):
    file: str  # in nereid/ops
    line: int
    what: str
    text: str  # of the whole file


def changed(text: str, node: ast.AST, new: str) -> str:
    lines = text.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1
    before, after = lines[first][:node.col_offset], lines[last][node.end_col_offset:]
    return "".join([*lines[:first], before + new + after, *lines[last + 1:]])


def mutants(file: str) -> Iterator[Mutant]:
    """All of one file."""
    text = (FOLDER / file).read_text()
    for parent in ast.walk(ast.parse(text)):
        for block in (getattr(parent, name, None) for name in ("body", "orelse")):
            if isinstance(block, list):
                for before, statement in zip([None, *block], block):
                    yield from of_statement(file, text, before, statement)
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "arrived":
            yield Mutant(file, parent.lineno, "does not wait for what is read next",
                         changed(text, parent, ast.get_source_segment(text, parent.args[0])))
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and ast.unparse(parent) in ("call % 2", "mark % 2"):
            yield Mutant(file, parent.lineno, "always takes the same half", changed(text, parent, "0"))


def of_statement(file: str, text: str, before: ast.stmt | None, statement: ast.stmt) -> Iterator[Mutant]:
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    name = getattr(call.func, "id", "") if call else ""
    if name == "wait":
        yield Mutant(file, statement.lineno, "does not wait", changed(text, statement, "pass"))
    elif name in ("signal", "signal_anywhere"):
        yield Mutant(file, statement.lineno, "is not announced", changed(text, statement, "pass"))
        if isinstance(before, ast.Expr) and "tl.store" in ast.unparse(before):
            swapped = changed(text, statement, ast.get_source_segment(text, before))
            yield Mutant(file, statement.lineno, "is announced before it is stored",
                         changed(swapped, before, ast.get_source_segment(text, statement)))
    elif name == "send":
        yield Mutant(file, statement.lineno, "is announced before it is there", changed(text, call.func, "send_too_early") + EARLY)
    elif ast.unparse(statement) in ("libshmem_device.quiet()", "libshmem_device.fence()"):
        yield Mutant(file, statement.lineno, "does not order its transfers", changed(text, statement, "pass"))
    elif file == PROTOCOL and ast.unparse(statement) == "tl.store(state_ptr + 1, 0)":
        yield Mutant(file, statement.lineno, "does not count the programs anew", changed(text, statement, "pass"))
    elif file == PROTOCOL and ast.unparse(statement).startswith("tl.store(state_ptr, "):
        yield Mutant(file, statement.lineno, "does not count calls", changed(text, statement, "pass"))


def load(name: str, text: str, folder: str):
    path = Path(folder) / f"{name.replace('.', '_')}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_mutant(operator: str, mutant: Mutant, calls: int, late: float, folder: str) -> None:
    """On every rank: the operator's cases with the mutant in place."""
    own = Path(folder) / str(nereid.rank())
    own.mkdir()
    if mutant.file.startswith("lib/"):
        load("nereid.ops." + mutant.file[:-3].replace("/", "."), mutant.text, str(own))
    kernels = f"{operator}/kernel.py"
    load(f"nereid.ops.{operator}.kernel", mutant.text if mutant.file == kernels else (FOLDER / kernels).read_text(), str(own))
    for name in ("op", "reference"):  # once more, with these kernels
        importlib.reload(importlib.import_module(f"nereid.ops.{operator}.{name}"))
    selftest.run_operator(operator, calls, 0, 1, late, which=("all",))


def found_by(operator: str, mutant: Mutant) -> str:
    """How the mutant is found: "" when it is not. On one node, else on three."""
    for nodes, seed in [(nodes, seed) for nodes in (False, True) for seed in SEEDS]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                nereid.testing.spawn(run_mutant, 3, (operator, mutant, 4, 0.0, folder), timeout=100.0,
                                     environment={"NEREID_SCHEDULE": f"random:{seed}", "NEREID_TIMEOUT": "20",
                                                  **({"NEREID_RANKS_PER_NODE": "1"} if nodes else {})})
            except nereid.testing.SpawnError as error:
                if "CompilationError" in str(error):
                    raise  # no mutant but a mistake
                return f"seed {seed}{', three nodes' if nodes else ''}: {error.failures[0].reason.splitlines()[0][:150]}"
    return ""


#: What has mutants: the operators, and the functions that they share.
ALL = (*registry.OPERATORS, "lib")


def mutants_of(name: str) -> list[Mutant]:
    return list(mutants(PROTOCOL if name == "lib" else f"{name}/kernel.py"))


def noticed(name: str, mutant: Mutant) -> str:
    """Like found_by; what operators share is looked at through some of them."""
    users = ("all_gather", "gemm_reduce_scatter", "channel") if name == "lib" else (name,)
    return next((how for user in users if (how := found_by(user, mutant))), "")


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    start_at = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    missed = 0
    for name in [wanted] if wanted else ALL:
        for number, mutant in enumerate(mutants_of(name)):
            if number < start_at:
                continue
            start = time.perf_counter()
            how = noticed(name, mutant)
            missed += not how
            print(f"{number:>2} {mutant.file}:{mutant.line} {mutant.what}: {how or 'NOT FOUND'} ({time.perf_counter() - start:.1f} s)",
                  flush=True)
    sys.exit(f"{missed} not found" if missed else 0)


if __name__ == "__main__":
    main()
