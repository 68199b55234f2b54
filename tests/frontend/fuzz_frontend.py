# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels that are mostly wrong: each is compiled, or refused with a place in its
file; never a crash, an internal error, invalid IR or a hang.

    python tests/frontend/fuzz_frontend.py FIRST LAST [--full] [--keep FOLDER]

goes through the seeds FIRST to LAST - 1; with --full, what the front end accepts goes
through the whole compiler. Exit code 0: all is well. Every failure is printed with its
seed; `--keep` writes the sources to a folder.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import tokenize
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = int(os.environ.get("NEREID_FUZZ_SECONDS", "60"))  # for one kernel, also on a busy machine

HEADER = """\
import collections
import nereid
import nereid.distributed as dl
import nereid.language as tl
import nereid.language.extra.cann.extension as al
import nereid.libshmem_device as shmem
from nereid.language.extra import libdevice

Pair = collections.namedtuple("Pair", "first second")
SIZE = tl.constexpr(8)
PLAIN = 3


@nereid.jit
def helper(a, b=2, *rest):
    if a is None:
        return b
    return a + b


@nereid.jit
def combine(a, b):
    return a + b


@nereid.constexpr_function
def twice(a):
    return a * 2


@nereid.aggregate
class Cell:
    value: tl.tensor
    size: tl.constexpr

    def __init__(self, value, size=4):
        self.value = value
        self.size = size

    @nereid.jit
    def get(self, by=1):
        return self.value * by


"""

PARAMETERS = {
    "x_ptr": ("*fp32", 16), "h_ptr": ("*fp16", 16), "i_ptr": ("*i32", 16), "s_ptr": ("*i64", 16),
    "n": ("i32", 0), "k": ("i64", 0), "u": ("u32", 0), "f": ("fp32", 0), "b": ("u1", 0),
}  # fmt: skip


