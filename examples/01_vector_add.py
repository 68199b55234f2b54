# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector add: the smallest kernel. One program adds one block of elements.

    python examples/01_vector_add.py --size 100003
    nereid run -n 4 examples/01_vector_add.py       each rank adds vectors of its own
"""

import argparse

import numpy as np

import nereid
import nereid.language as tl
from common import check, say


@nereid.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements  # the last block may reach past the end
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


def add(x: np.ndarray, y: np.ndarray, block: int = 1024) -> np.ndarray:
    out = np.empty_like(x)
    grid = (nereid.cdiv(x.size, block),)
    add_kernel[grid](x, y, out, x.size, BLOCK=block)
    return out


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs="+", default=[1, 1000, 98432])
    parser.add_argument("--dtype", choices=["float16", "float32", "float64", "int32"], default="float32")
    parser.add_argument("--block", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rng = np.random.default_rng((args.seed, nereid.rank()))
    for size in args.size:
        x, y = (rng.uniform(-100, 100, size).astype(args.dtype) for _ in range(2))
        # One addition, rounded to nearest, is what numpy does too: equal to the last bit.
        check(f"add of {size}", add(x, y, args.block), (x + y).astype(np.float64), 0.0)
        say(f"vector add  {size:>9} x {args.dtype}  ok")


if __name__ == "__main__":
    main()
