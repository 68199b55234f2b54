# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that the code of a kernel depends on.

There is one rule: what cannot be described is not cached. A kernel's code depends on
its own text, on the functions that it reaches, and on every value that these read:
variables of modules and closures, what is in tuples, lists, dicts, sets and arrays,
attributes of classes and objects, defaults of parameters. `Dependencies` walks all of
that and makes

  digest    a hash that is equal for walks that met the same: part of the key of the
            cache on disk;
  watch     a `_runtime.Watch` of all that can change in this process. A launch asks
            it first; when something has changed, the walk is made anew;
  portable  False when the description means something in this process only (a
            function that remembers results): such kernels do not go to the disk;
  reason    why something could not be described at all (None: all could). Such
            kernels are compiled anew for each launch.

Jit functions are described by their text, because it is what is compiled; plain
Python functions, which run while a kernel is compiled, by their bytecode, which needs
no source. A chain of names ("CONFIG", "block") is followed as far as each step is a
plain lookup, so that other attributes of CONFIG do not matter; a value that is used
as a whole is described as a whole. Functions of some modules that are known to have
no state (`_STATELESS`) are described by their names."""

from __future__ import annotations

import abc
import builtins
import collections
import dataclasses
import enum
import functools
import gc
import hashlib
import importlib
import os
import sys
import types
from typing import Any, Callable, Iterable

from nereid import _runtime
from nereid._base.environment import COMPILING
from nereid._kernels.reads import Read, code_reads
from nereid.language import _types
from nereid.language._constexpr import constexpr
from nereid.language._device import DeviceConstant

#: Modules whose functions give the same for the same arguments, always.
_STATELESS = frozenset(
    """
    math cmath operator _operator functools _functools itertools collections _collections _collections_abc enum
    dataclasses typing types abc _abc numbers fractions statistics string _string re _sre copy copyreg bisect _bisect
    heapq _heapq struct _struct textwrap keyword builtins numpy ml_dtypes posixpath
    """.split()
)
#: ... apart from these of their functions.
_STATEFUL = {
    "builtins": frozenset("open input eval exec compile globals __import__ breakpoint id hash exit quit help".split()),
    "numpy": frozenset("load loadtxt fromfile genfromtxt memmap fromregex get_printoptions geterr random".split()),
    "posixpath": frozenset("exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath "
                           "abspath expanduser expandvars samefile samestat sameopenfile relpath".split()),
}
#: Versions of the modules above that do not come with Python.
_VERSIONED = ("numpy", "ml_dtypes")
#: Types whose instances never change.
_IMMUTABLE = ("datetime", "decimal", "fractions", "re", "numpy", "uuid", "zoneinfo")

_ATOMS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented))
_CONTAINERS = (list, dict, set, frozenset, tuple, int, float, complex, str, bytes)
_SKIPPED_MEMBERS = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __annotations__ __annotate__ __annotate_func__ "
    "__annotations_cache__ __firstlineno__ __static_attributes__ _abc_impl __nereid_aggregate__ "
    "__hash__".split()  # where objects lie in sets and dicts; who calls hash() is told so
)
_LIMIT = 50_000


def _root(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


@functools.lru_cache(maxsize=None)
def _version(package: str) -> str:
    return str(getattr(sys.modules.get(package), "__version__", ""))


def _is_stateless(module: Any, name: str) -> bool:
    root = _root(module)
    if root not in _STATELESS:
        return False
    return name not in _STATEFUL.get(root, ()) and not (isinstance(module, str) and ".random" in module)


def _class_attribute(cls: type, name: str) -> tuple[bool, Any]:
    """(whether there is one, the attribute) as it stands in the class, unbound."""
    for base in cls.__mro__:
        if name in vars(base):
            return True, vars(base)[name]
    return False, None


class Dependencies:
    """What the code of a jit function depends on, or a list of constants; see above.

    Raises CompilationError when the text of a jit function cannot be found.
    """

    def __init__(self, function: Any = None, constants: Iterable[Any] = ()):
        self.watch = _runtime.Watch()
        self.portable = True
        self.reason: str | None = None
        #: Whether the code tells the threads of a program apart.
        self.threads = False
        self._hash = hashlib.sha256()
        self._seen: dict[tuple[int, bool], int] = {}
        self._kept: list[Any] = []
        self._where: list[str] = []
        self._add(sys.version)
        try:
            if function is not None:
                self._root_function(function)
            for constant in constants:
                self._value(constant)
        except RecursionError:
            self._unknown("values that are nested too deeply")
        self.digest = self._hash.hexdigest()
        # Objects were kept so that no other could get their identity during the walk.
        del self._seen, self._kept, self._hash

    # ---- texts

    def _add(self, *texts: str) -> None:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    def _unknown(self, what: str) -> None:
        if self.reason is None:
            self.reason = what + (f" ({self._where[-1]})" if self._where else "")
            self.watch.always()

    def _is_new(self, value: Any, short: bool = False) -> bool:
        """Whether the walk meets this object for the first time; else its number is
        its description."""
        known = self._seen.get((id(value), short))
        if known is not None:
            self._add("again", str(known))
            return False
        self._seen[id(value), short] = len(self._seen)
        self._kept.append(value)
        if len(self._seen) > _LIMIT:
            self._unknown(f"more than {_LIMIT} objects")
            return False
        return self.reason is None

    # ---- functions

    def _root_function(self, function: Any) -> None:
        for name in ("debug", "unused_token", "portable"):
            self._attribute_of_jit(function, name)
        variables = os.environ._data
        self.watch.mapping(variables, tuple(part for pair in variables.items() for part in pair))
        self._add(*(os.environ.get(name, "") for name in COMPILING))
        self._jit(function)

    def _attribute_of_jit(self, function: Any, name: str) -> None:
        variables = vars(function)
        self.watch.item(variables, name, variables[name])
        self._add(name, repr(variables[name]))

    def _jit(self, function: Any) -> None:
        if not self._is_new(function):
            return
        if not hasattr(function, "source"):  # a kernel from the text of IR
            self._add("ir", str(getattr(function, "text", "")))
            return
        source = function.source
        self._add("jit", function.__name__, source.file, str(source.first_line), source.text)
        self.watch.function(function.fn)
        for name in ("noinline", "version"):
            self._attribute_of_jit(function, name)
        self.watch.item(vars(function), "fn", function.fn)
        for parameter in function.params:
            self._add(parameter.name, str(parameter.is_constexpr), str(parameter.is_const), str(parameter.annotation_type))
            if parameter.has_default:
                self._value(parameter.default)
        self._where.append(f"read by the jit function '{function.__name__}', {source.file}:{source.first_line}")
        self._follow_all(function.reads, function.fn)
        self._where.pop()

    def _function(self, function: types.FunctionType) -> None:
        inner = vars(function).get("__nereid_constexpr_function__")
        if inner is not None:
            self._add("constexpr_function")
            self._value(inner)
            return
        builtin = vars(function).get("__nereid_builtin__")
        if builtin is not None:
            self._add("builtin", *builtin)
            self.threads |= builtin[0] == "language_extra" or builtin == ("dl", "simt_exec_region")
            return
        if not self._is_new(function):
            return
        home = sys.modules.get(function.__globals__.get("__name__") or "")
        if home is not None and vars(home) is function.__globals__ and _root(home.__name__) in _STATELESS:
            self._by_name(home.__name__, function.__code__.co_name)
            self._value(function.__defaults__)
            self._cells(function)
            return
        self.watch.function(function)
        self._add("function", function.__name__)
        self._code(function.__code__)
        self._value(function.__defaults__)
        self._value(function.__kwdefaults__)
        if vars(function):
            self._value(vars(function))
        code = function.__code__
        self._where.append(f"read by '{function.__qualname__}', {code.co_filename}:{code.co_firstlineno}")
        self._follow_all(code_reads(code), function)
        self._where.pop()

    def _cells(self, function: types.FunctionType) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            found = self._variable(name, {name: cell}, function)
            if found:
                self._value(found[0])

    def _code(self, code: types.CodeType) -> None:
        self._add(
            "code", code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars),
            repr(code.co_cellvars), str(code.co_argcount), str(code.co_posonlyargcount), str(code.co_kwonlyargcount),
            str(code.co_flags), getattr(code, "co_exceptiontable", b"").hex(), str(len(code.co_consts)),
        )
        for constant in code.co_consts:
            self._value(constant)

    def _by_name(self, module: Any, name: str) -> None:
        """What is known well enough by its name."""
        if not _is_stateless(module, name.partition(".")[0]):
            self._unknown(f"{module}.{name}")
        root = _root(module)
        self._add("name", str(module), name, _version(root) if root in _VERSIONED else "")

    # ---- names

    def _follow_all(self, reads: Iterable[Read], function: types.FunctionType) -> None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for read in reads:
            if self.reason is not None:
                return
            self._add(*read.names)
            found = self._module(read, function) if read.module else self._variable(read.names[0], cells, function)
            if found:
                self._follow(found[0], read)

    def _variable(self, name: str, cells: dict[str, Any], function: types.FunctionType) -> tuple | None:
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                self.watch.cell(cells[name])
                self._add("unassigned")
                return None
            self.watch.cell(cells[name], value)
            return (value,)
        variables = function.__globals__
        if name in variables:
            value = variables[name]
            self.watch.item(variables, name, value)
            return (value,)
        self.watch.item(variables, name)
        if name in vars(builtins):
            value = vars(builtins)[name]
            self.watch.item(vars(builtins), name, value)
            return (value,)
        self._add("missing")
        return None

    def _module(self, read: Read, function: types.FunctionType) -> tuple | None:
        name = "." * read.level + read.names[0]
        package = function.__globals__.get("__package__") or ""
        try:
            module = importlib.import_module(name, package)
        except Exception:  # the function will fail in the same way, or has a branch for it
            self._add("missing")
            self.watch.always()
            self.portable = False
            return None
        if sys.modules.get(module.__name__) is module:
            self.watch.item(sys.modules, module.__name__, module)
        return None if read.called else (module,)

    def _follow(self, value: Any, read: Read) -> None:
        for name in read.names[1:]:
            found = self._step(value, name)
            if found is None:
                self._add("missing")
                return
            if not found:
                self._value(value)
                return
            value = found[0]
            if isinstance(value, types.ModuleType):
                self._add("module", value.__name__)
        self._value(value, short=read.called)

    def _step(self, value: Any, name: str) -> tuple | None:
        """(the attribute,) where reading it is a plain lookup; () when the object must
        be described as a whole; None when there is no such attribute."""
        if isinstance(value, types.ModuleType):
            return self._module_attribute(value, name)
        if isinstance(value, enum.EnumMeta) and name in value.__members__:
            self.watch.cls(value)
            return (value.__members__[name],)
        if isinstance(value, type):
            if type(value) not in (type, abc.ABCMeta, enum.EnumMeta):
                return ()
            self.watch.cls(value)
            exists, attribute = _class_attribute(value, name)
            if isinstance(attribute, staticmethod):
                attribute = attribute.__func__
            plain = isinstance(attribute, types.FunctionType) or not hasattr(type(attribute), "__get__")
            return (attribute,) if exists and plain else ()
        cls = type(value)
        if not _runtime.is_python_class(cls) or isinstance(value, (_runtime.Dispatcher, _types.dtype, constexpr)):
            return ()
        if cls.__getattribute__ is not object.__getattribute__ or _class_attribute(cls, "__getattr__")[0]:
            return ()
        self.watch.cls(cls)
        exists, attribute = _class_attribute(cls, name)
        if isinstance(attribute, types.MemberDescriptorType):
            return self._slot(value, attribute) or None
        if exists and hasattr(type(attribute), "__get__"):
            return ()
        variables = getattr(value, "__dict__", None)
        if type(variables) is not dict:
            return (attribute,) if exists else None
        self.watch.instance(value, variables)
        if name in variables:
            self.watch.item(variables, name, variables[name])
            return (variables[name],)
        self.watch.item(variables, name)
        return (attribute,) if exists else None

    def _module_attribute(self, module: types.ModuleType, name: str) -> tuple | None:
        variables = vars(module)
        if name in variables:
            if _root(module.__name__) not in _STATELESS and _root(module.__name__) != "nereid":
                self.watch.item(variables, name, variables[name])
            return (variables[name],)
        if _root(module.__name__) == "nereid" and hasattr(module, name):
            return (getattr(module, name),)
        self.watch.item(variables, name)
        if "__getattr__" in variables:
            self._unknown(f"{module.__name__}.{name}, which its module computes")
        self._add("missing")
        return None

    def _slot(self, value: Any, descriptor: Any) -> tuple:
        try:
            held = descriptor.__get__(value, type(value))
        except AttributeError:
            self.watch.slot(value, descriptor)
            self._add("unassigned")
            return ()
        self.watch.slot(value, descriptor, held)
        return (held,)

    # ---- values

    def _value(self, value: Any, short: bool = False) -> None:
        """Adds the description of a value. ``short``: of a class, what a kernel that
        calls it can reach."""
        if self.reason is not None:
            return
        kind = type(value)
        if kind in _ATOMS:
            self._add(kind.__name__, hex(value) if kind is int else repr(value))
        elif kind is tuple:
            self._items("tuple", value)
        elif kind is types.CodeType:
            self._code(value)
        else:
            self._object(value, kind, short)

    def _object(self, value: Any, kind: type, short: bool) -> None:
        if isinstance(value, _runtime.Dispatcher):
            self._jit(value)
        elif isinstance(value, constexpr):
            self._add("constexpr")
            self._slot_value(value, vars(constexpr)["value"])
        elif isinstance(value, _types.dtype):
            self._add("dtype", value.__nereid_type__)
        elif isinstance(value, DeviceConstant):
            self._add("constant", *map(str, value.__nereid_constant__))
        elif isinstance(value, type):
            self._class(value, short)
        elif kind is types.FunctionType:
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._whole_module(value)
        elif isinstance(value, enum.Enum):
            if self._is_new(value):
                self._add("enum", value.name)
                self._class(kind, False)
                self._value(value.value)
        elif kind in _DESCRIBERS:
            if kind in _UNSHARED or self._is_new(value):
                _DESCRIBERS[kind](self, value)
        elif kind.__module__ == "torch" and kind.__name__ == "Tensor":
            if self._is_new(value):
                self._tensor(value)
        elif _is_array(value):
            if self._is_new(value):
                self._array(value)
        elif callable(value) and _root(kind.__module__) in ("numpy", "builtins") and not _runtime.is_python_class(kind):
            # ufuncs, array functions, built-in methods of kinds not named above
            self._by_name(getattr(value, "__module__", None) or kind.__module__, getattr(value, "__name__", kind.__name__))
        elif self._is_new(value):
            if _runtime.is_python_class(kind):
                self._instance(value, kind)
            else:
                self._reduced(value, kind)

    def _items(self, what: str, items: Iterable[Any]) -> None:
        items = tuple(items)
        self._add(what, str(len(items)))
        for item in items:
            self._value(item)

    def _list(self, value: list) -> None:
        items = tuple(list.__iter__(value))
        self.watch.sequence(value, items)
        self._items("list", items)

    def _dict(self, value: dict) -> None:
        items = tuple(part for pair in dict.items(value) for part in pair)
        self.watch.mapping(value, items)
        self._items("dict", items)

    def _set(self, value: Any) -> None:
        items = tuple(value)
        if type(value) is set:
            self.watch.set(value, items)
        self._add("set" if isinstance(value, set) else "frozenset", str(len(items)))
        if all(type(item) in _ATOMS for item in items):
            self._add(*sorted(f"{type(item).__name__}:{item!r}" for item in items))
            return
        # Their order differs between processes, and with it the numbers of objects that
        # are met again: each is described on its own.
        parts = []
        for item in items:
            part = Dependencies(constants=[item])
            self._join(part)
            parts.append(part.digest)
        self._add(*sorted(parts))

    def _join(self, part: "Dependencies") -> None:
        if part.reason is not None:
            self._unknown(part.reason)
        self.portable &= part.portable
        self.watch.again(part.watch.unchanged, True)

    def _array(self, value: Any) -> None:
        dtype = getattr(value, "dtype", None)
        self._add("array", type(value).__qualname__, str(dtype), str(getattr(value, "shape", "")))
        text = None
        if not getattr(dtype, "hasobject", False):
            text = self.watch.buffer(value)
            if text is None and dtype is not None:  # a dtype that buffers do not know
                try:
                    text = self.watch.buffer(value.view("u1"))
                except (TypeError, ValueError):
                    pass
        if text is None:
            self._unknown(f"an array of {dtype or 'objects'}")
        else:
            self._add(text.hex())

    def _tensor(self, value: Any) -> None:
        try:
            array = value.detach().numpy()
        except (RuntimeError, TypeError, AttributeError):
            self._unknown(f"a torch tensor of {value.dtype} on {value.device}")
            return
        self._add("tensor")
        self._array(array)

    def _method(self, value: types.MethodType) -> None:
        self._add("method")
        self._value(value.__func__)
        self._value(value.__self__)

    def _builtin(self, value: Any) -> None:
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            module = owner.__name__ if owner is not None else value.__module__
            self._by_name(module, value.__name__)
        else:
            self._add("method", value.__name__)
            self._value(owner)

    def _bound_method(self, value: Any) -> None:
        self._add("method", value.__name__)
        self._value(value.__self__)

    def _tuple_field(self, value: Any) -> None:
        self._add("field of a named tuple")
        self._value(value.__reduce__()[1])

    def _descriptor(self, value: Any) -> None:
        self._add("member", value.__name__)
        self._value(value.__objclass__)

    def _partial(self, value: functools.partial) -> None:
        self._add("partial")
        for part in (value.func, value.args, value.keywords, vars(value)):
            self._value(part)

    def _property(self, value: property) -> None:
        self._items("property", (value.fget, value.fset, value.fdel))

    def _wrapped(self, value: Any) -> None:
        self._add(type(value).__name__)
        self._value(value.__func__)

    def _remembering(self, value: Any) -> None:
        """functools.cache: once it has results, they are as old as they are."""
        self._add("remembering")
        if value.cache_info().currsize:
            self.portable = False
        self._value(value.__wrapped__)

    def _proxy(self, value: types.MappingProxyType) -> None:
        self._add("proxy")
        self._value(gc.get_referents(value)[0])

    def _field(self, value: dataclasses.Field) -> None:
        self._add("field", str(value.name), repr(value.type))
        for part in (value.default, value.default_factory, dict(value.metadata)):
            self._value(part)

    def _environment(self, value: Any) -> None:
        self._add("environment")
        self._value(value._data)

    def _slot_value(self, value: Any, descriptor: Any) -> None:
        found = self._slot(value, descriptor)
        if found:
            self._value(found[0])

    def _whole_module(self, module: types.ModuleType) -> None:
        if _root(module.__name__) not in _STATELESS | {"nereid"}:
            self._unknown(f"the module {module.__name__} as a value, of which anything could be read")
        self._add("module", module.__name__)

    # ---- classes and their instances

    def _class(self, cls: type, short: bool) -> None:
        builtin = vars(cls).get("__nereid_builtin__")
        if builtin is not None:
            self._add("builtin", *builtin)
            return
        if not _runtime.is_python_class(cls) or _root(cls.__module__) in _STATELESS:
            self._by_name(cls.__module__, cls.__qualname__)
            return
        if not self._is_new(cls, short):
            return
        self.watch.cls(cls)
        self._add("class", cls.__module__, cls.__qualname__)
        if type(cls) not in (type, abc.ABCMeta, enum.EnumMeta):
            self._value(type(cls))
        for base in cls.__bases__:
            self._class(base, short)
        fields = vars(cls).get("__nereid_aggregate__")
        if fields is not None:
            self._add("aggregate", repr(fields))
        for name, member in list(vars(cls).items()):
            if name in _SKIPPED_MEMBERS or (fields is not None and name == "__init__"):
                continue
            # A kernel cannot call these, and what it constructs does not depend on them.
            if short and self._is_for_the_host(member):
                continue
            self._add(name)
            self._value(member)

    @staticmethod
    def _is_for_the_host(member: Any) -> bool:
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        if isinstance(member, types.FunctionType):
            return not {"__nereid_constexpr_function__", "__nereid_builtin__"} & set(vars(member))
        return isinstance(member, (property, types.MemberDescriptorType, types.GetSetDescriptorType))

    def _instance(self, value: Any, cls: type) -> None:
        base = next(base for base in cls.__mro__ if not _runtime.is_python_class(base))
        if base is not object and base not in _CONTAINERS:
            self._reduced(value, cls)
            return
        self._add("instance")
        self._class(cls, False)
        if base is list:
            self._list(value)
        elif base is dict:
            self._dict(value)
        elif base in (set, frozenset):
            items = tuple(base.__iter__(value))
            self._set(frozenset(items))
            self.watch.set(value, items)
        elif base is tuple:
            self._items("tuple", tuple.__iter__(value))
        elif base is not object:
            self._value(base.__getnewargs__(value)[0] if hasattr(base, "__getnewargs__") else base(value))
        for owner in cls.__mro__:
            for name, member in vars(owner).items():
                if isinstance(member, types.MemberDescriptorType) and owner is not object:
                    self._add("slot", name)
                    self._slot_value(value, member)
        variables = getattr(value, "__dict__", None)
        if type(variables) is dict:
            self.watch.instance(value, variables)
            self._dict(variables)
        else:
            self.watch.instance(value, None)

    def _reduced(self, value: Any, cls: type) -> None:
        """Objects of types that are not written in Python, by what pickle would keep."""
        description = _reduced_parts(value)
        if description is None:
            self._unknown(f"{_article(cls)} object")
            return
        self._add("reduced", str(cls.__module__), cls.__qualname__)
        if _root(cls.__module__) in _IMMUTABLE and not _runtime.is_python_class(cls):
            self._value(description)
            return
        part = Dependencies(constants=[description])
        self._join(part)
        self._add(part.digest)
        self.watch.again(lambda: Dependencies(constants=[_reduced_parts(value)]).digest, part.digest)


def _article(cls: type) -> str:
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    return ("an " if name[:1].lower() in "aeiou" else "a ") + name


def _is_array(value: Any) -> bool:
    kind = type(value)
    return (kind.__module__ == "numpy" and hasattr(kind, "__array_interface__") and not kind.__name__ == "matrix") or (
        kind in (bytearray, memoryview)
    )


def _reduced_parts(value: Any) -> tuple | None:
    """What pickle keeps of an object, as plain values; None when it cannot."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):
        return (reduced,)
    make, arguments, *rest = reduced
    state, items, pairs = (list(rest) + [None, None, None])[:3]
    name = f"{getattr(make, '__module__', '')}.{getattr(make, '__qualname__', make)}"
    plain = tuple(
        f"{part.__module__}.{part.__qualname__}" if isinstance(part, type) else part for part in arguments
    )
    return (name, plain, state, tuple(items or ()), tuple(pairs or ()))


