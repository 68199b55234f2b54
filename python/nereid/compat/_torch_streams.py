# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams and events of devices, as torch names them."""

from __future__ import annotations

from typing import Any

import nereid
from nereid import _runtime
from nereid.compat import _streams


class Stream:
    """A stream of the device."""

    device_index = 0
    device_type = 1

    def __init__(self, device: Any = None, priority: int = 0, _queue: _streams.Queue | None = None, **_: Any) -> None:
        self.device, self.priority = device, priority
        self._queue = _streams.Queue() if _queue is None else _queue

    @property
    def cuda_stream(self) -> int:
        """The number that stands for it."""
        return self._queue.handle

    npu_stream = stream_id = cuda_stream

    def synchronize(self) -> None:
        """Waits for all that it was given."""
        self._queue.finish()
        _settle()

    def query(self) -> bool:
        """Whether it has nothing to do."""
        return self._queue.query()

    def wait_stream(self, stream: "Stream") -> None:
        """What it is given from now on comes after what `stream` has now."""
        self._queue.follow(_streams.of(stream))

    def wait_event(self, event: "Event") -> None:
        """What it is given from now on comes after `event`."""
        event.wait(self)

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Records `event`, or a new one, and returns it."""
        event = event or Event()
        event.record(self)
        return event

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Streams have one priority, 0."""
        return 0, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other._queue is self._queue

    def __hash__(self) -> int:
        return hash(self._queue.handle)

    def __enter__(self) -> "Stream":
        self._within = Within(self)
        self._within.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        self._within.__exit__()


class Event:
    """A point in what a stream is given."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any) -> None:
        self._event = nereid.Event()

    def record(self, stream: Stream | None = None) -> None:
        """Puts it behind what `stream` (the current one) has now."""
        _streams.of(stream).mark(self._event)

    def wait(self, stream: Stream | None = None) -> None:
        """What `stream` (the current one) is given from now on comes after it."""
        _streams.of(stream).wait_for(self._event)

    def synchronize(self) -> None:
        """Waits until it has happened, if it was ever recorded."""
        if self._event._recorded():
            self._event._synchronize()

    def query(self) -> bool:
        """Whether it has happened; one that was never recorded has."""
        return not self._event._recorded() or self._event._query()

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to `end`, which both must have happened."""
        for event in (self, end):
            if not event._event._recorded():
                raise ValueError("elapsed_time: both events have to be recorded first")
        return self._event.elapsed_time(end._event)


class Within:
    """``with torch.cuda.stream(s):`` and ``with torch.cuda.device(n):``; a device has no effect."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __enter__(self) -> Any:
        if isinstance(self.value, Stream):
            self._before = _runtime.set_current_stream(self.value._queue)
        return self.value

    def __exit__(self, *_: Any) -> None:
        if isinstance(self.value, Stream):
            _runtime.set_current_stream(self._before)


def _settle() -> None:
    from nereid.compat import _torch_order

    _torch_order.end()


def current_stream(device: Any = None) -> Stream:
    """The stream that the calling thread gives its work to."""
    return Stream(_queue=_streams.current())


def default_stream(device: Any = None) -> Stream:
    """The stream that is the current one at the beginning."""
    return Stream(_queue=_streams.default)


def set_stream(stream: Stream | None) -> None:
    """Makes it the current stream of the calling thread; None: leaves things as they are."""
    if stream is not None:
        _runtime.set_current_stream(_streams.of(stream))


def synchronize(device: Any = None) -> None:
    """Waits for all streams; raises what went wrong in the first that failed."""
    nereid.synchronize()
    _streams.settle()
    _settle()


def functions() -> dict[str, Any]:
    """Names of torch.cuda."""
    return {
        "Stream": Stream, "Event": Event, "ExternalStream": lambda stream_ptr, device=None: Stream(_queue=_streams.of(stream_ptr)),
        "stream": Within, "StreamContext": Within, "current_stream": current_stream, "default_stream": default_stream,
        "set_stream": set_stream, "synchronize": synchronize,
    }
