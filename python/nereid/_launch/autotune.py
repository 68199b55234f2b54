# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``@nereid.autotune`` and ``@nereid.heuristics``: values of constexpr parameters
that are found by measuring, or computed from the other arguments.

Both wrap a jit function (or each other) and launch it with more keywords. Tuning, for a key
that has no choice yet:

    prune -> compile all -> the ranks agree that they tune the same -> a result on disk? -> measure
    -> the smallest median -> undo what measuring has left -> the launch that was asked for

A kernel that communicates must be launched by all ranks alike, or they wait for each other. So
everything that decides how many launches are made is agreed on first (``_agree.Together``): the
key, the configurations, which of them compile, whether a stored result counts, and the estimate
from which the number of repetitions follows (a ``do_bench`` that is given decides for itself). Each
time is the slowest rank's, so that all choose the same. Kernels that do not communicate are tuned
by each rank for itself.

Configurations that differ only in options without a meaning on this target are the same code and
are measured once."""

from __future__ import annotations

import builtins
import contextlib
import difflib
import inspect
import time
import warnings
from typing import Any, Callable, Iterable, Sequence

from nereid import _runtime
from nereid._job import agree as _agree
from nereid._kernels import cache as _cache
from nereid._base import environment as _environment
from nereid._streams import stream as _stream
from nereid._base.errors import CompilationError, OutOfResources
from nereid._base import targets as _targets
from nereid._launch.jit import JITFunction
from nereid._launch.tensors import copy_of, overwrite, zero

_OPTION_FIELDS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")


class Config:
    """One choice for ``@autotune``: values of constexpr parameters and of launch
    options.

    ``kwargs`` maps names of parameters (or launch options) to values. The other
    fields are launch options, which are passed along with every launch and have no effect on targets without them.
    ``pre_hook`` is called with the dict of all arguments before this choice is
    compiled, and before each launch with it.
    """

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], None] | None = None,
        ir_override: str | None = None,
        **options: Any,
    ):
        if not isinstance(kwargs, dict) or not all(isinstance(name, str) for name in kwargs):
            raise TypeError(f"nereid.Config takes a dict from names to values, not {_runtime.describe(kwargs)}")
        if pre_hook is not None and not callable(pre_hook):
            raise TypeError(f"nereid.Config: pre_hook is a function of the arguments, not {pre_hook!r}")
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.ir_override = ir_override
        self.pre_hook = pre_hook
        self.options = options

    def all_kwargs(self) -> dict[str, Any]:
        """Every keyword that a launch with this choice gets."""
        fields = {name: getattr(self, name) for name in _OPTION_FIELDS}
        named = {name: value for name, value in {**fields, **self.options}.items() if value is not None}
        return {**self.kwargs, **{name: value for name, value in named.items() if name not in self.kwargs}}

    def _same_code(self, parameters: set[str]) -> tuple:
        """Equal for choices that cannot run differently here: they differ in
        options that have no meaning on this target."""
        target = _targets.active()
        relevant = {
            name: value for name, value in self.all_kwargs().items()
            if name in parameters or _targets.option(target, name) is not None
        }
        return tuple(sorted((name, repr(value)) for name, value in relevant.items())), id(self.pre_hook)

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Config)
            and self.all_kwargs() == other.all_kwargs()
            and self.pre_hook is other.pre_hook
        )

    def __hash__(self) -> int:
        return hash((tuple(sorted((name, repr(value)) for name, value in self.all_kwargs().items())), self.pre_hook))

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __repr__(self) -> str:
        return f"Config({self})"


@contextlib.contextmanager
def _calling(what: str, kernel: str, arguments: Iterable[str]):
    """Says in a note of an exception which function of the user's it came out of."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "add_note"):
            error.add_note(f"in {what} of kernel {kernel}; the arguments are {', '.join(arguments)}")
        raise


