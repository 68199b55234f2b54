# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decorator @nereid.jit and the functions that it makes.

A launch goes through C++ first (``_runtime.Dispatcher``, the base class): it reads the
arguments, makes an entry of each one's type and properties, and looks for a kernel of these
entries. Only when it finds none does Python come in:

    kernel[grid](...)  ->  Dispatcher  -- known ------------------------------->  launch
                               |-- new entries -->  _compile_specialisation  -->  launch
                               '-- a watched value has changed -->  _forget_compiled, then as above

so that launches after the first cost nothing of this file. What a kernel depends on
beside its arguments (globals, other functions) is the matter of ``_kernels.dependencies``; the
way from entries to code that of ``_kernels.compile``. ``_options`` decides what the compiler is
told: an option of the launch counts, else one of the decorator, else the environment."""

from __future__ import annotations

import __future__
import builtins
import contextlib
import difflib
import functools
import inspect
import os
import warnings
from typing import Any, Callable, Iterable, Iterator

from nereid import _runtime
from nereid._base import environment as _environment
from nereid._kernels import compile as _compile
from nereid._kernels.dependencies import Dependencies
from nereid._base.errors import CompilationError
from nereid._kernels.reads import Read, tree_reads
from nereid._kernels.source import FunctionSource
from nereid._base import targets as _targets
from nereid.language import _types
from nereid.language._constexpr import const, constexpr

UNUSED_TOKEN = _targets.unused_token()


def _annotation_kind(annotation: Any) -> tuple[bool, bool, str | None]:
    """(is constexpr, is const, name of a scalar type) of a parameter's annotation,
    which is an object or, under ``from __future__ import annotations``, its text."""
    if isinstance(annotation, str):
        text = annotation.strip().strip("'\"").strip()
        if text.startswith(("const *", "*k")):
            return False, True, None
        name = text.rsplit(".", 1)[-1]
        if name == "constexpr":
            return True, False, None
        if name == "const":
            return False, True, None
        known = _types.PUBLIC_DTYPES.get(name) or _types.BY_SIGNATURE.get(text)
        return False, False, known.__nereid_type__ if known is not None and known.name != "void" else None
    if annotation is constexpr or isinstance(annotation, constexpr):
        return True, False, None
    if annotation is const:
        return False, True, None
    if isinstance(annotation, _types.pointer_type):
        return False, annotation.const, None
    if isinstance(annotation, _types.dtype) and not annotation.is_void():
        return False, False, annotation.__nereid_type__
    return False, False, None


def _warn_of_unknown_annotation(fn: Callable, parameter: inspect.Parameter) -> None:
    """An annotation in quotes that names neither a type of the language nor anything else
    that the function sees has no effect: it is most likely misspelt."""
    text = parameter.annotation
    if not isinstance(text, str):
        return
    if fn.__code__.co_flags & __future__.annotations.compiler_flag:
        if text[:1] not in "'\"":
            return
        text = text.strip("'\"")
    if not text.isidentifier() or not text[0].islower() or _annotation_kind(text) != (False, False, None):
        return
    if text in fn.__globals__ or hasattr(builtins, text) or text in ("void", "tensor"):
        return
    names = [*_types.PUBLIC_DTYPES, *_types.BY_SIGNATURE, "constexpr", "const"]
    near = difflib.get_close_matches(text, names, 1)
    warnings.warn(
        f"@nereid.jit of {fn.__name__}: the annotation {text!r} of parameter '{parameter.name}' is not a type of the language "
        f"and has no effect{f'; did you mean {near[0]!r}?' if near else ''}",
        stacklevel=4,
    )


class LaunchWhileLoading(BaseException):
    """A launch was met while a file is loaded for its definitions alone. Not an
    Exception: the file's own handlers are not meant."""


_loading_definitions = False


@contextlib.contextmanager
def only_definitions() -> Iterator[None]:
    """Inside, launches raise LaunchWhileLoading."""
    global _loading_definitions
    _loading_definitions = True
    try:
        yield
    finally:
        _loading_definitions = False


