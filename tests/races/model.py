# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens before what, as an executable model: the rules of docs/memory-model.md, run over lists of events.

Slow and simple on purpose: full clocks, one cell for each named place, one order of events. It decides what a
race is for the tests; whatever checks programs for real has to agree with it.

A *thread* is a program of a rank, or its host. Its *step* grows with each operation that others can learn of.
What a thread knows:

    C        accesses of other threads that come before what it does next: thread -> (w, r), all of its accesses
             up to step w, its reads up to step r
    T[q]     transfers to rank q that are known to be complete: thread -> step; T['*']: to any rank
    One      single transfers known to be complete: the data of a put with a signal
    F[q]     what C was at its last fence or quiet for q: what its next signal to q tells
    K[slot]  what the wait of that slot has taken over: loads have it when they depend on its token

A transfer (what a put, a get_nbi, a signal does at the other rank) is an event of its own: being asked for is
known from C, being complete only from T and One. Reality is never asked: a transfer that has long been carried
out, but of which nothing says so, is not complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class Clock(dict):
    """thread -> (steps known with writes, steps known of reads)."""

    def join(self, other: dict) -> "Clock":
        for thread, (w, r) in other.items():
            a, b = self.get(thread, (0, 0))
            self[thread] = (max(a, w), max(b, r))
        return self


def join_transfers(into: dict, other: dict) -> None:
    for rank, clock in other.items():
        into.setdefault(rank, Clock()).join(clock)


@dataclass
class Message:
    """What an update of a word tells those who acquire it."""
    C: Clock = field(default_factory=Clock)
    T: dict = field(default_factory=dict)
    One: set = field(default_factory=set)

    def join(self, other: "Message") -> None:
        self.C.join(other.C)
        join_transfers(self.T, other.T)
        self.One |= other.One


@dataclass(eq=False)
class Access:
    thread: str
    step: int
    write: bool
    #: None: made by the thread itself, complete. Otherwise the rank that the transfer goes to.
    to: int | None = None
    get: bool = False
    atomic: bool = False
    volatile: bool = False
    transfer: int = 0
    width: int = 0
    sem: str = ""
    scope: str = "sys"


@dataclass(eq=False)
class Update:
    """One change of a word."""
    value: int
    message: Message
    access: Access
    scope: str


class Thread:
    def __init__(self, name: str, rank: int) -> None:
        self.name, self.rank, self.step = name, rank, 1
        self.C, self.T, self.One, self.F = Clock(), {}, set(), {}
        self.K: dict[str, Message] = {}
        #: Words: the number of the update that its last wait on the word took.
        self.taken: dict[str, int] = {}

    def now(self) -> Clock:
        clock = Clock(self.C)
        clock[self.name] = (self.step, self.step)
        return clock


@dataclass(frozen=True)
class Race:
    place: str
    first: str
    second: str
    kind: str  # "rw": first reads, second writes
    cause: str = "race"


#: What a scope reaches: the program itself, its rank, everybody.
SCOPES = ("cta", "gpu", "sys")


