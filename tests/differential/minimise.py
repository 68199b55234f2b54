# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing kernel smaller while it fails in the same way."""

from __future__ import annotations

import ast
import time
from dataclasses import replace
from typing import Iterator

from .harness import Harness, Outcome
from .program import Program


def minimise(harness: Harness, outcome: Outcome, seconds: float = 60.0) -> Outcome:
    """The outcome of the smallest kernel found in that time: statements are left
    out, bodies stand for their loops and branches, operands for their operations."""
    kind = outcome.kind
    deadline = time.monotonic() + seconds
    best = outcome
    accept = "accept" in outcome.results

    def attempt(source: str) -> bool:
        nonlocal best
        program = without_unused(best.program.with_source(source))
        found = harness.run(program, accept)
        if found.failed and found.kind == kind:
            best = found
            return True
        return False

    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        # Many statements at once, then fewer.
        size = max(1, count_statements(best.program.source) // 2)
        while size >= 1 and time.monotonic() < deadline:
            start = 0
            while start < count_statements(best.program.source) and time.monotonic() < deadline:
                source = without_statements(best.program.source, start, size)
                if source is not None and attempt(source):
                    progress = True
                else:
                    start += size
            size //= 2
        number = 0
        while time.monotonic() < deadline:
            source = simplified(best.program.source, number)
            if source is None:
                break
            if len(source) < len(best.program.source) and attempt(source):
                progress = True
            else:
                number += 1
    for smaller in smaller_launches(best.program):
        found = harness.run(smaller, accept)
        if found.failed and found.kind == kind:
            best = found
    return best


def smaller_launches(program: Program) -> Iterator[Program]:
    if program.grid != (1,):
        yield replace(program, grid=(1,))


def without_unused(program: Program) -> Program:
    """Without arguments and helpers that no longer appear."""
    tree = ast.parse(program.source)
    kernel = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == program.kernel)
    names = {node.id for node in ast.walk(ast.Module(kernel.body, [])) if isinstance(node, ast.Name)}
    kernel.args.args = [argument for argument in kernel.args.args if argument.arg in names]
    while True:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {program.kernel}
        kept = [node for node in tree.body if not isinstance(node, ast.FunctionDef) or node.name in used]
        if len(kept) == len(tree.body):
            break
        tree.body = kept
    arguments = [argument for argument in program.arguments if argument.name in names]
    constants = {name: value for name, value in program.constants.items() if name in names}
    return replace(program, source=ast.unparse(tree) + "\n", arguments=arguments, constants=constants)


# ---- statements


def _bodies(tree: ast.AST) -> Iterator[tuple[list, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) or isinstance(node, (ast.If, ast.For, ast.While)):
            yield node.body, node
            if getattr(node, "orelse", None):
                yield node.orelse, node


def count_statements(source: str) -> int:
    return sum(len(body) for body, _ in _bodies(ast.parse(source)))


def without_statements(source: str, start: int, size: int) -> str | None:
    tree = ast.parse(source)
    number = 0
    changed = False
    for body, owner in list(_bodies(tree)):
        kept = []
        for statement in body:
            if not start <= number < start + size:
                kept.append(statement)
            else:
                changed = True
            number += 1
        body[:] = kept
        if not body and owner.body is body:
            body.append(ast.Pass())
    return ast.unparse(tree) + "\n" if changed else None


# ---- expressions and compound statements


def simplified(source: str, number: int) -> str | None:
    """The source with its simplification of that number; None after the last."""
    tree = ast.parse(source)
    for i, change in enumerate(_changes(tree)):
        if i == number:
            change()
            ast.fix_missing_locations(tree)
            return ast.unparse(tree) + "\n"
    return None


def _changes(tree: ast.AST):
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, (ast.If, ast.For, ast.While)):
                        for body in (item.body, item.orelse):
                            if body:
                                yield lambda v=value, i=i, b=body: v.__setitem__(slice(i, i + 1), b)
                    elif isinstance(item, ast.expr) and not isinstance(node, ast.FunctionDef):
                        for smaller in _smaller(item):
                            yield lambda v=value, i=i, s=smaller: v.__setitem__(i, s)
                if name == "keywords":
                    for i in range(len(value)):
                        yield lambda v=value, i=i: v.__delitem__(i)
            elif isinstance(value, ast.expr):
                for smaller in _smaller(value):
                    yield lambda n=node, f=name, s=smaller: setattr(n, f, s)


def _smaller(node: ast.expr) -> Iterator[ast.expr]:
    """Parts of an expression that may stand for it."""
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield node.left
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.Call):
        yield from node.args
        if isinstance(node.func, ast.Attribute) and not (isinstance(node.func.value, ast.Name)
                                                         and node.func.value.id == "tl"):
            yield node.func.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool) \
            and node.value not in (0, 1, 0.0, 1.0):
        yield ast.Constant(0 if isinstance(node.value, int) else 0.0)
        yield ast.Constant(1 if isinstance(node.value, int) else 1.0)


