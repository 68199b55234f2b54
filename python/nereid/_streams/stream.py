# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams: queues of launches and host operations that run in order beside the program."""

from __future__ import annotations

import atexit
import collections
import contextlib
import itertools
import os
import sys
import threading
import time
import traceback
import weakref
from typing import Any, Callable, Iterator

from nereid import _runtime

# ---- who is at work
#
# While a thread of the program runs beside a launch, a kernel that waits may still get its signal from
# there: the runtime must not call it a deadlock. It may when all threads that use streams wait for them.

_account = threading.Lock()
_busy_streams = 0
_parked_streams = 0  # of the busy ones, those that wait for events
_hosts: set[int] = set()  # threads that have given work to streams
_waiting: dict[int, int] = {}  # threads that wait for streams, and how deep
_streams: "weakref.WeakSet[Stream]" = weakref.WeakSet()
_numbers = itertools.count()
_finishes = False


def _tell_runtime() -> None:
    """With _account held."""
    _runtime.set_host_busy(_busy_streams > 0 and any(host not in _waiting for host in _hosts),
                           _busy_streams - _parked_streams)


def _count_busy(change: int, host: int | None = None) -> None:
    global _busy_streams
    with _account:
        _busy_streams += change
        if host is not None:
            _hosts.add(host)
        if _busy_streams == 0:
            _hosts.clear()
        _tell_runtime()


@contextlib.contextmanager
def host_waits() -> Iterator[None]:
    """Around what makes a thread of the program wait."""
    if not _busy_streams:
        yield
        return
    me = threading.get_ident()
    with _account:
        _waiting[me] = _waiting.get(me, 0) + 1
        _tell_runtime()
    try:
        yield
    finally:
        with _account:
            _waiting[me] -= 1
            if not _waiting[me]:
                del _waiting[me]
            _tell_runtime()


class _Happening(threading.Event):
    """A recorded event. A stream that waits for it is at work again from the moment it happens, not from when
    its thread gets a core."""

    parked = 0

    def happen(self) -> None:
        global _parked_streams
        with _account:
            _parked_streams -= self.parked
            self.parked = 0
            self.set()
            _tell_runtime()

    def park(self) -> None:
        """Waits, as the thread of a stream."""
        global _parked_streams
        with _account:
            if self.is_set():
                return
            self.parked += 1
            _parked_streams += 1
            _tell_runtime()
        self.wait()


def caller() -> str:
    """The line outside the package that gave the work."""
    frame = sys._getframe(1)
    package = os.path.dirname(os.path.dirname(__file__)) + os.sep
    while frame and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


