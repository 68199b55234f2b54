# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of several versions of upstream, and of every kind of operation, run on the CPU."""

import ml_dtypes
import numpy as np
import pytest

import nereid
from nereid._kernels import ir as _ir


def launch(body: str, *arguments, arguments_text: str, functions: str = "", grid=(1,), attributes: str = ""):
    text = f"module {{\n  tt.func public @kernel({arguments_text}) attributes {{noinline = false}} {{\n{body}\n    tt.return\n  }}\n" \
           f"{functions}\n}}\n"
    _ir.compile_text(text, "k.ttir")[grid](*arguments)


RANGE = """\
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %px = tt.addptr %xs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %v = tt.load %px : tensor<16x!tt.ptr<f32>>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %po = tt.addptr %os, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
"""
POINTERS = "%x: !tt.ptr<f32>, %out: !tt.ptr<f32>"
X = np.arange(16, dtype=np.float32) / 4 - 1


def on_tile(body: str, x=X, size: int = 16, functions: str = ""):
    """%v of 16 fp32 to %w of 16 fp32."""
    out = np.zeros(size, np.float32)
    launch(RANGE + body + "\n    tt.store %po, %w : tensor<16x!tt.ptr<f32>>", x.copy(), out, arguments_text=POINTERS,
           functions=functions)
    return out


@pytest.mark.parametrize("descriptor, made", [
    ("!tt.tensordesc<tensor<4x8xf32>>", "<f32>, <tensor<4x8xf32>>"),
    ("!tt.tensordesc<4x8xf32>", "<f32>, <4x8xf32>"),
    ("!tt.tensordesc<4x8xf32>", "!tt.ptr<f32>, !tt.tensordesc<4x8xf32>"),
])
def test_descriptors(descriptor, made):
    x, out = np.arange(60, dtype=np.float32).reshape(5, 12).copy(), np.zeros((4, 8), np.float32)
    launch(f"""\
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %m = arith.constant 5 : i32
    %n = arith.constant 12 : i32
    %s = arith.extsi %n : i32 to i64
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %l8 = arith.constant 8 : i64
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%s, %c1] : {made}
    %e = tt.make_tensor_descriptor %out, [%c4, %c8], [%l8, %c1] : {made}
    %t = tt.descriptor_load %d[%c2, %c8] : {descriptor} -> tensor<4x8xf32>
    tt.descriptor_store %e[%c0, %c0], %t : {descriptor}, tensor<4x8xf32>""", x, out, arguments_text=POINTERS)
    wanted = np.zeros((4, 8), np.float32)
    wanted[:3, :4] = x[2:, 8:]
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("element, dtype, kind", [
    ("ui32", np.uint32, "max"), ("si32", np.int32, "max"), ("i32", np.int32, "min"), ("ui32", np.uint32, "min"),
    ("f32", np.float32, "add"),
])
def test_reductions_of_descriptors(element, dtype, kind):
    plain = "f32" if element == "f32" else "i32"
    x = np.array([3, 2**31 + 5, 7, 2**32 - 1] if dtype == np.uint32 else [3, -5, 7, -1], dtype)
    y = np.array([2**31, 4, 9, 1] if dtype == np.uint32 else [-3, 4, -9, 1], dtype)
    out = y.copy()
    launch(f"""\
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %d = tt.make_tensor_descriptor %x, [%four], [%one] : <{plain}>, <4x{element}>
    %e = tt.make_tensor_descriptor %out, [%four], [%one] : <{plain}>, <4x{element}>
    %t = tt.descriptor_load %d[%zero] : !tt.tensordesc<4x{element}> -> tensor<4x{plain}>
    tt.descriptor_reduce {kind}, %e[%zero], %t : !tt.tensordesc<4x{element}>, tensor<4x{plain}>""", x, out,
           arguments_text=POINTERS.replace("f32", plain))
    wanted = {"max": np.maximum, "min": np.minimum, "add": np.add}[kind](x, y)
    np.testing.assert_array_equal(out, wanted)