class JITParameter:
    """One parameter of a jit function."""

    def __init__(self, number: int, parameter: inspect.Parameter, no_specialize: bool, no_alignment: bool):
        self.number = self.num = number
        self.name = parameter.name
        self.default = parameter.default
        self.has_default = parameter.default is not inspect.Parameter.empty
        self.annotation = parameter.annotation
        self.is_variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        self.is_constexpr, self.is_const, self.annotation_type = _annotation_kind(parameter.annotation)
        self.do_not_specialize = no_specialize
        self.do_not_specialize_on_alignment = no_alignment

    def __repr__(self) -> str:
        return f"JITParameter({self.name}{': constexpr' if self.is_constexpr else ''})"


def _innermost(fn: Callable) -> Callable:
    """The function whose text is compiled: the one inside of decorators that stand
    between it and @nereid.jit."""
    inner = inspect.unwrap(fn)
    inner = inner.fn if isinstance(inner, JITFunction) else inner
    if inner is fn or not inspect.isfunction(inner):
        return fn
    warnings.warn(
        f"@nereid.jit of {fn.__name__}: a decorator below it, from {fn.__code__.co_filename}:{fn.__code__.co_firstlineno}, "
        "wraps the function. The kernel is the function itself; what the wrapper does happens neither at a launch nor "
        "in the kernel",
        stacklevel=4,
    )
    return inner


def _chosen(what: str, names: Iterable[str | int] | None, parameters: list[str], function: str) -> set[str]:
    """Names of the parameters that a list of names and positions picks. What picks
    none has no effect, about which there is a warning."""
    chosen = set()
    for item in names or ():
        if isinstance(item, str) and item in parameters:
            chosen.add(item)
        elif isinstance(item, int) and not isinstance(item, bool) and -len(parameters) <= item < len(parameters):
            chosen.add(parameters[item])
        elif isinstance(item, (str, int)) and not isinstance(item, bool):
            near = difflib.get_close_matches(str(item), parameters, 1)
            warnings.warn(
                f"@nereid.jit of {function}: {what} names {item!r}, which is not a parameter"
                f"{f'; did you mean {near[0]!r}?' if near else ''}. The parameters are {', '.join(parameters) or 'none'}",
                stacklevel=4,
            )
        else:
            raise TypeError(
                f"@nereid.jit of {function}: {what} is a list of names and positions of parameters, not of "
                f"{_runtime.describe(item)}"
            )
    return chosen


