# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rank processes for tests and notebooks (nereid.testing.spawn).

Ranks are forked from the calling process, so that any function will do, closures
and those of a notebook included. Each reports through a pipe; the parent watches
pipes and processes together, and leaves only when all of them have ended.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import selectors
import signal
import sys
import tempfile
import time
import traceback
from typing import Any, Callable, Sequence

from nereid import _runtime
from nereid._base.errors import NereidError
from nereid._job import job
from nereid._streams import stream

#: Seconds that the other ranks get to notice and report a failure by themselves.
GRACE = 10.0


class RankFailure:
    """How one rank failed: ``rank``, ``exception`` (or None when it could not be
    pickled or the process died), ``traceback`` and ``reason`` as text, ``output``
    (what it printed, when that was captured)."""

    def __init__(self, rank: int, reason: str, trace: str = "", exception: BaseException | None = None):
        self.rank = rank
        self.output = ""
        self.reason = reason
        self.traceback = trace
        self.exception = exception

    def __repr__(self) -> str:
        return f"RankFailure(rank {self.rank}: {self.reason})"


class SpawnError(NereidError, RuntimeError):
    """Ranks started by nereid.testing.spawn failed. ``failures`` lists them in the
    order in which they failed, ``results`` what the others returned by rank."""

    def __init__(self, message: str, failures: list[RankFailure], results: dict[int, Any]):
        super().__init__(message)
        self.failures = failures
        self.results = results

    @property
    def exceptions(self) -> dict[int, BaseException]:
        """The exceptions by rank, as far as they could be brought over."""
        return {failure.rank: failure.exception for failure in self.failures if failure.exception is not None}


def _portable(value: Any) -> Any:
    """`value` if it survives pickling, else None."""
    try:
        pickle.loads(pickle.dumps(value))
        return value
    except Exception:
        return None


def _capture(file) -> None:
    """All output of this process, whoever writes it, goes to `file`."""
    for number in (1, 2):
        os.dup2(file.fileno(), number)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _child(
    fn: Callable, rank: int, args: Sequence[Any], environment: dict[str, str], pipe: int, trace_file, output
) -> None:
    """Runs in the forked process; never returns."""
    code = 1
    try:
        _runtime.die_with_parent()
        if output is not None:
            _capture(output)
        os.environ.update(environment)
        # SIGUSR1 makes a rank that is stuck say where.
        faulthandler.register(signal.SIGUSR1, file=trace_file, all_threads=True, chain=False)
        try:
            job.init()
            result = fn(*args)
            message = pickle.dumps(("result", result))
            stream.synchronize()
        except BaseException as error:  # SystemExit and KeyboardInterrupt too
            # Without the frame of this function.
            inner = error.__traceback__.tb_next if error.__traceback__ else None
            trace = "".join(traceback.format_exception(type(error), error, inner or error.__traceback__))
            reason = "".join(traceback.format_exception_only(type(error), error)).strip()
            _runtime.abort(reason.splitlines()[0] if reason else type(error).__name__)
            message = pickle.dumps(("error", reason, trace, _portable(error)))
        else:
            code = 0
            job.finalize()
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(pipe, "wb") as out:
            out.write(message)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Not the parent's exit handlers: they are not this process's business.
        os._exit(code)


def _describe_exit(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = "?"
        return f"killed by signal {number} ({name})"
    return f"exited with code {os.WEXITSTATUS(status)} before its function returned"


class _Rank:
    def __init__(self, rank: int, pid: int, pipe: int, trace_file, output, memory):
        self.rank, self.pid, self.pipe, self.trace_file = rank, pid, pipe, trace_file
        self.output, self.memory = output, memory
        self.data = bytearray()
        self.status: int | None = None

    def reap(self, block: bool = False) -> None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, 0 if block else os.WNOHANG)
            if pid:
                self.status = status
                # The others wait for it: they want to tell how it ended.
                self.memory.rank_ended(self.rank, status)

    def kill(self, number: int) -> None:
        if self.status is None:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def printed(self) -> str:
        if self.output is None:
            return ""
        self.output.seek(0)
        return self.output.read().decode("utf-8", "replace")

    def stack(self) -> str:
        try:
            self.trace_file.seek(0)
            text = self.trace_file.read().decode("utf-8", "replace").strip()
            # What called spawn says nothing about the rank.
            lines, kept, skip = text.splitlines(), [], False
            for line in lines:
                if not line.startswith("  File "):
                    skip = False
                elif line.endswith(" in _child") and __file__ in line:
                    skip = True
                if not skip:
                    kept.append(line)
            return "\n".join(kept)
        except (OSError, ValueError):
            return ""