class Model:
    """`fence_completes`: as under the profile ascend910b. `strict_scopes`: an atomic of scope gpu makes no edge
    between ranks, as under the profile cuda."""

    def __init__(self, fence_completes: bool = False, strict_scopes: bool = False) -> None:
        self.fence_completes, self.strict_scopes = fence_completes, strict_scopes
        self.threads: dict[str, Thread] = {}
        self.cells: dict[str, tuple[Access | None, list[Access]]] = {}
        self.words: dict[str, list[Update]] = {}
        self.races: list[Race] = []
        self.transfers = 0

    # -- who knows what ------------------------------------------------------------------------------------

    def thread(self, name: str, rank: int | None = None) -> Thread:
        """`name` is p or h, the rank's digit, and anything: p1, p1b, h0."""
        if name not in self.threads:
            self.threads[name] = Thread(name, int(name[1]) if rank is None else rank)
        return self.threads[name]

    def own(self, clock: Clock, rank: int) -> Clock:
        """Nobody's fence, quiet or notify completes another rank's transfers."""
        return Clock({name: known for name, known in clock.items() if self.threads[name].rank == rank})

    def covers(self, t: Thread, a: Access, b: Access, tokens: frozenset | None) -> bool:
        """Whether `a` comes before `b`, an access of `t` that is made now."""
        C, T, One = t.C, t.T, t.One
        if t.K:
            # Stores, signals and transfers stay behind every wait; a load behind those whose token it has.
            used = t.K.values() if tokens is None or b.write or b.to is not None else \
                [m for slot, m in t.K.items() if slot in tokens]
            all_of = Message(Clock(C), {q: Clock(c) for q, c in T.items()}, set(One))
            for message in used:
                all_of.join(message)
            C, T, One = all_of.C, all_of.T, all_of.One
        if a.transfer and (a.transfer in One or (a.transfer == b.transfer and b.to is not None)):
            return True
        if a.to is None:
            if a.thread == t.name:
                return True
            w, r = C.get(a.thread, (0, 0))
            return (w if a.write else r) >= a.step
        if any(T.get(q, {}).get(a.thread, (0, 0))[0] >= a.step for q in (a.to, "*")):
            return True
        # What fence means: transfers to one rank in its order.
        fenced = any(t.F.get(q, {}).get(a.thread, (0, 0))[0] >= a.step for q in (a.to, "*"))
        return b.to == a.to and not b.get and b.write and not a.get and fenced

    def reaches(self, scope: str, one: Thread, other: Thread) -> bool:
        if scope == "cta":
            return one is other or one.name.rstrip("+") == other.name.rstrip("+")
        return one.rank == other.rank if scope == "gpu" and self.strict_scopes else True

    def access(self, t: Thread, place: str, write: bool, tokens: frozenset | None = None, **more) -> Access:
        me = Access(t.name, t.step, write, **more)
        last, readers = self.cells.get(place, (None, []))
        for other in [last, *(readers if write else [])]:
            if other is None or self.agree(other, me) or self.covers(t, other, me, tokens):
                continue
            cause = "race"
            if tokens is not None and self.covers(t, other, me, None):
                cause = "token"
            elif other.atomic and me.atomic:
                cause = "width" if other.width != me.width else "scope"
            self.races.append(Race(place, other.thread, t.name, "rw"[other.write] + "rw"[write], cause))
        self.cells[place] = (me, []) if write else (last, [*readers, me])
        return me

    def agree(self, a: Access, b: Access) -> bool:
        """Two that never race, since signals and atomics on one word are ordered by the word itself."""
        if (a.volatile and b.atomic) or (a.atomic and b.volatile):
            return True
        if not (a.atomic and b.atomic) or a.width != b.width:
            return False
        one, other = self.threads[a.thread], self.threads[b.thread]
        return self.reaches(a.scope, one, other) and self.reaches(b.scope, other, one)

    # -- plain accesses ------------------------------------------------------------------------------------

    def load(self, name: str, place: str, token: str | None = "*") -> None:
        """`token`: the slots of waits that its address depends on, by commas; "*" all of them."""
        tokens = None if token == "*" else frozenset((token or "").split(","))
        self.access(self.thread(name), place, write=False, tokens=tokens)

    def store(self, name: str, place: str) -> None:
        self.access(self.thread(name), place, write=True)

    def volatile(self, name: str, place: str) -> None:
        """A look at a word without acquire."""
        self.access(self.thread(name), place, write=False, volatile=True)

    # -- transfers -----------------------------------------------------------------------------------------

    def put(self, name: str, place: str, source: str | None = None, to: int = 1, nbi: bool = False) -> int:
        t = self.thread(name)
        self.transfers += 1
        number = self.transfers
        if source:
            self.access(t, source, write=False, to=to if nbi else None, transfer=number)
        self.access(t, place, write=True, to=to, transfer=number)
        return number

    def get(self, name: str, place: str, source: str) -> None:
        t = self.thread(name)
        self.access(t, source, write=False)
        self.access(t, place, write=True)

    def get_nbi(self, name: str, place: str, source: str, to: int = 1) -> None:
        t = self.thread(name)
        self.transfers += 1
        self.access(t, source, write=False, to=to, get=True, transfer=self.transfers)
        self.access(t, place, write=True, to=to, get=True, transfer=self.transfers)

    def g(self, name: str, place: str) -> None:
        self.access(self.thread(name), place, write=False, atomic=True, width=4)

    def fence(self, name: str, to: int | str = "*") -> None:
        if self.fence_completes:
            return self.quiet(name, to)
        t = self.thread(name)
        t.F[to] = t.now()
        t.step += 1

    def use_tokens(self, t: Thread) -> None:
        """What comes next stays behind an operation that itself stays behind every wait."""
        for slot in list(t.K):
            self.acquire(t, t.K.pop(slot))

    def quiet(self, name: str, to: int | str = "*") -> None:
        t = self.thread(name)
        self.use_tokens(t)
        t.T.setdefault(to, Clock()).join(self.own(t.now(), t.rank))
        t.F[to] = t.now()
        t.step += 1

    # -- words ---------------------------------------------------------------------------------------------

    def tell(self, t: Thread, to: int, releases: bool, with_transfers: bool) -> Message:
        """What an update tells. One that does not release passes on what a fence has gathered, that the own
        loads before it are done, and what is complete: that is so for everybody."""
        message = Message(One=set(t.One))
        message.C[t.name] = (0, t.step)
        join_transfers(message.T, t.T)
        for q in ("*", to):
            fenced = t.F.get(q, Clock())
            message.C.join(fenced)
            message.T.setdefault(to, Clock()).join(self.own(fenced, t.rank))
        for taken in t.K.values():
            join_transfers(message.T, taken.T)
            message.One |= taken.One
        if releases:
            message.C.join(t.now())
            for taken in t.K.values():
                message.C.join(taken.C)
        if with_transfers:
            message.T[to].join(self.own(t.now(), t.rank))
        return message

    def change(self, name: str, word: str, message: Message, op: str, value: int, width: int = 4,
               scope: str = "sys", to: int | None = None) -> None:
        """`to`: the rank that the signal goes to; None for an atomic, which is done at once. Who has seen an
        update knows that it is over."""
        t = self.thread(name)
        self.transfers += 1
        message.One.add(self.transfers)
        updates = self.words.setdefault(word, [])
        before = updates[-1].value if updates else 0
        if op != "set" and updates:
            message.join(updates[-1].message)
        access = self.access(t, word, write=True, atomic=True, width=width, scope=scope, to=to,
                             transfer=self.transfers)
        updates.append(Update(before + value if op == "add" else value, message, access, scope))
        t.step += 1

    def notify(self, name: str, word: str, scope: str = "inter", to: int = 1, op: str = "set",
               value: int = 1, width: int = 4) -> None:
        self.change(name, word, self.tell(self.thread(name), to, True, scope != "inter"), op, value, width,
                    to=to)

    def signal(self, name: str, word: str, to: int = 1, op: str = "set", value: int = 1, width: int = 4) -> None:
        """signal_op, p, a remote atomic without result."""
        self.change(name, word, self.tell(self.thread(name), to, False, False), op, value, width, to=to)

    def put_signal(self, name: str, place: str, word: str, source: str | None = None, to: int = 1,
                   nbi: bool = False, op: str = "set", value: int = 1) -> None:
        number = self.put(name, place, source, to, nbi)
        message = self.tell(self.thread(name), to, False, False)
        message.One.add(number)
        self.change(name, word, message, op, value, to=to)

    def atomic(self, name: str, word: str, sem: str = "acq_rel", scope: str = "sys", op: str = "add",
               value: int = 1, to: int = 1) -> None:
        """tl.atomic_*, that changes the word (op "set", "add") or fails to (op "read")."""
        t = self.thread(name)
        updates = self.words.setdefault(word, [])
        if sem in ("acquire", "acq_rel"):
            self.use_tokens(t)
        if sem in ("acquire", "acq_rel") and updates:
            last = updates[-1]
            writer = self.threads[last.access.thread]
            if last.access.width == 4 and self.reaches(scope, t, writer) and self.reaches(last.scope, writer, t):
                self.acquire(t, last.message)
        if op == "read":
            self.access(t, word, write=False, atomic=True, width=4, scope=scope)
            return
        message = self.tell(t, to, sem in ("release", "acq_rel"), False)
        # An exchange reads too: it keeps the chain.
        self.change(name, word, message, "add" if op in ("add", "xchg") else op, value, scope=scope)

    def acquire(self, t: Thread, message: Message, slot: str | None = None) -> None:
        if slot is not None:
            t.K.setdefault(slot, Message()).join(message)
            return
        t.C.join(message.C)
        join_transfers(t.T, message.T)
        t.One |= message.One

    def wait(self, name: str, word: str, value: int | None = None, compare: str = "==",
             slot: str | None = None, width: int = 4) -> None:
        """Takes over what the earliest update tells that could have ended the wait: some order of events lets
        the waiting thread look right there. `value` None: whatever the last one was."""
        t = self.thread(name)
        self.access(t, word, write=False, atomic=True, width=width)
        if slot is None:
            self.use_tokens(t)
        updates = self.words.get(word, [])
        holds = {"==": lambda v: v == value, ">=": lambda v: v >= value, "!=": lambda v: v != value}[compare]
        start = t.taken.get(word, 0)
        # One that is known to have been followed by another cannot be seen any more.
        for i in range(start, len(updates) - 1):
            if self.covers(t, updates[i + 1].access, Access(t.name, t.step, False), None):
                start = i + 1
        # One that it knows already has nothing to tell, and may have been reset since by a store.
        me = Access(t.name, t.step, False)
        fitting = [i for i in range(start, len(updates)) if value is None or holds(updates[i].value)
                   and not (slot is None and self.covers(t, updates[i].access, me, None))]
        if not fitting:
            return  # the value from before all updates
        chosen = fitting[-1] if value is None else fitting[0]
        t.taken[word] = chosen
        self.acquire(t, updates[chosen].message, slot)

    # -- meetings ------------------------------------------------------------------------------------------

    def barrier(self, names: list[str], completes: bool = True) -> None:
        """barrier_all, barrier of a team, host barrier; sync_all with completes=False."""
        threads = [self.thread(name) for name in names]
        everything = Message()
        for t in threads:
            everything.join(Message(t.now(), t.T, t.One))
            for taken in t.K.values():
                everything.join(taken)
        if completes:
            for rank in {t.rank for t in threads}:
                everything.T.setdefault("*", Clock()).join(self.own(everything.C, rank))
        for t in threads:
            t.C, t.One = Clock(everything.C), set(everything.One)
            t.T = {q: Clock(clock) for q, clock in everything.T.items()}
            t.F, t.K = {"*": Clock(everything.C)}, {}
            t.step += 1

    def launch(self, host: str, programs: list[str]) -> None:
        for name in programs:
            self.acquire(self.thread(name), Message(self.thread(host).now(), self.thread(host).T, self.thread(host).One))
        self.thread(host).step += 1

    def end(self, programs: list[str], host: str) -> None:
        for name in programs:
            t = self.thread(name)
            self.acquire(self.thread(host), Message(t.now(), t.T, t.One))
            t.step += 1