class Launcher:
    """What wraps a jit function and launches it: ``wrapper[grid](...)``, ``run``,
    ``warmup``. Other attributes are those of the function inside."""

    def __init__(self, fn: Any, decorator: str):
        if not isinstance(fn, (JITFunction, Launcher)):
            hint = "; put @nereid.jit below it" if inspect.isfunction(fn) else ""
            raise TypeError(f"@nereid.{decorator} takes a jit function, not {_runtime.describe(fn)}{hint}")
        self.fn = fn
        self.jit_function: JITFunction = fn if isinstance(fn, JITFunction) else fn.jit_function
        self.base_fn = self.jit_function.fn
        self.arg_names: list[str] = self.jit_function.arg_names
        self.__name__ = self.base_fn.__name__
        self.__qualname__ = self.base_fn.__qualname__
        self.__module__ = self.base_fn.__module__
        self.__doc__ = self.base_fn.__doc__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("fn", "jit_function"):
            raise AttributeError(name)
        return getattr(self.fn, name)

    def __getitem__(self, grid: Any) -> Callable:
        def launch(*args, **kwargs):
            return self.run(*args, grid=grid, warmup=False, **kwargs)

        return launch

    def __call__(self, *args, **kwargs):
        return self.jit_function(*args, **kwargs)  # says that a grid is missing

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments without launching."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def run(self, *args, grid, warmup=False, **kwargs):
        raise NotImplementedError

    def _named(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a launch by name, defaults included."""
        if len(args) > len(self.arg_names):
            return self.jit_function._run((1,), args, kwargs, True)  # raises
        named = {param.name: param.default for param in self.jit_function.params if param.has_default}
        named.update(zip(self.arg_names, args))
        named.update(kwargs)
        return named

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fn!r})"


class Heuristics(Launcher):
    """Made by ``@nereid.heuristics``."""

    def __init__(self, fn: Any, values: dict[str, Callable[[dict[str, Any]], Any]]):
        super().__init__(fn, "heuristics")
        for name, function in values.items():
            if name not in self.arg_names and not _targets.is_launch_option(name):
                raise ValueError(
                    f"@nereid.heuristics of {self.__name__}: there is neither a parameter nor a launch option {name!r}; "
                    f"the parameters are {', '.join(self.arg_names)}"
                )
            if not callable(function):
                raise TypeError(
                    f"@nereid.heuristics of {self.__name__}: the value of {name!r} is computed by a function of the "
                    f"dict of arguments, not {_runtime.describe(function)}"
                )
        self.values = dict(values)

    def run(self, *args, grid, warmup=False, **kwargs):
        for name, function in self.values.items():
            arguments = {**dict(zip(self.arg_names, args)), **kwargs}
            with _calling(f"the heuristic of {name!r}", self.__name__, arguments):
                kwargs[name] = function(arguments)
        return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Computes parameters from the other arguments of each launch.

    `values` maps names of parameters to functions of the dict of arguments (what
    was passed, and the earlier heuristics' values):
    ``@nereid.heuristics({"BLOCK": lambda args: nereid.next_power_of_2(args["n"])})``.
    """
    return lambda fn: Heuristics(fn, values)


class Autotuner(Launcher):
    """Made by ``@nereid.autotune``.

    ``cache`` maps keys to chosen configurations, ``best_config`` is that of the
    last launch, ``configs_timings`` are the milliseconds (median, 20 %, 80 %) of
    the last measurement by configuration, ``bench_time`` its seconds.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: Iterable[str],
        configs: Iterable[Config],
        key: Iterable[str] | None,
        reset_to_zero: Iterable[str] | None = None,
        restore_value: Iterable[str] | None = None,
        pre_hook: Callable | None = None,
        post_hook: Callable | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable | None = None,
        cache_results: bool = False,
    ):
        super().__init__(fn, "autotune")
        if list(arg_names) != self.arg_names:
            raise ValueError(f"Autotuner of {self.__name__}: arg_names is not {self.arg_names}")
        self.configs = list(configs)
        self._has_no_configs = not self.configs
        if self._has_no_configs:
            self.configs = [Config({})]
        for config in self.configs:
            if not isinstance(config, Config):
                raise TypeError(
                    f"@nereid.autotune of {self.__name__}: configs is a list of nereid.Config, not of "
                    f"{_runtime.describe(config)}"
                )
        self.keys = [key] if isinstance(key, str) else list(key or ())
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        for name in self.keys:
            if name not in self.arg_names:
                near = difflib.get_close_matches(name, self.arg_names, 1)
                warnings.warn(
                    f"@nereid.autotune of {self.__name__}: key names {name!r}, which is not a parameter and has no effect"
                    f"{f'; did you mean {near[0]!r}?' if near else ''}",
                    stacklevel=3,
                )
        for what, names in (("reset_to_zero", self.reset_to_zero), ("restore_value", self.restore_value)):
            for name in names:
                if name not in self.arg_names:
                    raise ValueError(
                        f"@nereid.autotune of {self.__name__}: {what} names {name!r}, but the parameters are "
                        f"{', '.join(self.arg_names)}"
                    )
        prune = dict(prune_configs_by or {})
        unknown = prune.keys() - {"early_config_prune", "perf_model", "top_k"}
        if unknown:
            raise ValueError(
                f"@nereid.autotune of {self.__name__}: prune_configs_by has early_config_prune, perf_model and top_k, "
                f"not {', '.join(sorted(map(repr, unknown)))}"
            )
        self.early_config_prune = prune.get("early_config_prune")
        self.perf_model = prune.get("perf_model")
        self.top_k = prune.get("top_k", 1.0)
        self.warmup_ms = 25.0 if warmup is None else float(warmup)
        self.rep_ms = 100.0 if rep is None else float(rep)
        self.do_bench = do_bench
        self.use_cuda_graph = use_cuda_graph
        self.cache_results = bool(cache_results) or _environment.flag("NEREID_CACHE_AUTOTUNING")
        self._user_pre_hook = pre_hook
        self._user_post_hook = post_hook
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self._saved: dict[str, Any] = {}
        self.cache: dict[tuple, Config] = {}
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, Any] = {}
        self.bench_time = 0.0
        self.nargs: dict[str, Any] = {}

    # ---- hooks around each measured launch

    def pre_hook(self, arguments: dict[str, Any], reset_only: bool = False) -> None:
        if self._user_pre_hook is not None:
            with _calling("the pre_hook of the autotuner", self.__name__, arguments):
                self._user_pre_hook(arguments, reset_only)
            return
        for name in self.reset_to_zero:
            if arguments.get(name) is not None:
                zero(arguments[name])
        if not reset_only:
            self._saved = {
                name: copy_of(arguments[name]) for name in self.restore_value if arguments.get(name) is not None
            }

    def post_hook(self, arguments: dict[str, Any], exception: BaseException | None) -> None:
        if self._user_post_hook is not None:
            with _calling("the post_hook of the autotuner", self.__name__, arguments):
                self._user_post_hook(arguments, exception)
            return
        for name, saved in self._saved.items():
            overwrite(arguments[name], saved)
        self._saved = {}

    def _call_hook(self, config: Config, arguments: dict[str, Any]) -> None:
        """The hook of one configuration, if it has one."""
        if config.pre_hook is not None:
            with _calling(f"the pre_hook of the configuration ({config})", self.__name__, arguments):
                config.pre_hook(arguments)

    # ---- which configurations

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations that are worth measuring for these arguments."""
        configs = list(self.configs)
        if self.early_config_prune is not None:
            with _calling("early_config_prune", self.__name__, {**self.nargs, **kwargs}):
                configs = list(self.early_config_prune(configs, self.nargs, **kwargs))
            if not configs:
                raise ValueError(
                    f"{self.__name__}: early_config_prune has left no configuration for these arguments; it must return "
                    "at least one"
                )
        if self.perf_model is not None:
            keep = self.top_k
            keep = int(len(configs) * keep) if isinstance(keep, float) and keep <= 1.0 else int(keep)
            keep = max(1, keep)
            if len(configs) > keep:
                estimates = {}
                for config in configs:
                    arguments = {**self.nargs, **kwargs, **config.all_kwargs()}
                    with _calling("perf_model", self.__name__, arguments):
                        estimates[config] = self.perf_model(**arguments)
                configs = sorted(configs, key=estimates.__getitem__)[:keep]
        return configs

    def _key(self, arguments: dict[str, Any]) -> tuple:
        values = [_plain(arguments[name]) for name in self.keys if name in arguments]
        values += [str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")]
        return tuple(values)

    def _check_conflicts(self, config: Config, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        given = set(self.arg_names[: len(args)]) | kwargs.keys()
        both = sorted(config.kwargs.keys() & given)
        if both:
            raise ValueError(
                f"{self.__name__}: {', '.join(map(repr, both))} is chosen by autotuning and passed by the caller as well; "
                "leave it out of the call, or out of the configurations"
            )

    # ---- measuring

    def _call(self, config: Config, args: Sequence[Any], grid: Any, kwargs: dict[str, Any]) -> Any:
        return self.fn.run(*args, grid=grid, warmup=False, **{**kwargs, **config.all_kwargs()})

    def _measured_call(self, config: Config, args, grid, kwargs, order: Callable[[], None]) -> float:
        """Seconds of one launch between its hooks. `order` waits for all ranks
        where launches concern several of them."""
        arguments = {**self.nargs, **kwargs, **config.all_kwargs()}
        order()
        self._call_hook(config, arguments)
        self.pre_hook(arguments)
        order()
        start = time.perf_counter()
        try:
            self._call(config, args, grid, kwargs)
        except BaseException as error:
            self.post_hook(arguments, error)
            raise
        seconds = time.perf_counter() - start
        order()
        self.post_hook(arguments, None)
        return seconds

    def _measure(self, config: Config, args, grid, kwargs, together: "_agree.Together") -> Any:
        """(median, 20 %, 80 %) in milliseconds."""
        if self.do_bench is not None:
            times = self.do_bench(
                lambda: self._measured_call(config, args, grid, kwargs, together.barrier), quantiles=(0.5, 0.2, 0.8)
            )
            times = list(times) if isinstance(times, (list, tuple)) else [times]
            return [together.maximum(float(value)) for value in times]
        once = lambda: self._measured_call(config, args, grid, kwargs, together.barrier)  # noqa: E731
        once()
        estimate = together.maximum(once())
        # All ranks make the same number of launches, whatever their clocks say.
        for _ in range(min(1000, int(self.warmup_ms / 1000 / max(estimate, 1e-6)))):
            once()
        calls = max(3, min(1000, int(self.rep_ms / 1000 / max(estimate, 1e-6))))
        times = sorted(1000 * together.maximum(once()) for _ in range(calls))
        return [times[int(share * (len(times) - 1) + 0.5)] for share in (0.5, 0.2, 0.8)]

    def _bench(self, *args, config: Config, grid: Any, warmup: bool = False, **kwargs) -> list[float]:
        """Milliseconds of one configuration on this rank: median, 20 %, 80 %; infinite
        when it does not compile. For subclasses that choose in another way."""
        self._check_conflicts(config, args, kwargs)
        if self._compiles(config, args, grid, kwargs)[1] is not None:
            return [float("inf")] * 3
        return self._measure(config, args, grid, kwargs, _agree.Together(False, self.__name__))

    def _compiles(self, config: Config, args, grid, kwargs) -> tuple[Any, BaseException | None]:
        # It may set what the code depends on: blocks of descriptors.
        self._call_hook(config, {**self.nargs, **kwargs, **config.all_kwargs()})
        try:
            return self.fn.run(*args, grid=grid, warmup=True, **{**kwargs, **config.all_kwargs()}), None
        except (CompilationError, OutOfResources) as error:
            return None, error

    def _tune(self, key: tuple, args, grid, kwargs) -> Config:
        configs = self.prune_configs(kwargs)
        for config in configs:
            self._check_conflicts(config, args, kwargs)
        if len(configs) == 1:
            return configs[0]
        compiled = {config: self._compiles(config, args, grid, kwargs) for config in configs}
        kernels = [kernel for kernel, _ in compiled.values() if kernel is not None]
        if not kernels:
            _raise_all_failed(self.__name__, compiled)
        together = _agree.Together(any(kernel.metadata.distributed for kernel in kernels), f"autotuning {self.__name__}")
        together.same(
            (self.__name__, key, [str(config) for config in configs], [compiled[c][1] is None for c in configs]),
            f"{self.__name__}: the ranks tune different things. A kernel that communicates is tuned by all ranks "
            "together: its key, its configurations and which of them compile must not depend on the rank",
            f"key {key}, {len(configs)} configurations, of which {len(kernels)} compile",
        )
        stored = self._stored(key, configs) if self.cache_results else None
        number = together.common(-1 if stored is None else configs.index(stored))
        if number >= 0:
            return configs[number]
        start = time.perf_counter()
        parameters = {*self.arg_names, *(["num_warps"] if self.jit_function.asks_for_threads else [])}
        timings: dict[Config, Any] = {}
        measured: dict[tuple, Any] = {}
        for config in configs:
            if compiled[config][1] is not None:
                timings[config] = [float("inf")] * 3
                continue
            same = config._same_code(parameters)
            if same not in measured:
                measured[same] = self._measure(config, args, grid, kwargs, together)
            timings[config] = measured[same]
        self.bench_time = time.perf_counter() - start
        self.configs_timings = timings
        best = builtins.min(configs, key=lambda config: timings[config][0])
        # What the measurements have left in the arguments goes before the real launch.
        together.barrier()
        self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
        together.barrier()
        if _environment.flag("NEREID_PRINT_AUTOTUNING") and together.first:
            self._print(key, timings, best)
        if self.cache_results and together.first:
            self._store(key, configs, best)
        return best

    def _print(self, key: tuple, timings: dict[Config, Any], best: Config) -> None:
        lines = [f"autotuning {self.__name__} for key {key}: {self.bench_time:.2f} s"]
        for config, times in timings.items():
            mark = "*" if config is best else " "
            text = "does not compile" if times[0] == float("inf") else f"{times[0]:.4g} ms"
            lines.append(f"  {mark} {text:<18}{config}")
        print("\n".join(lines), flush=True)

    # ---- results on disk

    def _result_key(self, key: tuple, configs: list[Config]) -> str | None:
        """None when the kernel's code depends on what no key describes."""
        known = self.jit_function.dependencies
        if known.reason is not None or not known.portable:
            return None
        return _cache.entry_key(["autotune", self.__name__, self.jit_function.cache_key, repr(key), *map(str, configs)])

    def _stored(self, key: tuple, configs: list[Config]) -> Config | None:
        name = self._result_key(key, configs)
        found = _cache.read_result(name) if name is not None else None
        number = found.get("best") if isinstance(found, dict) else None
        return configs[number] if isinstance(number, int) and 0 <= number < len(configs) else None

    def _store(self, key: tuple, configs: list[Config], best: Config) -> None:
        result = {
            "kernel": self.__name__,
            "key": repr(key),
            "best": configs.index(best),
            "configs": [{"config": str(c), "ms": self.configs_timings[c][0]} for c in configs],
        }
        name = self._result_key(key, configs)
        if name is not None:
            _cache.write_result(name, result)

    # ---- launches

    def run(self, *args, grid, warmup=False, **kwargs):
        named = self._named(args, kwargs)
        self.nargs = dict(zip(self.arg_names, args))
        try:
            if warmup:
                return self._warm_up(args, grid, kwargs)
            if len(self.configs) == 1:
                config = self.configs[0]
                self._check_conflicts(config, args, kwargs)
            else:
                key = self._key({name: named[name] for name in self.arg_names if name in named})
                config = self.cache.get(key)
                if config is None:
                    with _stream.measuring():
                        config = self.cache[key] = self._tune(key, args, grid, kwargs)
                else:
                    self._check_conflicts(config, args, kwargs)
            self.best_config = config
            if config.pre_hook is not None:
                arguments = {**self.nargs, **kwargs, **config.all_kwargs()}
                _stream.submit(lambda: self._call_hook(config, arguments))
            return self._call(config, args, grid, kwargs)
        except (TypeError, ValueError) as error:
            if self._has_no_configs and hasattr(error, "add_note"):
                error.add_note(
                    f"configs of @nereid.autotune of {self.__name__} is empty, so no constexpr gets its value from it"
                )
            raise
        finally:
            self.nargs = {}

    def _warm_up(self, args, grid, kwargs) -> list[Any]:
        kernels = []
        for config in self.prune_configs(kwargs):
            self._check_conflicts(config, args, kwargs)
            self._call_hook(config, {**self.nargs, **kwargs, **config.all_kwargs()})
            kernels.append(self.fn.run(*args, grid=grid, warmup=True, **{**kwargs, **config.all_kwargs()}))
        return kernels


def _plain(value: Any) -> Any:
    """A value of a key: something that can be hashed."""
    value = getattr(value, "value", value)
    try:
        hash(value)
        return value
    except TypeError:
        return repr(value)


def _raise_all_failed(name: str, compiled: dict[Config, tuple[Any, BaseException | None]]) -> None:
    config, (_, error) = next(iter(compiled.items()))
    assert error is not None
    note = f"None of the {len(compiled)} configurations of {name} compiles; this is the first ({config})."
    if hasattr(error, "add_note"):
        error.add_note(note)
    raise error


def autotune(
    configs: Iterable[Config],
    key: Iterable[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Iterable[str] | None = None,
    restore_value: Iterable[str] | None = None,
    pre_hook: Callable | None = None,
    post_hook: Callable | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable | None = None,
    cache_results: bool = False,
    *,
    auto_prof_dir: str | None = None,
    hints: Any = None,
) -> Callable[[Any], Autotuner]:
    """Measures a kernel with each of `configs` and launches it with the fastest.

    `key` names arguments: for each combination of their values, and of the dtypes
    of all arrays, the first launch measures and later ones use its result.
    `prune_configs_by` has ``early_config_prune(configs, named_args, **kwargs)``
    returning the configurations to keep, ``perf_model(**args)`` estimating a time,
    and ``top_k`` (a number, or a share up to 1.0) of the estimates to measure.

    Launches that measure run on the real arguments. ``reset_to_zero`` names arrays
    to be zeroed before each, ``restore_value`` arrays to be put back after each;
    ``pre_hook(args, reset_only)`` and ``post_hook(args, exception)`` replace both.
    `warmup` and `rep` are milliseconds per configuration (25 and 100), `do_bench`
    a function ``(call, quantiles)`` to measure with. `cache_results` (or
    NEREID_CACHE_AUTOTUNING=1) keeps the choice on disk, next to the compiled
    kernels. NEREID_PRINT_AUTOTUNING=1 prints the times.

    A configuration that does not compile counts as infinitely slow; when none
    compiles, the first one's error is raised. A launch that fails raises.

    A kernel that communicates is tuned by all ranks together: they make the same
    launches in step, take the slowest rank's time of each, and so choose alike.
    Ranks whose keys or configurations differ get a JobError. Its signals must be
    set back between launches, by ``reset_to_zero`` or a hook.

    `use_cuda_graph`, `auto_prof_dir` and `hints` are accepted and have no effect.
    """
    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn, getattr(fn, "arg_names", ()), configs, key, reset_to_zero, restore_value, pre_hook, post_hook,
            prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results,
        )

    return decorate
