# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams: queues of launches and host operations that run in order beside the program. The queues themselves are
the runtime's."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import sys
import threading
import traceback
import weakref
from typing import Any, Callable, Iterator

from nereid import _runtime

_streams: "weakref.WeakSet[Stream]" = weakref.WeakSet()
_numbers = itertools.count()
_finishes = False


def caller() -> str:
    """The line outside the package that gave the work."""
    frame = sys._getframe(1)
    package = os.path.dirname(os.path.dirname(__file__)) + os.sep
    while frame and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


class Event(_runtime.StreamEvent):
    """A point in a stream's queue.

    ``event.record(stream)`` puts it there; it happens when all that was in the
    queue before has ended. ``wait(stream)`` makes another stream wait for it,
    ``synchronize()`` the calling thread.
    """

    def record(self, stream: "Stream | None" = None) -> "Event":
        """Into `stream`, else the current one; without any it happens at once."""
        stream = current_stream() if stream is None else stream
        if stream is None:
            self._record_now()
        else:
            stream._record(self)
        return self

    def _check_recorded(self) -> None:
        if not self._recorded():
            raise RuntimeError("the event has not been recorded: call event.record(stream) first")

    def wait(self, stream: "Stream | None" = None) -> None:
        """What `stream` (else the current one) is given from now on starts when
        the event has happened. Without a stream the calling thread waits."""
        self._check_recorded()
        stream = current_stream() if stream is None else stream
        if stream is None:
            self._synchronize()
        else:
            stream._wait(self)

    def query(self) -> bool:
        """Whether it has happened."""
        self._check_recorded()
        return self._query()

    def synchronize(self) -> None:
        """Waits until it has happened."""
        self._check_recorded()
        self._synchronize()

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to `end`; both must have happened."""
        for event in (self, end):
            if not event.query():
                raise RuntimeError("elapsed_time needs two events that have happened; synchronize them first")
        return 1e-6 * (end._nanoseconds() - self._nanoseconds())


class Stream(_runtime.StreamQueue):
    """An ordered queue of launches and host operations.

    Inside ``with stream:`` a launch, a copy, a fill or a signal of ``nereid.symm``
    is put into the queue and returns at once; a thread of the stream carries
    everything out in order. Nothing orders two streams, or a stream and the rest
    of the program, but events and ``synchronize()``.

    What goes wrong in the queue is raised by ``synchronize()``, as it would have
    been raised by the call itself; what stood behind it in the queue is dropped.

    `native` is a CUDA stream, torch's or its handle: launches go into it at once, between
    what torch has put there before and what it puts there afterwards, and neither waits for
    the host. Other operations wait for all that is in it.

        with nereid.Stream(native=torch.cuda.current_stream()):
            kernel[grid](x, y)
            z = y + 1

    Launches of one rank run one after the other, those of different streams too,
    in the order in which their turn comes. Kernels of two streams of one rank that
    wait for each other are therefore a deadlock, which is reported as one.
    """

    def __init__(self, name: str = "", native: Any = None) -> None:
        handle = getattr(native, "cuda_stream", native)
        if not (handle is None or isinstance(handle, int)):
            raise TypeError(f"native is a stream of torch's or its handle, a number, not {_runtime.describe(native)}")
        super().__init__(name or f"stream {next(_numbers)}", handle)
        self._native = native
        _streams.add(self)
        global _finishes
        if not _finishes:
            _finishes = True
            atexit.register(finish_at_exit)

    def synchronize(self) -> None:
        """Waits until the queue is empty. Raises what the first operation that
        failed raised; the stream can be used again afterwards. Ctrl-C drops the
        queue and stops the launch that is running."""
        self._synchronize()

    def query(self) -> bool:
        """Whether the queue is empty."""
        return self._pending() == 0

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
        self._call(lambda: function(*args, **kwargs), caller())

    def barrier(self) -> None:
        """A host barrier among all ranks when its turn has come. Collective: all
        ranks have it at the same place of their order of collective calls."""
        self._call(_runtime.barrier, caller())

    def __enter__(self) -> "Stream":
        # A stack: `with` may be entered again by the same or another thread.
        stack = _entered.__dict__.setdefault("stack", [])
        stack.append(_runtime.set_current_stream(self))
        return self

    def __exit__(self, *_: Any) -> None:
        _runtime.set_current_stream(_entered.stack.pop())

    def __repr__(self) -> str:
        return f"<nereid.Stream '{self.name}', {self._pending()} to do>"


_entered = threading.local()


def current_stream() -> Stream | None:
    """The stream that launches of this thread go to; None when they run at once."""
    return _runtime.current_stream()


def submit(work: Callable[[], Any]) -> None:
    """Runs `work` now, or in the current stream."""
    stream = _runtime.current_stream()
    if stream is None or (stream._eager and stream.query()):
        work()
    else:
        stream._call(work, caller())


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
    _streams.clear()
    _runtime.unsynchronized_streams.clear()
    _entered.__dict__.clear()
    _runtime.set_current_stream(None)


os.register_at_fork(after_in_child=_forget_after_fork)
