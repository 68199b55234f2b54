# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of tiles under the names that kernels for the NPU import."""

import nereid
import nereid.language as tl


@nereid.jit
def gemm_swizzle2d_Nz(
    iter_id, data_row_shape, data_col_shape, tile_row_shape, tile_col_shape, swizzle_offset=7
):
    """Row and column of tile `iter_id`: bands of `swizzle_offset` columns, row by row, every
    second band from the last row up."""
    rows = tl.cdiv(data_row_shape, tile_row_shape)
    columns = tl.cdiv(data_col_shape, tile_col_shape)
    band = iter_id // (rows * swizzle_offset)
    inside = iter_id % (rows * swizzle_offset)
    width = tl.minimum(columns - band * swizzle_offset, swizzle_offset)
    row = inside // width
    column = band * swizzle_offset + inside % width
    return tl.where(band % 2 == 1, rows - 1 - row, row), column


@nereid.jit
def dist_swizzle2d_Nz(
    iter_id, rank_size, data_row_shape, data_col_shape, tile_row_shape, tile_col_shape, comm_npu_split=1
):
    """Row, column, peer and size of the tile that step `iter_id` of a communication moves:
    peers in groups of `comm_npu_split`, shifted from tile to tile so that ranks do not
    all read from one."""
    columns = tl.cdiv(data_col_shape, tile_col_shape)
    tiles = tl.cdiv(data_row_shape, tile_row_shape) * columns
    group = iter_id // (comm_npu_split * tiles)
    inside = iter_id % (comm_npu_split * tiles)
    members = tl.minimum(rank_size - comm_npu_split * group, comm_npu_split)
    tile = inside // members
    number = group * comm_npu_split + inside % members
    peer = (number * (rank_size // comm_npu_split) // rank_size + tile) % rank_size
    row, column = tile // columns, tile % columns
    height = tl.minimum(data_row_shape - row * tile_row_shape, tile_row_shape)
    width = tl.minimum(data_col_shape - column * tile_col_shape, tile_col_shape)
    return row, column, peer, height, width
