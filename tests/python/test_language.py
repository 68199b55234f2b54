# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language as Python objects: constexpr, dtypes, generated modules."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereid
import nereid.distributed as dl
import nereid.extension.buffer.language as bl
import nereid.language as tl
import nereid.language.extra.cann.extension as al
from nereid import _compiler, libshmem_device
from nereid.language import _types

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "tl": tl, "tl.math": tl.math, "dl": dl, "libshmem_device": libshmem_device, "al": al,
    "libdevice": tl.extra.libdevice, "language_extra": tl.extra.language_extra, "bl": bl,
}


def test_generated_files_fit_the_compiler():
    done = subprocess.run([sys.executable, str(ROOT / "python" / "generate_language.py"), "--check"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_builtin_is_there_with_its_signature():
    for module, name, params, _, doc in _compiler.builtin_table():
        if module not in MODULES:
            continue
        function = getattr(MODULES[module], name)
        assert function.__nereid_builtin__ == (module, name)
        if not inspect.isclass(function):
            expected = inspect.signature(eval(f"lambda {params}: 0"))
            assert inspect.signature(function) == expected, name
            assert inspect.getdoc(function) == inspect.cleandoc(doc)


def test_constants():
    for module, name, value in _compiler.constant_table():
        if value is None:
            continue
        owner, _, nested = module.partition(".")
        owner = getattr(MODULES[owner], nested) if nested else MODULES[owner]
        constant = getattr(owner, name)
        assert int(constant) == value and constant.__nereid_constant__ == (module, name)
    assert repr(libshmem_device.NVSHMEM_SIGNAL_SET) == "libshmem_device.NVSHMEM_SIGNAL_SET"


def test_names_that_kernels_import():
    from nereid.language.extra.cann.extension import sub_vec_id, sub_vec_num

    assert sub_vec_id.__nereid_builtin__ == ("al", "sub_vec_id")
    assert sub_vec_num.__nereid_builtin__ == ("al", "sub_vec_num")
    for name in ("wait", "consume_token", "rank", "num_ranks", "symm_at", "notify"):
        assert getattr(dl, name).__nereid_builtin__ == ("dl", name)
    for name in ("my_pe", "n_pes", "int_p", "remote_ptr", "barrier_all", "barrier_all_vec", "putmem", "signal_op"):
        assert getattr(libshmem_device, name).__nereid_builtin__ == ("libshmem_device", name)


@given(a=st.integers(-100, 100), b=st.integers(-100, 100))
def test_constexpr_arithmetic(a, b):
    x, y = tl.constexpr(a), tl.constexpr(b)
    for operation in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p & q,
                      lambda p, q: p | q, lambda p, q: p ^ q, lambda p, q: p < q, lambda p, q: p == q,
                      lambda p, q: p >= q, lambda p, q: p != q):
        assert operation(x, y).value == operation(x, b).value == operation(a, y).value == operation(a, b)
    if b:
        assert (x // y).value == a // b and (a % y).value == a % b and (x / b).value == a / b
    assert (-x).value == -a and (~x).value == ~a and abs(x).value == abs(a)
    assert bool(x) == bool(a) and int(x) == a and list(range(200))[x] == list(range(200))[a]


def test_constexpr_objects():
    assert tl.constexpr(tl.constexpr(3)).value == 3 and repr(tl.constexpr("a")) == "constexpr[a]"
    assert {tl.constexpr(3): 1}[tl.constexpr(3)] == 1
    assert tl.constexpr((4, 5))[1].value == 5
    assert nereid.cdiv(tl.constexpr(7), 2) == 4 and nereid.next_power_of_2(tl.constexpr(5)) == 8


@pytest.mark.parametrize("n, power", [(0, 1), (1, 1), (2, 2), (3, 4), (1023, 1024), (1024, 1024), (1025, 2048), (2**40 + 1, 2**41)])
def test_next_power_of_2(n, power):
    assert nereid.next_power_of_2(n) == power


@given(x=st.integers(0, 10**12), y=st.integers(1, 10**6))
def test_cdiv(x, y):
    result = nereid.cdiv(x, y)
    assert (result - 1) * y < x <= result * y or x == result == 0


@pytest.mark.parametrize("name", [name for name in _types.PUBLIC_DTYPES if name != "void"])
def test_dtypes(name):
    kind = getattr(tl, name)
    assert kind == _types.PUBLIC_DTYPES[name] and hash(kind) == hash(_types.dtype(kind.name))
    assert kind.is_floating() + kind.is_int() == 1 and kind.scalar is kind
    assert kind.is_int() == (kind.is_int_signed() or kind.is_int_unsigned())
    assert repr(kind) == f"nereid.language.{name}" and not kind.is_ptr() and not kind.is_block()
    bits = {"int1": 1, "bfloat16": 16}.get(name) or int(re.match("[a-z]+([0-9]+)", name).group(1))
    assert kind.primitive_bitwidth == bits and kind.itemsize == max(1, bits // 8)
    pointer = tl.pointer_type(kind)
    assert pointer.is_ptr() and pointer.element_ty is kind and pointer == tl.pointer_type(kind) != kind
    if kind.numpy_name:
        array_type = np.dtype(getattr(ml_dtypes, kind.numpy_name, kind.numpy_name))
        for spec in (array_type, array_type.type, kind, kind.name, kind.numpy_name):
            assert _types.find_dtype(spec) == kind
        assert array_type.itemsize == kind.itemsize


def test_dtype_properties():
    assert tl.float16.fp_mantissa_width == 10 and tl.bfloat16.fp_mantissa_width == 7
    assert tl.int8.int_signedness == "signed" and tl.uint8.int_signedness == "unsigned"
    assert tl.float8e5.is_fp8() and tl.float16.is_fp16() and tl.bfloat16.is_bf16() and tl.float32.is_fp32()
    assert str(tl.float32) == "fp32" and tl.block_type(tl.int8, [4, 2]).numel == 8
    with pytest.raises(AttributeError, match="neither a pointer nor a block"):
        tl.float32.element_ty
    with pytest.raises(ValueError, match="unknown type 'fp7'"):
        tl.dtype("fp7")
    for value in (None, 5, "fp7", object, np.dtype("O")):
        assert _types.find_dtype(value) is None


def test_tensor_methods_are_documented():
    for name in ("to", "sum", "reshape"):
        assert getattr(tl.tensor, name).__doc__
