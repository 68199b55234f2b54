# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the operators in which a rank can be held before any step of their protocols.

A step is a place where a kernel waits, announces, sends or ends a call, and within a send the place between data and
signal. The kernels are changed as text, which `steps` counts: before step K stands `hold(state_ptr, K)`, which waits as
long as a word of the operator's own memory is K. `held` sets that word on this rank and takes it back after a
moment, in which the other ranks run as far as they can: into the next call, if the protocol lets them.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import threading
from typing import Any, Iterator

#: Where the word lies in the line of the state, whose first two words are in use.
WORD = 4

HOLD = f'''

import nereid as _nereid
import nereid.distributed as _dl
from nereid.ops.lib.protocol import copy as _copy, send as _send, signal as _signal


@_nereid.jit
def hold(state_ptr, STEP: tl.constexpr):
    value = tl.load(state_ptr + {WORD}, volatile=True)  # not a wait: nothing that can wake it would be a deadlock
    while value == STEP:
        value = tl.load(state_ptr + {WORD}, volatile=True)


@_nereid.jit
def send_held(state_ptr, STEP: tl.constexpr, to_ptr, from_ptr, count, word_ptr, call, peer, REACH: tl.constexpr, BLOCK: tl.constexpr):
    if REACH == "put":
        hold(state_ptr, STEP)
        _send(to_ptr, from_ptr, count, word_ptr, call, peer, REACH, BLOCK)
    else:
        _copy(_dl.symm_at(to_ptr, peer), from_ptr, count, BLOCK)
        hold(state_ptr, STEP)
        _signal(word_ptr, call, peer)
'''

STEPS = ("wait", "arrived", "signal", "signal_anywhere", "send", "leave", "is_last")


def _called(statement: ast.stmt) -> list[ast.Call]:
    """The steps in a statement, those of statements within it not counted."""
    own = [node for field in ast.iter_child_nodes(statement) if not isinstance(field, ast.stmt) for node in ast.walk(field)]
    return [node for node in own if isinstance(node, ast.Call) and getattr(node.func, "id", "") in STEPS]


def with_holds(text: str) -> tuple[str, int]:
    """The text of a file of kernels with a hold before each step, and how many there are; they count from 1."""
    kernels = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
               and any(argument.arg == "state_ptr" for argument in node.args.args)]
    found = sorted({(statement.lineno, statement.col_offset): statement for kernel in kernels for statement in ast.walk(kernel)
                    if isinstance(statement, ast.stmt) and not isinstance(statement, ast.FunctionDef) and _called(statement)}.items())
    lines, step = text.splitlines(keepends=True), 0
    edits = []
    for (line, column), statement in found:
        step += 1
        edits.append((line, column, f"{' ' * column}hold(state_ptr, {step})\n"))
        for call in _called(statement):
            if call.func.id == "send":
                step += 1
                edits.append((call.lineno, call.col_offset, f"send_held(state_ptr, {step}, "))
    for line, column, new in reversed(edits):
        if new.endswith("\n"):
            lines.insert(line - 1, new)
        else:
            old = lines[line - 1]
            assert old[column:].startswith("send(")
            lines[line - 1] = old[:column] + new + old[column + len("send("):]
    return "".join(lines) + HOLD, step


@contextlib.contextmanager
def held(op: Any, step: int, seconds: float) -> Iterator[None]:
    """Holds this rank before `step` of the next call for so long."""
    words = [ctypes.c_int64.from_address(space._base + 8 * WORD) for space in op.workspaces]

    def release() -> None:
        for word in words:
            word.value = 0

    for word in words:
        word.value = step
    timer = threading.Timer(seconds, release)
    timer.start()
    try:
        yield
    finally:
        timer.join()