class Soup:
    """Kernels of a few random statements over values of all kinds."""

    names = [*PARAMETERS, "B", "v", "w", "t", "c", "größe"]
    leaves = (
        "0 1 -1 3 8 16 2**31 2**63 2**70 -(2**63) 10**30 0.5 1e400 -0.0 1e-320 float('nan') True False None 'text' '' "
        "() (n,) (n,1) (1,2,3) [4,n] Pair(1,n) SIZE PLAIN helper combine twice Cell Cell(n) Cell(f,2) tl dl al shmem "
        "tl.float32 tl.int8 tl.float8e5 tl.int1 tl.uint64 tl.bfloat16 tl.void tl.load tl.constexpr tl.arange(0,8) "
        "tl.arange(0,1) tl.arange(0,6) tl.zeros((4,8),tl.float32) tl.zeros((1,8),tl.float16) tl.full((8,),3,tl.int64) "
        "tl.zeros((2,3,5),tl.int8) tl.load(x_ptr) tl.load(i_ptr+tl.arange(0,8)) x_ptr+tl.arange(0,8) range(4) "
        "tl.make_block_ptr(x_ptr,(8,),(1,),(0,),(8,),(0,)) tl.make_tensor_descriptor(x_ptr,(8,8),(8,1),(4,4)) "
        "dl.wait(s_ptr,1,'gpu','acquire') dl.rank() tl.program_id(0) f'{n}' f'{B:>4}' f'{B!r}' int float min max len "
        "isinstance print shmem.NVSHMEM_CMP_GE shmem.NVSHMEM_SIGNAL_ADD tl.PropagateNan.ALL al.sub_vec_id() ..."
    ).split()
    attributes = "dtype shape T type scalar element_ty handle to sum max load store value first size get numel ndim " \
                 "__class__ reshape trans cast broadcast_to atomic_add primitive_bitwidth is_floating logical_and " \
                 "__doc__ __globals__ constexpr".split()
    keywords = "mask other axis dtype keep_dims boundary_check sem scope value shape allow_tf32 bitcast acc " \
               "out_dtype dim reverse volatile what".split()

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.functions = self.table()
        self.lines: list[str] = []
        self.kernels = [self.kernel(number) for number in range(12)]

    @staticmethod
    def table() -> list[str]:
        from nereid import _compiler

        prefix = {"tl": "tl.", "tl.math": "tl.math.", "libdevice": "libdevice.", "dl": "dl.",
                  "libshmem_device": "shmem.", "al": "al.", "python": ""}  # fmt: skip
        names = [prefix[row[0]] + row[1] for row in _compiler.builtin_table() if row[0] in prefix]
        return [*names, "helper", "combine", "twice", "Cell", "Pair", "Cell(n).get", "helper.fn", "nereid.cdiv"]

    def pick(self, *choices):
        return self.random.choice(choices)

    def arguments(self, depth: int) -> str:
        items = [self.expression(depth) for _ in range(self.random.choice([0, 1, 1, 2, 2, 2, 3, 4]))]
        if self.random.random() < 0.1:
            items.append(f"*{self.expression(depth)}")
        if self.random.random() < 0.2:
            items.append(f"{self.random.choice(self.keywords)}={self.expression(depth)}")
        if self.random.random() < 0.02:
            items.append(f"**{self.expression(depth)}")
        return ", ".join(items)

    def expression(self, depth: int) -> str:
        kind = self.random.random()
        if depth <= 0 or kind < 0.2:
            return self.random.choice(self.names if self.random.random() < 0.6 else self.leaves)
        one = self.expression(depth - 1)
        if kind < 0.38:
            return f"({one} {self.pick(*'+ - * / // % ** @ & | ^ << >>'.split())} {self.expression(depth - 1)})"
        if kind < 0.46:
            operators = "== != < <= > >= is in".split() + ["is not", "not in"]
            chain = f" {self.pick(*operators)} {self.expression(0)}" if self.random.random() < 0.15 else ""
            return f"({one} {self.pick(*operators)} {self.expression(depth - 1)}{chain})"
        if kind < 0.5:
            return f"({one} {self.pick('and', 'or')} {self.expression(depth - 1)})"
        if kind < 0.54:
            return f"({self.pick('-', '+', '~', 'not ')}{one})"
        if kind < 0.58:
            return f"({one} if {self.expression(depth - 1)} else {self.expression(depth - 1)})"
        if kind < 0.63:
            index = self.pick(self.expression(0), ":", ":, None", "None, :", "0", "-1", "1:", f"{self.expression(0)}, 1")
            return f"{one if one.isidentifier() else f'({one})'}[{index}]"
        if kind < 0.69:
            return f"({one}).{self.random.choice(self.attributes)}"
        if kind < 0.73:
            return f"({one}).{self.random.choice(self.attributes)}({self.arguments(depth - 2)})"
        if kind < 0.75:
            return f"[v for v in {one}{f' if {self.expression(0)}' if self.random.random() < 0.4 else ''}]"
        if kind < 0.77:
            return f"({self.pick('v', 'new')} := {one})"
        if kind < 0.79:
            return f"({one}, {self.expression(depth - 1)})"
        if kind < 0.8:
            return self.pick("lambda: 0", "{1: 2}", "{n}", "(yield)", "f'{%s}'" % self.pick(*self.names), "b'x'", "2j")
        return f"{self.random.choice(self.functions)}({self.arguments(depth - 1)})"

    def target(self) -> str:
        return self.pick("v", "w", "t", "c", "v, w", "(v, t), w", "t[0]", "t[n]", "v[1, n]", "c.value", "n", "new",
                         "v, *t", "B", "größe")  # fmt: skip

    def block(self, indent: int, depth: int, in_loop: bool) -> None:
        pad = "    " * indent
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            kind = self.random.random()
            if self.random.random() < 0.3:  # something that works
                self.lines.append(pad + self.pick(
                    "v = v + 1", "w += v", "n = n * 2 - v", "f = f + tl.load(x_ptr + v)", "größe *= 2.0", "t = (v, 3, w)",
                    "w = tl.where(w > v, w, 0)", "tl.store(x_ptr + w, w * 1.0)", "c = Cell(w + n)", "f += tl.sum(w) * 1.0",
                    "if v > 3:\n%s    v += 1" % pad, "k = k + v", "b = v == n"))  # fmt: skip
            if depth == 0 or kind < 0.5:
                if kind < 0.1:
                    self.lines.append(f"{pad}{self.pick('v', 'w', 't[0]', 'c.value', 'n')} {self.pick('+', '//', '&', '**', '@')}= {self.expression(2)}")
                elif kind < 0.15:
                    self.lines.append(f"{pad}{self.pick('v', 'new')}: {self.pick('tl.constexpr', 'tl.tensor', 'int', '3')} = {self.expression(2)}")
                elif kind < 0.2:
                    self.lines.append(f"{pad}{self.expression(3)}")
                else:
                    self.lines.append(f"{pad}{self.target()} = {self.expression(3)}")
            elif kind < 0.64:
                self.lines.append(f"{pad}if {self.expression(2)}:")
                self.block(indent + 1, depth - 1, in_loop)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(indent + 1, depth - 1, in_loop)
            elif kind < 0.78:
                what = self.pick("range", "range", "tl.range", "tl.static_range", "al.parallel", "tl.arange")
                iterable = f"{what}({self.arguments(1)})" if self.random.random() < 0.7 else self.expression(1)
                self.lines.append(f"{pad}for {self.pick('i', 'i', 'v', 'v, w', 'n')} in {iterable}:")
                self.block(indent + 1, depth - 1, True)
            elif kind < 0.86:
                self.lines.append(f"{pad}while {self.expression(2)}:")
                self.block(indent + 1, depth - 1, True)
            elif kind < 0.9:
                self.lines.append(f"{pad}with {self.pick('al.scope(core_mode=%r)' % self.pick('cube', 'vector', 'x'), self.expression(1))}:")
                self.block(indent + 1, depth - 1, in_loop)
            elif in_loop and kind < 0.95:
                self.lines.append(f"{pad}{self.pick('break', 'continue')}")
            else:
                self.lines.append(pad + self.pick(
                    f"return {self.expression(2)}", "return", "pass", "assert " + self.expression(1), f"assert n, {self.expression(1)}",
                    "del v", "global v", "raise v", "import os", f"tl.static_assert({self.expression(2)})",
                    f"tl.store({self.arguments(2)})", f"tl.store({self.arguments(2)})"))  # fmt: skip

    def kernel(self, number: int) -> str:
        decorator = self.pick("nereid.jit", "nereid.jit", "nereid.jit()", "nereid.jit(noinline=True)", "nereid.jit(debug=True)")
        start = "    v = n\n    w = tl.arange(0, 8)\n    t = (n, 2, w)\n    c = Cell(w)\n    größe = f\n"
        header = f"@{decorator}\ndef kernel_{number}({', '.join(PARAMETERS)}, B: tl.constexpr = 4):\n"
        self.lines = []
        self.block(1, self.random.choice([0, 1, 1, 2, 3]), False)
        return header + start + "\n".join(self.lines) + "\n"

    @property
    def source(self) -> str:
        return HEADER + "\n\n".join(self.kernels)


