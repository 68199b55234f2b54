# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with random mistakes: compiled or refused with a place in the file, never a
crash, an internal error or invalid IR."""

import ast
import copy
import importlib.util
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import nereid
import nereid.language as tl
from nereid import _compiler
from nereid._jit import JITFunction

SEED = int(os.environ.get("NEREID_TEST_SEED", "0"))
SOURCES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
ROUNDS = int(os.environ.get("NEREID_MUTATIONS", "25"))


def description(parameter) -> tuple:
    name = parameter.name
    if parameter.is_constexpr:
        if parameter.has_default:
            return ("constexpr", parameter.default)
        return ("constexpr", tl.float16 if "type" in name.lower() else 16)
    if any(part in name for part in ("signal", "ready", "empty", "flag", "full")):
        return ("*i64", 16)
    return ("*fp16", 16) if "ptr" in name else ("i32", 0)


def mutate(tree: ast.Module, chance: random.Random) -> ast.Module:
    """A copy of `tree` with one to three changes inside its jit functions."""
    tree = copy.deepcopy(tree)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    for _ in range(chance.randint(1, 3)):
        function = chance.choice(functions)
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
            text = chance.choice(
                "0 -1 1.5 None True 'text' () (1,2) 2**70 1/0 x tl tl.float32 tl.arange(0,7) range(3) [1,2] f'{1}' "
                "(lambda:0) {1:2} not(1) 1<2<3 tl.load tl.sum(1.0) 1e400 -(2**63) tl.int1 x.T x.shape x[0] *x".split()
            )
            if not text.startswith("*"):
                put(chance.choice(expressions), ast.parse(text, mode="eval").body)
        elif kind < 0.7:  # a statement goes
            block = chance.choice(blocks)
            if len(block) > 1:
                block.pop(chance.randrange(len(block)))
        elif kind < 0.85:  # a statement comes again elsewhere
            block = chance.choice(blocks)
            block.insert(chance.randint(0, len(block)), copy.deepcopy(chance.choice(chance.choice(blocks))))
        else:  # an operator changes
            for node in ast.walk(body):
                if isinstance(node, ast.BinOp) and chance.random() < 0.3:
                    node.op = chance.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
                                             ast.LShift, ast.BitAnd, ast.MatMult])()
                    break
    return ast.fix_missing_locations(tree)


def check(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for function in vars(module).values():
        if not isinstance(function, JITFunction) or function.fn.__module__ != module.__name__:
            continue
        try:
            _compiler.build_ttir(function, [description(p) for p in function.params], {"sub_vec_num": 2})
        except nereid.CompilationError as error:
            text = str(error)
            assert error.name != "invalid_ir", text
            assert error.file and error.line > 0 and ": error: " in text and "^" in text, text


@pytest.mark.parametrize("source", [path.name for path in SOURCES if path.name != "first_light.py"])
def test_mutated_kernels(source, tmp_path):
    """In a process of its own, so that a crash names the kernel."""
    path = next(p for p in SOURCES if p.name == source)
    tree = ast.parse(path.read_text())
    chance = random.Random(f"{SEED} {source}")
    files = []
    for i in range(ROUNDS):
        try:
            text = ast.unparse(mutate(tree, chance))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        files.append(tmp_path / f"mutant_{i}.py")
        files[-1].write_text(text)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(path.parent), *sys.path]))
    result = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, *map(str, files)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout[-300:] + result.stderr[-3000:]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, flush=True)
        check(Path(name))
