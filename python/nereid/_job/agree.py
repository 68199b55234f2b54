# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small agreements between the ranks of a job: everybody learns what everybody
says. Every rank makes the same calls in the same order."""

from __future__ import annotations

import hashlib
import os
import struct
from typing import Any

from nereid import _runtime
from nereid._base.errors import JobError
from nereid._job import memory

_SLOT_BYTES = 512
_slot: int | None = None  # address of this rank's slot, symmetric


def _forget_after_fork() -> None:
    global _slot
    _slot = None


os.register_at_fork(after_in_child=_forget_after_fork)


def exchange(data: bytes) -> list[bytes]:
    """What every rank has passed, by rank; at most 500 bytes each. Collective."""
    global _slot
    if len(data) > _SLOT_BYTES - 8:
        raise ValueError(f"an agreement carries at most {_SLOT_BYTES - 8} bytes, not {len(data)}")
    if _slot is None:
        _slot = _runtime.symm_allocate(_SLOT_BYTES, "agreements of all ranks", "uint8", "")
    memory.write(_slot, struct.pack("<q", len(data)) + data.ljust(_SLOT_BYTES - 8, b"\0"))
    _runtime.barrier("an agreement of all ranks: begins")
    said = []
    for rank in range(_runtime.world_size()):
        raw = memory.read(_slot, _SLOT_BYTES, rank)
        said.append(raw[8 : 8 + struct.unpack_from("<q", raw)[0]])
    _runtime.barrier("an agreement of all ranks: ends")  # all have read before anybody writes again
    return said


class Together:
    """Decisions that all ranks take alike when `collective` is set and the job has
    several ranks; otherwise each call answers for this rank alone."""

    def __init__(self, collective: bool, what: str):
        self.active = collective and _runtime.is_initialized() and _runtime.world_size() > 1
        self.what = what

    @property
    def first(self) -> bool:
        return not self.active or _runtime.rank() == 0

    def barrier(self) -> None:
        if self.active:
            _runtime.barrier()

    def maximum(self, value: float) -> float:
        if not self.active:
            return value
        return max(struct.unpack("<d", data)[0] for data in exchange(struct.pack("<d", value)))

    def common(self, number: int) -> int:
        """`number` if every rank says it, else -1."""
        if not self.active:
            return number
        said = {struct.unpack("<q", data)[0] for data in exchange(struct.pack("<q", number))}
        return number if len(said) == 1 else -1

    def same(self, value: Any, problem: str, summary: str) -> None:
        """Raises JobError on all ranks unless their `value`s have the same repr."""
        if not self.active:
            return
        digest = hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).digest()
        text = summary.encode("utf-8", "replace")[: _SLOT_BYTES - 8 - len(digest)]
        said = exchange(digest + text)
        if len({data[: len(digest)] for data in said}) > 1:
            lines = [
                f"  rank {rank}: {data[len(digest):].decode('utf-8', 'replace')}" for rank, data in enumerate(said)
            ]
            raise JobError("\n".join([problem, *lines]))
