# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kernel[grid](...): binding of arguments, specialisation, slots, grids. The kernels are
C functions, so that these tests need no compiler."""

import collections
import ctypes
import struct
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nereid
import nereid.language as tl


@nereid.jit
def one(x):
    pass


@nereid.jit
def two(x, y=2.5):
    pass


@nereid.jit
def blocked(x, BLOCK: tl.constexpr):
    pass


@nereid.jit
def strided(x, stride_x):
    pass


@nereid.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


@pytest.fixture(autouse=True)
def no_kernels_left(recorder):
    for kernel in (one, two, add_kernel):
        kernel._clear()
    yield
    for kernel in (one, two, add_kernel):
        kernel._clear()


def fp32(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


# ---- types and slots


@pytest.mark.parametrize("dtype, name", [
    (np.bool_, "*i1"), (np.int8, "*i8"), (np.int16, "*i16"), (np.int32, "*i32"), (np.int64, "*i64"),
    (np.uint8, "*u8"), (np.uint16, "*u16"), (np.uint32, "*u32"), (np.uint64, "*u64"),
    (np.float16, "*fp16"), (np.float32, "*fp32"), (np.float64, "*fp64"), (ml_dtypes.bfloat16, "*bf16"),
    (ml_dtypes.float8_e4m3fn, "*fp8e4nv"), (ml_dtypes.float8_e5m2, "*fp8e5"),
])
def test_arrays(recorder, dtype, name):
    x = np.zeros(64, dtype)
    one[(1,)](x)
    (kind, divisible), = recorder.specs
    assert kind == name and divisible in (0, 16)
    assert recorder.slots == [x.ctypes.data]


def test_alignment_is_a_specialisation(recorder):
    raw = np.zeros(64, np.uint8)
    aligned = (-raw.ctypes.data) % 16
    one[(1,)](raw[aligned:])
    one[(1,)](raw[aligned + 4:])
    assert [request[1] for request in recorder.requests] == [[("*u8", 16)], [("*u8", 0)]]
    one[(1,)](raw[aligned + 16:])
    assert len(recorder.requests) == 2


@pytest.mark.parametrize("value, kind, divisible, slot", [
    (0, "i32", 16, 0), (2, "i32", 0, 2), (-1, "i32", 0, 2**64 - 1), (48, "i32", 16, 48),
    (2**31 - 1, "i32", 0, 2**31 - 1), (-(2**31), "i32", 16, 2**64 - 2**31), (2**31, "i64", 16, 2**31),
    (2**62 + 1, "i64", 0, 2**62 + 1), (2**63, "u64", 16, 2**63), (2**64 - 1, "u64", 0, 2**64 - 1),
    (True, "u1", 0, 1), (False, "u1", 0, 0), (np.True_, "u1", 0, 1),
    (1.5, "fp32", 0, fp32(1.5)), (float("inf"), "fp32", 0, fp32(float("inf"))), (np.float32(0.1), "fp32", 0, fp32(0.1)),
    (np.float64(0.1), "fp32", 0, fp32(0.1)), (np.int64(7), "i32", 0, 7), (np.uint8(32), "i32", 16, 32),
])
def test_scalars(recorder, value, kind, divisible, slot):
    one[(1,)](value)
    assert recorder.specs == [(kind, divisible)]
    assert recorder.slots == [slot]


@pytest.mark.parametrize("value, constant", [
    (1, 1), (np.int32(1), 1), (None, None), (tl.float32, tl.float32), (tl.constexpr(12), 12),
    (one, one), (np.float16, tl.float16), (np.dtype("int8"), tl.int8),
])
def test_values_that_are_folded(recorder, value, constant):
    one[(1,)](value)
    (kind, found), = recorder.specs
    assert kind == "constexpr" and (found is constant or found == constant) and type(found) is type(constant)
    assert recorder.slots == []


@pytest.mark.parametrize("value, constant", [
    (3, 3), (True, True), (2.5, 2.5), ("x", "x"), ((1, (2.0, "a"), None), (1, (2.0, "a"), None)), ([1, 2], (1, 2)),
    (np.int64(4), 4), (np.float32(0.5), 0.5), (tl.constexpr(tl.constexpr(5)), 5), (2**70, 2**70),
    (tl.bfloat16, tl.bfloat16), (tl.pointer_type(tl.float16), tl.pointer_type(tl.float16)),
])
def test_constexpr_parameters(recorder, value, constant):
    @nereid.jit
    def kernel(C: tl.constexpr):
        pass

    kernel[(1,)](value)
    assert recorder.specs == [("constexpr", constant)]
    assert type(recorder.specs[0][1]) is type(constant)
    kernel[(1,)](value)
    assert len(recorder.requests) == 1


def test_constants_of_different_type_are_different_kernels(recorder):
    @nereid.jit
    def kernel(C: tl.constexpr):
        pass

    values = [1, True, 1.0, "1", (1,), ((1,),), None, 0, False, 0.0, -0.0, "", (), (1, 1), (1.0, 1), tl.int1, tl.uint8]
    for value in values:
        kernel[(1,)](value)
    assert len(recorder.requests) == len(values)
    for value in values:
        kernel[(1,)](value)
    assert len(recorder.requests) == len(values)


def test_tuples(recorder):
    Pair = collections.namedtuple("Pair", "data size")
    x = np.zeros(16, np.float32)
    two[(1,)]((x, 3, 1, 2.0, (5, None)), Pair(x, 7))
    first, second = recorder.specs
    assert first[0] == "tuple" and first[2] is None
    assert [entry[0] for entry in first[1]] == ["*fp32", "i32", "constexpr", "fp32", "tuple"]
    assert first[1][4][1] == [("i32", 0), ("constexpr", None)]
    assert second[2] == ["data", "size"]
    assert recorder.slots == [x.ctypes.data, 3, fp32(2.0), 5, x.ctypes.data, 7]
    two[(1,)]((x, 3, 1, 2.0, (5, None)), (x, 7))
    assert len(recorder.requests) == 2  # a plain tuple is another type


def test_annotations(recorder):
    @nereid.jit
    def kernel(a: tl.int64, b: tl.float64, c: "tl.uint8", d: tl.float16, e: tl.int1, f: tl.bfloat16):
        pass

    kernel[(1,)](1, 3, 255, 1.5, 1, 1.0)
    assert [spec[0] for spec in recorder.specs] == ["i64", "fp64", "u8", "fp16", "i1", "bf16"]
    half = int(np.float16(1.5).view(np.uint16))
    assert recorder.slots == [1, int(np.float64(3).view(np.uint64)), 255, half, 1, 0x3F80]


def test_values_outside_their_annotation(recorder, refused):
    @nereid.jit
    def kernel(a: tl.int8):
        pass

    refused(lambda: kernel[(1,)](128), "kernel", "argument 1 'a'", "128", "i8")
    refused(lambda: kernel[(1,)](-129), "-129", "i8")
    refused(lambda: kernel[(1,)](1.5), "float", "i8")
    refused(lambda: kernel[(1,)](np.zeros(3)), "numpy array", "i8")


def test_do_not_specialize(recorder):
    @nereid.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[1])
    def kernel(n, m):
        pass

    kernel[(1,)](1, 16)
    assert recorder.specs == [("i32", 0), ("i32", 0)]
    kernel[(1,)](16, 1)
    assert recorder.specs == [("i32", 0), ("constexpr", 1)]
    with pytest.warns(UserWarning, match="do_not_specialize names 'k', which is not a parameter"):
        nereid.jit(do_not_specialize=["k"])(kernel.fn)


def test_defaults_and_keywords(recorder):
    two[(1,)](3)
    assert recorder.slots == [3, fp32(2.5)]
    two[(1,)](y=4, x=5)
    assert recorder.slots == [5, 4]


def test_torch_like_tensors(recorder, refused):
    class Device:
        def __init__(self, kind):
            self.type = kind

        def __str__(self):
            return self.type + ":0"

    class Tensor:
        def __init__(self, array, device="cpu", dtype="torch.float32"):
            self.array, self.device, self.dtype = array, Device(device), dtype
            self.shape = array.shape

        def data_ptr(self):
            return self.array.ctypes.data

        def is_contiguous(self):
            return self.array.flags.c_contiguous

        def stride(self):
            return tuple(step // self.array.itemsize for step in self.array.strides)

    x = np.zeros((4, 4), np.float32)
    one[(1,)](Tensor(x))
    assert recorder.specs[0][0] == "*fp32" and recorder.slots == [x.ctypes.data]
    refused(lambda: one[(1,)](Tensor(x, "cuda")), "argument 1 'x'", "cuda:0", ".cpu()")
    refused(lambda: one[(1,)](Tensor(x[:, ::2])), "not contiguous")
    refused(lambda: one[(1,)](Tensor(x, dtype="torch.complex64")), "torch.complex64")


class DLTensor(ctypes.Structure):
    """Of DLPack, as is the table below."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


View = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))


class ExchangeTable(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("export", ctypes.c_void_p), ("to_python", ctypes.c_void_p),
                ("view", View), ("current_stream", ctypes.c_void_p)]


TENSORS_BY_TABLE = """
import ctypes, sys, types
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_launch import DLTensor, ExchangeTable, View

CODES = {"f": 2, "i": 0, "u": 1, "b": 6}


class Tensor:
    asked = []

    def __init__(self, array, device=1, **other):
        self.array, self.place, self.shape, self.device = array, device, array.shape, "cuda:0" if device == 2 else "cpu"
        self.sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.steps = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))
        self.other = other

    is_cpu = property(lambda self: self.place == 1)
    is_cuda = property(lambda self: self.place == 2)
    dtype = property(lambda self: "torch." + (self.asked.append("dtype") or str(self.array.dtype)))

    def data_ptr(self):
        self.asked.append("data_ptr")
        return self.array.ctypes.data

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def stride(self):
        return tuple(self.steps)


def view(tensor, out):
    if "error" in tensor.other:
        return -1
    kind = tensor.array.dtype
    out[0] = DLTensor(tensor.array.ctypes.data - 64, tensor.place, 0, tensor.array.ndim, tensor.other.get("code", CODES[kind.kind]),
                      8 * kind.itemsize, 1, tensor.sizes, tensor.steps, 64)
    return 0


class Subclass(Tensor):
    pass


keep = View(view)
older = ExchangeTable(1, 3, None, None, None, None, keep, None)
newer = ExchangeTable(2, 0, ctypes.addressof(older), None, None, None, View(lambda *_: 1 / 0), None)
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
name = ctypes.c_char_p(b"dlpack_exchange_api")
Tensor.__dlpack_c_exchange_api__ = new(ctypes.addressof(newer), name, None)
sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor)

import nereid
import nereid.language as tl


@nereid.jit
def add_one(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i * stride, mask=i < n) + 1, mask=i < n)


for dtype in ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    x, y = np.arange(40, dtype=dtype).reshape(5, 8), np.zeros(5, dtype)
    Tensor.asked.clear()
    add_one[(1,)](Tensor(x[:, 3]), Tensor(y), 5, 8, BLOCK=8)
    assert (y == x[:, 3] + 1).all() and not Tensor.asked, (dtype, y, Tensor.asked)
    add_one[(1,)](Subclass(x[:, 3]), Tensor(y, error=True), 5, 8, BLOCK=8)
    assert (y == x[:, 3] + 1).all() and Tensor.asked.count("data_ptr") == 2, Tensor.asked
add_one[(1,)](Tensor(x[:0]), Tensor(y[:0]), 0, 8, BLOCK=8)


def refused(*words, call):
    try:
        call()
    except nereid.ArgumentError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise SystemExit(f"not refused: {words}")


x = np.arange(40, dtype=np.float32).reshape(5, 8)
refused("not contiguous", "(8,)", call=lambda: add_one[(1,)](Tensor(x[:, 3]), Tensor(x[0]), 5, 7, BLOCK=8))
refused("lies on cuda:0", ".cpu()", call=lambda: add_one[(1,)](Tensor(x, 2), Tensor(x), 5, 8, BLOCK=8))
odd = np.frombuffer(bytes(41), np.uint8)[1:].view(np.float32)
refused("not aligned", call=lambda: add_one[(1,)](Tensor(odd), Tensor(x[0]), 5, 1, BLOCK=8))
print("ok")
"""


