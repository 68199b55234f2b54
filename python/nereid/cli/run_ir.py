# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``nereid run-ir``: runs a kernel from a file of IR on arguments from the command
line or from files, and shows or saves what it wrote.

The kernel is compiled first, because its arguments say how the values on the command line are
to be read. A kernel that communicates, or has a symmetric argument, is run in a job: its arrays
are copied into the symmetric heap where they must be. With ``-n`` the same command is started
once for each rank; random arrays then differ from rank to rank. Arrays lie as aligned as the
kernel says (``divisibility``), because its code may rely on that."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

DESCRIPTION = """Compiles the kernel in a .ttir file (of the stock triton package, or of nereid compile --emit=ttir)
and runs it.

An argument is NAME=VALUE, NAME as in the text or a position from 0. VALUE is
  1024, -3, 0x10, 0.5, true               a scalar
  zeros[4,8]  ones[..]  random[..]        an array of the type that the kernel's pointer has;
  arange[..]  fill(2.5)[..]               random is uniform in [-1, 1), or all integers from -100 to 99
  random:float32[4,8]                     the same with the type written out
  file.npy  file.npz:name                 an array from a file
--inputs takes every array and number of a .npz whose name is an argument's."""


class UsageError(Exception):
    """Something is wrong with the command line; shown without a traceback."""


