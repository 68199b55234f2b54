# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all operators share: their workspace, plans, checks and the order of their calls.

A call has three parts, each done as seldom as can be:

    _checked   the arrays are looked at, a plan is made, the kernel prepared: once for arrays that
               look alike (``_runtime.CallTable`` finds them again by type, shape and the like)
    _begin     may the operator be used here and now; order after its last call, which may have
               been in another stream; that the ranks agree on the plan: when something has changed
    launch     always

The invariant behind all of it: the members of a group make the same calls in the same order. It is
compared, not assumed. A plan's text is what the ranks must agree on; it is exchanged when a rank
uses it for the first time (always with NEREID_OPS_CHECK=1), and a hash of it marks the signals of
its calls, so that ranks which are in different calls wait, and are reported, in place of taking
each other's data."""

from __future__ import annotations

import os
import weakref
import zlib
from typing import Any, Callable, NamedTuple

import numpy as np

import nereid
from nereid import _runtime
from nereid._base import environment
from nereid._job import memory
from nereid.ops.core import arrays
from nereid.ops.core.arrays import Facts, SIZES
from nereid.ops.core.group import Group
from nereid.ops.core.shards import is_number
from nereid.ops.core.workspace import Workspace

#: A piece that travels with one signal has between these many bytes.
SMALLEST_PIECE, LARGEST_PIECE = 32 << 10, 1 << 20

_current_stream, _in_job = _runtime.current_stream, _runtime.is_initialized
_forks = 0


def _note_fork() -> None:
    global _forks
    _forks += 1
    for op in list(_live):
        op._ready = False


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


class Call(NamedTuple):
    """What the checks of a call's arrays have found. It serves all calls whose arrays look alike."""

    plan: Plan
    launch: Any  # the kernel with all arguments but the arrays
    shape: tuple[int, ...]  # of the result, with its dtype
    dtype: str


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
    """Elements that a program moves at once: few kernels, and no wide block for little data."""
    return min(2048, max(256, nereid.next_power_of_2(count)))


