# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax over the rows of a matrix: reductions, and a row held in one tile.

    python examples/02_softmax.py --shape 1823,781
"""

import argparse

import numpy as np

import nereid
import nereid.language as tl
from common import UNIT_ROUNDOFF, check, say


@nereid.jit
def softmax_kernel(out_ptr, in_ptr, in_row_stride, out_row_stride, n_rows, n_cols, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    # Grid-stride: as many programs as the launch has share all rows.
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(in_ptr + row * in_row_stride + cols, mask=mask, other=-float("inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        y = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_row_stride + cols, y.to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x: np.ndarray, programs: int = 8) -> np.ndarray:
    rows, cols = x.shape
    out = np.empty_like(x)
    softmax_kernel[(min(programs, rows),)](
        out, x, x.strides[0] // x.itemsize, out.strides[0] // out.itemsize, rows, cols,
        BLOCK=nereid.next_power_of_2(cols))
    return out


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1", "37,781", "256,1024"], metavar="ROWS,COLS")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float32")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rng = np.random.default_rng((args.seed, nereid.rank()))
    for shape in args.shape:
        rows, cols = (int(part) for part in shape.split(","))
        x = (4 * rng.standard_normal((rows, cols))).astype(args.dtype)
        exact = x.astype(np.float64)
        exact = np.exp(exact - exact.max(axis=1, keepdims=True))
        exact /= exact.sum(axis=1, keepdims=True)
        # exp carries the rounding of its argument (up to ~30 here) and its own error, the sum adds
        # log2(cols) roundings or so; the result is rounded once to its type.
        u = UNIT_ROUNDOFF["float32"]
        bound = exact * ((48 + cols.bit_length()) * u + UNIT_ROUNDOFF[args.dtype]) + 2.0**-24
        error = check(f"softmax of {rows}x{cols}", softmax(x), exact, bound)
        say(f"softmax  {rows:>5} x {cols:<5} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