def _start(
    fn: Callable, world_size: int, args: Sequence[Any], extra: dict[str, str], capture: bool
) -> list[_Rank]:
    heap = extra.get("NEREID_HEAP_SIZE")
    memory = _runtime.JobMemory(world_size, _runtime.parse_byte_size(heap) if heap else None)
    sys.stdout.flush()
    sys.stderr.flush()
    ranks: list[_Rank] = []
    try:
        for rank in range(world_size):
            read_end, write_end = os.pipe()
            trace_file = tempfile.TemporaryFile()
            output = tempfile.TemporaryFile() if capture else None
            environment = {**extra, **dict(memory.environment(rank))}
            pid = os.fork()
            if pid == 0:
                os.close(read_end)
                for other in ranks:
                    os.close(other.pipe)
                _child(fn, rank, args, environment, write_end, trace_file, output)
            os.close(write_end)
            ranks.append(_Rank(rank, pid, read_end, trace_file, output, memory))
    except BaseException:
        for started in ranks:
            started.kill(signal.SIGKILL)
            started.reap(block=True)
        raise
    return ranks


def _parse(state: _Rank) -> tuple[Any, RankFailure | None]:
    """(result, failure) of a rank that has ended."""
    try:
        message = pickle.loads(bytes(state.data)) if state.data else None
    except Exception as error:
        return None, RankFailure(state.rank, f"its result cannot be read: {error}")
    if message is None:
        return None, RankFailure(state.rank, _describe_exit(state.status or 0))
    if message[0] == "error":
        return None, RankFailure(state.rank, message[1], message[2], message[3])
    return message[1], None


def run_ranks(
    fn: Callable, world_size: int, args: Sequence[Any], timeout: float, environment: dict[str, str],
    outputs: dict[int, str] | None = None,
) -> tuple[dict[int, Any], list[RankFailure], bool]:
    """(results by rank, failures in order, whether time ran out). What the ranks
    print is captured into `outputs`, when that is given."""
    ranks = _start(fn, world_size, args, environment, outputs is not None)
    results: dict[int, Any] = {}
    failures: list[RankFailure] = []
    deadline = time.monotonic() + timeout
    timed_out = False
    selector = selectors.DefaultSelector()
    try:
        for state in ranks:
            os.set_blocking(state.pipe, False)
            selector.register(state.pipe, selectors.EVENT_READ, state)
        pending = set(range(world_size))
        while pending:
            left = deadline - time.monotonic()
            if left <= 0:
                timed_out = not failures
                break
            for key, _ in selector.select(min(left, 0.02)):
                chunk = os.read(key.fd, 1 << 16)
                key.data.data += chunk
                if not chunk:
                    selector.unregister(key.fd)
            for rank in sorted(pending):
                state = ranks[rank]
                state.reap()
                if state.status is None:
                    continue
                # Dead: all that it wrote is in the pipe, even if a process that it
                # has started holds the other end open.
                _drain(state)
                pending.discard(rank)
                result, failure = _parse(state)
                if failure is None:
                    results[rank] = result
                else:
                    failures.append(failure)
                    deadline = min(deadline, time.monotonic() + GRACE)
        if pending:
            for rank in pending:
                ranks[rank].kill(signal.SIGUSR1)
            time.sleep(0.5)
            for rank in sorted(pending):
                state = ranks[rank]
                state.kill(signal.SIGKILL)
                state.reap(block=True)
                _drain(state)
                result, failure = _parse(state)
                if failure is None:
                    results[rank] = result
                elif failure.traceback or (failure.exception is not None):
                    failures.append(failure)
                else:
                    what = f"still running after {timeout:g} s" if timed_out else f"still running {GRACE:g} s after that"
                    failures.append(RankFailure(rank, what + "; killed", state.stack()))
    finally:
        for state in ranks:
            state.kill(signal.SIGKILL)
            state.reap(block=True)
            os.close(state.pipe)
            state.trace_file.close()
            if outputs is not None:
                outputs[state.rank] = state.printed()
                state.output.close()
        for failure in failures:
            failure.output = (outputs or {}).get(failure.rank, "")
        selector.close()
    return results, failures, timed_out


def _drain(state: _Rank) -> None:
    while True:
        try:
            chunk = os.read(state.pipe, 1 << 16)
        except BlockingIOError:
            return
        if not chunk:
            return
        state.data += chunk
