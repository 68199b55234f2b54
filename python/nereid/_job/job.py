# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joining a job, its ranks, host barriers."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import traceback
from typing import Any

from nereid import _runtime
from nereid._streams import stream as _stream
from nereid._base.errors import JobError
from nereid._base import targets as _targets
from nereid.language import target_info
from nereid.language._device import usable_in_kernels

_hooks_installed = False


def _on_uncaught(previous):
    def hook(kind, value, trace):
        # Tell the other ranks why this one will not come: their waits end with
        # this text instead of with a dead process.
        reason = "".join(traceback.format_exception_only(kind, value)).strip()
        _runtime.abort(reason.splitlines()[0] if reason else kind.__name__)
        if previous is not sys.__excepthook__ or _runtime.environment_world_size() == 1:
            previous(kind, value, trace)
            return
        text = "".join(traceback.format_exception(kind, value, trace))
        try:
            sys.stderr.flush()
            me = _runtime.rank()
            first = _runtime.claim_text(text)
            if first != me:
                text = f"the same {kind.__name__} as on rank {first}, from the same line\n"
            # In one piece: other ranks print at the same time.
            data = f"rank {me}:{' ' if first != me else chr(10)}{text}".encode("utf-8", "backslashreplace")
            while data:
                data = data[os.write(sys.stderr.fileno(), data):]
        except (OSError, ValueError, AttributeError, JobError):
            previous(kind, value, trace)

    return hook


def _install_hooks() -> None:
    global _hooks_installed
    if not _hooks_installed:
        _hooks_installed = True
        # The outer function is not Python's: no Ctrl-C can come between.
        sys.excepthook = functools.partial(_runtime.report_uncaught, _on_uncaught(sys.excepthook))
        atexit.register(_finalize_at_exit)


def _finalize_at_exit() -> None:
    _stream.finish_at_exit()
    try:
        _runtime.finalize()
    except Exception:  # the job has failed: that has been reported where it happened
        pass


def _byte_size(size: int | str | None) -> int | None:
    return _runtime.parse_byte_size(size) if isinstance(size, str) else size


def init(
    *,
    target: str | None = None,
    heap_size: int | str | None = None,
    timeout: float | None = None,
    init_timeout: float | None = None,
    num_threads: int | None = None,
    profile: str | None = None,
    schedule: str | None = None,
    ranks_per_node: int | None = None,
) -> None:
    """Joins the job that this process was started for, as one of its ranks.

    Collective: returns when all ranks have joined. The job is found in the
    environment (``nereid run``, torchrun, Open MPI, PMI, Slurm); without one it is
    a world of one rank. Calling it again does nothing.

    Args:
      target: where kernels run, "cpu" or "cuda" (NEREID_TARGET, ``nereid run --target``): also
        where symmetric memory lies. The same on all ranks.
      heap_size: bytes of each rank's symmetric heap, or text such as "2G"
        (NEREID_HEAP_SIZE). The same on all ranks.
      timeout: seconds without progress of the job after which waiting fails
        (NEREID_TIMEOUT); 0 = never.
      init_timeout: seconds to wait for the other ranks (NEREID_INIT_TIMEOUT).
      num_threads: threads that run this rank's programs (NEREID_NUM_THREADS).
      profile: by which machine's rules kernels are written, "host", "cuda" or "ascend910b" (NEREID_PROFILE).
      schedule: "fifo" or "random:SEED" (NEREID_SCHEDULE). The same on all ranks.
      ranks_per_node: ranks that share a node (NEREID_RANKS_PER_NODE), 0 = all.
        Kernels reach other nodes by put, get and signals only. The same on all
        ranks.

    Raises JobError when the ranks do not find each other or disagree.
    """
    if target is not None:
        _choose_target(target)
    joined = _runtime.init(
        heap_bytes=_byte_size(heap_size),
        timeout=timeout,
        init_timeout=init_timeout,
        num_threads=num_threads,
        profile=profile or _default_profile(),
        schedule=schedule,
        ranks_per_node=ranks_per_node,
    )
    if joined:
        _install_hooks()


def _choose_target(name: str) -> None:
    _targets.find(name)
    if _runtime.is_initialized() and name != _targets.active():
        raise ValueError(
            f"nereid.init(target={name!r}): this rank has joined its job for the target {_targets.active()}; pass "
            "target= to the first call, or set NEREID_TARGET"
        )
    _targets.choose(name)
    target_info._name = name


def _default_profile() -> str | None:
    """Of the target; None when NEREID_PROFILE decides."""
    return None if os.environ.get("NEREID_PROFILE") else _targets.find(_targets.active())["default_profile"]


def is_initialized() -> bool:
    """Whether this process is a rank of a job (which finalize() ends)."""
    return _runtime.is_initialized()


def finalize() -> None:
    """Leaves the job in good order. Not a barrier; also done when the process
    exits."""
    _runtime.finalize()


@usable_in_kernels("dl", "rank")
def rank() -> int:
    """Number of this rank in the job, from 0. Kernels may call it as well: it is
    ``dl.rank``."""
    return _runtime.rank()


@usable_in_kernels("dl", "num_ranks")
def world_size() -> int:
    """Number of ranks in the job. Kernels may call it as well: it is
    ``dl.num_ranks``."""
    return _runtime.world_size()


#: The name that kernels have for it.
num_ranks = world_size

_runtime.set_call_site(_stream.caller)


def barrier() -> None:
    """Waits for all ranks; what they wrote before is visible after. Collective.
    Waits for no stream: see ``Stream.barrier`` and ``synchronize``."""
    _runtime.barrier()


def recover() -> None:
    """Forgets a failure (a deadlock, a bad rank) that every rank has seen, so that
    the job can go on. Collective. A dead rank does not come back."""
    _runtime.recover()


def job_info() -> dict[str, Any]:
    """What is known of the job: rank, world_size, heap_base (address of rank 0's heap in this process),
    heap_bytes, heap_bytes_used, num_threads, programs (of a launch that run side by side: threads, or multiprocessors of a GPU), device
    ("cpu", "cuda"), timeout (seconds), profile, sub_vec_num."""
    return _runtime.job_info()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_runtime.forget_job_after_fork)
