# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plain matrix product for stock Triton: what it compiles while compiling.py looks at the clock."""

import triton
import triton.language as tl

CONSTANTS = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
SIGNATURE = {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16"),
             **dict.fromkeys(("M", "N", "K", "stride_am", "stride_bk", "stride_cm"), "i32"),
             **dict.fromkeys(CONSTANTS, "constexpr")}


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    task, num_m, num_n = tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = task // (GROUP_M * num_n) * GROUP_M
    group = min(num_m - first, GROUP_M)
    tile_m, tile_n = first + task % (GROUP_M * num_n) % group, task % (GROUP_M * num_n) // group
    offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k * BLOCK_K) & (offs_n[None, :] < N), other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :]
    tl.store(c_ptrs, accumulator.to(tl.float16), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
