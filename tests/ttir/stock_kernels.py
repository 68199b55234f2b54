# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for the stock front end, and the types of their arguments."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask, other=1.0), mask=mask)


@triton.jit
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + c, mask=c < columns, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + c, e / tl.sum(e, axis=0), mask=c < columns)


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * lda + rk[None, :]
    pb = b + rk[:, None] * ldb + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=(rm[:, None] < M) & (rk[None, :] < K - k * BK), other=0.0)
        y = tl.load(pb, mask=(rk[:, None] < K - k * BK) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
        pa += BK
        pb += BK * ldb
    tl.store(c + rm[:, None] * ldc + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def reduction(x, value, place, lock, BLOCK: tl.constexpr):
    values = tl.load(x + tl.arange(0, BLOCK))
    best, index = tl.max(values, axis=0, return_indices=True)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
        pass
    if best > tl.load(value, volatile=True):
        tl.store(value, best)
        tl.store(place, index)
    tl.atomic_xchg(lock, 0, sem="release", scope="sys")
    total = tl.cumsum(values, axis=0)
    tl.atomic_add(x + tl.arange(0, BLOCK), tl.where(total > 0, total, 0.0), mask=total > 1)


@triton.jit
def hints_and_barrier(x, out):
    value = tl.load(x, eviction_policy="evict_last") + tl.load(x + 1, cache_modifier=".cg")
    tl.debug_barrier()
    tl.device_print("value", value)
    tl.store(out, tl.sqrt(value), cache_modifier=".wt")


F16, F32, I32, CONST = "*fp16", "*fp32", "i32", "constexpr"

#: kernel, types of its arguments, values of its constexprs
KERNELS = {
    "vector_add": (vector_add, dict(x=F32, y=F32, out=F32, n=I32, BLOCK=CONST), dict(BLOCK=1024)),
    "softmax": (softmax, dict(out=F32, x=F32, stride=I32, columns=I32, BLOCK=CONST), dict(BLOCK=512)),
    "matmul": (matmul, dict(a=F16, b=F16, c=F16, M=I32, N=I32, K=I32, lda=I32, ldb=I32, ldc=I32,
                            BM=CONST, BN=CONST, BK=CONST), dict(BM=64, BN=64, BK=32)),
    "reduction": (reduction, dict(x=F32, value=F32, place="*i32", lock="*i32", BLOCK=CONST), dict(BLOCK=256)),
    "hints_and_barrier": (hints_and_barrier, dict(x=F32, out=F32), {}),
}
