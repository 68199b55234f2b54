# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each code of the check means, with a program that has it and what mends it.

The lines of an example that begin with ``-`` are wrong, those with ``+`` mend it, as in a diff; each runs on two
ranks as ``PRELUDE``, the example, ``run()``. tests/races/test_codes.py runs both: the wrong one must be reported with
its code, the mended one must be clean.
"""

from __future__ import annotations

import dataclasses
import textwrap

PRELUDE = """\
import numpy as np
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem, symm
"""


@dataclasses.dataclass(frozen=True)
class Code:
    code: str
    title: str
    cause: str
    example: str

    def _lines(self, keep: str) -> str:
        return "".join(f"{line[1:]}\n" for line in self.example.splitlines() if line[:1] in (" ", "", keep))

    def wrong(self) -> str:
        return PRELUDE + self._lines("-")

    def mended(self) -> str:
        return PRELUDE + self._lines("+")

    def text(self) -> str:
        cause = textwrap.fill(self.cause, 100)
        example = "\n".join("  " + line for line in self.example.strip("\n").splitlines())
        return f"{self.code}: {self.title}\n\n{cause}\n\nAn example (-: wrong, +: mended):\n\n{example}\n"


def _kernel(body: str, run: str) -> str:
    """A kernel of one program and the code that launches it; the first character of each line is its mark."""
    def indented(text: str) -> str:
        return "".join(f"{line[:1] or ' '}    {line[1:]}".rstrip() + "\n" for line in text.strip("\n").splitlines())
    return (" @nereid.jit\n def kernel(data, flag, out, N: tl.constexpr):\n"
            "     me, offs = dl.rank(), tl.arange(0, N)\n" + indented(body) +
            "\n def run():\n"
            "     data, flag = symm.zeros(256, dtype=\"float32\"), symm.zeros(1, dtype=\"int64\")\n"
            "     out = np.zeros(256, np.float32)\n" + indented(run))


_LAUNCH = " kernel[(1,)](data, flag, out, 64)\n"

_ROWS = [
    ("NRD-0001", "a rank reads what another rank writes, and nothing orders the two",
     "The reader may see the old value, the new one, or some of both. A write is ordered before a read by a signal "
     "that the writer sends after it and the reader waits for, or by a barrier.",
     _kernel("""
 if me == 0:
     tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))
+    dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")
 else:
+    data = dl.consume_token(data, dl.wait(flag, 1, "sys", "acquire", waitValue=1))
     tl.store(out + offs, tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0002", "a rank overwrites what another rank may still read",
     "Nothing tells the writer that the reader is done. One buffer with a barrier in each turn is not enough: the "
     "writer of the next turn comes after the barrier, and so does the reader of this one. Two buffers in turn, or an "
     "acknowledgement, order the two.",
     _kernel("""
 for turn in range(2):
-    slot = 0
+    slot = turn * N
     tl.store(dl.symm_at(data, 1 - me) + slot + offs, offs.to(tl.float32))
     shmem.barrier_all()
     tl.store(out + offs, tl.load(data + slot + offs))
""", _LAUNCH)),
    ("NRD-0003", "two ranks write the same bytes, and nothing orders the two",
     "Either value may stay, or some of both. Give each rank a part of its own, or let one wait for the other.",
     _kernel("""
-tl.store(dl.symm_at(data, 0) + offs, offs.to(tl.float32))
+tl.store(dl.symm_at(data, 0) + me * N + offs, offs.to(tl.float32))
""", _LAUNCH)),
    ("NRD-0004", "a signal tells of data that need not be there",
     "`signal_op`, `putmem_signal` and `notify` between nodes are transfers of their own: they may overtake earlier "
     "puts and stores. On one node they hardly ever do, so the mistake shows only between machines. `fence()` keeps "
     "transfers to one rank in their order, `quiet()` completes them; `putmem_signal` brings its own data first.",
     _kernel("""
 if me == 0:
     shmem.putmem(data, data, N * 4, 1)
+    shmem.fence()
     shmem.signal_op(flag, 1, shmem.NVSHMEM_SIGNAL_SET, 1)
 else:
     shmem.signal_wait_until(flag, shmem.NVSHMEM_CMP_EQ, 1)
     tl.store(out + offs, tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0005", "two programs of one rank touch the same bytes, and nothing orders the two",
     "Programs of a launch run in any order and side by side. Tiles that overlap, a result that is taken from another "
     "program, a buffer that all programs use: give each program a part of its own, or order them by a counter that "
     "each releases and acquires.",
     _kernel("""
-tl.store(out + offs, offs.to(tl.float32))
+tl.store(out + tl.program_id(0) * N + offs, offs.to(tl.float32))
""", " kernel[(2,)](data, flag, out, 64)\n")),
    ("NRD-0006", "a word that others signal, or change by atomic operations, is used like data",
     "A plain load or store of the word is not ordered by the word itself. Wait for it (`dl.wait`, "
     "`signal_wait_until`), look at it with `volatile=True` or an atomic operation, or order the access by a barrier.",
     _kernel("""
 if me == 0:
     dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")
 else:
-    tl.store(out, tl.load(flag).to(tl.float32))
+    tl.store(out, tl.load(flag, volatile=True).to(tl.float32))
""", _LAUNCH)),
    ("NRD-0007", "host code and a kernel, or two launches, touch the same bytes and nothing orders them",
     "Hosts of different ranks are ordered by barriers, host signals and collectives of Nereid, and by nothing else "
     "that the check can see. A launch that returns says nothing to other ranks.",
     _kernel("""
 tl.store(dl.symm_at(data, 1 - me) + offs, offs.to(tl.float32))
""", _LAUNCH + """\
+nereid.barrier()
 symm.get(data, nereid.rank())
""")),
    ("NRD-0008", "two atomic operations on one word do not reach each other",
     "A scope says which threads an atomic operation is atomic for: cta the program, gpu the rank, sys all. Under the "
     "profile cuda an operation of scope gpu does not reach other ranks.",
     _kernel("""
-tl.atomic_add(flag, 1, scope="cta")
+tl.atomic_add(flag, 1, scope="gpu")
""", " kernel[(2,)](data, flag, out, 64)\n")),
    ("NRD-0009", "an atomic operation tells of data, but releases nothing",
     "Who acquires a word that was changed by a relaxed operation, or by one that only acquires, learns nothing of "
     "what its program did before. Use `sem=\"release\"`, or the default, which does both.",
     _kernel("""
 if me == 0:
     tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))
-    tl.atomic_xchg(dl.symm_at(flag, 1), 1, sem="relaxed", scope="sys")
+    tl.atomic_xchg(dl.symm_at(flag, 1), 1, sem="release", scope="sys")
 else:
     while tl.atomic_add(flag, 0, sem="acquire", scope="sys") != 1:
         pass
     tl.store(out + offs, tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0010", "signals or atomic operations of different widths on one word",
     "Only operations of one width on an aligned word are atomic for each other. Use one type for the word everywhere.",
     _kernel("""
 if me == 0:
     dl.notify(flag, 1, signal=1, sig_op="add", comm_scope="intra_node")
 else:
-    tl.atomic_add(flag.to(tl.pointer_type(tl.int32)), 1, scope="sys")
+    tl.atomic_add(flag, 1, scope="sys")
""", _LAUNCH)),
    ("NRD-0011", "a load that a wait would order does not depend on its token",
     "A compiler may move a load before a wait unless its address depends on the wait's token. Here the token was "
     "never consumed by the pointer, or by another one only.",
     _kernel("""
 if me == 0:
     tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))
     dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")
 else:
     token = dl.wait(flag, 1, "sys", "acquire", waitValue=1)
     out = dl.consume_token(out, token)
     before = tl.load(out + offs)
+    data = dl.consume_token(data, token)
     tl.store(out + offs, before + tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0014", "a word is looked at without acquire, and what it tells of is then used",
     "A volatile load, `g`, and an atomic operation that does not acquire see the word and nothing else: what comes "
     "after them may have been done before. Wait with `dl.wait` or `signal_wait_until`, or use `sem=\"acquire\"`.",
     _kernel("""
 if me == 0:
     tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))
     tl.atomic_xchg(dl.symm_at(flag, 1), 1, sem="release", scope="sys")
 else:
-    while tl.atomic_add(flag, 0, sem="relaxed", scope="sys") != 1:
+    while tl.atomic_add(flag, 0, sem="acquire", scope="sys") != 1:
         pass
     tl.store(out + offs, tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0020", "host code resets a word while others may signal it or wait for it",
     "The signal may come before the reset, which wipes it out, or after it. A barrier behind the reset says that "
     "all words are ready for the next round, one before it that all signals of this one have been used.",
     _kernel("""
 shmem.signal_op(flag, 1, shmem.NVSHMEM_SIGNAL_SET, 1 - me)
 shmem.signal_wait_until(flag, shmem.NVSHMEM_CMP_EQ, 1)
""", """\
 flag.fill_(0)
+nereid.barrier()
""" + _LAUNCH)),
    ("NRD-0030", "the target of a put is used before the put is complete",
     "Who has asked for a put knows nothing of its arrival before a `quiet()`, not even when it goes to the own rank.",
     _kernel("""
 shmem.putmem(data, data + N, N * 4, me)
+shmem.quiet()
 tl.store(out + offs, tl.load(data + offs))
""", _LAUNCH)),
    ("NRD-0031", "the source of a put that is under way is changed",
     "`putmem_nbi` and `putmem_signal_nbi` may read their source until the next `quiet()`. A fence is not enough.",
     _kernel("""
 shmem.putmem_nbi(data, data + N, N * 4, 1 - me)
+shmem.quiet()
 tl.store(data + N + offs, offs.to(tl.float32))
""", _LAUNCH)),
    ("NRD-0032", "the target of a get is used before the get is complete",
     "`getmem_nbi` may write its target until the next `quiet()`. A fence does not complete it.",
     _kernel("""
 shmem.getmem_nbi(data + N, data, N * 4, 1 - me)
+shmem.quiet()
 tl.store(out + offs, tl.load(data + N + offs))
""", _LAUNCH)),
    ("NRD-0033", "two transfers to the same bytes come in any order",
     "Transfers of one program to one rank overtake each other unless a `fence()` stands between them.",
     _kernel("""
 shmem.putmem(data, data + N, N * 4, 1 - me)
+shmem.fence()
 shmem.putmem(data, data + 2 * N, N * 4, 1 - me)
""", _LAUNCH)),
    ("NRD-0050", "a wait that never ends",
     "The job came to an end while a program waited: nobody signals the word, the value that is waited for has been "
     "passed, or the signal went to another rank or another word. The report says which, with the line of the signal.",
     _kernel("""
-dl.notify(flag, me, signal=1, sig_op="set", comm_scope="intra_node")
+dl.notify(flag, 1 - me, signal=1, sig_op="set", comm_scope="intra_node")
-out = dl.consume_token(out, dl.wait(flag, 1, "sys", "acquire", waitValue=2))
+out = dl.consume_token(out, dl.wait(flag, 1, "sys", "acquire", waitValue=1))
 tl.store(out + offs, offs.to(tl.float32))
""", _LAUNCH)),
]

CODES: dict[str, Code] = {row[0]: Code(*row) for row in _ROWS}


def find(name: str) -> Code | None:
    """NRD-0004, nrd-0004, 0004, 4."""
    digits = name.upper().removeprefix("NRD-")
    return CODES.get(f"NRD-{int(digits):04}") if digits.isdecimal() else None
