# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model labels small programs as the language does: each row is one, with what it must find.

p0, p1, p2 are programs of ranks 0, 1, 2; p0b is another program of rank 0; h0 is the host of rank 0. x@1 is x on
rank 1. A row without a cause is clean.
"""

from __future__ import annotations


from pathlib import Path

import pytest

from model import Model

ROOT = Path(__file__).resolve().parents[2]
A, B, G = "p0", "p1", "p2"


def relayed(order: str):
    def program(m: Model) -> None:
        m.put(A, "x@1"), getattr(m, order)(A), m.signal(A, "f@2", to=2)
        m.wait(G, "f@2"), m.notify(G, "g@1", to=1), m.wait(B, "g@1"), m.load(B, "x@1")
    return program


def by_another(knows: bool):
    def program(m: Model) -> None:
        m.put("p0", "x@1")
        m.thread("p0b")
        if knows:
            m.barrier(["p0", "p0b"], completes=False)
        m.fence("p0b"), m.signal("p0b", "f"), m.wait(B, "f"), m.load(B, "x@1")
    return program


def ring(slots: int):
    def program(m: Model) -> None:
        for turn in range(3):
            m.store(A, f"s{turn % slots}"), m.barrier([A, B]), m.load(B, f"s{turn % slots}")
    return program


def pipeline(acknowledged: bool):
    def program(m: Model) -> None:
        for turn in range(4):
            if turn >= 2 and acknowledged:
                m.wait(A, f"k{turn - 2}")
            m.put(A, f"s{turn % 2}"), m.fence(A), m.signal(A, f"f{turn}")
            m.wait(B, f"f{turn}"), m.load(B, f"s{turn % 2}"), m.signal(B, f"k{turn}", to=0)
    return program


def counter(op: str, then: str):
    """Two writers, one counter: the second update joins the first one's message, or replaces it."""
    def program(m: Model) -> None:
        m.store(A, "x@1"), m.notify(A, "c", op=op)
        m.signal(G, "c", op=then)
        m.wait(B, "c"), m.load(B, "x@1")
    return program


def written(text: str):
    """A program as text: calls of Model by semicolons, as "put p0 x@1; signal p0 f to=2"."""
    def program(m: Model) -> None:
        for call in filter(None, (part.strip() for part in text.split(";"))):
            words = call.split()
            named = {k: (int(v) if v.lstrip("-").isdigit() else v == "yes" if v in ("yes", "no") else v)
                     for k, v in (w.split("=", 1) for w in words[1:] if "=" in w)}
            plain = [w for w in words[1:] if "=" not in w]
            if words[0] == "barrier":
                m.barrier(plain, **named)
            elif words[0] == "launch":
                m.launch(plain[0], plain[1:])
            elif words[0] == "end":
                m.end(plain[:-1], plain[-1])
            else:
                getattr(m, words[0])(*plain, **named)
    return program


