# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The symmetric memory of one operator.

     one allocation
    ┌───────────────┬──────────────────────────┬───────────────┬──────────┬─────────┐
    │ state         │ agreement: words, texts  │ texts of mine │ signals  │ payload │
    │ CALL DONE     │ of all members, 2 halves │ "who"         │          │         │
    └───────────────┴──────────────────────────┴───────────────┴──────────┴─────────┘

It is made and freed by all ranks of the job together; between those two the operator meets
no barrier. Signals are zero once, before the only barrier, since a peer's first signal must
not meet the zeroing.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np

import nereid
from nereid import _runtime, symm
from nereid._job import agree, memory
from nereid.ops.core import arrays
from nereid.ops.core.arrays import SIZES, kernel_dtype
from nereid.ops.core.group import Group

_LINE = 64
_TEXT = 256  # bytes of one rank's text about its call


def _round(value: int, to: int) -> int:
    return -(-value // to) * to


class Workspace:
    """`signals` words (64 bytes apart) and `payload` bytes on every member of `group`.

    Collective over the job. Ranks pass their own groups; sizes may differ between groups,
    every rank gets the largest. `text` says what is made: members of one group that
    differ in it all get a JobError.
    """

    def __init__(self, operator: str, text: str, group: Group, signals: int, payload: int):
        self.operator, self.group = operator, group
        self._agreed = 0
        n = group.size
        self._agree_at = _LINE
        self._who_at = self._agree_at + 2 * n * (_LINE + _TEXT)
        self._signals_at = self._who_at + _TEXT
        self._payload_at = _round(self._signals_at + signals * _LINE, 4096)
        self.bytes = _same_size(operator, text, group, self._payload_at + max(payload, _LINE))
        try:
            self._tensor = symm.empty(self.bytes, np.uint8, name=f"workspace of {operator}")
        except nereid.JobError as error:
            if error.code == "out of memory":
                error.args = (f"{text}: its workspace has {self.bytes} bytes on each rank: {error}",)
            raise
        self._base = self._tensor.data_ptr()
        self.payload_bytes = self.bytes - self._payload_at
        memory.fill(self._base, 0, self._payload_at)
        nereid.barrier()
        self.state = self._buffer(0, 2 * 8, "int64")
        self.signals = self._buffer(self._signals_at, max(signals, 1) * _LINE, "int64")

    def _buffer(self, offset: int, nbytes: int, dtype: str) -> Any:
        return _runtime.SymmetricBuffer(self._base + offset, nbytes, kernel_dtype(dtype))

    def payload(self, dtype: str, offset: int = 0) -> Any:
        """The payload from byte `offset` on as a kernel argument with elements of `dtype`."""
        return self._buffer(self._payload_at + offset, self.payload_bytes - offset, dtype)

    def signals_from(self, word: int) -> Any:
        """The signal words from number `word` on, as a kernel argument."""
        at = self._signals_at + word * _LINE
        return self._buffer(at, self._payload_at - at, "int64")

    def view(self, dtype: str, first: int, shape: tuple[int, ...], like: Any) -> Any:
        """Elements of the payload from element `first` on: a torch tensor when `like` is one, else a numpy array."""
        return arrays.over(self._tensor, self._base + self._payload_at + first * SIZES[dtype], shape, dtype, like)

    def fill_payload(self, byte: int) -> None:
        """Sets every byte of this rank's payload."""
        memory.fill(self._base + self._payload_at, byte, self.payload_bytes)

    @property
    def alive(self) -> bool:
        """Whether the job in which it was made goes on; a process joins a job once."""
        return nereid.is_initialized()

    @property
    def closed(self) -> bool:
        return self._tensor is None

    @property
    def calls(self) -> int:
        """How many calls this rank has ended."""
        return struct.unpack("<q", memory.read(self._base, 8))[0]

    def say(self, text: str) -> None:
        """Notes what this rank is about to call, for reports."""
        data = text.encode("utf-8", "replace")[: _TEXT - 1]
        memory.write(self._base + self._who_at, data + b"\0")

    def who(self) -> str:
        """What each member said last, and in which call it is."""
        lines = []
        for rank in self.group.ranks:
            try:
                text = memory.read(self._base + self._who_at, _TEXT, rank).split(b"\0")[0]
                calls = struct.unpack("<q", memory.read(self._base, 8, rank))[0]
            except nereid.NereidError:
                continue
            lines.append(f"  rank {rank}: {text.decode('utf-8', 'replace') or self.operator}, {calls} calls ended")
        return "\n".join(lines)

    def agree(self, text: str) -> None:
        """Raises JobError on all members unless all pass the same `text`. Collective over the
        group, by signals of the workspace: members that are not asked are not waited for."""
        group, n = self.group, self.group.size
        if n == 1:
            return
        self._agreed += 1
        data = text.encode("utf-8", "replace")[: _TEXT - 1].ljust(_TEXT, b"\0")
        place = self._agree_at + (self._agreed % 2) * n * (_LINE + _TEXT)
        for rank in group.ranks:
            mine = place + group.me * (_LINE + _TEXT)
            memory.write(self._base + mine + _LINE, data, rank)
            _runtime.signal_op(self._base + mine, self._agreed, False, 8, rank)
        said = []
        for member in range(n):
            theirs = place + member * (_LINE + _TEXT)
            _runtime.signal_wait_until(self._base + theirs, 0, self._agreed, 8, True)
            said.append(memory.read(self._base + theirs + _LINE, _TEXT).rstrip(b"\0").decode("utf-8", "replace"))
        if len(set(said)) > 1:
            raise nereid.JobError(_disagreement(f"{self.operator}: ranks disagree about this call", group.ranks, said))

    def reset(self) -> None:
        """State and signals as when the workspace was made. Collective over the job."""
        nereid.barrier()
        memory.fill(self._base, 0, self._payload_at)
        self._agreed = 0
        nereid.barrier()

    def close(self) -> None:
        """Gives the memory back. Collective over the job."""
        tensor, self._tensor = self._tensor, None
        symm.free(tensor)


def _disagreement(problem: str, ranks: Any, said: list[str]) -> str:
    by_text: dict[str, list[int]] = {}
    for rank, text in zip(ranks, said):
        by_text.setdefault(text, []).append(rank)
    parts = [f"rank{'s' if len(who) > 1 else ''} {', '.join(map(str, who))}: {text}" for text, who in by_text.items()]
    return f"{problem}: {'; '.join(parts)}"


def _same_size(operator: str, text: str, group: Group, size: int) -> int:
    """The largest size that a rank of the job asks for. JobError on all ranks when members
    of one group say different things."""
    if nereid.world_size() == 1:
        return size
    key = hashlib.sha256(repr(group.ranks).encode()).digest()[:16]
    said = agree.exchange(struct.pack("<q", size) + key + text.encode("utf-8", "replace")[:400])
    texts = [data[24:].decode("utf-8", "replace") for data in said]
    keys = [data[8:24] for data in said]
    for one in dict.fromkeys(keys):
        members = [rank for rank, other in enumerate(keys) if other == one]
        if len({texts[rank] for rank in members}) > 1:
            raise nereid.JobError(_disagreement(
                f"{operator}: ranks make different operators", members, [texts[rank] for rank in members]))
    return max(struct.unpack_from("<q", data)[0] for data in said)
