# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No stale kernels: whatever a kernel's code depends on, a launch sees what it is now.

Each kind of dependency twice: edited between two loads of a file that share a disk
cache (as two processes do), and changed inside one process between two launches."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid._kernels.dependencies import Dependencies

HEAD = "import nereid, numpy as np\nimport nereid.language as tl\n"
STORE = "@nereid.jit\ndef kernel(out):\n    tl.store(out, {})\n"
RESULT = "@nereid.constexpr_function\ndef result():\n    {}\n" + STORE.format("result()")

#: Each text gives a kernel that stores VALUE.
EDITED = {
    "tuple of jit functions": "@nereid.jit\ndef f(x): return x + VALUE\nF = (f, f)\n" + STORE.format("F[1](0)"),
    "nested tuple of jit functions": "@nereid.jit\ndef f(x): return x + VALUE\nF = ((f, f), f)\n" + STORE.format("F[0][1](0)"),
    "list of jit functions": "@nereid.jit\ndef f(x): return x + VALUE\nF = [f]\n" + STORE.format("F[0](0)"),
    "jit function as attribute of a class": (
        "class C:\n    @nereid.jit\n    def f(x): return x + VALUE\n" + STORE.format("C.f(0)")
    ),
    "jit function as default": (
        "@nereid.jit\ndef f(x): return x + VALUE\n@nereid.jit\ndef g(x, f: tl.constexpr = f): return f(x)\n"
        + STORE.format("g(0)")
    ),
    "default of a helper": "V = VALUE\n@nereid.jit\ndef f(x, y: tl.constexpr = V): return x + y\n" + STORE.format("f(0)"),
    "tuple as default": "V = (0, VALUE)\n@nereid.jit\ndef f(x, y: tl.constexpr = V): return x + y[1]\n" + STORE.format("f(0)"),
    "annotation of a helper": (
        "C = tl.constexpr if VALUE == 3 else None\n@nereid.jit\ndef f(x, y: C):\n    return 3 if C is None else y + 2\n"
        "@nereid.jit\ndef kernel(out): tl.store(out, VALUE)\n"
    ),
    "plain helper": "def g(): return VALUE\n" + RESULT.format("return g()"),
    "helper of a helper": "def h(): return VALUE\ndef g(): return h()\n" + RESULT.format("return g()"),
    "lambda": "g = lambda: VALUE\n" + RESULT.format("return g()"),
    "default of a plain helper": "V = VALUE\ndef g(x=V): return x\n" + RESULT.format("return g()"),
    "keyword default": "V = VALUE\ndef g(*, x=V): return x\n" + RESULT.format("return g()"),
    "list": "T = [0, VALUE]\n" + RESULT.format("return T[1]"),
    "list of lists": "T = [[0], [VALUE]]\n" + RESULT.format("return T[1][0]"),
    "dict": "T = {'a': VALUE}\n" + RESULT.format("return T['a']"),
    "dict through get": "T = {'a': VALUE}\n" + RESULT.format("return T.get('a')"),
    "set": "T = {1, VALUE}\n" + RESULT.format("return max(T)"),
    "frozenset of strings": "T = frozenset(['a', 'b' * VALUE])\n" + RESULT.format("return max(map(len, T))"),
    "array": "T = np.array([0, VALUE])\n" + RESULT.format("return int(T[1])"),
    "array element type": (
        "T = np.array([1], np.int8 if VALUE == 3 else np.int16)\n" + RESULT.format("return T.itemsize * 4 - 1")
    ).replace("* 4 - 1", "+ 2 if T.itemsize == 1 else 5"),
    "two-dimensional view": "T = np.full((4, 4), VALUE)[::2, ::2]\n" + RESULT.format("return int(T[1, 1])"),
    "enum": "import enum\nclass E(enum.Enum):\n    A = VALUE\n" + RESULT.format("return E.A.value"),
    "enum by value": "import enum\nclass E(enum.IntEnum):\n    A = VALUE\n" + RESULT.format("return int(max(E))"),
    "class attribute": "class C:\n    A = VALUE\n" + RESULT.format("return C.A"),
    "attribute of a base": "class B:\n    A = VALUE\nclass C(B): pass\n" + RESULT.format("return C.A"),
    "static method": "class C:\n    @staticmethod\n    def a(): return VALUE\n" + RESULT.format("return C.a()"),
    "class method": "class C:\n    @classmethod\n    def a(cls): return VALUE\n" + RESULT.format("return C.a()"),
    "property": "class C:\n    a = property(lambda self: VALUE)\nc = C()\n" + RESULT.format("return c.a"),
    "method": "class C:\n    def a(self): return self.b\nc = C()\nc.b = VALUE\n" + RESULT.format("return c.a()"),
    "bound method": "class C:\n    def a(self): return self.b\nc = C()\nc.b = VALUE\na = c.a\n" + RESULT.format("return a()"),
    "callable object": "class C:\n    def __call__(self): return VALUE\nc = C()\n" + RESULT.format("return c()"),
    "instance attribute": "class C: pass\nc = C()\nc.a = VALUE\n" + RESULT.format("return c.a"),
    "slots": "class C:\n    __slots__ = ('a',)\nc = C()\nc.a = VALUE\n" + RESULT.format("return c.a"),
    "slots as a whole": "class C:\n    __slots__ = ('a',)\nc = C()\nc.a = VALUE\n" + RESULT.format("return getattr(c, 'a')"),
    "dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    a: int = 1\n    b: int = VALUE\nc = C()\n"
        + RESULT.format("return c.b")
    ),
    "fields of a dataclass": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    b: int\nc = C(VALUE)\n"
        + RESULT.format("return dataclasses.astuple(c)[0]")
    ),
    "named tuple": "import collections\nC = collections.namedtuple('C', 'a b')\nc = C(1, VALUE)\n" + RESULT.format("return c.b"),
    "subclass of dict": "class D(dict): pass\nd = D(a=VALUE)\n" + RESULT.format("return d['a']"),
    "subclass of int": "class I(int): pass\ni = I(VALUE)\n" + RESULT.format("return int(i)"),
    "partial": "import functools\ng = functools.partial(max, VALUE)\n" + RESULT.format("return g(1)"),
    "partial as a constexpr function": (
        "import functools\nresult = tl.constexpr_function(functools.partial(max, VALUE, 1)) if False else None\n"
        "g = functools.partial(max, VALUE)\n" + RESULT.format("return g(1)")
    ),
    "cached function": "import functools\n@functools.lru_cache\ndef g(): return VALUE\n" + RESULT.format("return g()"),
    "wrapped function": (
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def g(): return f() + VALUE - 1\n    return g\n"
        "@deco\ndef g(): return 1\n" + RESULT.format("return g()")
    ),
    "closure of a plain function": "def make(v):\n    return lambda: v\ng = make(VALUE)\n" + RESULT.format("return g()"),
    "list in a closure": "def make(v):\n    return lambda: v[0]\ng = make([VALUE])\n" + RESULT.format("return g()"),
    "nested function": "N = VALUE\ndef g():\n    def h(): return N\n    return h()\n" + RESULT.format("return g()"),
    "comprehension": "N = VALUE\ndef g(): return sum([N for _ in range(1)])\n" + RESULT.format("return g()"),
    "attribute of a function": "def g(): return g.a\ng.a = VALUE\n" + RESULT.format("return g()"),
    "import inside": "import types, sys\nm = types.ModuleType('stale_inner')\nm.A = VALUE\nsys.modules['stale_inner'] = m\n"
                     + RESULT.format("import stale_inner; return stale_inner.A"),
    "import from inside": "import types, sys\nm = types.ModuleType('stale_inner')\nm.A = VALUE\nsys.modules['stale_inner'] = m\n"
                          + RESULT.format("from stale_inner import A as b; return b"),
    "environment": "import os\nos.environ['NEREID_TEST_STALE'] = str(VALUE)\n"
                   + RESULT.format("return int(os.environ['NEREID_TEST_STALE'])"),
    "fraction": "import fractions\nT = fractions.Fraction(VALUE)\n" + RESULT.format("return int(T)"),
    "date": "import datetime\nT = datetime.date(2000, 1, VALUE)\n" + RESULT.format("return T.day"),
    "deque": "import collections\nT = collections.deque([VALUE])\n" + RESULT.format("return T[0]"),
    "generated function": "space = {}\nexec('def g(): return VALUE', space)\ng = space['g']\n" + RESULT.format("return g()"),
    "aggregate": (
        "@nereid.aggregate\nclass P:\n    v: tl.tensor\n    def __init__(self, v):\n        self.v = v\n    @nereid.jit\n"
        "    def get(self): return self.v + VALUE\n" + STORE.format("P(tl.load(out) * 0).get()")
    ),
    "aggregate's base": (
        "class B:\n    @nereid.jit\n    def get(self): return self.v + VALUE\n"
        "@nereid.aggregate\nclass P(B):\n    v: tl.tensor\n    def __init__(self, v):\n        self.v = v\n"
        + STORE.format("P(tl.load(out) * 0).get()")
    ),
}