def test_descriptor_arguments():
    """A host descriptor: sizes and strides stand behind it, as upstream's launcher passes them."""
    x, out = np.arange(60, dtype=np.float32).reshape(5, 12), np.zeros((2, 4), np.float32)
    text = """\
module {
  tt.func public @k(%d: !tt.tensordesc<tensor<2x4xf32>>, %m: i32, %n: i32, %s0: i64, %s1: i64, %out: !tt.ptr<f32>) attributes {noinline = false} {
    %c = arith.constant 3 : i32
    %e = arith.constant 8 : i32
    %t = tt.descriptor_load %d[%c, %e] : !tt.tensordesc<tensor<2x4xf32>> -> tensor<2x4xf32>
    %flat = tt.reshape %t : tensor<2x4xf32> -> tensor<8xf32>
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %po = tt.addptr %os, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %po, %flat : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
"""
    kernel = _ir.compile_text(text)
    assert [p.type for p in kernel.params] == ["*fp32", "i32", "i32", "i64", "i64", "*fp32"]
    kernel[(1,)](x, 5, 12, 12, 1, out)
    np.testing.assert_array_equal(out, x[3:5, 8:12])
    with pytest.raises(nereid.CompilationError, match="argument 0 is a descriptor without its sizes"):
        _ir.compile_text("tt.func public @k(%d: !tt.tensordesc<4xf32>) {\n  tt.return\n}", "k.ttir")


def test_block_pointers():
    x, out = np.arange(60, dtype=np.float32).reshape(5, 12).copy(), np.zeros(32, np.float32)
    launch("""\
    %m = arith.constant 5 : i64
    %n = arith.constant 12 : i64
    %one = arith.constant 1 : i64
    %l8 = arith.constant 8 : i64
    %l4 = arith.constant 4 : i64
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c6 = arith.constant 6 : i32
    %p = tt.make_tensor_ptr %x, [%m, %n], [%n, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
    %q = tt.advance %p, [%c2, %c6] : <tensor<4x8xf32>>
    %t = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
    %o = tt.make_tensor_ptr %out, [%l4, %l8], [%l8, %one], [%c0, %c0] {order = array<i32: 1, 0>} : !tt.ptr<f32>, !tt.ptr<tensor<4x8xf32>>
    tt.store %o, %t : !tt.ptr<tensor<4x8xf32>>""".replace(
        " : !tt.ptr<f32>, !tt.ptr<tensor<4x8xf32>>\n", " : <tensor<4x8xf32>>\n"), x, out, arguments_text=POINTERS)
    wanted = np.zeros((4, 8), np.float32)
    wanted[:3, :6] = x[2:, 6:]
    np.testing.assert_array_equal(out.reshape(4, 8), wanted)


@pytest.mark.parametrize("reduce", [
    '"tt.reduce"(%v) <{axis = 0 : i32}> ({', '"tt.reduce"(%v) ({',
])
def test_reduce_in_both_positions_of_attributes(reduce):
    end = "})" + (" {axis = 0 : i32}" if "<{" not in reduce else "") + " : (tensor<16xf32>) -> f32"
    out = on_tile(f"""\
    %s = {reduce}
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    {end}
    %w = tt.splat %s : f32 -> tensor<16xf32>""")
    assert (out == X.max()).all()


def test_scan_of_several():
    out = on_tile("""\
    %i:2 = "tt.scan"(%v, %r) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
      %c = arith.addf %a, %b : f32
      %l = arith.maxsi %j, %k : i32
      tt.scan.return %c, %l : f32, i32
    }) : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
    %f = arith.sitofp %i#1 : tensor<16xi32> to tensor<16xf32>
    %w = arith.addf %i#0, %f : tensor<16xf32>""")
    np.testing.assert_allclose(out, np.cumsum(X[::-1])[::-1] + 15)


