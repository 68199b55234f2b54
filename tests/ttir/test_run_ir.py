# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid run-ir`, and kernels from IR text in Python."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import nereid
from nereid._kernels import ir as _ir

ADD = """\
module {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %size = arith.constant 128 : i32
    %start = arith.muli %pid, %size : i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %starts = tt.splat %start : i32 -> tensor<128xi32>
    %offsets = arith.addi %starts, %range : tensor<128xi32>
    %ns = tt.splat %n : i32 -> tensor<128xi32>
    %mask = arith.cmpi slt, %offsets, %ns : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %px = tt.addptr %xs, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %py = tt.addptr %ys, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %po = tt.addptr %outs, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %a = tt.load %px, %mask : tensor<128x!tt.ptr<f32>>
    %b = tt.load %py, %mask : tensor<128x!tt.ptr<f32>>
    %sum = arith.addf %a, %b : tensor<128xf32>
    tt.store %po, %sum, %mask : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
"""

SCALE = """\
tt.func @scale(%arg0: !tt.ptr<bf16>, %arg1: f16, %flag: i1, %wide: i64) {
  %x = tt.load %arg0 : !tt.ptr<bf16>
  %wx = arith.extf %x : bf16 to f32
  %ws = arith.extf %arg1 : f16 to f32
  %p = arith.mulf %wx, %ws : f32
  %w = arith.sitofp %wide : i64 to f32
  %q = arith.select %flag, %p, %w : f32
  %r = arith.truncf %q : f32 to bf16
  tt.store %arg0, %r : !tt.ptr<bf16>
  tt.return
}
"""

PEER = """\
module {
  tt.func public @send(%mine: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %axis = arith.constant -1 : i32
    %rank = distributed.get_rank %axis : i32
    %n = distributed.get_num_ranks %axis : i32
    %one = arith.constant 1 : i32
    %next = arith.addi %rank, %one : i32
    %peer = arith.remsi %next, %n : i32
    %there = distributed.symm_at %mine, %peer, : !tt.ptr<f32>
    %x = tt.load %there : !tt.ptr<f32>
    tt.store %out, %x : !tt.ptr<f32>
    tt.return
  }
}
"""


def run_ir(*arguments: str, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "nereid.cli", "run-ir", *map(str, arguments)], capture_output=True,
                          text=True, cwd=cwd, env=os.environ, timeout=120)


@pytest.fixture
def add(tmp_path):
    path = tmp_path / "add.ttir"
    path.write_text(ADD)
    return path


def test_arrays_from_the_command_line(add, tmp_path):
    out = tmp_path / "result.npz"
    done = run_ir(add, "--grid", "4", "--arg", "x=random:float32[500]", "--arg", "y=arange[500]", "--arg", "out=zeros[500]",
                  "--arg", "n=500", "--out", out, "--seed", "3")
    assert done.returncode == 0, done.stderr
    result = np.load(out)
    assert sorted(result.files) == ["out", "x", "y"]
    assert (result["y"] == np.arange(500)).all() and (result["out"] == result["x"] + result["y"]).all()
    assert "x: fp32[500] unchanged" in done.stdout and "out: fp32[500] 500 of 500 changed" in done.stdout
    again = np.random.default_rng(3).uniform(-1, 1, 500).astype(np.float32)
    assert (result["x"] == again).all()


def test_arrays_from_files(add, tmp_path):
    x, y = np.arange(130, dtype=np.float32), np.full(130, 2, np.float32)
    np.savez(tmp_path / "in.npz", x=x, n=np.int32(129), unused=np.zeros(3))
    np.save(tmp_path / "y.npy", y)
    out = tmp_path / "result.npz"
    done = run_ir(add, "--grid", "2,1,1", "--inputs", tmp_path / "in.npz", "--arg", f"y={tmp_path / 'y.npy'}", "--arg",
                  "out=fill(-1)[130]", "--out", out, "--print", "out")
    assert done.returncode == 0, done.stderr
    assert (np.load(out)["out"] == np.append(x[:129] + 2, -1)).all()
    assert "130." in done.stdout


def test_types_of_arguments(tmp_path):
    path = tmp_path / "scale.ttir"
    path.write_text(SCALE)
    shown = run_ir(path, "--signature")
    assert shown.stdout.splitlines() == ["arg0: *bf16", "arg1: fp16", "flag: i1", "wide: i64"]
    out = tmp_path / "o.npz"
    done = run_ir(path, "--arg", "0=fill(3)[1]", "--arg", "arg1=1.5", "--arg", "flag=true", "--arg", "wide=0x10", "--out", out)
    assert done.returncode == 0, done.stderr
    assert np.load(out)["arg0"].view(ml_dtypes.bfloat16)[0] == 4.5
    # numpy files do not know bf16; its bytes are taken as such.
    done = run_ir(path, "--inputs", out, "--arg", "1=1", "--arg", "flag=0", "--arg", "wide=-7", "--out", out)
    assert done.returncode == 0, done.stderr
    assert np.load(out)["arg0"].view(ml_dtypes.bfloat16)[0] == -7


@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks(tmp_path, ranks):
    path = tmp_path / "send.ttir"
    path.write_text(PEER)
    done = run_ir(path, "-n", ranks, "--arg", "mine=random[1]", "--arg", "out=zeros[1]", "--out", tmp_path / "o{rank}.npz")
    assert done.returncode == 0, done.stderr
    files = [np.load(tmp_path / f"o{rank}.npz") for rank in range(ranks)]
    for rank in range(ranks):
        assert files[rank]["out"] == files[(rank + 1) % ranks]["mine"]