# ---- kernels of the examples, with mistakes

FRAGMENTS = (
    "0 -1 1.5 None True 'text' () (1,2) 2**70 1/0 x tl tl.float32 tl.arange(0,7) range(3) [1,2] f'{1}' (lambda:0) {1:2} "
    "not(1) 1<2<3 tl.load tl.sum(1.0) 1e400 -(2**63) tl.int1 x.T x.shape x[0] nereid"
).split()
TOKENS = (
    "( ) [ ] { } , : . = == != < > <= + - * / // % ** @ & | ^ ~ << >> := += not and or in is if else for while break "
    "continue return pass lambda None True 0 1 7 2.5 'a' tl x n range tl.arange(0,8) * ** ..."
).split()


def jit_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [
        node for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.dump(one) for one in node.decorator_list)
    ]


def mutate_tree(tree: ast.Module, chance: random.Random) -> str:
    """One to three changes inside the jit functions of a copy of `tree`."""
    tree = copy.deepcopy(tree)
    for _ in range(chance.randint(1, 3)):
        function = chance.choice(jit_functions(tree))
        expressions, blocks = [], []
        body = ast.Module(function.body, [])  # not its decorators and annotations
        for node in ast.walk(body):
            for field, value in ast.iter_fields(node):
                if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", ast.Load()), ast.Store):
                    expressions.append((node, field, None))
                elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    blocks.append(value)
                elif isinstance(value, list):
                    expressions += [(node, field, i) for i, v in enumerate(value) if isinstance(v, ast.expr)]

        def get(place):
            value = getattr(place[0], place[1])
            return value if place[2] is None else value[place[2]]

        def put(place, value):
            if place[2] is None:
                setattr(place[0], place[1], value)
            else:
                getattr(place[0], place[1])[place[2]] = value

        kind = chance.random()
        if kind < 0.35 and expressions:  # another expression of the function here
            put(chance.choice(expressions), copy.deepcopy(get(chance.choice(expressions))))
        elif kind < 0.6 and expressions:  # a constant or new syntax here
            put(chance.choice(expressions), ast.parse(chance.choice(FRAGMENTS), mode="eval").body)
        elif kind < 0.7:  # a statement goes
            block = chance.choice(blocks)
            if len(block) > 1:
                block.pop(chance.randrange(len(block)))
        elif kind < 0.8:  # a statement comes again elsewhere
            block = chance.choice(blocks)
            block.insert(chance.randint(0, len(block)), copy.deepcopy(chance.choice(chance.choice(blocks))))
        elif kind < 0.88:  # control leaves somewhere
            block = chance.choice(blocks)
            leave = ast.parse(f"while n:\n if {chance.choice(['n', 'True', 'x'])}:\n  {chance.choice(['break', 'continue', 'return', 'return 1'])}").body[0]
            block.insert(chance.randint(0, len(block)), chance.choice([leave, leave.body[0]]))
        else:  # an operator changes
            for node in ast.walk(body):
                if isinstance(node, ast.BinOp) and chance.random() < 0.3:
                    node.op = chance.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
                                             ast.LShift, ast.BitAnd, ast.MatMult])()
                    break
    return ast.unparse(ast.fix_missing_locations(tree))