ELEMENTWISE = {
    "clampf": ("""%lo = arith.constant dense<-0.5> : tensor<16xf32>
    %hi = arith.constant dense<1.0> : tensor<16xf32>
    %w = tt.clampf %v, %lo, %hi, propagateNan = none : tensor<16xf32>""", lambda x: np.clip(x, -0.5, 1)),
    "precise": ("""%a = math.absf %v : tensor<16xf32>
    %b = tt.precise_sqrt %a : tensor<16xf32>
    %c = arith.constant dense<3.0> : tensor<16xf32>
    %w = tt.precise_divf %b, %c : tensor<16xf32>""", lambda x: np.sqrt(np.abs(x)) / np.float32(3)),
    "mulhiui": ("""%c = arith.constant dense<-7> : tensor<16xi32>
    %m = tt.mulhiui %r, %c : tensor<16xi32>
    %w = arith.uitofp %m : tensor<16xi32> to tensor<16xf32>""",
                lambda x: (np.arange(16).astype(np.uint64) * (2**32 - 7) >> 32).astype(np.float32)),
    "bitcast": ("""%a = tt.bitcast %v : tensor<16xf32> -> tensor<16xi32>
    %b = arith.bitcast %a : tensor<16xi32> to tensor<16xf32>
    %w = arith.negf %b : tensor<16xf32>""", lambda x: -x),
    "fp_to_fp": ("""%a = tt.fp_to_fp %v, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
    %w = tt.fp_to_fp %a : tensor<16xf8E5M2> -> tensor<16xf32>""", lambda x: x.astype(ml_dtypes.float8_e5m2).astype(np.float32)),
    "fp_to_fp rtz": ("""%s = arith.constant dense<1.001> : tensor<16xf32>
    %p = arith.mulf %v, %s : tensor<16xf32>
    %a = tt.fp_to_fp %p, rounding = rtz : tensor<16xf32> -> tensor<16xbf16>
    %w = tt.fp_to_fp %a : tensor<16xbf16> -> tensor<16xf32>""",
                     lambda x: ((x * np.float32(1.001)).view(np.uint32) & 0xffff0000).view(np.float32)),
    "cat": ("""%a, %b = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
    %w = tt.cat %b, %a : tensor<8xf32> -> tensor<16xf32>""", lambda x: np.concatenate([x[1::2], x[::2]])),
    "cat with a name": ("""%a, %b = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
    %c = tt.join %a, %b : tensor<8xf32> -> tensor<8x2xf32>
    %w = tt.reshape %c allow_reorder efficient_layout : tensor<8x2xf32> -> tensor<16xf32>""", lambda x: x),
    "trans": ("""%t = tt.trans %j {order = array<i32: 1, 0>} : tensor<8x2xf32> -> tensor<2x8xf32>
    %w = tt.reshape %t : tensor<2x8xf32> -> tensor<16xf32>""", lambda x: x.reshape(8, 2).T.reshape(16)),
    "expand and broadcast": ("""%u = tt.expand_dims %v {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %b = tt.broadcast %u : tensor<16x1xf32> -> tensor<16x4xf32>
    %w = "tt.reduce"(%b) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tt.reduce.return %s : f32
    }) : (tensor<16x4xf32>) -> tensor<16xf32>""", lambda x: 4 * x),
    "gather": ("""%c = arith.constant dense<15> : tensor<16xi32>
    %i = arith.subi %c, %r : tensor<16xi32>
    %w = tt.gather %v[%i] {axis = 0 : i32} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>""", lambda x: x[::-1]),
    "histogram": ("""%c = arith.constant dense<3> : tensor<16xi32>
    %i = arith.andi %r, %c : tensor<16xi32>
    %h = tt.histogram %i : tensor<16xi32> -> tensor<16xi32>
    %w = arith.sitofp %h : tensor<16xi32> to tensor<16xf32>""", lambda x: np.float32([4] * 4 + [0] * 12)),
    "map_elementwise": ("""%w = "tt.map_elementwise"(%v) <{pack = 1 : i32}> ({
    ^bb0(%a: f32):
      %z = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %z : f32
      %s = scf.if %c -> f32 {
        scf.yield %a : f32
      } else {
        scf.yield %z : f32
      }
      tt.map_elementwise.return %s : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>""", lambda x: np.maximum(x, 0)),
    "poison": ("""%u = ub.poison : tensor<16xf32>
    %t = arith.constant dense<true> : tensor<16xi1>
    %w = arith.select %t, %v, %u : tensor<16xi1>, tensor<16xf32>""", lambda x: x),
    "dense constants": ("""%c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi32>
    %d = arith.constant dense<"0x0000803F000000400000404000008040000080BF0000803F000000400000404000008040000080BF0000803F000000400000404000008040000080BF0000803F"> : tensor<16xf32>
    %f = arith.sitofp %c : tensor<16xi32> to tensor<16xf32>
    %w = arith.mulf %f, %d : tensor<16xf32>""",
                        lambda x: np.arange(16) * np.float32([1, 2, 3, 4, -1] * 3 + [1])),
    "hints": ("""%i = arith.addi %r, %r {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<2> : tensor<1xi32>} : tensor<16xi32>
    %c = arith.constant true
    llvm.intr.assume %c : i1
    gpu.barrier
    ttg.barrier all
    %w = arith.uitofp %i {tt.constancy = dense<1> : tensor<1xi32>} : tensor<16xi32> to tensor<16xf32>""",
              lambda x: np.arange(16) * 2.0),
    "extern": ("""%w = tt.extern_elementwise %v {libname = "libdevice", libpath = "/nowhere/libdevice.10.bc", pure = true, symbol = "__nv_tanhf"} : (tensor<16xf32>) -> tensor<16xf32>""",
               np.tanh),
    "while": ("""%z = arith.constant 0 : i32
    %k:2 = scf.while (%i = %z, %t = %v) : (i32, tensor<16xf32>) -> (i32, tensor<16xf32>) {
      %n = arith.constant 3 : i32
      %c = arith.cmpi slt, %i, %n : i32
      scf.condition(%c) %i, %t : i32, tensor<16xf32>
    } do {
    ^bb0(%i: i32, %t: tensor<16xf32>):
      %one = arith.constant 1 : i32
      %j2 = arith.addi %i, %one : i32
      %t2 = arith.addf %t, %t : tensor<16xf32>
      scf.yield %j2, %t2 : i32, tensor<16xf32>
    }
    %w = arith.addf %k#1, %v : tensor<16xf32>""", lambda x: 9 * x),
    "for with attributes": ("""%z = arith.constant 0 : i64
    %n = arith.constant 4 : i64
    %one = arith.constant 1 : i64
    %w = scf.for %i = %z to %n step %one iter_args(%t = %v) -> (tensor<16xf32>)  : i64 {
      %t2 = arith.addf %t, %v : tensor<16xf32>
      scf.yield %t2 : tensor<16xf32>
    } {tt.num_stages = 3 : i32, tt.loop_unroll_factor = 2 : i32, tt.flatten, tt.warp_specialize, tt.disallow_acc_multi_buffer, tt.disable_licm}""",
                            lambda x: 5 * x),
    "branches": ("""%z = arith.constant 0 : i32
    %s = tt.get_num_programs x : i32
    %c = arith.cmpi sgt, %s, %z : i32
    cf.cond_br %c, ^bb1(%v : tensor<16xf32>), ^bb2
  ^bb2:
    tt.return
  ^bb1(%w: tensor<16xf32>):""", lambda x: x),
    "calls": ("""%w = tt.call @twice(%v) : (tensor<16xf32>) -> tensor<16xf32>
    %q = arith.constant 2.0 : f32
    %y:2 = tt.call @scalars(%q) : (f32) -> (f32, f32)
    tt.assert %cc, "not twice" : i1""".replace("    tt.assert %cc, \"not twice\" : i1", """    %cc = arith.cmpf oeq, %y#1, %y#0 : f32
    tt.assert %cc, "equal" : i1"""), lambda x: 2 * x),
    "atomics": ("""%m = arith.constant dense<true> : tensor<16xi1>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %px, %v, %m : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %old2 = tt.atomic_rmw exch, relaxed, sys, %px, %old, %m : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %w = arith.subf %old2, %old : tensor<16xf32>""", lambda x: x),
    "volatile and cached": ("""%m = arith.constant dense<true> : tensor<16xi1>
    %o = arith.constant dense<1.0> : tensor<16xf32>
    %w = tt.load %px, %m, %o cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : tensor<16x!tt.ptr<f32>>
    tt.store %po, %w, %m cacheModifier = wt evictionPolicy = evict_last : tensor<16x!tt.ptr<f32>>""", lambda x: x),
    "pointers as integers": ("""%a = tt.ptr_to_int %px : tensor<16x!tt.ptr<f32>> -> tensor<16xi64>
    %b = tt.int_to_ptr %a : tensor<16xi64> -> tensor<16x!tt.ptr<f32>>
    %c = tt.bitcast %b : tensor<16x!tt.ptr<f32>> -> tensor<16x!tt.ptr<i32>>
    %d = tt.load %c : tensor<16x!tt.ptr<i32>>
    %w = arith.bitcast %d : tensor<16xi32> to tensor<16xf32>""", lambda x: x),
    "dot": ("""%k = tt.reshape %v : tensor<16xf32> -> tensor<4x4xf32>
    %zero = arith.constant dense<1.0> : tensor<4x4xf32>
    %d = tt.dot %k, %k, %zero, inputPrecision = tf32 {maxNumImpreciseAcc = 0 : i32} : tensor<4x4xf32> * tensor<4x4xf32> -> tensor<4x4xf32>
    %w = tt.reshape %d : tensor<4x4xf32> -> tensor<16xf32>""",
            lambda x: (x.reshape(4, 4) @ x.reshape(4, 4) + 1).reshape(16)),
}