class Operator:
    """Base of all operators. Making one is collective over the job: all ranks make the same
    operators in the same order, ranks of different groups each for their group. Calling one is
    collective over the group; it allocates nothing but the result (`out=` spares that too) and
    meets no barrier."""

    def __new__(cls, *args: Any, **options: Any) -> "Operator":
        self = super().__new__(cls)
        self._made_with = args, options
        return self

    def __init__(self, group: Any, text: str, dtype: str, programs: int | None, signals: Callable[[Group], int],
                 payload: Callable[[Group], int]):
        nereid.init()
        self.group = Group.of(group)
        self.dtype = dtype
        if programs is not None and (isinstance(programs, bool) or not isinstance(programs, int) or programs < 1):
            raise nereid.ArgumentError(f"{self.name}: programs is a positive integer or None, not {programs!r}")
        self.programs = programs or _runtime.job_info()["programs"]
        self.text = text
        self._workspace = Workspace(self.name, text, self.group, signals(self.group), payload(self.group))
        self._plans: dict[Any, Plan] = {}
        self._agreed: set[str] = set()
        self._last: Plan | None = None
        self._stream: Any = None
        self._forks = _forks
        self._check = environment.flag("NEREID_OPS_CHECK")
        self._ready = self.group.me >= 0
        self._preparing = False
        #: What was found for calls, by how their arrays look.
        self._calls = _runtime.CallTable()
        self._find = self._calls.find
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

    def _prepared(self, kernel: Any, plan: Plan, arrays_: tuple[str, ...], shape: tuple[int, ...], dtype: str | None = None,
                  options: dict[str, Any] | None = None, **fixed: Any) -> Call:
        """For calls that pass the kernel's parameters `arrays_`; `fixed` and the plan have the others, `options` are
        those of the launch."""
        known = dict(payload_ptr=self._payload, words_ptr=self._workspace.signals, state_ptr=self._workspace.state,
                     members_ptr=self.group.members, **fixed, **plan.sizes, **plan.constants)
        known = {name: memory.constant(value) if isinstance(value, np.ndarray) else value for name, value in known.items()}
        return Call(plan, _runtime.PreparedLaunch(kernel, (plan.programs,), arrays_, {
            name: value for name, value in known.items() if name in kernel.arg_names}, options or {}), shape,
            dtype or self.dtype)

    def _run(self, call: Call, *arguments: Any) -> None:
        """Launches with these arrays."""
        plan = call.plan
        if plan is not self._last or not self._ready or self._check or _current_stream() is not self._stream or not _in_job():
            self._begin(plan)
            if self._preparing:
                call.launch.compile(*arguments)
                return
        try:
            call.launch(*arguments)
        except nereid.LaunchError as error:
            self._explain_failure(error)
            raise

    def _begin(self, plan: Plan) -> None:
        """Checks that the call may start here and now, and orders it after the last one."""
        if self._workspace.closed:
            raise self.fail("this operator has been closed; make another one, on all ranks")
        if self.group.me < 0:
            raise self.fail(f"rank {nereid.rank()} is no member of its group ({self.group})")
        if self._forks != _forks:
            raise self.fail("this operator belongs to the process that this one was forked from; make it here")
        if not self._workspace.alive:
            raise self.fail("the job in which this operator was made has ended, and its memory with it; make it anew in the next job")
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

    def _explain_failure(self, error: Exception) -> None:
        if "ranks disagree" not in str(error):
            error.args = (f"{error}\n{self.name}, what each rank was calling:\n{self._workspace.who()}",)

    def _input(self, array: Any, argument: str, shape: tuple[int, ...] | None = None, what: str = "") -> Facts:
        """Facts of a contiguous array of the operator's dtype, and of this shape."""
        facts = arrays.facts(array, self.name, argument)
        if shape is not None and facts.shape != shape:
            raise self.fail(f"{argument} has the shape {facts.shape}, this operator was made for {shape}{what}")
        self._has_dtype(facts, argument)
        self._contiguous(facts, argument)
        return facts

    def _contiguous(self, facts: Facts, argument: str) -> None:
        if not facts.contiguous:
            raise self.fail(f"{argument} is not contiguous (shape {facts.shape}, strides {facts.strides}); "
                            f"pass np.ascontiguousarray({argument}) or {argument}.contiguous()")

    def _has_dtype(self, facts: Facts, argument: str, dtype: str | None = None) -> None:
        if facts.dtype != (dtype or self.dtype):
            raise self.fail(f"{argument} has the dtype {facts.dtype}, this operator was made for {dtype or self.dtype}")

    def _output(self, out: Any, shape: tuple[int, ...], *inputs: Any, dtype: str | None = None, name: str = "out",
                in_place: bool = False) -> None:
        """Checks an array that the user gives for the result, None for a new one. With `in_place` it may be an input."""
        if out is None:
            return
        facts = arrays.facts(out, self.name, name)
        if facts.shape != shape:
            raise self.fail(f"{name} has the shape {facts.shape}, but the result has {shape}")
        self._has_dtype(facts, name, dtype)
        self._contiguous(facts, name)
        if not facts.writeable:
            raise self.fail(f"{name} cannot be written to; pass an array with flags.writeable")
        mine = arrays.span(out, facts)
        for array in inputs:
            theirs = arrays.span(array, arrays.facts(array, self.name, "an input"))
            if mine[0] < theirs[1] and theirs[0] < mine[1] and not (in_place and mine == theirs):
                raise self.fail(f"{name} shares memory with an input; a peer's part would be read after it was overwritten")

    def _check_extra(self, epilogue: Any, extra: Any) -> None:
        if extra is not None:
            arrays.facts(extra, self.name, "extra")
            if epilogue is None:
                raise self.fail("extra is for the epilogue, and this operator was made without one")

    def _call_or_view(self, x: Any, out: Any, view: bool, capacity: int) -> Any:
        """A call with one input; with `view` its result is what stands in a half, of `capacity` elements, of the payload."""
        if view and out is not None:
            raise self.fail("view=True returns the operator's own memory and takes no out")
        if view and _current_stream() is not None:
            raise self.fail("view=True inside `with stream:` is known only when the call has run; pass out=")
        call = self._find(x, out, view)
        if call is None:
            call = self._checked(x, out, view)
        if view:
            self._run(call, x, x)
            return self._workspace.view(self.dtype, self._workspace.calls % 2 * capacity, call.shape, x)
        if out is None:
            out = arrays.new(call.shape, call.dtype, x)
        self._run(call, x, out)
        return out

    def _checked(self, *arguments: Any) -> Call:
        """What the checks of a call's arrays find, which is then in the table. ArgumentError."""
        raise NotImplementedError

    @classmethod
    def trials(cls, ranks: int, nbytes: int) -> dict[str, Callable[[], tuple["Operator", Callable[[], Any]]]]:
        """What nereid.ops.tune compares for `nbytes` from each rank: by choice, a function that makes an operator of
        that kind and a call of it. Nothing, where there is nothing to choose."""
        return {}

    # ---- its life

    def clone(self) -> "Operator":
        """Another operator of the same kind with its own memory, for calls that overlap those of
        this one. Collective over the job."""
        args, options = self._made_with
        return type(self)(*args, **{**options, "group": self.group})

    def prepare(self, *arguments: Any, **options: Any) -> None:
        """Compiles what a call with these arguments needs and compares its plan among the ranks, so that the call
        itself does neither. Collective over the group. A shape may stand for a contiguous array; nothing is read
        or written, and the arguments are refused as the call would refuse them."""
        ready, self._ready, self._preparing = self._ready, False, True
        try:
            self._call_like(*[self._array_like(position, value) for position, value in enumerate(arguments)], **options)
        finally:
            self._ready, self._preparing = ready, False

    #: dtypes of arguments that have another than the operator, by position.
    _dtypes: dict[int, str] = {}

    def _array_like(self, position: int, value: Any) -> Any:
        if isinstance(value, tuple) and all(isinstance(size, int) for size in value):
            return np.zeros(value, arrays.host_dtype(self._dtypes.get(position, self.dtype)))
        return value

    def _call_like(self, *arguments: Any, **options: Any) -> None:
        """The call that `prepare` prepares."""
        self(*arguments, **options)

    def reset(self) -> None:
        """After a failure and nereid.recover(): state as when it was made. Collective over the job."""
        self._workspace.reset()
        self._agreed.clear()
        self._last = None

    def close(self) -> None:
        """Gives the symmetric memory back. Collective over the job. The memory is also given
        back when all ranks have dropped the operator, at the next symmetric allocation."""
        self._ready = False
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
        if not is_number(value) or value < 1:
            raise nereid.ArgumentError(f"{operator}: {name} is a positive integer, not {value!r}")