@pytest.mark.parametrize("arguments, message", [
    (["--arg", "x=random[4]"], "no value for y, out, n: write --arg y=...; its arguments are x: *fp32 (a multiple of 16)"),
    (["--arg", "z=3"], "add has no argument 'z'"),
    (["--arg", "n"], "--arg takes NAME=VALUE, not 'n'"),
    (["--arg", "n=1.5"], "'1.5' is not a whole number, but 'n' is i32"),
    (["--arg", "n=zeros[4]"], "an array, but 'n' is i32"),
    (["--arg", "x=4"], "'x' is a pointer (*fp32); write for example x=random[1024]"),
    (["--arg", "x=zeros:float99[4]"], "'float99' is not a type"),
    (["--arg", "x=nowhere.npy"], "there is no file 'nowhere.npy'"),
    (["--arg", "n=1", "--arg", "n=2"], "'n' is given twice"),
    (["--grid", "a"], "--grid a: one to three numbers"),
    (["--grid", "1,1,1,1"], "one to three numbers"),
    (["--inputs", "nowhere.npz"], "there is no file 'nowhere.npz'"),
])
def test_wrong_command_lines(add, arguments, message):
    done = run_ir(add, *arguments)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_missing_file():
    done = run_ir("nowhere.ttir")
    assert done.returncode == 2 and "there is no file 'nowhere.ttir'" in done.stderr


@pytest.mark.parametrize("before, after, line, message", [
    ("tt.make_range", "tt.make_rang", 6, "custom op 'tt.make_rang' is unknown"),
    ("end = 128", "end = 64", 6, "'tt.make_range' op"),
    ("%ns = tt.splat %n : i32", "%ns = tt.splat %m : i32", 9, "use of undeclared SSA value name"),
    ("arith.addf %a, %b : tensor<128xf32>", "arith.addf %a, %b : tensor<64xf32>", 19, "prior use here"),
    ("tt.return\n  }\n}", "tt.return\n  }", 22, "expected operation name"),
    ("tensor<128xi1>", "tensor<128xi1>", 0, ""),
])
def test_wrong_text(before, after, line, message):
    text = ADD.replace(before, after)
    if not message:
        return
    with pytest.raises(nereid.CompilationError) as caught:
        _ir.compile_text(text, "dir/k.ttir")
    assert f"dir/k.ttir:{line}:" in str(caught.value) or f"dir/k.ttir:{line + 1}:" in str(caught.value)
    assert message in str(caught.value) or "expects different type" in str(caught.value)
    assert "^" in str(caught.value)


def test_no_kernel_and_two_kernels():
    with pytest.raises(nereid.CompilationError, match="0 public functions"):
        _ir.compile_text("module {}", "k.ttir")
    two = "".join(f"tt.func public @k{i}() {{\n  tt.return\n}}\n" for i in range(2))
    with pytest.raises(nereid.CompilationError, match="2 public functions"):
        _ir.compile_text(two, "k.ttir")


def test_in_python(add):
    kernel = nereid.compile(str(add))
    assert kernel.arg_names == ["x", "y", "out", "n"] and [p.type for p in kernel.params][-1] == "i32"
    x, y = np.random.default_rng(0).random((2, 300), np.float32)
    x, out = x.copy(), np.zeros(300, np.float32)
    kernel[(3,)](x, y, out, n=300)
    assert (out == x + y).all()
    assert "tt.func public @add" in kernel.asm["ttir"] and "vector" in kernel.asm["cpu-tiles"]
    with pytest.raises(nereid.ArgumentError, match=r"argument 2 'y': is \*fp32 in .*add.ttir, \*fp16 was given"):
        kernel[(1,)](x, y.astype(np.float16), out, 1)
    with pytest.raises(nereid.ArgumentError, match="'x': .* was made for an address that is a multiple of 16"):
        kernel[(1,)](x[1:], y, out, 1)
    with pytest.raises(nereid.ArgumentError, match="'y': is .*None was given"):
        kernel[(1,)](x, None, out, 1)
    with pytest.raises(nereid.ArgumentError, match="argument 4 'n' is missing"):
        kernel[(1,)](x, y, out)
    with pytest.raises(nereid.ArgumentError):
        kernel[(1,)](x, y, out, 1.5)


def test_cache(add, tmp_path, monkeypatch):
    monkeypatch.setenv("NEREID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NEREID_CACHE", raising=False)
    first = _ir.compile_file(add)
    second = _ir.compile_file(add)
    assert not first.compiled.from_cache and second.compiled.from_cache
    assert second.arg_names == first.arg_names and second.params[0].divisibility == 16
    out = np.zeros(4, np.float32)
    second[(1,)](np.ones(64, np.float32)[:32], np.ones(32, np.float32), out, 4)
    assert (out == 2).all() and second.asm["ttir"] == first.asm["ttir"]


def test_a_stage_of_a_file(add):
    done = subprocess.run([sys.executable, "-m", "nereid.cli", "compile", str(add), "--emit=llvm"], capture_output=True,
                          text=True)
    assert done.returncode == 0 and "define" in done.stdout and "@add" in done.stdout
