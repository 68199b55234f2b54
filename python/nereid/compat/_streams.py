# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams of devices for scripts that have been written for one: a launch returns at once,
and what is given to a stream is done in the order in which it was given.

The current stream of the main thread is the default stream. A kernel that cannot wait for
others runs where it is launched while no stream has anything to do: nobody can see the
difference. One that may wait goes into the queue, so that a script can launch a consumer
before its producer, and whatever is launched after it waits for its turn, in other streams, too,
since launches of one rank run one after the other:

* launches, and waits for events and for values of words, go into the queue, too;
* work of the host (copies, writes of words, operations of torch) waits until the stream
  has come to it, and is done by the calling thread. ``on_pending`` is called when a stream has got
  something to do, so that those who know of such work begin to look at it (_torch_order.py).
"""

from __future__ import annotations

import itertools
import os
import weakref
from typing import Any, Callable

import nereid
from nereid import _runtime

#: Called when a stream has got something to do.
on_pending: Callable[[], None] | None = None

_handles = itertools.count(1)
_by_handle: "weakref.WeakValueDictionary[int, Queue]" = weakref.WeakValueDictionary()


class Queue(nereid.Stream):
    """A stream of a device."""

    def __init__(self, name: str = "", handle: int | None = None) -> None:
        super().__init__(name)
        self._eager = not anything_pending()
        self._tells = True
        #: What stands for it in calls that take a number.
        self.handle = next(_handles) if handle is None else handle
        _by_handle[self.handle] = self

    def given(self) -> None:
        """It has got something to do: launches go into queues from now on."""
        for queue in list(_by_handle.values()):
            queue._eager = False
        if on_pending is not None:
            on_pending()

    def finish(self) -> None:
        """Returns when all that it was given has ended; raises what went wrong."""
        if self._pending() or self in _runtime.unsynchronized_streams:
            self.synchronize()
        settle()

    def wait_for(self, event: nereid.Event) -> None:
        """What it is given from now on comes after `event`."""
        if event._recorded() and not event._query():
            self._wait(event)
            self.given()

    def mark(self, event: nereid.Event) -> None:
        """`event` happens when all that it was given until now has ended."""
        if self._pending():
            self._record(event)
        else:
            event._record_now()

    def follow(self, other: "Queue") -> None:
        """What it is given from now on comes after what `other` has now."""
        if other is not self and other._pending():
            event = nereid.Event()
            other._record(event)
            self.wait_for(event)

    def later(self, function: Callable[[], None]) -> None:
        """Calls `function`, which only waits, when its turn has come."""
        self.given()
        self.call(function)


def anything_pending() -> bool:
    """Whether any stream has something to do."""
    return any(queue._pending() for queue in list(_by_handle.values()))


default = Queue("the default stream", 0)


def begin() -> None:
    """The calling thread's launches go to the default stream."""
    if _runtime.current_stream() is None:
        _runtime.set_current_stream(default)


def current() -> Queue:
    """The stream that the calling thread gives its work to."""
    stream = _runtime.current_stream()
    return stream if isinstance(stream, Queue) else default


def of(stream: Any) -> Queue:
    """The stream that a call means: by a number, an object that has one, or None (the current one)."""
    if stream is None:
        return current()
    for name in ("cuda_stream", "npu_stream", "value"):
        stream = getattr(stream, name, stream)
    if isinstance(stream, Queue):
        return stream
    found = _by_handle.get(int(stream))
    if found is None:
        raise ValueError(f"there is no stream {int(stream):#x} any more, or never was")
    return found


def settle() -> None:
    """Launches run at once from now on, if no stream has anything to do."""
    if not default._eager and not anything_pending():
        for queue in list(_by_handle.values()):
            queue._eager = True


def _renew_after_fork() -> None:
    global default
    default = Queue("the default stream", 0)


os.register_at_fork(after_in_child=_renew_after_fork)
