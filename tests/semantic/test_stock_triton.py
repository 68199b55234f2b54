# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rules emit is TTIR that the stock triton package compiles to a cubin.

One kernel for each family of functions, every function in it. No GPU is needed.
"""

import os
import subprocess
import sys

import pytest

triton = pytest.importorskip("triton")

VERSION = "3.6" if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 9) else "3.9"

HEADER = """\
import nereid
import nereid.language as tl


@nereid.jit
"""

EXPRESSIONS = {
    "functions": (
        "fp32",
        """tl.exp(x) | tl.exp2(x) | tl.log(x) | tl.log2(x) | tl.sin(x) | tl.cos(x) | tl.sqrt(x) | tl.sqrt_rn(x) |
        tl.rsqrt(x) | tl.erf(x) | tl.floor(x) | tl.ceil(x) | tl.abs(x) | tl.sigmoid(x) | tl.maximum(x, y) |
        tl.minimum(x, y) | tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL) | tl.clamp(x, -1.0, 1.0) |
        tl.fma(x, y, x) | tl.fdiv(x, y) | tl.div_rn(x, y) | tl.exp(x.to(tl.float16))""",
    ),
    "operators": (
        "fp32",
        """-x | not x | x + y | x - y | x * y | x / y | x % y | x == y | x != y | x < y | x >= y | (x > 0) and (y > 0) |
        x.to(tl.bfloat16) + y.to(tl.bfloat16) | tl.where(x > 0, x, y) | x * 2 | 1 - x""",
    ),
    "integers": (
        "i32",
        """-x | ~x | x + y | x * y | x // y | x % y | x & y | x|y | x ^ y | x << 3 | x >> 3 | x / y | tl.cdiv(x, 7) |
        x.to(tl.uint32) // 3 | x.to(tl.uint32) >> y.to(tl.uint32) | tl.umulhi(x, y) | tl.abs(x) | x.to(tl.int64) * y |
        tl.rand(3, x) | tl.randn(3, x) | tl.histogram(x, 64) | tl.xor_sum(x) + x | tl.swizzle2d(x, y, 64, 64, 8)[0]""",
    ),
    "casts": (
        "fp32",
        """x.to(tl.float16) | x.to(tl.bfloat16) | x.to(tl.float64) | x.to(tl.float8e5) | x.to(tl.float8e4nv) |
        x.to(tl.int8) | x.to(tl.uint8) | x.to(tl.int64) | x.to(tl.int1) | x.to(tl.int32, bitcast=True) |
        tl.cast(x, tl.bfloat16, fp_downcast_rounding="rtz") | tl.cast(x, tl.int8, overflow_mode="saturate") |
        x.to(tl.float16).to(tl.bfloat16) | x.to(tl.float16).to(tl.int32)""",
    ),
    "shapes": (
        "fp32",
        """tl.interleave(x, y).reshape(2, 64).sum(0) | tl.cat(x, y).reshape(2, 64).sum(0) | tl.join(x, y).sum(1) |
        tl.flip(x) | tl.gather(x, i, 0) | x[:, None].broadcast_to(64, 64).sum(0) | x.reshape(8, 8).T.ravel() |
        tl.split(tl.join(x, y))[1] | tl.softmax(x)""",
    ),
    "reductions": (
        "fp32",
        """x + tl.sum(x) | x + tl.max(x) | x - tl.min(x) | x + tl.argmax(x, 0) | x + tl.argmin(x, 0) | tl.cumsum(x) |
        tl.cumprod(x, reverse=True) | tl.max(x, 0, return_indices=True)[1] + x | tl.sort(x) | tl.topk(x, 8).sum() + x""",
    ),
}

KERNELS = {
    "memory": (
        "a=*fp32, b=*fp32, n=i32",
        """
        i = tl.arange(0, 64)
        x = tl.load(a + i, mask=i < n, cache_modifier=".cg")
        tl.store(b + i, x, mask=i < n, cache_modifier=".wt")
        tl.store(b + i, tl.load(a + i, mask=i < n, other=1.0, eviction_policy="evict_last"))
        tl.store(b, tl.load(a, volatile=True))
        source = tl.make_block_ptr(a, (n, 64), (64, 1), (0, 0), (16, 64), (1, 0))
        target = tl.make_block_ptr(b, (n, 64), (64, 1), (0, 0), (16, 64), (1, 0))
        tl.store(target, tl.load(source, boundary_check=(0,), padding_option="zero"), boundary_check=(0,))
        source = tl.make_tensor_descriptor(a, (n, 64), (64, 1), (16, 64))
        target = tl.make_tensor_descriptor(b, (n, 64), (64, 1), (16, 64))
        target.store([16, 0], source.load([16, 0]))
        tl.assume(n > 0)
        tl.debug_barrier()
        tl.device_print("n", n)
        """,
    ),
    "atomics": (
        "a=*i32, b=*fp32, c=*fp16",
        """
        i = tl.arange(0, 64)
        tl.atomic_add(a + i, 1, mask=i < 50)
        tl.atomic_max(a + i, 1)
        tl.atomic_and(a + i, 1)
        tl.atomic_xchg(a + i, 1, sem="relaxed", scope="sys")
        tl.store(a, tl.atomic_cas(a, 0, 1, sem="acquire", scope="sys"))
        tl.atomic_add(b + i, 1.0)
        tl.atomic_max(b + i, 1.0)
        tl.atomic_min(b, 1.0)
        tl.atomic_add(c + i, 1.0)
        """,
    ),
    "dot": (
        "a=*fp16, b=*fp32, c=*i8, d=*fp32, e=*i32",
        """
        i = tl.arange(0, 32)
        p = i[:, None] * 32 + i[None, :]
        x = tl.load(a + p)
        tl.store(d + p, tl.dot(x, x.T, tl.zeros((32, 32), tl.float32)))
        x = tl.load(b + p)
        tl.store(d + p, tl.dot(x, x, input_precision="tf32x3"))
        x = tl.load(c + p)
        tl.store(e + p, tl.dot(x, x))
        """,
    ),
}


def family(name):
    if name in KERNELS:
        return KERNELS[name]
    dtype, expressions = EXPRESSIONS[name]
    lines = ["i = tl.arange(0, 64)", "x = tl.load(a + i)", "y = tl.load(b + i)"]
    # " | " separates expressions; the operator is written without spaces around it.
    lines += [f"tl.store(out + i, ({text.strip()}).to(tl.float32))" for text in expressions.split(" |")]
    return f"a=*{dtype}, b=*{dtype}, out=*fp32", "\n".join(lines)


@pytest.mark.parametrize("name", [*EXPRESSIONS, *KERNELS])
def test_family(name, tmp_path):
    signature, body = family(name)
    params = ", ".join(part.split("=")[0].strip() for part in signature.split(","))
    lines = [line.strip() for line in body.strip().splitlines()]
    path = tmp_path / "family.py"
    path.write_text(HEADER + f"def kernel({params}):\n" + "".join(f"    {line}\n" for line in lines))
    text = tmp_path / "family.ttir"
    command = [sys.executable, "-m", "nereid", "compile", f"{path}:kernel", "--signature", signature, "--triton", VERSION,
               "-o", str(text)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # In a process of its own: a pass of the stock compiler that fails may take the process with it.
    script = (
        "import sys, triton; from triton.backends.compiler import GPUTarget\n"
        "kernel = triton.compile(sys.argv[1], target=GPUTarget('cuda', 90, 32))\n"
        "assert kernel.asm['cubin']\n"
    )
    env = {"TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", script, str(text)], capture_output=True, text=True,
                          env={**os.environ, **env})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