def add_command(commands) -> None:
    from nereid._base import targets as _targets

    parser = commands.add_parser(
        "run-ir", help="run a kernel from a .ttir file", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.ttir", help="the kernel's IR")
    parser.add_argument("--grid", default="1", metavar="X,Y,Z", help="number of programs (default 1)")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument")
    parser.add_argument("--inputs", action="append", default=[], metavar="FILE.npz", help="arguments from a file")
    parser.add_argument("--out", metavar="FILE.npz", help="write all arrays there after the run; {rank} becomes the rank")
    parser.add_argument("--print", action="append", default=[], metavar="NAME", help="print this array in full")
    parser.add_argument("--seed", type=int, default=0, help="of random arrays (default 0)")
    parser.add_argument("-n", "--ranks", type=int, default=None, metavar="N", help="run as N ranks of one job")
    parser.add_argument("--unused-token", choices=_targets.unused_token(),
                        help="a distributed.wait whose token is not used")
    parser.add_argument("--signature", action="store_true", help="show the kernel's arguments and do not run it")
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary of the arrays")
    parser.set_defaults(function=main)


# ---- values


_ARRAY = re.compile(
    r"(?P<kind>zeros|ones|random|arange|fill\((?P<value>[^)]*)\))(:(?P<dtype>\w+))?\[(?P<shape>[\d,x\s]*)\]$"
)


def _numpy_dtype(name: str) -> np.dtype | None:
    """The numpy dtype of a type's name, as numpy or as the language writes it."""
    from nereid.language import _types

    known = _types.find_dtype(name) or _types.BY_SIGNATURE.get(name)
    if known is not None:
        name = _ARRAY_NAMES.get(known.__nereid_type__, name)
    try:
        return np.dtype(name)
    except TypeError:
        pass
    import ml_dtypes

    kind = getattr(ml_dtypes, name, None)
    return None if kind is None else np.dtype(kind)


_ARRAY_NAMES = {
    "u1": "bool", "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
    "fp64": "float64", "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz",
}


def _is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu"


def _make_array(match: re.Match, parameter, generator: np.random.Generator, text: str) -> np.ndarray:
    pointee = parameter.type.lstrip("*")
    name = match["dtype"] or pointee
    dtype = _numpy_dtype(name)
    if dtype is None:
        raise UsageError(f"--arg {text}: '{name}' is not a type; write for example float32, bfloat16 or int64")
    try:
        shape = tuple(int(part) for part in re.split(r"[,x]", match["shape"]) if part.strip())
    except ValueError:
        raise UsageError(f"--arg {text}: '[{match['shape']}]' is not a shape; write [1024] or [4,8]") from None
    kind = match["kind"].split("(")[0]
    if kind == "zeros":
        return np.zeros(shape, dtype)
    if kind == "ones":
        return np.ones(shape, dtype)
    if kind == "arange":
        return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    if kind == "fill":
        try:
            return np.full(shape, float(match["value"]) if not _is_integer(dtype) else int(match["value"], 0), dtype)
        except ValueError:
            raise UsageError(f"--arg {text}: '{match['value']}' is not a number of type {dtype}") from None
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if _is_integer(dtype):
        low = 0 if dtype.kind == "u" else -100
        return generator.integers(low, 100, shape).astype(dtype)
    return generator.uniform(-1.0, 1.0, shape).astype(dtype)


def _read_array(path: str, parameter, text: str) -> Any:
    file, _, key = path.partition(":")
    if not Path(file).exists():
        raise UsageError(f"--arg {text}: there is no file '{file}'")
    try:
        content = np.load(file)
    except (ValueError, OSError, EOFError) as error:
        raise UsageError(f"--arg {text}: '{file}' cannot be read: {error}") from None
    if isinstance(content, np.ndarray):
        return _retype(content, parameter)
    if not key:
        key = parameter.name
    if key not in content:
        raise UsageError(f"--arg {text}: '{file}' has no array '{key}'; it has {', '.join(content.files)}")
    return _retype(content[key], parameter)


def _retype(array: np.ndarray, parameter) -> Any:
    """numpy files know neither bf16 nor fp8: their bytes get the type that the
    kernel wants. An array without dimensions is a scalar."""
    if array.dtype.kind == "V":
        dtype = _numpy_dtype(parameter.type.lstrip("*"))
        if dtype is not None and dtype.itemsize == array.dtype.itemsize:
            array = array.view(dtype)
    if not parameter.type.startswith("*") and array.ndim == 0:
        return array.item()
    # The kernel may write; rows of a file may be in any order.
    return np.array(array, order="C", copy=True)


def _scalar(value: str, parameter, text: str) -> Any:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    floating = parameter.type.startswith(("fp", "bf"))
    try:
        return float(value) if floating else int(value, 0)
    except ValueError:
        pass
    kind = "a number" if floating else "a whole number"
    raise UsageError(f"--arg {text}: '{value}' is not {kind}, but '{parameter.name}' is {parameter.type}")


def _value(text: str, parameter, generator: np.random.Generator) -> Any:
    value = text.partition("=")[2].strip()
    match = _ARRAY.match(value)
    if match:
        if not parameter.type.startswith("*"):
            raise UsageError(f"--arg {text}: an array, but '{parameter.name}' is {parameter.type}; write a number")
        return _make_array(match, parameter, generator, text)
    if re.search(r"\.np[yz](:|$)", value):
        return _read_array(value, parameter, text)
    if parameter.type.startswith("*"):
        raise UsageError(
            f"--arg {text}: '{parameter.name}' is a pointer ({parameter.type}); write for example "
            f"{parameter.name}=random[1024], {parameter.name}=zeros[4,8] or {parameter.name}=file.npy"
        )
    return _scalar(value, parameter, text)


def read_arguments(kernel, texts: list[str], files: list[str], generator: np.random.Generator) -> list[Any]:
    """Values of all arguments of `kernel`, in order."""
    names = [parameter.name for parameter in kernel.params]
    given: dict[str, Any] = {}
    for file in files:
        if not Path(file).exists():
            raise UsageError(f"--inputs: there is no file '{file}'")
        try:
            content = np.load(file)
        except (ValueError, OSError, EOFError) as error:
            raise UsageError(f"--inputs: '{file}' cannot be read: {error}") from None
        if isinstance(content, np.ndarray):
            raise UsageError(f"--inputs: '{file}' holds one array; write --arg NAME={file}")
        for key in content.files:
            if key in names:
                given[key] = _retype(content[key], kernel.params[names.index(key)])
    seen = set()
    for text in texts:
        name, equals, _ = text.partition("=")
        name = name.strip()
        if not equals:
            raise UsageError(f"--arg takes NAME=VALUE, not '{text}'")
        if name not in names and name.isdigit() and int(name) < len(names):
            name = names[int(name)]
        if name not in names:
            raise UsageError(f"--arg {text}: {kernel.__name__} has no argument '{name}'; {describe(kernel)}")
        if name in seen:
            raise UsageError(f"--arg {text}: '{name}' is given twice")
        seen.add(name)
        given[name] = _value(text, kernel.params[names.index(name)], generator)
    missing = [name for name in names if name not in given]
    if missing:
        raise UsageError(f"no value for {', '.join(missing)}: write --arg {missing[0]}=...; {describe(kernel)}")
    return [given[name] for name in names]


def describe(kernel) -> str:
    rows = ", ".join(
        f"{p.name}: {p.type}{f' (a multiple of {p.divisibility})' if p.divisibility > 1 else ''}" for p in kernel.params
    )
    return f"its arguments are {rows or 'none'}"


def parse_grid(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in re.split(r"[,x]", text.strip("()[] ")) if part.strip())
    except ValueError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(size < 0 for size in sizes):
        raise UsageError(f"--grid {text}: one to three numbers, for example --grid 4 or --grid 4,2,1")
    return sizes


# ---- alignment


def _aligned(array: np.ndarray, alignment: int) -> np.ndarray:
    """The array at an address that is a multiple of `alignment`."""
    if array.ctypes.data % max(alignment, 1) == 0:
        return array
    room = np.empty(array.nbytes + alignment, np.uint8)
    start = -room.ctypes.data % alignment
    moved = room[start: start + array.nbytes].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


# ---- the command


def _summary(name: str, kind: str, before: np.ndarray, after: np.ndarray) -> str:
    shape = ",".join(map(str, after.shape))
    same = before.tobytes() == after.tobytes()
    text = f"{name}: {kind.lstrip('*')}[{shape}]"
    if same:
        return f"{text} unchanged"
    wide = after.astype(np.float64) if after.dtype.kind not in "iub" else after
    flat = wide.reshape(-1)
    changed = int((before.reshape(-1).view(np.uint8).reshape(flat.size, -1)
                   != after.reshape(-1).view(np.uint8).reshape(flat.size, -1)).any(axis=1).sum())
    head = " ".join(f"{value:g}" if after.dtype.kind not in "iub" else str(value) for value in flat[:6])
    more = " ..." if flat.size > 6 else ""
    return (f"{text} {changed} of {flat.size} changed; min {flat.min():g}, max {flat.max():g}, "
            f"mean {flat.mean(dtype=np.float64):g}; {head}{more}")


def _respawn(ranks: int) -> int:
    """The same command as ranks of one job."""
    from nereid import JobError, _runtime

    if ranks < 1:
        raise UsageError(f"-n {ranks}: at least one rank")
    arguments = list(sys.argv[1:])
    try:
        code, _, _ = _runtime.launch_job(
            [sys.executable, "-m", "nereid.cli", *arguments], ranks, tag_output=False, heap_bytes=None, timeout=None,
            schedule="", profile="", num_threads=0, environment=[("NEREID_RUN_IR_RANK", "{rank}")], verbose=True,
        )
    except JobError as error:
        raise UsageError(f"nereid run-ir: {getattr(error, 'message', error)}") from None
    return code


def main(args: argparse.Namespace) -> int:
    try:
        return _main(args)
    except UsageError as error:
        print(f"nereid run-ir: {error}", file=sys.stderr)
        return 2


def _main(args: argparse.Namespace) -> int:
    import nereid
    from nereid._kernels import ir as _ir

    if args.ranks is not None and "NEREID_RUN_IR_RANK" not in os.environ:
        return _respawn(args.ranks)
    if not Path(args.file).is_file():
        raise UsageError(f"there is no file '{args.file}'")
    grid = parse_grid(args.grid)
    options = {"unused_token": args.unused_token} if args.unused_token else None
    try:
        kernel = _ir.compile_file(args.file, options)
    except nereid.CompilationError as error:
        print(error, file=sys.stderr)
        return 1
    if args.signature:
        for parameter in kernel.params:
            multiple = f"  a multiple of {parameter.divisibility}" if parameter.divisibility > 1 else ""
            print(f"{parameter.name}: {parameter.type}{multiple}")
        return 0
    needs_job = kernel.metadata.distributed or any(argument["symmetric"] for argument in kernel.metadata.args)
    several = needs_job or args.ranks is not None
    rank = 0
    if several:
        nereid.init()
        rank = nereid.rank()
    generator = np.random.default_rng([args.seed, rank] if several else args.seed)
    values = read_arguments(kernel, args.arg, args.inputs, generator)
    for name in args.print:
        if name not in kernel.arg_names:
            raise UsageError(f"--print {name}: {kernel.__name__} has no such argument; {describe(kernel)}")
    before, launched = [], []
    for number, (parameter, value) in enumerate(zip(kernel.params, values)):
        if isinstance(value, np.ndarray):
            value = _aligned(value, parameter.divisibility)
            before.append(value.copy())
            launched.append(nereid.symm.from_array(value) if kernel.metadata.args[number]["symmetric"] else value)
        else:
            before.append(value)
            launched.append(value)
    try:
        kernel[grid](*launched)
        if several:
            nereid.barrier()
    except nereid.NereidError as error:
        print(error, file=sys.stderr)
        return 1
    results = {}
    prefix = f"[{rank}] " if several and nereid.world_size() > 1 else ""
    for parameter, old, value in zip(kernel.params, before, launched):
        if not isinstance(old, np.ndarray):
            continue
        after = value if isinstance(value, np.ndarray) else np.array(value.numpy())
        results[parameter.name] = after
        if not args.quiet:
            print(prefix + _summary(parameter.name, parameter.type, old, after))
        if parameter.name in args.print:
            with np.printoptions(threshold=sys.maxsize, linewidth=120):
                print(prefix + f"{parameter.name} =\n{after}")
    if args.out:
        _save(args.out, results, rank, several)
    return 0


def _save(out: str, results: dict[str, np.ndarray], rank: int, several: bool) -> None:
    import nereid

    path = out.replace("{rank}", str(rank))
    if several and nereid.world_size() > 1 and path == out:
        stem, suffix = os.path.splitext(out)
        path = f"{stem}.{rank}{suffix}"
    try:
        if path.endswith(".npy"):
            if len(results) != 1:
                raise UsageError(f"--out {out}: a .npy holds one array, and there are {len(results)}; write .npz")
            np.save(path, next(iter(results.values())))
        else:
            with open(path, "wb") as file:
                np.savez(file, **results)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from None
