# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Channel: arrays from one rank to another."""

from __future__ import annotations

from typing import Any

import numpy as np

import nereid
from nereid.ops.channel.kernel import receive_kernel, send_kernel
from nereid.ops.core import arrays
from nereid.ops.core.group import Group
from nereid.ops.core.shards import checked_shape, is_number
from nereid.ops.core.operator import (Operator, Plan, block_elements, known_dtype, make_plan, most_pieces, piece_elements,
                                      positive)


class Channel(Operator):
    """``Channel(shape, dtype, src, dst)``: ``.send(x)`` on member `src` of the group, ``.recv() -> x`` on `dst`.

    Messages arrive in the order in which they are sent. ``send`` returns when x may be changed; with
    `slots` messages that nobody has received it waits for ``recv``. ``recv(out=...)`` takes the message
    without allocating. Making one is collective over the job; sending and receiving concerns the two
    ranks alone. For both directions make two.
    """

    @classmethod
    def memory_for(cls, shape: tuple[int, ...], dtype: Any, slots: int = 2) -> int:
        """Bytes of payload on each rank, signals not counted; the sender's stay unused."""
        return slots * arrays.count(tuple(shape)) * arrays.SIZES[arrays.dtype_name(dtype)]

    def __init__(self, shape: tuple[int, ...], dtype: Any = "float32", src: int = 0, dst: int = 1, *, slots: int = 2,
                 group: Any = None, programs: int | None = None):
        name = known_dtype("Channel", arrays.dtype_name(dtype))
        positive("Channel", slots=slots)
        nereid.init()
        group = Group.of(group)
        if not is_number(src) or not is_number(dst) or src == dst or not (0 <= src < group.size and 0 <= dst < group.size):
            raise self.fail(f"src={src!r} and dst={dst!r} must be two different members of the group, 0 to {group.size - 1}")
        self.shape, self.src, self.dst, self.slots = checked_shape("Channel", "shape", shape), src, dst, int(slots)
        size, itemsize = arrays.count(self.shape), arrays.SIZES[name]
        most = most_pieces(size * itemsize)
        super().__init__(group, f"Channel {self.shape} {name} from {src} to {dst} slots={slots}", name, programs,
                         lambda g: self.slots * (most + 1), lambda g: self.memory_for(self.shape, name, self.slots))
        self._payload = self._workspace.payload(name)
        self._free = self._workspace.signals_from(self.slots * most)
        self._plan = make_plan(
            self.text, "mailbox", "the only one", self.programs, size * itemsize,
            dict(REACH=self.group.reach, BLOCK=block_elements(size)),
            dict(size=size, piece=piece_elements(size * itemsize, itemsize, self.programs), max_pieces=most, slots=self.slots))
        self._sending = self._prepared(send_kernel, self._plan, ("x_ptr",), self.shape, free_ptr=self._free,
                                       receiver=self.group.ranks[dst])
        self._receiving = self._prepared(receive_kernel, self._plan, ("out_ptr",), self.shape, free_ptr=self._free,
                                         sender=self.group.ranks[src])
        # The two ranks have agreed when they made it; nobody waits for the other to call.
        self._agreed.add(self._plan.text)
        self._check = False

    def plan(self) -> Plan:
        return self._plan

    def explain(self) -> str:
        return self._plan.explain()

    def send(self, x: Any) -> None:
        """The next message; on `src` only."""
        self._only(self.src, "send")
        if self._find(x) is None:
            self._input(x, "x", self.shape)
            self._calls.add(self._sending, x)
        self._run(self._sending, x)

    def recv(self, out: Any = None, *, like: Any = None) -> Any:
        """The next message, as a numpy array, an array of the kind of `like`, or in `out`; on `dst` only."""
        self._only(self.dst, "recv")
        if out is None:
            out = arrays.new(self.shape, self.dtype, like)
        elif self._find(out) is None:
            self._output(out, self.shape)
            self._calls.add(self._receiving, out)
        self._run(self._receiving, out)
        return out

    def _call_like(self, x: Any = None) -> None:
        x = np.zeros(self.shape, arrays.host_dtype(self.dtype)) if x is None else x
        if self.group.me == self.src:
            self.send(x)
        elif self.group.me == self.dst:
            self.recv(x)

    def _only(self, member: int, what: str) -> None:
        if self.group.me != member and not self._workspace.closed:
            raise self.fail(f"{what} is for member {member} (rank {self.group.ranks[member]}), this is rank {nereid.rank()}")