def mutate_tokens(text: str, chance: random.Random) -> str:
    """One or two tokens of the jit functions replaced, dropped, doubled or swapped."""
    lines = text.splitlines(keepends=True)
    spans = [(f.lineno, f.end_lineno) for f in jit_functions(ast.parse(text))]
    tokens = [
        token for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
        and token.start[0] == token.end[0] and any(first < token.start[0] <= last for first, last in spans)
    ]
    for token in sorted(chance.sample(tokens, min(len(tokens), chance.randint(1, 2))), key=lambda t: t.start, reverse=True):
        line, (start, end) = lines[token.start[0] - 1], (token.start[1], token.end[1])
        new = chance.choice(["", chance.choice(TOKENS), chance.choice(TOKENS), f"{token.string} {token.string}", chance.choice(tokens).string])
        lines[token.start[0] - 1] = f"{line[:start]}{new}{' ' if new else ''}{line[end:]}"
    return "".join(lines)


def corpus() -> list[Path]:
    files = [*(ROOT / "examples").glob("*.py"), *(ROOT / "tests/tutorials").glob("test_*.py"),
             ROOT / "tests/ttir/nereid_kernels.py"]
    return sorted(path for path in files if path.name != "first_light.py" and path.exists() and jit_functions(ast.parse(path.read_text())))