_DESCRIBERS: dict[type, Callable[[Dependencies, Any], None]] = {
    list: Dependencies._list,
    dict: Dependencies._dict,
    set: Dependencies._set,
    frozenset: Dependencies._set,
    types.MethodType: Dependencies._method,
    types.BuiltinFunctionType: Dependencies._builtin,
    types.MethodWrapperType: Dependencies._bound_method,
    type(collections.namedtuple("_", "x").x): Dependencies._tuple_field,
    types.MethodDescriptorType: Dependencies._descriptor,
    types.WrapperDescriptorType: Dependencies._descriptor,
    types.ClassMethodDescriptorType: Dependencies._descriptor,
    types.MemberDescriptorType: Dependencies._descriptor,
    types.GetSetDescriptorType: Dependencies._descriptor,
    types.MappingProxyType: Dependencies._proxy,
    functools.partial: Dependencies._partial,
    type(functools.lru_cache(lambda: None)): Dependencies._remembering,
    property: Dependencies._property,
    staticmethod: Dependencies._wrapped,
    classmethod: Dependencies._wrapped,
    dataclasses.Field: Dependencies._field,
    type(os.environ): Dependencies._environment,
}
#: Kinds of values whose identity says nothing: Python makes them at will.
_UNSHARED = frozenset({
    frozenset, types.MethodType, types.MethodWrapperType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
})