FUNCTIONS = """\
  tt.func private @twice(%a: tensor<16xf32>) -> tensor<16xf32> attributes {noinline = true} {
    %s = arith.addf %a, %a : tensor<16xf32>
    tt.return %s : tensor<16xf32>
  }
  tt.func private @scalars(%a: f32) -> (f32, f32) attributes {noinline = true} {
    tt.return %a, %a : f32, f32
  }
  tt.func private @unused(%a: tensor<8xf32>) -> tensor<8xf32> attributes {noinline = true} {
    tt.return %a : tensor<8xf32>
  }
"""


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_operations(name):
    body, reference = ELEMENTWISE[name]
    split = "    %j = tt.reshape %v : tensor<16xf32> -> tensor<8x2xf32>\n"
    out = on_tile(split + "    " + body, functions=FUNCTIONS if name == "calls" else "")
    np.testing.assert_allclose(out, reference(X), rtol=2e-6, atol=1e-6)


def test_scalars_and_cas():
    x, out = np.array([5, 9], np.int64), np.zeros(4, np.int64)
    launch("""\
    %five = arith.constant 5 : i64
    %six = arith.constant 6 : i64
    %a = tt.atomic_cas acq_rel, sys, %x, %five, %six : (!tt.ptr<i64>, i64, i64) -> i64
    %t = arith.constant true
    %b = tt.atomic_rmw umax, relaxed, cta, %x, %a, %t : (!tt.ptr<i64>, i64, i1) -> i64
    %u = tt.splat %b : i64 -> tensor<1x1xi64>
    %c = tt.unsplat %u : tensor<1x1xi64>
    tt.store %out, %a : !tt.ptr<i64>
    %one = arith.constant 1 : i32
    %o1 = tt.addptr %out, %one : !tt.ptr<i64>, i32
    tt.store %o1, %c cacheModifier = cg : !tt.ptr<i64>
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %c : i64""", x, out,
           arguments_text="%x: !tt.ptr<i64>, %out: !tt.ptr<i64>")
    assert x[0] == 6 and list(out) == [5, 6, 0, 0]


def test_what_is_not_read():
    with pytest.raises(nereid.CompilationError, match="k.ttgir:1:.*"):
        _ir.compile_text("#blocked = #ttg.blocked<{sizePerThread = [1]}>\nmodule attributes {\"ttg.num-warps\" = 4 : i32} {\n}\n",
                         "k.ttgir")
    with pytest.raises(nereid.CompilationError, match="inline assembly is written for another target"):
        on_tile("""    %w = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %v : tensor<16xf32> -> tensor<16xf32>""")
