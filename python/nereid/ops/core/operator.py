# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all operators share: their workspace, plans, checks and the order of their calls."""

from __future__ import annotations

import os
import weakref
import zlib
from typing import Any, Callable, NamedTuple

import nereid
from nereid import _runtime
from nereid._base import environment
from nereid.ops.core import arrays
from nereid.ops.core.arrays import Facts, SIZES
from nereid.ops.core.group import Group
from nereid.ops.core.workspace import Workspace

#: A piece that travels with one signal has between these many bytes.
SMALLEST_PIECE, LARGEST_PIECE = 32 << 10, 1 << 20

_forks = 0


def _note_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_note_fork)


class Plan(NamedTuple):
    """How one call is carried out. `text` is what the ranks must agree on."""

    text: str
    algorithm: str
    reason: str
    programs: int
    sent: int  # bytes that this rank sends to peers
    constants: dict[str, Any]  # of the kernel
    sizes: dict[str, int]  # of the kernel

    def explain(self) -> str:
        constants = ", ".join(f"{key}={value}" for key, value in {**self.sizes, **self.constants}.items())
        return (f"{self.text}\n  algorithm {self.algorithm}: {self.reason}\n  {self.programs} programs a rank, {constants}\n"
                f"  sends {self.sent} bytes")


def make_plan(text: str, algorithm: str, reason: str, programs: int, sent: int, constants: dict[str, Any],
              sizes: dict[str, Any]) -> Plan:
    """With the tag that marks signals of calls with this text: ranks whose calls differ wait for
    marks that never come, which the runtime reports, instead of taking each other's data."""
    tag = (zlib.crc32(text.encode()) & 0x3FFFFFFF) << 33
    return Plan(text, algorithm, reason, programs, sent, constants, {**sizes, "tag": tag})


