# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For tests and measurements of kernels: ranks as child processes, comparison of
arrays, timing."""

from __future__ import annotations

import time
from typing import Any, Callable, Sequence

import numpy as np

from nereid._streams import stream as _stream
from nereid._launch.perf_report import Benchmark, Mark, perf_report
from nereid._job.spawn import RankFailure, SpawnError, run_ranks

__all__ = [
    "Benchmark",
    "Mark",
    "RankFailure",
    "SpawnError",
    "assert_close",
    "do_bench",
    "do_bench_cudagraph",
    "do_bench_npu",
    "perf_report",
    "spawn",
]


def spawn(
    fn: Callable[..., Any],
    world_size: int,
    args: Sequence[Any] = (),
    *,
    timeout: float = 120.0,
    environment: dict[str, str] | None = None,
    capture: bool = False,
) -> list[Any]:
    """Runs ``fn(*args)`` on `world_size` ranks of a new job and returns what they
    returned, by rank.

    Every rank is a process forked from this one, has joined the job when `fn`
    begins (``nereid.rank()`` tells it apart) and leaves it when `fn` returns.
    Results must be picklable. `environment` is added to the ranks' environment,
    e.g. ``{"NEREID_TIMEOUT": "5"}``. With `capture` what a rank prints, to standard
    output or standard error, appears in the error instead of among the output of
    the others; of ranks that succeed it is not shown.

    Raises SpawnError when a rank raises, dies, or has not ended after `timeout`
    seconds: the message has the rank, the reason and the traceback of each. All
    processes have ended when the function returns, however it does.
    """
    if isinstance(world_size, bool) or not isinstance(world_size, int) or world_size < 1:
        raise ValueError(f"world_size is a positive number of ranks, not {world_size!r}")
    if not callable(fn):
        raise TypeError(f"spawn takes a function, not {fn!r}")
    results, failures, timed_out = run_ranks(
        fn, world_size, args, timeout, {name: str(value) for name, value in (environment or {}).items()},
        {} if capture else None,
    )
    if failures:
        raise SpawnError(_failure_text(fn, world_size, failures, timed_out, timeout), failures, results)
    return [results[rank] for rank in range(world_size)]


def _failure_text(fn: Callable, world_size: int, failures: list[RankFailure], timed_out: bool, timeout: float) -> str:
    name = getattr(fn, "__name__", str(fn))
    ranks = ", ".join(str(failure.rank) for failure in failures)
    what = f"did not end within {timeout:g} s" if timed_out else "failed"
    lines = [f"{name} {what} on rank{'s' if len(failures) > 1 else ''} {ranks} of {world_size}"]
    told: dict[str, int] = {}
    for failure in failures:
        # The traceback repeats the reason in full.
        reason = failure.reason.partition("\n")[0] if failure.traceback else failure.reason
        lines.append(f"\n--- rank {failure.rank}: {reason}")
        if failure.traceback:
            first = told.setdefault(failure.traceback, failure.rank)
            lines.append(failure.traceback.rstrip() if first == failure.rank else f"the same as on rank {first}")
        if failure.output:
            lines.append(f"--- output of rank {failure.rank}:\n{failure.output.rstrip()}")
    return "\n".join(lines)


def _as_float64(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):  # torch
        value = value.detach()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    array = np.asarray(value)
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def assert_close(
    actual: Any, expected: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Raises AssertionError unless ``|actual - expected| <= atol + rtol * |expected|``
    everywhere and the shapes are equal.

    Both are compared in float64; NaN equals NaN, and infinities equal themselves.
    The defaults of `atol` and `rtol` fit the dtype of `actual`: a few units in the
    last place for float64, 1e-5 for float32, 1e-2 for 16-bit floats, 0 for
    integers. The message says how many elements differ, which is the worst, and
    shows the first ones.
    """
    default_atol, default_rtol = _default_tolerances(actual)
    atol = default_atol if atol is None else atol
    rtol = default_rtol if rtol is None else rtol
    got, want = _as_float64(actual), _as_float64(expected)
    prefix = f"{err_msg}: " if err_msg else ""
    if got.shape != want.shape:
        raise AssertionError(f"{prefix}the shapes differ: {got.shape} and {want.shape}")
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - want)
        allowed = atol + rtol * np.abs(want)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        bad = ~(same | (error <= allowed))
        bad |= ~same & ~np.isfinite(want)
        ratio = np.where(bad, np.where(np.isfinite(error), error - allowed, np.inf), -np.inf)
    if not bad.any():
        return
    worst = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    lines = [
        f"{prefix}{int(bad.sum())} of {bad.size} elements ({100 * bad.sum() / bad.size:.2g} %) differ by more than "
        f"atol={atol:g} + rtol={rtol:g} * |expected|",
        f"worst at {_index_text(worst)}: got {got[worst]:.9g}, expected {want[worst]:.9g}, off by {error[worst]:.3g}, "
        f"allowed {allowed[worst]:.3g}",
    ]
    for index in np.argwhere(bad)[:5]:
        at = tuple(index)
        lines.append(f"  {_index_text(at)}: got {got[at]:.9g}, expected {want[at]:.9g}, off by {error[at]:.3g}")
    if bad.sum() > 5:
        lines.append(f"  ... and {int(bad.sum()) - 5} more")
    raise AssertionError("\n".join(lines))