def test_tensors_that_are_read_by_a_table_of_functions(tmp_path):
    """torch's class of tensors, here one that looks like it: no attribute of a tensor is asked for, other
    versions of the table and subclasses are left alone, and what is wrong is said as by the other way."""
    script = tmp_path / "script.py"
    script.write_text(TENSORS_BY_TABLE)
    done = subprocess.run([sys.executable, str(script), str(Path(__file__).parent)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "ok\n", done.stdout + done.stderr


def test_dlpack_objects(recorder, refused):
    class Exporter:
        def __init__(self, array, device=(1, 0)):
            self.array, self.device = array, device

        def __dlpack__(self, **options):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.device

    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    one[(1,)](Exporter(x))
    assert recorder.specs[0][0] == "*i16" and recorder.slots == [x.ctypes.data]
    refused(lambda: one[(1,)](Exporter(x, (2, 0))), "CUDA", "argument 1 'x'")
    refused(lambda: one[(1,)](Exporter(x[:, 1:3])), "not contiguous")
    two[(1,)](Exporter(x[:, 1:3]), 4)  # the stride is passed


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.one_of(
        st.integers(-(2**63), 2**64 - 1), st.booleans(), st.none(), st.floats(width=32, allow_nan=False),
        st.tuples(st.integers(-100, 100), st.floats(width=32, allow_nan=False)),
    ),
    other=st.integers(-(2**70), 2**70),
)
def test_same_key_exactly_when_same_kernel(recorder, value, other):
    """Two launches share a compiled kernel exactly when the compiler would be asked
    for the same thing."""
    one._clear()
    del recorder.requests[:]
    one[(1,)](value)
    first = recorder.specs
    one[(1,)](value)
    assert len(recorder.requests) == 1
    if not -(2**63) <= other < 2**64:
        with pytest.raises(nereid.ArgumentError):
            one[(1,)](other)
        return
    one[(1,)](other)
    reused = len(recorder.requests) == 1
    one._clear()
    one[(1,)](other)
    second = recorder.specs
    assert reused == (first == second and list(map(type, first)) == list(map(type, second)))


# ---- what cannot work


def test_wrong_arguments(recorder, refused):
    x = np.zeros(8, np.float32)
    launch = add_kernel[(1,)]
    refused(lambda: launch(x, x), "add_kernel", "argument 3 'out_ptr'", "missing")
    refused(lambda: launch(x, x, x, 8), "constexpr parameter 'BLOCK'", "BLOCK=")
    refused(lambda: launch(x, x, x, 8, 16, 17), "5 arguments", "6 were given")
    refused(lambda: launch(x, x, x, 8, 16, n=8), "'n' is given twice", "argument 4")
    refused(lambda: launch(x, x, x, 8, BLOK=16), "'BLOK'", "Did you mean 'BLOCK'?")
    refused(lambda: launch(x, x, x, 8, BLOCK=16, stream=1), "'stream'")
    refused(lambda: launch(x, x, x, 8, BLOCK=x), "argument 5 'BLOCK'", "numpy array of float32 with shape (8,)")
    refused(lambda: launch(x, x, x, 8, BLOCK={}), "argument 5 'BLOCK'", "dict")
    refused(lambda: launch([1.0], x, x, 8, BLOCK=16), "argument 1 'x_ptr'", "list", "np.array")
    refused(lambda: launch(x, x, x, 1j, BLOCK=16), "argument 4 'n'", "complex")
    refused(lambda: launch(x, x, x, "four", BLOCK=16), "argument 4 'n'", "str 'four'", "'n: tl.constexpr'")
    refused(lambda: launch(x, x, x, object(), BLOCK=16), "argument 4 'n'", "object of type object")
    refused(lambda: launch(x, x, x, 2**64, BLOCK=16), "argument 4 'n'", "64 bits")
    refused(lambda: launch(x, x, x, 1e300, BLOCK=16), "argument 4 'n'", "too large for fp32", "tl.float64")
    assert not recorder.requests


def test_wrong_arrays(recorder, refused):
    x = np.zeros(8, np.float32)
    refused(lambda: one[(1,)](x.astype(object)), "argument 1 'x'", "Python objects", ".astype")
    refused(lambda: one[(1,)](np.array(["a"])), "text")
    refused(lambda: one[(1,)](x.astype(">f4")), "other order", "newbyteorder")
    refused(lambda: one[(1,)](x.astype(complex)), "complex128")
    refused(lambda: one[(1,)](np.zeros(3, [("a", "i4")])), "does not know")
    refused(lambda: one[(1,)](np.zeros(3, "M8[s]")), "does not know")
    refused(lambda: one[(1,)](memoryview(x)), "np.asarray")
    unaligned = np.frombuffer(bytearray(41), np.float32, 10, 1)
    refused(lambda: one[(1,)](unaligned), "not aligned", "copy")
    fixed = x.copy()
    fixed.flags.writeable = False
    refused(lambda: one[(1,)](fixed), "read-only", "tl.const")

    @nereid.jit
    def reader(x: tl.const):
        pass

    reader[(1,)](fixed)
    assert recorder.specs[0][0] == "*kfp32"


def test_arrays_with_gaps_need_their_strides(recorder, refused):
    x = np.zeros((8, 8), np.float32)
    text = refused(lambda: one[(1,)](x[::2]), "argument 1 'x'", "(4, 8)", "(16, 1)", "ascontiguousarray")
    assert "no argument of the launch is 16" in text
    two[(1,)](x[::2], 16)
    two[(1,)](x.T, 8)
    two[(1,)](x[:, ::2], (8, 2))
    refused(lambda: two[(1,)](x[:, ::2], 8), "no argument of the launch is 2")
    # Neither the length nor a block size is a stride, whatever its value.
    refused(lambda: two[(1,)](x[:, 1], 8), "no argument of the launch is 8")
    refused(lambda: blocked[(1,)](x[:, 1], BLOCK=8), "no argument of the launch is 8")
    strided[(1,)](x[:, 1], 8)
    one[(1,)](x[:0:2])
    one[(1,)](x[:1, :])
    one[(1,)](x[3])
    record = np.zeros(4, [("a", "i1"), ("b", "f4")])
    refused(lambda: one[(1,)](record["b"]), "stride of 5 bytes")

    @nereid.jit(check_strides=False)
    def knows(x):
        pass

    knows[(1,)](x[::2])


def test_launch_options(recorder, refused):
    one[(1,)](2, num_warps=8, num_stages=3, multibuffer=True)
    one[(1,)](2, num_warps=4)
    assert len(recorder.requests) == 1
    one[(1,)](2, debug=True)
    assert len(recorder.requests) == 2 and recorder.requests[-1][2]["debug"] is True
    one[(1,)](2, unused_token="warn")
    assert recorder.requests[-1][2]["unused_token"] == "warn"
    with pytest.raises(ValueError, match="the option 'unused_token' takes error, warn or keep, not 'ignore'"):
        one[(1,)](2, unused_token="ignore")
    with pytest.raises(ValueError, match="the option 'debug' takes True or False"):
        one[(1,)](2, debug="yes")
    # An option that would change what the kernel computes is not left out in silence.
    refused(lambda: one[(1,)](2, ir_override="one.ttir"), "NEREID_OVERRIDE")
    one[(1,)](2, ir_override=None)


# ---- grids


@pytest.mark.parametrize("grid, size", [
    ((3,), (3, 1, 1)), ([2, 3], (2, 3, 1)), ((2, 3, 4), (2, 3, 4)), ((np.int64(5),), (5, 1, 1)),
])
def test_grids(recorder, grid, size):
    one[grid](2)
    assert recorder.grid() == size
    before = recorder.programs()
    one[grid](2)
    assert recorder.programs() - before == size[0] * size[1] * size[2]


def test_callable_grid(recorder):
    seen = {}

    def grid(meta):
        seen.update(meta)
        return (nereid.cdiv(meta["n"], meta["BLOCK"]),)

    x = np.zeros(100, np.float32)
    add_kernel[grid](x, x, x, 100, BLOCK=tl.constexpr(32))
    assert recorder.grid() == (4, 1, 1)
    assert list(seen) == ["x_ptr", "y_ptr", "out_ptr", "n", "BLOCK"] and seen["BLOCK"] == 32 and seen["x_ptr"] is x


def test_empty_grid_launches_nothing(recorder):
    one[(1,)](2)
    before = recorder.programs()
    assert one[(0,)](2).name == "one"
    one[(4, 0)](2)
    assert recorder.programs() == before


@pytest.mark.parametrize("grid, words", [
    (3, ("one[(n,)]",)), ((), ("not of 0",)), ((1, 2, 3, 4), ("not of 4",)), ((-1,), ("axis 0", "-1")),
    ((1, 2.5), ("axis 1", "float 2.5", "cdiv")), ((2**31,), ("axis 0", "2147483647")), (("1",), ("axis 0", "str '1'")),
    ((2**20, 2**20), ("more than 2147483647",)), (None, ("None",)), (lambda meta: 5, ("function must return", "int 5")),
    ((True,), ("axis 0",)),
])
def test_wrong_grids(recorder, refused, grid, words):
    refused(lambda: one[grid](2), "one", *words)


def test_errors_of_a_grid_function_come_through(recorder):
    with pytest.raises(KeyError, match="nope") as caught:
        one[lambda meta: meta["nope"]](2)
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["in the grid function of kernel one; the arguments are x"]
    with pytest.raises(nereid.ArgumentError) as caught:
        one[lambda meta: 5](2)
    assert not getattr(caught.value, "__notes__", [])


def test_unknown_type_in_quotes(recorder):
    def kernel(a: "banana", b: "int23", c: "int32", d: "np", e: "Tensor"):  # noqa: F821
        pass

    with pytest.warns(UserWarning) as seen:
        nereid.jit(kernel)
    texts = [str(warning.message) for warning in seen]
    assert len(texts) == 2 and "'banana' of parameter 'a' is not a type of the language" in texts[0]
    assert "'int23' of parameter 'b'" in texts[1] and "did you mean 'int" in texts[1]


def test_call_without_a_grid(recorder, refused):
    refused(lambda: one(2), "one[grid](...)")


def test_run_and_warmup(recorder, refused):
    one.run(2, grid=(2,))
    assert recorder.grid() == (2, 1, 1)
    before = recorder.programs()
    assert one.warmup(2, grid=(2,)) is one.warmup(2)
    one.warmup(np.float32)
    assert recorder.specs == [("*fp32", 16)]
    one.warmup(tl.int8)
    assert recorder.specs == [("*i8", 16)]
    assert recorder.programs() == before
    one.run(2, grid=(2,), warmup=True)
    assert recorder.programs() == before


# ---- variables that the code depends on

SIZE = tl.constexpr(4)


@nereid.jit
def uses_global(x):
    y = x + SIZE  # noqa: F841


def test_changed_globals_are_noticed(recorder, monkeypatch):
    uses_global[(1,)](2)
    uses_global[(1,)](2)
    assert len(recorder.requests) == 1
    key = uses_global.cache_key
    monkeypatch.setitem(globals(), "SIZE", tl.constexpr(8))
    uses_global[(1,)](2)
    assert len(recorder.requests) == 2
    assert uses_global.cache_key != key
    monkeypatch.setitem(globals(), "SIZE", tl.constexpr(8))  # another object, the same value
    uses_global[(1,)](2)
    assert len(recorder.requests) == 2


def test_symmetric_arguments(recorder, refused):
    recorder.metadata = {"distributed": True, "symmetric_args": [1]}
    x, s = np.zeros(4, np.float32), nereid.symm.zeros(4)
    two[(1,)](x, s)
    assert recorder.slots == [x.ctypes.data, s.data_ptr()]
    two[(1,)](x, s.numpy()[2:])
    refused(lambda: two[(1,)](s, x), "two: argument 2 'y'", "symmetric memory", "numpy array of float32 with shape (4,)",
            "nereid.symm.zeros")
    nereid.symm.free(s)
    refused(lambda: two[(1,)](x, s), "argument 2 'y'", "has been freed")