def source_of(seed: int) -> str | None:
    """The module that a seed stands for; None when the mutation is no Python."""
    chance = random.Random(f"frontend {seed}")
    kind = chance.random()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind < 0.5:
                text = Soup(seed).source
            else:
                path = chance.choice(corpus())
                text = path.read_text()
                text = mutate_tokens(text, chance) if kind < 0.7 else mutate_tree(ast.parse(text), chance)
            compile(text, "kernel", "exec")
        except (SyntaxError, ValueError, RecursionError, IndexError):
            return None
    return text


# ---- the check, in a process of its own


def description(parameter) -> tuple:
    import nereid.language as tl

    name = parameter.name
    if name in PARAMETERS:
        return PARAMETERS[name]
    if parameter.is_constexpr:
        if parameter.has_default:
            return ("constexpr", parameter.default)
        return ("constexpr", tl.float16 if "type" in name.lower() else 16)
    if any(part in name for part in ("signal", "ready", "empty", "flag", "full")):
        return ("*i64", 16)
    return ("*fp16", 16) if "ptr" in name else ("i32", 0)


def check(path: Path, full: bool) -> None:
    import nereid
    from nereid import _compiler
    from nereid._launch.jit import JITFunction

    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except nereid.CompilationError as error:  # of a decorator
        assert ": error: " in str(error), error
        return
    except Exception as error:
        # A mutated signature or decorator is wrong Python; what our package raises is clear.
        assert isinstance(error, (NameError, AttributeError, TypeError, ValueError)), repr(error)
        return
    for function in list(vars(module).values()):
        if not isinstance(function, JITFunction) or function.fn.__module__ != module.__name__:
            continue
        try:
            arguments = [description(parameter) for parameter in function.params]
            _compiler.build_ttir(function, arguments, {"sub_vec_num": 2})
            if full:
                _compiler.compile(function, arguments, {"sub_vec_num": 2})
        except nereid.CompilationError as error:
            text = str(error)
            assert error.name not in ("invalid_ir", "internal_error"), text
            assert error.file and error.line > 0 and ": error: " in text and "^" in text, text


def child(folder: Path, full: bool) -> int:
    def too_long(*_):
        raise TimeoutError(f"no end after {SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(ROOT / "examples"))
    sys.stdout = open(os.devnull, "w")  # what kernels print at compile time
    failed = 0
    for path in sorted(folder.glob("seed_*.py")):
        (folder / "now").write_text(path.stem)
        signal.alarm(SECONDS)
        try:
            check(path, full)
        except BaseException as error:  # noqa: B902: whatever it is, it is a finding
            failed += 1
            print(f"{path.stem}: {type(error).__name__}: {str(error)[:1500]}\n", file=sys.stderr, flush=True)
        signal.alarm(0)
        path.unlink()
    return int(failed > 0)


def run(first: int, last: int, full: bool, keep: str | None = None) -> list[str]:
    """Findings among the seeds; a crash ends its process, and the rest goes on in another."""
    findings = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(first, last):
            text = source_of(seed)
            if text is not None:
                (folder / f"seed_{seed:08d}.py").write_text(text)
                if keep:
                    Path(keep).mkdir(exist_ok=True)
                    (Path(keep) / f"seed_{seed:08d}.py").write_text(text)
        while list(folder.glob("seed_*.py")):
            command = [sys.executable, __file__, "--child", name, *(["--full"] if full else [])]
            try:
                result = subprocess.run(command, capture_output=True, text=True, timeout=3600)
                code, output = result.returncode, result.stderr
            except subprocess.TimeoutExpired as error:
                code, output = -1, str(error.stderr)
            if code == 0:
                break
            if code != 1 or not output.strip():
                current = (folder / "now").read_text()
                output += f"{current}: the process ended with code {code}"
                (folder / f"{current}.py").unlink(missing_ok=True)
            findings.append(output[-6000:])
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=200)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        os._exit(child(Path(options.child), options.full))
    found = run(options.first, options.last, options.full, options.keep)
    print("\n".join(found) or "nothing found")
    sys.exit(int(bool(found)))