def _index_text(index: Sequence[int]) -> str:
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def _default_tolerances(value: Any) -> tuple[float, float]:
    name = str(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype).removeprefix("torch.")
    if name in ("float16", "bfloat16"):
        return 1e-2, 1e-2
    if name.startswith("float8"):
        return 1e-1, 1e-1
    if name == "float32":
        return 1e-5, 1e-5
    if name == "float64":
        return 1e-12, 1e-12
    return 0.0, 0.0


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> float | list[float]:
    """Time of ``fn()`` in milliseconds.

    Calls it for about `warmup` ms, then measures calls for about `rep` ms, at
    least five. `return_mode` is "min", "max", "mean", "median" or "all";
    `quantiles` gives those instead. The ``grad`` of the tensors in `grad_to_none`
    is set to None before each call. On several ranks every rank measures the same
    number of calls only if they do so by themselves: put a barrier into `fn`, and
    use ``bench_calls`` to fix the number.
    """
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode is min, max, mean, median or all, not {return_mode!r}")
    if not callable(fn):
        raise TypeError(f"do_bench takes a function without arguments, not {fn!r}")
    start = time.perf_counter()
    calls = 0
    with _stream.measuring():
        while calls == 0 or time.perf_counter() - start < warmup / 1000:
            _forget_gradients(grad_to_none)
            fn()
            calls += 1
    estimate = (time.perf_counter() - start) / calls
    return bench_calls(fn, max(5, int(rep / 1000 / max(estimate, 1e-9))), quantiles, return_mode, grad_to_none)


def _forget_gradients(tensors: Sequence[Any] | None) -> None:
    for tensor in tensors or ():
        tensor.grad = None


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> float | list[float]:
    """``do_bench`` under the name of a way to measure that needs a GPU: the CPU has
    no graphs, a launch costs what it costs."""
    return do_bench(fn, warmup=5, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def do_bench_npu(
    funcs: Callable[[], Any] | Sequence[Callable[[], Any]],
    warmup: int = 5,
    active: int = 30,
    clear_l2_cache: bool = False,
    prof_dir: str | None = None,
    keep_res: bool = False,
) -> float | list[float]:
    """Mean time in **micro**seconds of each function, over `active` calls after
    `warmup` calls; one number for one function. The other parameters belong to
    the NPU's profiler and have no effect."""
    times = []
    for fn in [funcs] if callable(funcs) else funcs:
        for _ in range(warmup):
            fn()
        times.append(1000 * bench_calls(fn, active))
    return times[0] if callable(funcs) else times


def bench_calls(
    fn: Callable[[], Any],
    calls: int,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    grad_to_none: Sequence[Any] | None = None,
) -> float | list[float]:
    """Time of ``fn()`` in milliseconds over exactly `calls` calls; see do_bench."""
    times = np.empty(calls)
    with _stream.measuring():
        for i in range(calls):
            _forget_gradients(grad_to_none)
            start = time.perf_counter()
            fn()
            times[i] = 1e3 * (time.perf_counter() - start)
    if quantiles is not None:
        values = [float(value) for value in np.quantile(times, list(quantiles))]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return times.tolist()
    return float(getattr(np, return_mode)(times))