class Event:
    """A point in a stream's queue.

    ``event.record(stream)`` puts it there; it happens when all that was in the
    queue before has ended. ``wait(stream)`` makes another stream wait for it,
    ``synchronize()`` the calling thread.
    """

    def __init__(self) -> None:
        self._happened: _Happening | None = None
        self._time = 0.0

    def record(self, stream: "Stream | None" = None) -> "Event":
        """Into `stream`, else the current one; without any it happens at once."""
        happened = self._happened = _Happening()
        stream = current_stream() if stream is None else stream

        def happen() -> None:
            self._time = time.perf_counter()
            happened.happen()

        if stream is None:
            happen()
        else:
            stream._enqueue(happen, even_after_failure=True)
        return self

    def _recorded(self) -> _Happening:
        if self._happened is None:
            raise RuntimeError("the event has not been recorded: call event.record(stream) first")
        return self._happened

    def wait(self, stream: "Stream | None" = None) -> None:
        """What `stream` (else the current one) is given from now on starts when
        the event has happened. Without a stream the calling thread waits."""
        happened = self._recorded()
        stream = current_stream() if stream is None else stream
        if stream is None:
            self.synchronize()
        else:
            stream._enqueue(happened.park)

    def query(self) -> bool:
        """Whether it has happened."""
        return self._recorded().is_set()

    def synchronize(self) -> None:
        """Waits until it has happened."""
        happened = self._recorded()
        with host_waits():
            while not happened.wait(0.2):
                pass

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to `end`; both must have happened."""
        for event in (self, end):
            if not event.query():
                raise RuntimeError("elapsed_time needs two events that have happened; synchronize them first")
        return 1e3 * (end._time - self._time)


class Stream:
    """An ordered queue of launches and host operations.

    Inside ``with stream:`` a launch, a copy, a fill or a signal of ``nereid.symm``
    is put into the queue and returns at once; a thread of the stream carries
    everything out in order. Nothing orders two streams, or a stream and the rest
    of the program, but events and ``synchronize()``.

    What goes wrong in the queue is raised by ``synchronize()``, as it would have
    been raised by the call itself; what stood behind it in the queue is dropped.

    Launches of one rank run one after the other, those of different streams too,
    in the order in which their turn comes. Kernels of two streams of one rank that
    wait for each other are therefore a deadlock, which is reported as one.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name or f"stream {next(_numbers)}"
        self._changed = threading.Condition()
        self._queue: collections.deque = collections.deque()
        self._pending = 0
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        _streams.add(self)
        global _finishes
        if not _finishes:
            _finishes = True
            atexit.register(finish_at_exit)

    # -- the queue

    def _enqueue(self, work: Callable[[], Any], even_after_failure: bool = False) -> None:
        if self._process != os.getpid():
            raise RuntimeError(f"{self.name} belongs to the parent of this process; make a stream of your own")
        entry = (work, caller(), even_after_failure)
        with self._changed:
            self._queue.append(entry)
            self._pending += 1
            if self._pending == 1:
                _count_busy(1, threading.get_ident())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"nereid {self.name}", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        _runtime.be_stream_thread()
        while True:
            with self._changed:
                while not self._queue:
                    self._changed.wait()
                work, place, even_after_failure = self._queue.popleft()
                skip = self._error is not None and not even_after_failure
            error: BaseException | None = None
            if not skip:
                try:
                    work()
                except BaseException as raised:
                    error = raised
                    if hasattr(error, "add_note"):
                        error.add_note(f"given to {self.name} at {place}")
            del work
            with self._changed:
                if error is not None and self._error is None:
                    self._error = error
                self._pending -= 1
                if not self._pending:
                    _count_busy(-1)
                self._changed.notify_all()
            del error

    def _wait_until_idle(self) -> None:
        with host_waits(), self._changed:
            while self._pending:
                self._changed.wait(0.2)  # Ctrl-C gets a chance

    def _drop(self) -> None:
        with self._changed:
            dropped = [entry for entry in self._queue if not entry[2]]
            kept = [entry for entry in self._queue if entry[2]]
            self._queue = collections.deque(kept)
            self._pending -= len(dropped)
            if dropped and not self._pending:
                _count_busy(-1)
            self._changed.notify_all()

    # -- for users

    def synchronize(self) -> None:
        """Waits until the queue is empty. Raises what the first operation that
        failed raised; the stream can be used again afterwards. Ctrl-C drops the
        queue and stops the launch that is running."""
        if threading.current_thread() is self._thread:
            raise RuntimeError(f"{self.name} cannot wait for itself")
        try:
            self._wait_until_idle()
        except KeyboardInterrupt:
            self._drop()
            _runtime.interrupt_launches()
            deadline = time.monotonic() + 5
            with self._changed:
                while self._pending and time.monotonic() < deadline:
                    self._changed.wait(0.2)
                self._error = None
            raise
        with self._changed:
            error, self._error = self._error, None
        if error is not None:
            raise error

    def query(self) -> bool:
        """Whether the queue is empty."""
        with self._changed:
            return self._pending == 0

    def record(self, event: Event | None = None) -> Event:
        """Puts an event into the queue and returns it."""
        return (Event() if event is None else event).record(self)

    def wait(self, other: "Event | Stream") -> None:
        """What this stream is given from now on starts when an event has happened,
        or when all that another stream holds now has ended."""
        (other.record() if isinstance(other, Stream) else other).wait(self)

    def call(self, function: Callable, *args: Any, **kwargs: Any) -> None:
        """Calls a function of the host when its turn has come."""
        if not callable(function):
            raise TypeError(f"Stream.call takes a function, not {_runtime.describe(function)}")
        self._enqueue(lambda: function(*args, **kwargs))

    def barrier(self) -> None:
        """A host barrier among all ranks when its turn has come. Collective: all
        ranks have it at the same place of their order of collective calls."""
        self._enqueue(_runtime.barrier)

    def __enter__(self) -> "Stream":
        # A stack: `with` may be entered again by the same or another thread.
        stack = _entered.__dict__.setdefault("stack", [])
        stack.append(_runtime.set_current_stream(self))
        return self

    def __exit__(self, *_: Any) -> None:
        _runtime.set_current_stream(_entered.stack.pop())

    def __repr__(self) -> str:
        return f"<nereid.Stream '{self.name}', {self._pending} to do>"


_entered = threading.local()


def current_stream() -> Stream | None:
    """The stream that launches of this thread go to; None when they run at once."""
    return _runtime.current_stream()


def submit(work: Callable[[], Any]) -> None:
    """Runs `work` now, or in the current stream."""
    stream = _runtime.current_stream()
    if stream is None:
        work()
    else:
        stream._enqueue(work)


@contextlib.contextmanager
def outside_streams() -> Iterator[None]:
    """Launches run at once here, also inside ``with stream:``."""
    before = _runtime.set_current_stream(None)
    try:
        yield
    finally:
        _runtime.set_current_stream(before)


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Launches run at once here, after what the current stream holds: a clock
    around a launch that only goes into a queue would measure nothing."""
    stream = _runtime.current_stream()
    if stream is not None:
        stream.synchronize()
    with outside_streams():
        yield


def synchronize() -> None:
    """Waits for all streams of this process; raises the first error of any."""
    for stream in list(_streams):
        stream.synchronize()


def finish_at_exit() -> None:
    """What is left in queues is done; errors that nobody has asked for are shown
    and make the exit code 1 where it would be 0."""
    for stream in list(_streams):
        try:
            stream.synchronize()
        except BaseException as error:
            reason = "".join(traceback.format_exception_only(type(error), error)).strip()
            _runtime.abort(reason.splitlines()[0] if reason else type(error).__name__)
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            _runtime.fail_at_exit()
            sys.stderr.write(f"error in {stream.name}, which was not synchronized:\n{text}")


def _forget_after_fork() -> None:
    global _busy_streams, _parked_streams, _account
    _account = threading.Lock()
    _busy_streams = _parked_streams = 0
    _hosts.clear()
    _waiting.clear()
    _streams.clear()
    _entered.__dict__.clear()
    _runtime.set_current_stream(None)


os.register_at_fork(after_in_child=_forget_after_fork)
