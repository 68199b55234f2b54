# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels without ranks, for `nereid compile --emit=ttir`."""

import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    a = a_ptr + rm[:, None] * stride_am + rk[None, :]
    b = b_ptr + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        x = tl.load(a, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        y = tl.load(b, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
        a += BLOCK_K
        b += BLOCK_K * stride_bk
    c = c_ptr + rm[:, None] * stride_cm + rn[None, :]
    tl.store(c, acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@nereid.jit
def softmax(out_ptr, in_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + c, mask=c < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + c, e / tl.sum(e, axis=0), mask=c < columns)


@nereid.jit
def lock_and_barrier(x_ptr, lock_ptr, BLOCK: tl.constexpr):
    """What upstream writes differently: a masked load without other, a barrier, hints."""
    tl.static_print("block of", BLOCK)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + c, mask=c < BLOCK - 1, eviction_policy="evict_last")
    while tl.atomic_cas(lock_ptr, 0, 1) != 0:
        pass
    tl.debug_barrier()
    tl.store(x_ptr + c, x * 2, cache_modifier=".cg")
    tl.atomic_xchg(lock_ptr, 0, sem="release")


@nereid.jit
def odd_sizes(x_ptr):
    c = tl.arange(0, 20)
    tl.store(x_ptr + c, tl.load(x_ptr + c))


@nereid.jit
def with_ranks(x_ptr):
    peer = dl.symm_at(x_ptr, 0)
    tl.store(peer, 1.0)