class Files:
    """Modules that are loaded from one file again and again."""

    def __init__(self, folder):
        self.path = folder / "edited.py"

    def load(self, text):
        self.path.write_text(text)
        spec = importlib.util.spec_from_file_location("stale_edited", self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        return module


@pytest.fixture
def files(tmp_path, cache_folder):
    made = Files(tmp_path)
    yield made
    for name in ("stale_edited", "stale_inner"):
        sys.modules.pop(name, None)
    os.environ.pop("NEREID_TEST_STALE", None)


def launch(kernel, **constants):
    out = np.zeros(1, np.int32)
    compiled = kernel[(1,)](out, **constants)
    return int(out[0]), compiled


@pytest.mark.parametrize("kind", EDITED)
def test_edits_between_two_runs(files, kind):
    text = HEAD + EDITED[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, compiled = launch(files.load(text.replace("VALUE", "3")).kernel)
        again, cached = launch(files.load(text.replace("VALUE", "3")).kernel)
        module = files.load(text.replace("VALUE", "5"))
        edited, _ = launch(module.kernel)
    assert (first, again, edited) == (3, 3, 5)
    assert not compiled.from_cache
    assert cached.from_cache, "the same text does not find its kernel"
    assert module.kernel._dependencies.watch.unchanged(), "each launch looks at everything anew"


#: (module, what changes in it): the kernel stores 3, then 5.
CHANGED = {
    "global": ("V = tl.constexpr(3)\n" + STORE.format("V"), "V = tl.constexpr(5)"),
    "constexpr in place": ("V = tl.constexpr(3)\n" + STORE.format("V"), "V.value = 5"),
    "rebound module": (
        "import types\na, b = types.ModuleType('a'), types.ModuleType('b')\na.V, b.V = tl.constexpr(3), tl.constexpr(5)\nm = a\n"
        + STORE.format("m.V"), "m = b"
    ),
    "variable of a module": (
        "import types\nm = types.ModuleType('m')\nm.V = tl.constexpr(3)\n" + STORE.format("m.V"), "m.V = tl.constexpr(5)"
    ),
    "class attribute in a kernel": ("class C:\n    V = tl.constexpr(3)\n" + STORE.format("C.V"), "C.V = tl.constexpr(5)"),
    "attribute of a base": ("class B:\n    V = tl.constexpr(3)\nclass C(B): pass\n" + STORE.format("C.V"), "B.V = tl.constexpr(5)"),
    "attribute that hides a base's": (
        "class B:\n    V = tl.constexpr(3)\nclass C(B): pass\n" + STORE.format("C.V"), "C.V = tl.constexpr(5)"
    ),
    "jit function": (
        "@nereid.jit\ndef f(x): return x + 3\n@nereid.jit\ndef g(x): return x + 5\n" + STORE.format("f(0)"), "f = g"
    ),
    "global of a jit function in a tuple": (
        "V = tl.constexpr(3)\n@nereid.jit\ndef f(x): return x + V\nF = (f,)\n" + STORE.format("F[0](0)"), "V = tl.constexpr(5)"
    ),
    "list of jit functions": (
        "@nereid.jit\ndef f(x): return x + 3\n@nereid.jit\ndef g(x): return x + 5\nF = [f]\n" + STORE.format("F[0](0)"),
        "F[0] = g"
    ),
    "dict": ("T = {'a': 3}\n" + RESULT.format("return T['a']"), "T['a'] = 5"),
    "dict in a dict": ("T = {'a': {'b': 3}}\n" + RESULT.format("return T['a']['b']"), "T['a']['b'] = 5"),
    "list": ("T = [3]\n" + RESULT.format("return T[0]"), "T[0] = 5"),
    "list in a tuple in a list": ("T = [([3],)]\n" + RESULT.format("return T[0][0][0]"), "T[0][0][0] = 5"),
    "appended": ("T = [0, 3]\n" + RESULT.format("return T[-1]"), "T.append(5)"),
    "set": ("T = {3}\n" + RESULT.format("return max(T)"), "T.add(5)"),
    "array in place": ("T = np.array([3])\n" + RESULT.format("return int(T[0])"), "T[0] = 5"),
    "array through a view": ("A = np.array([1, 3])\nT = A[1:]\n" + RESULT.format("return int(T[0])"), "A[1] = 5"),
    "bytearray": ("T = bytearray([3])\n" + RESULT.format("return T[0]"), "T[0] = 5"),
    "deque": ("import collections\nT = collections.deque([3])\n" + RESULT.format("return T[0]"), "T[0] = 5"),
    "class attribute": ("class C:\n    A = 3\n" + RESULT.format("return C.A"), "C.A = 5"),
    "instance attribute": ("class C: pass\nc = C()\nc.a = 3\n" + RESULT.format("return c.a"), "c.a = 5"),
    "instance attribute through getattr": ("class C: pass\nc = C()\nc.a = 3\n" + RESULT.format("return getattr(c, 'a')"), "c.a = 5"),
    "instance dict": ("class C: pass\nc = C()\nc.a = 3\n" + RESULT.format("return c.a"), "c.__dict__ = {'a': 5}"),
    "class of an instance": (
        "class C:\n    def a(self): return 3\nclass D:\n    def a(self): return 5\nc = C()\n" + RESULT.format("return c.a()"),
        "c.__class__ = D"
    ),
    "attribute that turns up": ("class C:\n    a = 3\nc = C()\n" + RESULT.format("return c.a"), "c.a = 5"),
    "slots": ("class C:\n    __slots__ = ('a',)\nc = C()\nc.a = 3\n" + RESULT.format("return c.a"), "c.a = 5"),
    "property": ("class C:\n    a = property(lambda self: self.b)\nc = C()\nc.b = 3\n" + RESULT.format("return c.a"), "c.b = 5"),
    "dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    a: int\nc = C(3)\n" + RESULT.format("return c.a"), "c.a = 5"
    ),
    "method": ("class C:\n    def a(self): return 3\nc = C()\n" + RESULT.format("return c.a()"), "C.a = lambda self: 5"),
    "plain helper": ("def g(): return 3\n" + RESULT.format("return g()"), "def g(): return 5"),
    "global of a plain helper": ("V = 3\ndef g(): return V\n" + RESULT.format("return g()"), "V = 5"),
    "code of a plain helper": ("def g(): return 3\n" + RESULT.format("return g()"), "g.__code__ = (lambda: 5).__code__"),
    "default of a plain helper": ("def g(x=3): return x\n" + RESULT.format("return g()"), "g.__defaults__ = (5,)"),
    "keyword default": ("def g(*, x=3): return x\n" + RESULT.format("return g()"), "g.__kwdefaults__['x'] = 5"),
    "mutable default": ("def g(x=[3]): return x[0]\n" + RESULT.format("return g()"), "g.__defaults__[0][0] = 5"),
    "attribute of a function": ("def g(): return g.a\ng.a = 3\n" + RESULT.format("return g()"), "g.a = 5"),
    "keywords of a partial": (
        "import functools\ng = functools.partial(dict, a=3)\n" + RESULT.format("return g()['a']"), "g.keywords['a'] = 5"
    ),
    "built-in that is hidden": ("def mine(*x): return 5\n" + RESULT.format("return max(3, 1)"), "max = mine"),
    "import inside": (
        "import types, sys\nm = types.ModuleType('stale_inner')\nm.A = 3\nsys.modules['stale_inner'] = m\n"
        + RESULT.format("import stale_inner; return stale_inner.A"), "m.A = 5"
    ),
    "environment": (
        "import os\nos.environ['NEREID_TEST_STALE'] = '3'\n" + RESULT.format("return int(os.environ['NEREID_TEST_STALE'])"),
        "os.environ['NEREID_TEST_STALE'] = '5'"
    ),
    "aggregate's method": (
        "@nereid.jit\ndef five(self): return self.v + 5\n"
        "@nereid.aggregate\nclass P:\n    v: tl.tensor\n    def __init__(self, v):\n        self.v = v\n    @nereid.jit\n"
        "    def get(self): return self.v + 3\n" + STORE.format("P(tl.load(out) * 0).get()"), "P.get = five"
    ),
    "state behind a function": ("import itertools\nT = iter([3, 5])\n" + RESULT.format("return next(T)"), ""),
    "class attribute of an aggregate": (
        "@nereid.aggregate\nclass P:\n    v: tl.tensor\n    S = tl.constexpr(3)\n    def __init__(self, v):\n        self.v = v\n"
        + STORE.format("P(tl.load(out) * 0).v + P.S"), "P.S = tl.constexpr(5)"
    ),
    "constexpr of a plain function": ("V = 3\ndef g(): return V\nF = tl.constexpr(g)\n" + STORE.format("F()"), "V = 5"),
    "constexpr function around a partial": (
        "import functools\nT = [3]\ndef g(t): return t[0]\nresult = functools.partial(g, T)\n"
        "result = nereid.constexpr_function(functools.wraps(g)(result))\n" + STORE.format("result()"), "T[0] = 5"
    ),
    "option of the function": (
        STORE.format("5") + "nereid_other = kernel\n@nereid.jit\ndef kernel(out):\n    tl.store(out, V)\nV = tl.constexpr(3)\n",
        "kernel = nereid_other"
    ),
    "clock": ("import time\nT = [3, 5]\ndef t(): return T.pop(0)\ntime.stale = t\n" + RESULT.format("return time.stale()"), ""),
}


@pytest.mark.filterwarnings("ignore:.*compiled anew")
@pytest.mark.parametrize("kind", CHANGED)
def test_changes_inside_one_process(files, kind):
    text, change = CHANGED[kind]
    module = files.load(HEAD + text)
    before, _ = launch(module.kernel)
    exec(compile(change, "<change>", "exec"), vars(module))
    after, _ = launch(module.kernel)
    assert (before, after) == (3, 5)


#: (module, what changes in it, name of the function that is given as a constant)
CONSTANTS = {
    "global of a jit function": ("V = tl.constexpr(3)\n@nereid.jit\ndef f(): return V\n", "V = tl.constexpr(5)"),
    "global of a constexpr function": ("V = 3\n@nereid.constexpr_function\ndef f(): return V\n", "V = 5"),
    "table of a constexpr function": ("V = [3]\n@nereid.constexpr_function\ndef f(): return V[0]\n", "V[0] = 5"),
    "function that a function calls": (
        "V = tl.constexpr(3)\n@nereid.jit\ndef g(): return V\n@nereid.jit\ndef f(): return g()\n", "V = tl.constexpr(5)"
    ),
}


@pytest.mark.parametrize("shape", ["constexpr", "tuple", "run-time parameter", "run-time tuple"])
@pytest.mark.parametrize("kind", CONSTANTS)
def test_functions_given_as_arguments(files, kind, shape):
    text, change = CONSTANTS[kind]
    annotation = "" if shape.startswith("run") else ": tl.constexpr"
    index = "[0]" if "tuple" in shape else ""
    module = files.load(HEAD + text + f"@nereid.jit\ndef kernel(out, F{annotation}):\n    tl.store(out, F{index}())\n")
    value = (module.f,) if "tuple" in shape else module.f
    assert launch(module.kernel, F=value)[0] == 3
    assert launch(module.kernel, F=value)[0] == 3
    exec(change, vars(module))
    assert launch(module.kernel, F=value)[0] == 5
    assert launch(module.kernel, F=value)[0] == 5


#: Two closures of one function, made with 3 and 5.
CLOSURES = {
    "list": "@nereid.constexpr_function\n    def f(): return v[0]", "dict": "@nereid.constexpr_function\n    def f(): return v[0]",
    "array": "@nereid.constexpr_function\n    def f(): return int(v[0])", "set": "@nereid.constexpr_function\n    def f(): return max(v)",
    "function": "@nereid.constexpr_function\n    def f(): return v()", "jit function": "f = v",
    "default": "@nereid.jit\n    def f(x: tl.constexpr = v): return x",
    "class": "@nereid.constexpr_function\n    def f(): return v.a", "object": "@nereid.constexpr_function\n    def f(): return v.a",
}


@pytest.mark.parametrize("kind", CLOSURES)
def test_two_closures_of_one_function(files, kind):
    module = files.load(
        HEAD + "@nereid.jit\ndef three(): return 3\n@nereid.jit\ndef five(): return 5\ndef make(v):\n    " + CLOSURES[kind]
        + "\n    @nereid.jit\n    def kernel(out):\n        tl.store(out, f())\n    return kernel\n"
    )
    values = {
        "list": lambda v: [v], "dict": lambda v: {0: v}, "array": lambda v: np.array([v]), "set": lambda v: {v, 1},
        "function": lambda v: lambda: v, "jit function": {3: module.three, 5: module.five}.get, "default": lambda v: v,
        "class": lambda v: type("C", (), {"a": v}), "object": lambda v: type("C", (), {"__init__": lambda s: setattr(s, "a", v)})(),
    }[kind]
    kernels = [module.make(values(v)) for v in (3, 5)]
    assert [launch(kernel)[0] for kernel in kernels] == [3, 5]
    assert [launch(kernel)[0] for kernel in kernels] == [3, 5]


def test_environment_variables_are_seen(files, monkeypatch):
    monkeypatch.delenv("NEREID_ALLOW_NON_CONSTEXPR_GLOBALS", raising=False)
    module = files.load(HEAD + "@nereid.jit\ndef kernel(out):\n    tl.device_assert(tl.load(out) == 1)\n    tl.store(out, 3)\n")
    assert launch(module.kernel)[0] == 3
    monkeypatch.setenv("NEREID_DEBUG", "1")
    with pytest.raises(nereid.LaunchError):
        launch(module.kernel)
    monkeypatch.delenv("NEREID_DEBUG")
    assert launch(module.kernel)[0] == 3


def test_named_tuples_of_functions_as_constants(files):
    module = files.load(
        HEAD + "import collections\nOps = collections.namedtuple('Ops', 'f n')\nV = tl.constexpr(3)\n@nereid.jit\ndef f(): return V\n"
        "ops = Ops(f, 1)\n@nereid.jit\ndef kernel(out, O: tl.constexpr):\n    tl.store(out, O.f() + O.n - 1)\n"
    )
    assert launch(module.kernel, O=module.ops)[0] == 3
    module.V = tl.constexpr(5)
    assert launch(module.kernel, O=module.ops)[0] == 5
    assert launch(module.kernel, O=module.Ops(module.f, 2))[0] == 6


def test_what_cannot_be_described_is_not_cached(files, cache_folder):
    module = files.load(HEAD + "import time\n" + RESULT.format("return int(time.time() * 1e3) % 1000000"))
    with pytest.warns(UserWarning, match=r"'kernel' is compiled anew .* time\.time \(read by 'result'.*edited\.py"):
        first, compiled = launch(module.kernel)
    time.sleep(0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert launch(module.kernel)[0] != first
    assert not list(cache_folder.glob("*/*.o"))


def test_remembered_results_stay_in_the_process(files, cache_folder):
    """A cached function gives its old result for the new table; other processes must not get it."""
    text = HEAD + "import functools\nT = [VALUE]\n@functools.cache\ndef g(): return T[0]\n" + RESULT.format("return g()")
    module = files.load(text.replace("VALUE", "3"))
    assert launch(module.kernel)[0] == 3
    module.T[0] = 5
    assert launch(module.kernel)[0] == 3  # as calling g() does
    assert launch(files.load(text.replace("VALUE", "5")).kernel)[0] == 5


def test_unchanged_values_compile_nothing(files, recorder):
    module = files.load(HEAD + "V = tl.constexpr(3)\nT = [1, 2]\nclass C:\n    a = 1\n" + RESULT.format("return T[0] + C.a + V.value"))
    launch(module.kernel)
    for change in ("V = tl.constexpr(3)", "T = [1, 2]", "T.append(3); T.pop()", "C.b = C.__dict__.get('b', 0); del C.b",
                   "other = 1"):
        exec(change, vars(module))
        launch(module.kernel)
    assert len(recorder.requests) == 1


def test_parameters_hide_globals(files):
    """What a function has as its own is no dependency, whatever the module calls so."""
    module = files.load(
        HEAD + "out = np.zeros(4)\ni = open\nx = object()\n@nereid.jit\ndef kernel(out):\n    x = 2\n"
        "    for i in tl.static_range(1):\n        x += i\n    tl.store(out, x + 1)\n"
    )
    assert [read.names[0] for read in module.kernel.reads] == ["tl"] * len(module.kernel.reads)
    assert module.kernel.dependencies.reason is None
    assert launch(module.kernel)[0] == 3


# ---- decorators, texts


def test_decorators_below_jit(files, tmp_path):
    (tmp_path / "stale_deco.py").write_text(
        "import functools\nV = 7\ndef deco(f):\n    @functools.wraps(f)\n    def g(*args): return f(*args)\n    return g\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        text = HEAD + "from stale_deco import deco\nV = tl.constexpr(3)\n@nereid.jit\n@deco\ndef kernel(out):\n    tl.store(out, V)\n"
        with pytest.warns(UserWarning, match=r"a decorator below it, from .*stale_deco\.py:4, wraps the function"):
            module = files.load(text)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("stale_deco", None)
    assert launch(module.kernel)[0] == 3
    module.V = tl.constexpr(5)
    assert launch(module.kernel)[0] == 5


def test_edits_after_the_import(files):
    text = HEAD + STORE.format("VALUE")
    module = files.load(text.replace("VALUE", "3"))
    files.path.write_text("# one more line\n" + text.replace("VALUE", "5"))
    assert launch(module.kernel)[0] == 3
    assert "VALUE".replace("VALUE", "3") in module.kernel.src and module.kernel.source_lines[0].startswith("import")
    assert launch(files.load(text.replace("VALUE", "5")).kernel)[0] == 5
    assert launch(module.kernel)[0] == 3


def test_edits_before_a_late_definition(files):
    late = "def make():\n    @nereid.jit\n    def kernel(out):\n        tl.store(out, VALUE)\n    return kernel\n"
    early = files.load(HEAD + STORE.format("1") + late.replace("VALUE", "3"))  # its first kernel keeps the text
    files.path.write_text(HEAD + STORE.format("1") + late.replace("VALUE", "5"))
    assert launch(early.make())[0] == 3
    files.path = files.path.with_name("late.py")
    module = files.load(HEAD + late.replace("VALUE", "3"))
    files.path.write_text(HEAD + late.replace("VALUE", "5"))
    with pytest.raises(nereid.CompilationError, match=r"late\.py:4: error: the file has been edited since Python read it"):
        launch(module.make())


def test_asserts_that_a_test_runner_rewrites(files):
    """pytest compiles a module of tests in its own way, also just after an edit."""
    path = files.path.with_name("test_it.py")
    path.write_text(
        HEAD + "@nereid.jit\ndef kernel(out):\n    assert 1 == 1\n    tl.store(out, 3)\n\n\ndef test_it():\n"
        "    out = np.zeros(1, np.int32)\n    kernel[(1,)](out)\n    assert out[0] == 3\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(path.parent)]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr


def test_renamed_functions_and_cells_of_notebooks(files):
    import linecache

    module = files.load(HEAD + "def kernel(out):\n    tl.store(out, 3)\nkernel.__name__ = 'other'\nkernel = nereid.jit(kernel)\n")
    assert launch(module.kernel)[0] == 3
    for value in (3, 5):  # two cells under one name
        text = HEAD + STORE.format(value)
        linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
        space = {"__name__": "stale_cell"}
        exec(compile(text, "<cell 1>", "exec"), space)
        assert launch(space["kernel"])[0] == value
    del linecache.cache["<cell 1>"]


# ---- aggregates


def test_aggregates_are_looked_up_once(files, recorder):
    module = files.load(HEAD + EDITED["aggregate"].replace("VALUE", "3"))
    for _ in range(3):
        launch(module.kernel)
    assert len(recorder.requests) == 1 and module.kernel._dependencies.watch.unchanged()


def test_aggregates_defined_in_functions():
    @nereid.aggregate
    class Pair:
        v: tl.tensor

        def __init__(self, v):
            self.v = v

        @nereid.jit
        def get(self):
            return self.v * 3

        def for_the_host(self):
            return open(os.devnull)

    @nereid.jit
    def kernel(out):
        tl.store(out, Pair(tl.load(out) + 1).get())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert launch(kernel)[0] == 3


# ---- the description itself


def describe(value):
    return Dependencies(constants=[value])


def test_equal_descriptions_mean_equal_values():
    values = [
        1, 1.0, True, "1", b"1", None, (), [], {}, set(), frozenset(), (1,), [1], (1, 1), ((1,),), [[]], {1: 2}, {2: 1}, {1, 2},
        0.0, -0.0, 1j, ..., np.float32(1), np.int32(1), np.int64(1), np.array(1), np.array([1]), np.array([[1]]), np.array([1.0]),
        tl.constexpr(1), tl.float32, tl.pointer_type(tl.float32), len, max, np.prod, np.sum, int, float, range(3), slice(1),
    ]
    digests = [describe(value).digest for value in values]
    assert len(set(digests)) == len(digests)
    assert all(describe(value).reason is None and describe(value).portable for value in values)
    assert digests == [describe(value).digest for value in values]


def test_cycles_end():
    loop = []
    loop.append(loop)
    other = [[]]
    assert describe(loop).digest != describe(other).digest
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in describe(deep).reason


@pytest.mark.parametrize("value, what", [
    (lambda: open(os.devnull), "TextIOWrapper"), (lambda: (x for x in ()), "generator"), (lambda: os, "the module os"),
    (lambda: time.time, "time.time"), (lambda: np.array([object()]), "an array of object"),
])
def test_what_cannot_be_described(value, what):
    found = describe(value())
    assert what in found.reason
    assert not found.watch.unchanged()