def rows() -> list[tuple[str, str | None, object, dict]]:
    """name, cause of the race or None, program, options of the model"""
    out: list[tuple[str, str | None, object, dict]] = []

    def row(name: str, cause: str | None, text: str, **options) -> None:
        out.append((name, cause, written(text), options))

    # A: buffers of the caller
    row("A01 put_nbi, load source", None, "put p0 x@1 s nbi=yes; load p0 s")
    row("A02 put_nbi, store source", "race", "put p0 x@1 s nbi=yes; store p0 s")
    row("A03 put_nbi, quiet, store source", None, "put p0 x@1 s nbi=yes; quiet p0; store p0 s")
    row("A04 put, store source", None, "put p0 x@1 s; store p0 s")
    row("A05 two put_nbi of one source", None, "put p0 x@1 s nbi=yes; put p0 y@1 s nbi=yes")
    row("A06 put_nbi from s, get_nbi into s", "race", "put p0 x@1 s nbi=yes; get_nbi p0 s z@1")
    row("A07 put_signal_nbi, store source", "race", "put_signal p0 x@1 f s nbi=yes; store p0 s")
    row("A08 put_signal_nbi, load source", None, "put_signal p0 x@1 f s nbi=yes; load p0 s")
    row("A09 put_signal, store source", None, "put_signal p0 x@1 f s; store p0 s")
    row("A10 get_nbi, load target", "race", "get_nbi p0 t x@1; load p0 t")
    row("A11 get_nbi, store target", "race", "get_nbi p0 t x@1; store p0 t")
    row("A12 get_nbi, fence, load target", "race", "get_nbi p0 t x@1; fence p0; load p0 t")
    row("A13 get_nbi, quiet, load target", None, "get_nbi p0 t x@1; quiet p0; load p0 t")
    row("A14 get_nbi into t, put from t", "race", "get_nbi p0 t x@1; put p0 y@1 t")
    row("A15 two get_nbi into one target", "race", "get_nbi p0 t x@1; get_nbi p0 t x@1")
    row("A16 get, load", None, "get p0 t x@1; load p0 t")
    row("A17 source stored by another program after a program barrier", "race",
        "thread p0b; put p0 x@1 s nbi=yes; barrier p0 p0b completes=no; store p0b s")
    row("A18 source stored after the receiver's acknowledgement", None,
        "put_signal p0 x@1 f s nbi=yes; wait p1 f; load p1 x@1; notify p1 g scope=intra to=0; wait p0 g; store p0 s")
    row("A18 acknowledged by signal_op", None,
        "put_signal p0 x@1 f s nbi=yes; wait p1 f; load p1 x@1; signal p1 g to=0; wait p0 g; store p0 s")
    row("A19 launch ends, host barrier, store in the next", None,
        "thread h0; thread h1; launch h0 p0; put p0 x@1 s nbi=yes; end p0 h0; barrier h0 h1; launch h0 p0c; store p0c s")
    row("A20 the same without a barrier", "race",
        "thread h0; launch h0 p0; put p0 x@1 s nbi=yes; end p0 h0; launch h0 p0c; store p0c s")

    # B: the other side, nothing in between
    row("B01 put, load", "race", "put p0 x@1; load p1 x@1")
    row("B02 put, store", "race", "put p0 x@1; store p1 x@1")
    row("B03 put, put of another rank", "race", "put p0 x@1; put p2 x@1")
    row("B04 put, get of a third", "race", "put p0 x@1; get p2 t x@1")
    row("B05 put, fetching atomic", "race", "put p0 x@1; g p1 x@1")
    row("B06 p, load", "race", "signal p0 x@1; load p1 x@1")
    row("B07 p, p", None, "signal p0 x@1; signal p2 x@1")
    row("B08 g, p", None, "g p2 x@1; signal p0 x@1")
    row("B10 g, store", "race", "g p2 x@1; store p1 x@1")
    row("B11 get, load", None, "get p0 t x@1; load p1 x@1")
    row("B12 get, get", None, "get p0 t x@1; get p2 u x@1")
    row("B13 get, store", "race", "get p0 t x@1; store p1 x@1")
    row("B14 notify, load", "race", "notify p0 f; load p1 f")
    row("B15 notify, volatile load", None, "notify p0 f; volatile p1 f")
    row("B16 atomic, load", "race", "atomic p0 c; load p1 c")
    row("B17 atomic, store", "race", "atomic p0 c; store p1 c")
    row("B18 atomic, atomic", None, "atomic p0 c; atomic p1 c")
    row("B19 data of put_signal, store", "race", "put_signal p0 x@1 f; store p1 x@1")
    row("B20 remote store, load", "race", "store p0 x@1; load p1 x@1")
    row("B21 two remote stores", "race", "store p0 x@1; store p2 x@1")
    row("B22 neighbours", None, "put p0 x@1; load p1 y@1")

    # C: one program
    row("C01 put, load", "race", "put p0 x@1; load p0 x@1")
    row("C02 put, quiet, load", None, "put p0 x@1; quiet p0; load p0 x@1")
    row("C03 two puts to one place", "race", "put p0 x@1; put p0 x@1")
    row("C04 with a fence", None, "put p0 x@1; fence p0; put p0 x@1")
    row("C05 put, get", "race", "put p0 x@1; get p0 t x@1")
    row("C06 put to the own rank, load", "race", "put p0 x@0 to=0; load p0 x@0")
    row("C07 store, load", None, "store p0 x@1; load p0 x@1")

    # D: message passing
    for scope in ("gpu", "intra", "inter"):
        row(f"D01 store, notify {scope}", None, f"store p0 x@1; notify p0 f scope={scope}; wait p1 f; load p1 x@1")
    row("D04 store, signal_op", "race", "store p0 x@1; signal p0 f; wait p1 f; load p1 x@1")
    row("D05 store, fence, signal_op", None, "store p0 x@1; fence p0; signal p0 f; wait p1 f; load p1 x@1")
    row("D06 put, notify inter", "race", "put p0 x@1; notify p0 f scope=inter; wait p1 f; load p1 x@1")
    row("D07 put, notify intra", None, "put p0 x@1; notify p0 f scope=intra; wait p1 f; load p1 x@1")
    row("D08 put, fence, signal_op", None, "put p0 x@1; fence p0; signal p0 f; wait p1 f; load p1 x@1")
    row("D08 put, signal_op", "race", "put p0 x@1; signal p0 f; wait p1 f; load p1 x@1")
    row("D09 put, quiet, signal_op", None, "put p0 x@1; quiet p0; signal p0 f; wait p1 f; load p1 x@1")
    row("D10 put_signal", None, "put_signal p0 x@1 f; wait p1 f; load p1 x@1")
    row("D11 put z, put_signal x, read z", "race",
        "put p0 z@1; put_signal p0 x@1 f; wait p1 f; load p1 x@1; load p1 z@1")
    row("D12 with a fence", None, "put p0 z@1; fence p0; put_signal p0 x@1 f; wait p1 f; load p1 x@1; load p1 z@1")
    out.append(("D13 fence, signal over a third rank", "race", relayed("fence"), {}))
    out.append(("D13 under ascend910b", None, relayed("fence"), {"fence_completes": True}))
    out.append(("D14 quiet, signal over a third rank", None, relayed("quiet"), {}))
    row("D15 notify before the store", "race", "notify p0 f scope=gpu; store p0 x@1; wait p1 f; load p1 x@1")
    row("D16 wait after the load", "race", "store p0 x@1; load p1 x@1; notify p0 f; wait p1 f")
    row("D17 wait for another flag", "race", "store p0 x@1; notify p0 f; notify p2 g; wait p1 g; load p1 x@1")
    row("D18 relay by wait and notify", None,
        "store p0 x@1; notify p0 f scope=gpu to=2; wait p2 f; notify p2 g scope=gpu; wait p1 g; load p1 x@1")
    row("D19 relay by signal_op", "race",
        "store p0 x@1; notify p0 f scope=gpu to=2; wait p2 f; signal p2 g; wait p1 g; load p1 x@1")
    out.append(("D20 fenced by a program that does not know", "race", by_another(False), {}))
    out.append(("D21 by one that does", None, by_another(True), {}))

    # E: the way back
    row("E01 acknowledged by notify", None, "load p1 x@1; notify p1 g to=0; wait p0 g; store p0 x@1")
    row("E02 by signal_op", None, "load p1 x@1; signal p1 g to=0; wait p0 g; store p0 x@1")
    row("E02 by signal_op, then a put", None, "load p1 x@1; signal p1 g to=0; wait p0 g; put p0 x@1")
    row("E03 before the load", "race", "signal p1 g to=0; wait p0 g; load p1 x@1; store p0 x@1")
    row("E04 not at all", "race", "store p0 x@1; notify p0 f; wait p1 f; load p1 x@1; store p0 x@1")
    out.append(("E05 two slots, a barrier each turn", None, ring(2), {}))
    out.append(("E06 one slot, a barrier each turn", "race", ring(1), {}))
    out.append(("E07 two slots, acknowledged two turns later", None, pipeline(True), {}))
    out.append(("E07 two slots, not acknowledged", "race", pipeline(False), {}))
    row("E08 relaxed poll by the writer", "race", "load p1 x@1; signal p1 g to=0; volatile p0 g; store p0 x@1")
    row("E09 get, signal_op", None, "get p1 t x@0; signal p1 g to=0; wait p0 g; store p0 x@0")
    row("E10 get_nbi, signal_op", "race", "get_nbi p1 t x@0 to=0; signal p1 g to=0; wait p0 g; store p0 x@0")

    # F: tokens
    send = "store p0 x@1; notify p0 f; wait p1 f slot=w; "
    row("F01 consumed by the pointer", None, send + "load p1 x@1 token=w")
    row("F02 by another pointer", "token", send + "load p1 x@1 token=none")
    row("F03 one of two tokens", None,
        "store p0 x@1; notify p0 f; store p0 y@1; notify p0 g; wait p1 f slot=v; wait p1 g slot=w; load p1 y@1 token=w")
    row("F03 the other one", "token",
        "store p0 x@1; notify p0 f; store p0 y@1; notify p0 g; wait p1 f slot=v; wait p1 g slot=w; load p1 y@1 token=v")
    row("F08 store after the wait", None, send + "store p1 x@1")
    row("F09 signal_wait_until needs no token", None, "store p0 x@1; notify p0 f; wait p1 f; load p1 x@1 token=none")

    for name, call in (("F10 a quiet", "quiet p1"), ("F11 another wait that orders all", "signal p2 h; wait p1 h"),
                       ("F12 an atomic that acquires", "atomic p1 c sem=acquire op=read"), ("F13 a barrier", "barrier p1 p2")):
        row(name + " stays behind the wait, what follows behind it", None, send + call + "; load p1 x@1 token=none")
    for name, call in (("F14 a fence", "fence p1"), ("F15 a relaxed atomic", "atomic p1 c sem=relaxed op=read"),
                       ("F16 another wait with a token", "signal p2 h; wait p1 h slot=v")):
        row(name + " orders no loads", "token", send + call + "; load p1 x@1 token=none")

    # G: scopes and semantics of atomics
    data = "store p0 x@1; "
    row("G01 release, acquire", None, data + "atomic p0 c sem=release; atomic p1 c sem=acquire op=read; load p1 x@1")
    row("G02 relaxed add", "race", data + "atomic p0 c sem=relaxed; atomic p1 c sem=acquire op=read; load p1 x@1")
    row("G03 relaxed poll", "race", data + "atomic p0 c sem=release; atomic p1 c sem=relaxed op=read; load p1 x@1")
    row("G04 scope gpu between ranks", None,
        data + "atomic p0 c sem=release scope=gpu; atomic p1 c sem=acquire op=read; load p1 x@1")
    row("G04 under cuda", "race+scope",
        data + "atomic p0 c sem=release scope=gpu; atomic p1 c sem=acquire op=read; load p1 x@1", strict_scopes=True)
    row("G05 scope cta between programs", "race+scope",
        "thread p0b; store p0 x@0; atomic p0 c sem=release scope=cta; atomic p0b c sem=acquire op=read; load p0b x@0")
    row("G07 gpu releases, sys acquires in one rank", None,
        "thread p0b; store p0 x@0; atomic p0 c sem=release scope=gpu; atomic p0b c sem=acquire op=read; load p0b x@0",
        strict_scopes=True)
    row("G08 a failed compare-and-swap that acquires", None,
        data + "atomic p0 c sem=release; atomic p1 c sem=acq_rel op=read; load p1 x@1")
    row("G09 a chain of exchanges", None,
        data + "atomic p0 c sem=release; atomic p2 c op=xchg sem=relaxed; atomic p1 c sem=acquire op=read; load p1 x@1")
    out.append(("G10 relaxed add inside a chain", None, counter("add", "add"), {}))
    out.append(("G11 a set inside", "race", counter("add", "set"), {}))
    row("G12 one counter, scopes gpu and sys", "scope", "atomic p0 c scope=gpu; atomic p1 c", strict_scopes=True)

    # H: values of signals
    both = "store p0 x@1; notify p0 c op=add; store p2 y@1; notify p2 c op=add; "
    row("H01 two adders, == 2", None, both + "wait p1 c value=2; load p1 x@1; load p1 y@1")
    row("H02 two adders, >= 1", "race", both + "wait p1 c value=1 compare=>=; load p1 y@1")
    row("H03 two adders, >= 2", None, both + "wait p1 c value=2 compare=>=; load p1 x@1; load p1 y@1")
    row("H04 two equal sets, what comes before both", None,
        "store p0 x@1; notify p0 g to=2; wait p2 g; notify p0 f; notify p2 f; wait p1 f value=1; load p1 x@1")
    row("H04 what comes before the second alone", "race",
        "notify p0 f; store p2 y@1; notify p2 f; wait p1 f value=1; load p1 y@1")

    row("H09 the receiver resets by a store, then acknowledges", None,
        "signal p0 f; wait p1 f; store p1 f; notify p1 g to=0; wait p0 g; signal p0 f; wait p1 f")
    row("H09 two turns, with data", None,
        "put p0 x@1; fence p0; signal p0 f; wait p1 f value=1; load p1 x@1; store p1 f; notify p1 g to=0; "
        "wait p0 g value=1; put p0 x@1; fence p0; signal p0 f; wait p1 f value=1; load p1 x@1")
    row("H10 acknowledges, then resets", "race",
        "signal p0 f; wait p1 f; notify p1 g to=0; wait p0 g; signal p0 f; store p1 f")
    row("H11 a put over the own signal", "race", "signal p0 f; put p0 f")
    row("H11 with a fence", None, "signal p0 f; fence p0; put p0 f")

    # I: meetings
    row("I01 store, barrier_all, load", None, "store p0 x@1; barrier p0 p1; load p1 x@1")
    row("I02 put, barrier_all, load", None, "put p0 x@1; barrier p0 p1; load p1 x@1")
    row("I03 put, sync_all, load", "race", "put p0 x@1; barrier p0 p1 completes=no; load p1 x@1")
    row("I04 put, quiet, sync_all, load", None, "put p0 x@1; quiet p0; barrier p0 p1 completes=no; load p1 x@1")
    row("I05 a team without the writer", "race", "store p0 x@1; barrier p1 p2; load p1 x@1")
    row("I07 only one program of the rank is in the barrier", "race",
        "thread p0b; store p0b x@1; barrier p0 p1; load p1 x@1")

    # J: fence and quiet
    row("J01 quiet_pe of another rank", "race", "put p0 x@1; quiet p0 to=2; signal p0 f; wait p1 f; load p1 x@1")
    row("J02 fence_pe of another rank", "race", "put p0 x@1; fence p0 to=2; signal p0 f; wait p1 f; load p1 x@1")
    row("J03 fence before the put", "race", "fence p0; put p0 x@1; signal p0 f; wait p1 f; load p1 x@1")
    row("J04 fence after the signal", "race", "put p0 x@1; signal p0 f; fence p0; wait p1 f; load p1 x@1")
    row("J07 fence for get_nbi", "race", "get_nbi p0 t x@1; fence p0; load p0 t")
    row("J08 fence, store source", "race", "put p0 x@1 s nbi=yes; fence p0; store p0 s")
    row("J08 under ascend910b", None, "put p0 x@1 s nbi=yes; fence p0; store p0 s", fence_completes=True)

    # K: hosts
    row("K03 launches of two ranks, a barrier between", None,
        "thread h0; thread h1; launch h0 p0; store p0 x@1; end p0 h0; barrier h0 h1; launch h1 p1; load p1 x@1")
    row("K04 without", "race",
        "thread h0; thread h1; launch h0 p0; store p0 x@1; end p0 h0; launch h1 p1; load p1 x@1")

    # L: widths
    row("L02 4 and 8 bytes of one word", "width", "signal p0 c width=4; signal p2 c width=8")

    # chains
    row("X1 fence, put_signal to another rank", "race",
        "put p0 x@1; fence p0; put_signal p0 y@2 f to=2; wait p2 f; signal p2 g; wait p1 g; load p1 x@1")
    row("X2 what is complete is complete for all", None,
        "put p0 x@1; quiet p0; notify p0 f scope=gpu to=2; wait p2 f; signal p2 g; wait p1 g; load p1 x@1")
    row("X3 store, quiet, signal_op", None, "store p0 x@1; quiet p0; signal p0 f; wait p1 f; load p1 x@1")
    row("X4 own put, quiet, next put", None, "put p0 x@1; quiet p0; put p0 x@1")
    row("X5 stored over by who has seen it", None, "put_signal p0 x@1 f; wait p1 f; store p1 x@1")
    row("X6 put again after an acknowledgement", None,
        "put_signal p0 x@1 f; wait p1 f; load p1 x@1; signal p1 g to=0; wait p0 g; "
        "put_signal p0 x@1 h; wait p1 h; load p1 x@1")
    row("X7 put again without", "race",
        "put_signal p0 x@1 f; wait p1 f; load p1 x@1; put_signal p0 x@1 h")
    row("X8 two adders with data of their own", None,
        "put_signal p0 x@1 c op=add; put_signal p2 y@1 c op=add; wait p1 c; load p1 x@1; load p1 y@1")
    row("X9 two setters, data of the first", "race",
        "put_signal p0 x@1 c; put_signal p2 y@1 c; wait p1 c; load p1 x@1")
    return out


