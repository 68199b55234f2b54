# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host API around launches: options of @jit, launch keywords, descriptors, reinterpret,
the compiled-kernel object, nereid.compile, nereid.runtime."""

import collections
import platform

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid import TensorDescriptor
from nereid.compiler import ASTSource, GPUTarget
from nereid.testing import spawn


@nereid.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr = 16):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, offs < n) * factor, offs < n)


# ---- @jit


def test_options_by_name_and_position():
    @nereid.jit(do_not_specialize=["n", 0], do_not_specialize_on_alignment=[-1])
    def kernel(x_ptr, n, stride):
        tl.store(x_ptr, n + stride)

    x = np.zeros(1, np.int32)
    signature = kernel[(1,)](x, 1, 16).signature
    assert x[0] == 17 and signature == {"x_ptr": "*i32", "n": "i32", "stride": "i32"}
    for wrong in (["m"], [3], ["strid"]):
        with pytest.warns(UserWarning, match="The parameters are x_ptr, n, stride"):
            nereid.jit(kernel.fn, do_not_specialize=wrong)
    with pytest.raises(TypeError, match="a list of names and positions of parameters, not of bool"):
        nereid.jit(kernel.fn, do_not_specialize=[True])
    with pytest.raises(TypeError, match="no option 'do_not_specialise', did you mean 'do_not_specialize'"):
        nereid.jit(do_not_specialise=["n"])


def test_version_is_part_of_the_key():
    assert nereid.jit(scale.fn).cache_key != nereid.jit(scale.fn, version=2).cache_key


def test_repr_names_the_compiled_kernel():
    def name(specialisation):
        return f"{specialisation.name}_{specialisation.constants['BLOCK']}_{specialisation.signature['n']}"

    kernel = nereid.jit(scale.fn, repr=name, launch_metadata=lambda grid, metadata, args: {})
    x = np.ones(5, np.float32)
    assert kernel[(1,)](x, 2.0, 5).name == "scale_16_i32" and (x == 2).all()
    with pytest.raises(TypeError, match="repr is a function"):
        nereid.jit(scale.fn, repr="scale")


@pytest.mark.parametrize("annotation, name", [
    ("i64", "i64"), ("fp16", "fp16"), ("int64", "i64"), ("tl.int64", "i64"), (tl.int64, "i64"), (tl.float64, "fp64"),
    ("u8", "u8"), ("some text", "i32"), (int, "i32"),
])
def test_annotations_fix_types(annotation, name):
    def kernel(x_ptr, n):
        tl.store(x_ptr, n)

    kernel.__annotations__["n"] = annotation
    x = np.zeros(1, np.float32)
    assert nereid.jit(kernel)[(1,)](x, 3).signature["n"] == name and x[0] == 3


@pytest.mark.parametrize("annotation", [tl.const, "const *fp32", "*kfp32", "tl.const"])
def test_const_pointers_take_read_only_arrays(annotation):
    def kernel(x_ptr, y_ptr):
        tl.store(y_ptr, tl.load(x_ptr))

    kernel.__annotations__["x_ptr"] = annotation
    x, y = np.full(1, 3, np.float32), np.zeros(1, np.float32)
    x.flags.writeable = False
    nereid.jit(kernel)[(1,)](x, y)
    assert y[0] == 3


# ---- launches


def test_options_of_other_targets():
    x = np.ones(5, np.float32)
    scale[(1,)](x, 2.0, 5, num_warps=8, num_stages=4, num_ctas=1, maxnreg=None, multibuffer=True, launch_pdl=False,
                enable_auto_bind_sub_block=None, compile_mode="simd", mix_mode="aiv", enable_fp_fusion=False)
    assert (x == 2).all()


@pytest.mark.parametrize("keyword, words", [
    ("num_warp", "Did you mean 'num_warps'"), ("facto", "Did you mean 'factor'"), ("stream", "has no meaning here"),
    ("device", "has no meaning here"), ("grid", r"belongs to scale.run\(...\)"),
])
def test_unknown_keywords(keyword, words):
    with pytest.raises(nereid.ArgumentError, match=words):
        scale[(1,)](np.ones(1, np.float32), 2.0, 1, **{keyword: 3})


def test_floating_contraction_can_be_switched_off():
    @nereid.jit
    def kernel(x_ptr, y_ptr):
        a = tl.load(x_ptr)
        tl.store(y_ptr, a * a - 1.0000002384185791)

    x, fused, plain = np.full(1, 1.0000001192092896, np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32)
    kernel[(1,)](x, fused)
    kernel[(1,)](x, plain, enable_fp_fusion=False)
    assert plain[0] == np.float32(x[0] * x[0]) - np.float32(1.0000002384185791)
    assert abs(fused[0]) > 0 or plain[0] == fused[0]


def test_pre_run_hooks():
    kernel = nereid.jit(scale.fn)
    seen = []
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append((args[1:], kwargs)))
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append("second"))
    x = np.ones(5, np.float32)
    kernel[(1,)](x, 2.0, n=5)
    kernel.run(x, 2.0, 5, grid=(1,))
    kernel.warmup(x, 2.0, 5, grid=(1,))
    assert seen == [((2.0,), {"n": 5}), "second", ((2.0, 5), {}), "second"]
    kernel.add_pre_run_hook(lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kernel[(1,)](x, 2.0, 5)
    with pytest.raises(TypeError, match="add_pre_run_hook takes a function"):
        kernel.add_pre_run_hook(3)


def test_attributes():
    kernel = nereid.jit(scale.fn)
    assert kernel.fn is scale.fn and kernel.arg_names == ["x_ptr", "factor", "n", "BLOCK"]
    assert kernel.device_caches[0][0] == {}
    compiled = kernel[(1,)](np.ones(1, np.float32), 1.5, 1)
    assert list(kernel.device_caches[0][0].values()) == [compiled]


def test_warmup_with_types_for_arrays():
    kernel = nereid.jit(scale.fn)
    for stand_in in (np.float32, tl.float32, np.dtype("float32"), nereid.runtime.MockTensor(np.float32)):
        compiled = kernel.warmup(stand_in, 2.0, 7, grid=(1,))
        assert compiled.signature["x_ptr"] == "*fp32:16"
    assert len(kernel._kernels()) == 1


def test_the_compiled_kernel():
    x = np.ones(20, np.float32)
    compiled = scale[(2,)](x, 2.0, 20)
    assert compiled.asm["ttir"].count("tt.load") == 1 and compiled.asm["llir"] == compiled.asm["llvm"]
    assert "llir" in compiled.asm and "ptx" not in compiled.asm and compiled.asm["object"][:4] == b"\x7fELF"
    assert compiled.metadata.name == "scale" and compiled.metadata.num_warps == 1 and compiled.metadata.shared >= 64
    assert compiled.n_regs > 0 and compiled.n_spills >= 0
    compiled[(2, 1, 1)](x, 3.0, 20)
    compiled.run(1, 1, 1, x, 0.5, 16)
    compiled[(2, 1, 1)](x, 1.0, 20, 16)  # with the constants as well
    np.testing.assert_array_equal(x, [3] * 16 + [6] * 4)


# ---- descriptors


@nereid.jit
def shift_kernel(source, target, by, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row + by, column]) + target.shape[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16, ml_dtypes.bfloat16])
def test_descriptors_as_arguments(dtype):
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 1), (17, 33), (40, 64)):
        x = rng.integers(0, 50, (rows, columns)).astype(dtype)
        y = np.zeros_like(x)
        block = [8, 16]
        grid = (nereid.cdiv(rows, 8), nereid.cdiv(columns, 16))
        compiled = shift_kernel[grid](
            TensorDescriptor.from_tensor(x, block), TensorDescriptor.from_tensor(y, block), 3, M=8, N=16)
        want = np.zeros_like(x)
        want[: max(0, rows - 3)] = x[3:]
        np.testing.assert_array_equal(y.astype(np.float32), want.astype(np.float32) + rows)
        assert compiled.signature["source"].startswith("tensordesc<")


def test_a_descriptor_of_a_part():
    """Strides of its own: the launch asks for no others."""
    whole = np.arange(20 * 48, dtype=np.float32).reshape(20, 48)
    part, y = whole[2:13, 8:40], np.zeros((11, 32), np.float32)
    shift_kernel[(2, 2)](TensorDescriptor.from_tensor(part, [8, 16]), TensorDescriptor.from_tensor(y, [8, 16]), 0, 8, 16)
    np.testing.assert_array_equal(y, part + 11)


def test_padding_of_descriptors():
    x, y = np.ones((3, 5), np.float32), np.zeros((8, 16), np.float32)
    target = TensorDescriptor.from_tensor(y, [8, 16])
    shift_kernel[(1, 1)](TensorDescriptor.from_tensor(x, [8, 16], padding="nan"), target, 0, 8, 16)
    assert np.isnan(y).sum() == 8 * 16 - 15 and (y[:3, :5] == 9).all()


def test_descriptors_in_tuples_and_warmup():
    Pair = collections.namedtuple("Pair", ["left", "right"])

    @nereid.jit
    def kernel(pair, M: tl.constexpr):
        pair.right.store([0, 0], pair.left.load([0, 0]) * pair.left.strides[0])

    x, y = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
    kernel[(1,)](Pair(TensorDescriptor.from_tensor(x, [4, 4]), TensorDescriptor.from_tensor(y, [4, 4])), M=4)
    np.testing.assert_array_equal(y, [[8] * 4 + [0] * 4] * 4)
    mock = TensorDescriptor(np.float16, [4, 32], [32, 1], [4, 32])
    assert "fp16" in shift_kernel.warmup(mock, mock, 2, 4, 32, grid=(1,)).signature["source"]


@pytest.mark.parametrize("arguments, error, words", [
    ((np.zeros((4, 8)), [4, 8], [8, 2], [4, 8]), ValueError, "the last stride is 2"),
    ((np.zeros((4, 8)), [4, 8], [8], [4, 8]), ValueError, "strides has 1 values, but shape has 2"),
    ((np.zeros((4, 8)), [4, 8], [8, 1], [4]), ValueError, "block_shape has 1 values"),
    ((np.zeros((4, 8)), [4, -8], [8, 1], [4, 8]), ValueError, "shape is"),
    ((np.zeros((4, 8)), [4, 8.0], [8, 1], [4, 8]), TypeError, "shape is a list of integers"),
    ((np.zeros((4, 8)), [4, 8], [8, 1], [4, 8], "one"), ValueError, "padding is 'zero' or 'nan'"),
    ((np.zeros((4, 8), np.int64), [4, 8], [8, 1], [4, 8], "nan"), ValueError, "needs floating elements"),
    (([[1, 2]], [1, 2], [2, 1], [1, 2]), TypeError, "base is an array, not"),
    ((np.zeros(8), [1] * 6, [1] * 6, [8] * 6), ValueError, "one to five dimensions"),
])
def test_wrong_descriptors(arguments, error, words):
    with pytest.raises(error, match=words):
        TensorDescriptor(*arguments)


def test_block_shape_that_is_set_before_the_launch():
    """Hooks of autotuning do so."""
    x, y = np.ones((8, 16), np.float32), np.zeros((8, 16), np.float32)
    source, target = TensorDescriptor(x, x.shape, [16, 1], [1, 1]), TensorDescriptor(y, y.shape, [16, 1], [1, 1])
    with pytest.raises(nereid.CompilationError, match="the innermost dimension of its blocks has 4 bytes"):
        shift_kernel[(1, 1)](source, target, 0, M=8, N=16)

    def set_blocks(args):
        for name in ("source", "target"):
            args[name].block_shape = [args["M"], args["N"]]

    kernel = nereid.autotune([nereid.Config({"M": 8, "N": n}, pre_hook=set_blocks) for n in (8, 16)], key=[], warmup=0,
                             rep=1)(shift_kernel)
    kernel[lambda meta: (1, nereid.cdiv(16, meta["N"]))](source, target, 0)
    np.testing.assert_array_equal(y, 9)


def test_descriptor_for_a_constant():
    with pytest.raises(nereid.ArgumentError, match="'BLOCK'.*cannot be a compile-time constant"):
        scale[(1,)](np.zeros(1), 1.0, 1, TensorDescriptor(np.zeros((4, 8)), [4, 8], [8, 1], [4, 8]))


# ---- reinterpret


def test_reinterpret():
    @nereid.jit
    def widen(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, tl.load(x_ptr + offs, offs < n).to(tl.float32), offs < n)

    values = np.array([0, 0.5, -2, 448], ml_dtypes.float8_e4m3fn)
    y = np.zeros(4, np.float32)
    wrapped = nereid.reinterpret(values.view(np.int8), tl.float8e4nv)
    widen[(1,)](wrapped, y, 4, BLOCK=4)
    np.testing.assert_array_equal(y, [0, 0.5, -2, 448])
    assert nereid.reinterpret(wrapped, tl.int8).dtype == np.int8
    assert nereid.reinterpret(y, tl.float32) is y
    assert nereid.reinterpret(wrapped, tl.float8e5).dtype == tl.float8e5
    with pytest.raises(TypeError, match="reinterpret keeps the size"):
        nereid.reinterpret(y, tl.float16)
    with pytest.raises(TypeError, match="takes an array"):
        nereid.reinterpret(3, tl.float16)
    with pytest.raises(TypeError, match="takes a dtype"):
        nereid.reinterpret(y, "float33")


# ---- nereid.compile


def test_compile_from_a_function():
    source = ASTSource(scale, {"x_ptr": "*fp32", "factor": "fp32", "n": "i32"}, {"BLOCK": 8},
                       {(0,): [["tt.divisibility", 16]]})
    kernel = nereid.compile(source, options={"num_warps": 4})
    assert kernel.signature == {"x_ptr": "*fp32:16", "factor": "fp32", "n": "i32", "BLOCK": "constexpr int:8"}
    x = np.ones(20, np.float32)
    kernel[(3, 1, 1)](x, 2.0, 19)
    np.testing.assert_array_equal(x, [2] * 19 + [1])
    assert nereid.compile(ASTSource(scale, {0: "*fp64", 1: "fp32", 2: "i32"}), GPUTarget("cpu", "any", 1))


def test_compile_from_text(tmp_path):
    source = ASTSource(scale, {"x_ptr": "*fp32", "factor": "fp32", "n": "i32"}, {"BLOCK": 8})
    path = tmp_path / "scale.ttir"
    path.write_text(nereid.compile(source).asm["ttir"])
    x = np.ones(20, np.float32)
    nereid.compile(str(path))[(3, 1, 1)](x, 2.0, 19)
    np.testing.assert_array_equal(x, [2] * 19 + [1])


@pytest.mark.parametrize("call, error, words", [
    (lambda: nereid.compile("kernel.ptx"), ValueError, "is not a file of IR"),
    (lambda: nereid.compile("/nowhere/kernel.ttir"), FileNotFoundError, "kernel.ttir"),
    (lambda: nereid.compile(3), TypeError, "takes an ASTSource"),
    (lambda: nereid.compile(ASTSource(scale, {}), options={"warps": 3}), ValueError, "no option 'warps'"),
    (lambda: nereid.compile(ASTSource(scale, {"x_ptr": "*fp32"})), ValueError, "'factor' of scale stands neither"),
    (lambda: ASTSource(scale, {"y": "i32"}), ValueError, "has no parameter 'y'"),
    (lambda: nereid.compile(ASTSource(scale, {"x_ptr": "float*"})), ValueError, "'float\\*' is not a type"),
    (lambda: ASTSource(len, {}), TypeError, "takes a jit function"),
])
def test_wrong_compilations(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- nereid.runtime


def test_driver():
    active = nereid.runtime.driver.active
    assert active.get_current_target() == GPUTarget("cpu", active.utils.get_arch(), 1)
    assert active.get_current_device() == 0 and active.get_current_stream(0) == 0
    properties = active.utils.get_device_properties(active.get_current_device())
    assert properties["multiprocessor_count"] >= 1 and properties["max_shared_mem"] > 0
    assert properties["num_vectorcore"] == active.utils.get_aivector_core_num()


def driver_target():
    target = nereid.runtime.driver.active.get_current_target()
    return target.backend, target.arch, nereid.runtime.current_profile()


def test_driver_of_a_profile():
    (target,) = spawn(driver_target, 1, environment={"NEREID_PROFILE": "ascend910b"})
    assert target == ("cpu", platform.machine(), "ascend910b")


def test_allocator_and_errors():
    nereid.set_allocator(lambda size, alignment, stream: None)
    with pytest.raises(TypeError, match="takes a function"):
        nereid.set_allocator(3)
    error = nereid.OutOfResources(10, 5, "registers")
    assert "registers" in str(error) and (error.required, error.limit) == (10, 5)
    assert issubclass(nereid.InterpreterError, nereid.NereidError)


def test_names_of_rank_and_size_in_both_places():
    import nereid.distributed as dl

    @nereid.jit
    def kernel(out):
        tl.store(out, nereid.world_size() * 10 + nereid.rank())
        tl.store(out + 1, dl.world_size() * 10 + dl.rank())
        tl.store(out + 2, nereid.num_ranks() * 10 + dl.num_ranks())

    out = np.zeros(3, np.int32)
    kernel[(1,)](out)
    size, rank = nereid.world_size(), nereid.rank()
    assert out.tolist() == [size * 10 + rank, size * 10 + rank, size * 11] and nereid.num_ranks() == size
    with pytest.raises(RuntimeError, match="host code calls nereid.num_ranks"):
        dl.world_size()