def piece_elements(nbytes: int, itemsize: int, programs: int) -> int:
    """Elements of a piece of a contribution of `nbytes`: enough pieces for all programs."""
    wanted = -(-nbytes // max(programs, 1))
    return min(max(wanted, SMALLEST_PIECE), LARGEST_PIECE) // itemsize


def most_pieces(nbytes: int) -> int:
    return max(1, -(-nbytes // SMALLEST_PIECE))


def block_elements(count: int) -> int:
    """Elements that a program moves at once."""
    return 256 if count <= 256 else 2048


class Operator:
    """Base of all operators. Making one is collective over the job: all ranks make the same
    operators in the same order, ranks of different groups each for their group. Calling one is
    collective over the group; it allocates nothing but the result (`out=` spares that too) and
    meets no barrier."""

    def __init__(self, group: Any, text: str, dtype: str, programs: int | None, signals: Callable[[Group], int],
                 payload: Callable[[Group], int]):
        nereid.init()
        self.group = Group.of(group)
        self.dtype = dtype
        if programs is not None and (isinstance(programs, bool) or not isinstance(programs, int) or programs < 1):
            raise nereid.ArgumentError(f"{self.name}: programs is a positive integer or None, not {programs!r}")
        self.programs = programs or _runtime.job_info()["num_threads"]
        self.text = text
        self._workspace = Workspace(self.name, text, self.group, signals(self.group), payload(self.group))
        self._plans: dict[Any, Plan] = {}
        self._agreed: set[Plan | str] = set()
        self._last: Plan | None = None
        self._stream: Any = None
        self._forks = _forks
        self._check = environment.flag("NEREID_OPS_CHECK")
        _live.add(self)

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def workspaces(self) -> list[Workspace]:
        return [self._workspace]

    @property
    def memory(self) -> int:
        """Bytes of symmetric memory on each rank."""
        return self._workspace.bytes

    @property
    def usable(self) -> bool:
        """Whether it is open, and this process still a rank of the job in which it was made."""
        return not self._workspace.closed and self._forks == _forks and self._workspace.alive

    def fail(self, text: str) -> "nereid.ArgumentError":
        return nereid.ArgumentError(f"{self.name}: {text}")

    # ---- a call

    def _begin(self, plan: Plan) -> None:
        """Checks that the call may start here and now, and orders it after the last one."""
        if self._workspace.closed:
            raise self.fail("this operator has been closed")
        if self.group.me < 0:
            raise self.fail(f"rank {nereid.rank()} is no member of its group ({self.group})")
        if self._forks != _forks:
            raise self.fail("this operator belongs to the process that this one was forked from; make it here")
        if not self._workspace.alive:
            raise self.fail("the job in which this operator was made has ended")
        stream = nereid.current_stream()
        if stream is not self._stream:
            if self._stream is not None:
                if stream is None:
                    self._stream.synchronize()
                else:
                    stream.wait(self._stream)
            self._stream = stream
        if plan is not self._last:
            self._workspace.say(plan.text)
            self._last = plan
        if self._check or plan.text not in self._agreed:
            try:
                self._workspace.agree(plan.text)
            except nereid.LaunchError as error:
                self._explain_failure(error)
                raise
            self._agreed.add(plan.text)

    def _launch(self, kernel: Any, plan: Plan, *arguments: Any) -> None:
        try:
            kernel[(plan.programs,)](*arguments, **plan.sizes, **plan.constants)
        except nereid.LaunchError as error:
            self._explain_failure(error)
            raise

    def _explain_failure(self, error: Exception) -> None:
        if "ranks disagree" not in str(error):
            error.args = (f"{error}\n{self.name}, what each rank was calling:\n{self._workspace.who()}",)

    def _contiguous(self, array: Any, facts: Facts, argument: str) -> None:
        if not facts.contiguous:
            raise self.fail(f"{argument} is not contiguous (shape {facts.shape}, strides {facts.strides}); "
                            f"pass np.ascontiguousarray({argument}) or {argument}.contiguous()")

    def _has_dtype(self, facts: Facts, argument: str, dtype: str | None = None) -> None:
        if facts.dtype != (dtype or self.dtype):
            raise self.fail(f"{argument} has the dtype {facts.dtype}, this operator was made for {dtype or self.dtype}")

    def _output(self, out: Any, shape: tuple[int, ...], *inputs: Any, dtype: str | None = None) -> None:
        """Checks an array that the user gives for the result."""
        facts = arrays.facts(out, self.name, "out")
        if facts.shape != shape:
            raise self.fail(f"out has the shape {facts.shape}, the result has {shape}")
        self._has_dtype(facts, "out", dtype)
        self._contiguous(out, facts, "out")
        mine = arrays.count(shape) * arrays.SIZES[facts.dtype]
        for array in inputs:
            other = arrays.facts(array, self.name, "an input")
            if arrays.overlap(out, mine, array, arrays.extent(other)):
                raise self.fail("out shares memory with an input; a peer's part would be read after it was overwritten")

    # ---- its life

    def reset(self) -> None:
        """After a failure and nereid.recover(): state as when it was made. Collective over the job."""
        self._workspace.reset()
        self._agreed.clear()

    def close(self) -> None:
        """Gives the symmetric memory back. Collective over the job. The memory is also given
        back when all ranks have dropped the operator, at the next symmetric allocation."""
        if not self._workspace.closed and self._workspace.alive:
            if self._stream is not None:
                self._stream.synchronize()
            self._workspace.close()

    def __repr__(self) -> str:
        return f"<{self.text}, {self.group}{', closed' if self._workspace.closed else ''}>"


_live: "weakref.WeakSet[Operator]" = weakref.WeakSet()


def known_dtype(operator: str, name: str, allowed: tuple[str, ...] = tuple(SIZES)) -> str:
    if name not in allowed:
        raise nereid.ArgumentError(f"{operator}: the dtype is one of {', '.join(allowed)}, not {name}")
    return name


def positive(operator: str, **values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise nereid.ArgumentError(f"{operator}: {name} is a positive integer, not {value!r}")