ROWS = rows()

#: The litmus tests of docs/memory-model.md: whether the model finds a race. It does where the outcome that the
#: table calls weak concerns data; words that only signals change have an order of their own.
LITMUS = {
    "message passing by a store and notify": (False, "store p0 x@1; notify p0 y scope=intra; wait p1 y; load p1 x@1"),
    "message passing by a store and notify across nodes' scope":
        (False, "store p0 x@1; notify p0 y; wait p1 y; load p1 x@1"),
    "put, fence, signal_op": (False, "put p0 x@1; fence p0; signal p0 y; wait p1 y; load p1 x@1"),
    "put, quiet, signal_op": (False, "put p0 x@1; quiet p0; signal p0 y; wait p1 y; load p1 x@1"),
    "put, signal_op without fence": (True, "put p0 x@1; signal p0 y; wait p1 y; load p1 x@1"),
    "put, notify inter_node without fence": (True, "put p0 x@1; notify p0 y; wait p1 y; load p1 x@1"),
    "put, notify intra_node": (False, "put p0 x@1; notify p0 y scope=intra; wait p1 y; load p1 x@1"),
    "fence orders for each rank by itself":
        (True, "put p0 x@1; fence p0; signal p0 y to=2; wait p2 y; signal p2 z; wait p1 z; load p1 x@1"),
    "quiet orders for all ranks":
        (False, "put p0 x@1; quiet p0; signal p0 y to=2; wait p2 y; signal p2 z; wait p1 z; load p1 x@1"),
    "put_signal brings its own data": (False, "put_signal p0 x@1 y; wait p1 y; load p1 x@1"),
    "put_signal does not bring an earlier put":
        (True, "put p0 z@1; put_signal p0 x@1 y; wait p1 y; load p1 x@1; load p1 z@1"),
    "store buffering by p (SB)": (False, "signal p0 x; g p0 y; signal p1 y to=0; g p1 x"),
    "store buffering with quiet": (False, "signal p0 x; quiet p0; g p0 y; signal p1 y to=0; quiet p1; g p1 x"),
    "store buffering with barrier_all": (False, "signal p0 x; signal p1 y to=0; barrier p0 p1; g p0 y; g p1 x"),
    "sync_all does not complete puts":
        (False, "signal p0 x; signal p1 y to=0; barrier p0 p1 completes=no; g p0 y; g p1 x"),
    "independent reads of independent writes, each word at one place (IRIW)":
        (False, "signal p0 x to=0; signal p1 y; g p2 x; g p2 y; g p3 y; g p3 x"),
    "independent reads of independent writes, put to each reader":
        (False, "signal p0 x2 to=2; signal p0 x3 to=3; signal p1 y2 to=2; signal p1 y3 to=3; g p2 x2; g p2 y2; "
                "g p3 y3; g p3 x3"),
    "the source of a put is free when it returns":
        (False, "put p0 x@1 s; store p0 s; fence p0; signal p0 y; wait p1 y; load p1 x@1"),
    "the source of put_nbi is changed before quiet":
        (True, "put p0 x@1 s nbi=yes; store p0 s; quiet p0; signal p0 y; wait p1 y; load p1 x@1"),
    "the source of put_nbi is changed after quiet":
        (False, "put p0 x@1 s nbi=yes; quiet p0; store p0 s; signal p0 y; wait p1 y; load p1 x@1"),
    "the target of get_nbi is read before quiet": (True, "get_nbi p0 t x@1; load p0 t; quiet p0; load p0 t"),
    "fence does not complete get_nbi": (True, "get_nbi p0 t x@1; fence p0; load p0 t"),
    "two puts to one place": (True, "put p0 x@1; put p0 x@1; quiet p0; signal p0 y; wait p1 y; load p1 x@1"),
    "two puts to one place with fence":
        (False, "put p0 x@1; fence p0; put p0 x@1; quiet p0; signal p0 y; wait p1 y; load p1 x@1"),
    "coherence: one word is never read backwards (CoRR)":
        (False, "signal p0 x; fence p0; signal p0 x value=2; volatile p1 x; volatile p1 x"),
}


@pytest.mark.parametrize("name", LITMUS)
def test_litmus(name):
    races, text = LITMUS[name]
    model = Model()
    written(text)(model)
    assert bool(model.races) == races, model.races


def test_litmus_tests_are_those_of_the_memory_model():
    text = (ROOT / "docs" / "memory-model.md").read_text(encoding="utf-8")
    table = text[text.index("| test | rank 0 |"):].split("\n\n", 1)[0]
    names = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert sorted(names) == sorted(LITMUS)


@pytest.mark.parametrize("name, cause, program, options", ROWS, ids=[row[0] for row in ROWS])
def test_row(name, cause, program, options):
    model = Model(**options)
    for thread in (A, B, G):
        model.thread(thread)
    program(model)
    assert {race.cause for race in model.races} == (set(cause.split("+")) if cause else set()), model.races


def test_every_family_has_both_sides():
    sides: dict[str, set[bool]] = {}
    for name, cause, _, _ in ROWS:
        sides.setdefault(name[0], set()).add(cause is not None)
    assert all(both == {True, False} for family, both in sides.items() if family != "L"), sides
