# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles of matrices: their order, products, moving rows of them."""

import nereid
import nereid.language as tl


@nereid.jit
def grouped_tile(task, num_m, num_n, GROUP_M: tl.constexpr):
    """Row and column of tile `task` when GROUP_M rows of tiles are walked column by column, so that
    neighbouring tasks share rows of A and columns of B."""
    tasks_per_group = GROUP_M * num_n
    group = task // tasks_per_group
    first_m = group * GROUP_M
    rows = min(num_m - first_m, GROUP_M)
    within = task % tasks_per_group
    return first_m + within % rows, within // rows


@nereid.jit
def product(
    a_ptr, b_ptr, tile_m, tile_n, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ACC: tl.constexpr,
):
    """Tile (tile_m, tile_n) of A (M, K) times B (K, N), in the type ACC."""
    offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m = (offs_m < M)[:, None]
    mask_n = (offs_n < N)[None, :]
    # In 64 bits: rows, columns and what is summed over may lie any number of elements apart.
    a_ptrs = a_ptr + offs_m.to(tl.int64)[:, None] * stride_am + offs_k.to(tl.int64)[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k.to(tl.int64)[:, None] * stride_bk + offs_n.to(tl.int64)[None, :] * stride_bn
    step = tl.full((), BLOCK_K, tl.int64)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for block_k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - block_k * BLOCK_K
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & mask_n, other=0.0)
        accumulator += tl.dot(a, b, input_precision="ieee", out_dtype=ACC)
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    return accumulator


@nereid.jit
def store_tile(c_ptr, tile, tile_m, tile_n, M, N, stride_cm, stride_cn, first_row, extra_ptr, EPILOGUE: tl.constexpr,
               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Writes tile (tile_m, tile_n) of the rows of C from `first_row` on, (M, N), in the type of C. EPILOGUE, a device
    function or None, makes of it what is written: see nereid.ops.core.epilogue."""
    offs_m = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = (offs_m < M)[:, None]
    mask_n = (offs_n < N)[None, :]
    rows = first_row + offs_m
    if EPILOGUE is not None:
        tile = EPILOGUE(tile, rows[:, None], offs_n[None, :], mask_m, mask_n, extra_ptr)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, tile.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


@nereid.jit
def in_tile(BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Offsets in a tile that is stored whole, row by row: accesses need no mask."""
    return tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]


@nereid.jit
def rows_at_once(BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Rows of a tile that are added up at once, so few that they stay in the nearest cache."""
    return max(1, min(BLOCK_M, 2048 // BLOCK_N))


@nereid.jit
def sum_of_rows(tiles_ptr, apart, n, row, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    """Rows `row` to row + ROWS of the sum of `n` whole tiles, which lie `apart` elements apart, in their order."""
    offs = row * BLOCK_N + in_tile(ROWS, BLOCK_N)
    total = tl.load(tiles_ptr + offs).to(ACC)
    for source in range(1, n):
        total += tl.load(tiles_ptr + source * apart + offs).to(ACC)
    return total


@nereid.jit
def copy_rows(to_ptr, from_ptr, rows, columns, stride_row, stride_column, BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """`rows` (at most BLOCK_M) rows to memory where they lie next to each other, row by row."""
    offs_m = tl.arange(0, BLOCK_M).to(tl.int64)
    for first in range(0, columns, BLOCK):
        offs = first + tl.arange(0, BLOCK)
        mask = (offs_m < rows)[:, None] & (offs < columns)[None, :]
        values = tl.load(from_ptr + offs_m[:, None] * stride_row + offs.to(tl.int64)[None, :] * stride_column, mask=mask)
        tl.store(to_ptr + offs_m[:, None] * columns + offs[None, :], values, mask=mask)