class JITFunction(_runtime.Dispatcher):
    """A function written in the kernel language.

    ``kernel[grid](*args, **kwargs)`` launches it: the first launch with a new
    combination of argument types compiles it. Other jit functions call it like
    any function; it then becomes part of them.

    Attributes: ``fn`` (the Python function), ``params``, ``arg_names``, ``file``,
    ``cache_key`` (a digest of everything that the compiled code depends on).
    """

    def __init__(
        self,
        fn: Callable,
        *,
        version: Any = None,
        do_not_specialize: Iterable[str | int] | None = None,
        do_not_specialize_on_alignment: Iterable[str | int] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        unused_token: str | None = None,
        check_strides: bool = True,
        portable: bool | None = None,
        repr: Callable | None = None,
        launch_metadata: Callable | None = None,
        example_signature: str | None = None,
    ):
        if isinstance(fn, JITFunction):
            fn = fn.fn
        if not inspect.isfunction(fn):
            raise TypeError(f"@nereid.jit takes a function, not {_runtime.describe(fn)}")
        fn = _innermost(fn)
        name = fn.__name__
        if unused_token is not None and unused_token not in UNUSED_TOKEN:
            raise ValueError(f"@nereid.jit of {name}: unused_token is one of {UNUSED_TOKEN}, not {unused_token!r}")
        for what, function in (("repr", repr), ("launch_metadata", launch_metadata)):
            if function is not None and not callable(function):
                raise TypeError(f"@nereid.jit of {name}: {what} is a function, not {_runtime.describe(function)}")
        parameters = list(inspect.signature(fn).parameters.values())
        names = [parameter.name for parameter in parameters]
        for parameter in parameters:
            # `*args` works in functions that other jit functions call; the compiler
            # refuses it in a kernel.
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                raise CompilationError(
                    f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}: error: '{name}' has the parameter "
                    f"'**{parameter.name}', which a jit function cannot have; name its parameters one by one"
                )
        plain = _chosen("do_not_specialize", do_not_specialize, names, name)
        unaligned = _chosen("do_not_specialize_on_alignment", do_not_specialize_on_alignment, names, name)
        self.params = [
            JITParameter(i, parameter, parameter.name in plain, parameter.name in unaligned)
            for i, parameter in enumerate(parameters)
        ]
        for parameter in parameters:
            _warn_of_unknown_annotation(fn, parameter)
        for parameter in self.params:
            if parameter.is_constexpr and parameter.name in plain | unaligned:
                raise CompilationError(
                    f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}: error: the constexpr parameter "
                    f"'{parameter.name}' of '{name}' stands in do_not_specialize; a constexpr is always specialised"
                )
        super().__init__(name, self.params, check_strides)
        self.fn = fn
        self.arg_names = names
        self.version = version
        self.noinline = bool(noinline)
        self.debug = debug
        self.unused_token = unused_token
        self.portable = portable
        self.example_signature = example_signature
        self.repr = repr
        self.launch_metadata = launch_metadata
        self.source = FunctionSource(fn)
        self._dependencies: Dependencies | None = None
        self._warned_of: str | None = None
        functools.update_wrapper(self, fn)
        self.__globals__ = fn.__globals__

    # ---- the source, as the compiler reads it

    @property
    def ast(self):
        return self.source.ast

    @property
    def file(self) -> str:
        return self.fn.__code__.co_filename

    @property
    def source_lines(self) -> list[str]:
        return self.source.source_lines

    @property
    def src(self) -> str:
        return self.source.text

    @functools.cached_property
    def reads(self) -> list[Read]:
        """What its body reads from outside."""
        return tree_reads(self.ast)

    @property
    def dependencies(self) -> Dependencies:
        """What the code depends on, as it is now."""
        if self._dependencies is None or not self._dependencies.watch.unchanged():
            self._dependencies = Dependencies(self)
        return self._dependencies

    @property
    def cache_key(self) -> str:
        return self.dependencies.digest

    @property
    def asks_for_threads(self) -> bool:
        """Whether the code tells the threads of a program apart: how many there are is part
        of it then, by the launch option ``num_warps``."""
        return self.dependencies.threads

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @property
    def device_caches(self) -> dict[int, tuple[dict[int, Any]]]:
        """The compiled kernels of this process, by device (there is one, 0) and
        number."""
        return {0: (dict(enumerate(self._kernels())),)}

    # ---- launches

    def run(self, *args, grid, warmup: bool = False, **kwargs):
        """``kernel[grid](*args, **kwargs)`` with the grid as a keyword."""
        return self._run(grid, args, kwargs, warmup)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments without launching; returns the compiled
        kernel. A dtype (``tl.float32``, ``np.float32``) may stand for an array."""
        return self._run(grid, args, kwargs, True)

    def _options(self, launch_options: dict[str, Any]) -> dict[str, Any]:
        """Everything that the compiler is told beside the sources: the target and its
        options, from the launch, else the kernel, else the environment."""
        target = _targets.active()
        options = {
            "target": target,
            "profile": _targets.profile(),
            "allow_non_constexpr_globals": _environment.flag("NEREID_ALLOW_NON_CONSTEXPR_GLOBALS"),
            "debug": False,
            "portable": False,
            "unused_token": "error",
            **_targets.settings(target),
        }
        for name in ("debug", "portable", "unused_token"):
            value = getattr(self, name)
            if value is not None:
                options[name] = value if name == "unused_token" else bool(value)
        if self.asks_for_threads:
            warps = launch_options.get("num_warps")
            if _targets.option(target, "num_warps") is None:
                launch_options = {name: value for name, value in launch_options.items() if name != "num_warps"}
            options["threads"] = 32 * self._warps(4 if warps is None else getattr(warps, "value", warps))
        for name, value in launch_options.items():
            value = getattr(value, "value", value)
            if value is None:
                continue
            if _targets.option(target, name) is None:
                _targets.note(self.__name__, name, target)  # an option of another target
                continue
            try:
                _runtime.check_option(target, name, value)
            except ValueError as error:
                raise ValueError(f"{self.__name__}: {error}") from None
            options[name] = value
        return options

    def _warps(self, number: Any) -> int:
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 32:
            raise ValueError(
                f"{self.__name__}: the option 'num_warps' takes a whole number from 1 to 32, a program's threads divided by "
                f"32, not {number!r}"
            )
        return number

    def _compile_specialisation(self, specs: list, launch_options: dict[str, Any]):
        """Called by the dispatcher for arguments that it has no kernel for."""
        if _loading_definitions:
            raise LaunchWhileLoading(self.__name__)
        dependencies = self.dependencies
        self._watch(dependencies.watch)
        kernel = _compile.compile_or_load(self, specs, self._options(launch_options))
        self._warn_of_unknown(dependencies)
        return kernel

    def _warn_of_unknown(self, dependencies: Dependencies) -> None:
        if dependencies.reason is not None and dependencies.reason != self._warned_of:
            self._warned_of = dependencies.reason
            warnings.warn_explicit(
                f"'{self.__name__}' is compiled anew for each launch, because its code depends on something that cannot be "
                f"described: {dependencies.reason}. Pass the value as a constexpr argument, or make it a constant",
                UserWarning, self.file, self.source.first_line,
            )

    def _forget_compiled(self) -> None:
        """Called by the dispatcher when something that the code depends on may have
        changed since it was compiled."""
        before, self._dependencies = self._dependencies, None
        now = self.dependencies
        if before is None or before.digest != now.digest or now.reason is not None:
            self._clear()
        self._watch(now.watch)

    def __repr__(self) -> str:
        return f"JITFunction({self.__module__}.{self.__qualname__})"


def jit(fn: Callable | None = None, **options) -> Any:
    """Marks a function as written in the kernel language.

    Options: ``do_not_specialize`` and ``do_not_specialize_on_alignment`` (names or
    positions of parameters that are not specialised on being 1 or divisible by
    16), ``debug`` (``tl.device_assert`` is active), ``noinline``, ``unused_token``
    ("error", "warn" or "keep": a ``dl.wait`` whose token is not used),
    ``check_strides`` (False: the launcher does not ask for the strides of arrays
    that are not contiguous), ``portable`` (True: what the language has beyond
    Triton's, such as ``break``, is an error; default: NEREID_PORTABLE),
    ``example_signature`` (what ``nereid compile`` uses when it is given none), ``version`` (part of the cache key), ``repr`` (a
    function from the specialisation, which has ``name``, ``signature`` and
    ``constants``, to the name that the compiled kernel goes by in reports),
    ``launch_metadata`` (kept for tools; launches do not call it).
    """
    unknown = [name for name in options if name not in _JIT_OPTIONS]
    if unknown:
        near = difflib.get_close_matches(unknown[0], _JIT_OPTIONS, 1)
        raise TypeError(
            f"@nereid.jit has no option {unknown[0]!r}{f', did you mean {near[0]!r}' if near else ''}; its options are "
            f"{', '.join(_JIT_OPTIONS)}"
        )
    if fn is not None:
        return JITFunction(fn, **options)
    return lambda function: JITFunction(function, **options)


_JIT_OPTIONS = [
    name for name, parameter in inspect.signature(JITFunction.__init__).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
]
_runtime.register_language(
    constexpr, _types.BY_SIGNATURE, _targets.note if _environment.flag("NEREID_EXPLAIN") else None,
)
