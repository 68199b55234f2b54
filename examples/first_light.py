# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job: AllGather+GEMM and GEMM+ReduceScatter on all ranks, checked and timed.

    nereid run -n 4 examples/first_light.py

Each row of the table is one kernel and shape: m rows per rank, n columns, inner size k;
the largest error of any rank against float64 numpy and the largest error allowed; the
median time of a call on all ranks, barrier included; the rate of all ranks together.
"""

import argparse
import importlib
import time

import numpy as np

import nereid
from common import say

allgather_gemm = importlib.import_module("07_allgather_gemm")
gemm_reduce_scatter = importlib.import_module("08_gemm_reduce_scatter")
all_gather = importlib.import_module("05_all_gather").all_gather


def largest(value: float) -> float:
    """The largest `value` of all ranks, by a kernel of ours."""
    return float(all_gather(np.array([value], np.float64), programs=1).max())


def median_time(call, repeats: int) -> float:
    """Median seconds of `call` on all ranks: from the first rank's start to the last one's end.

    The clock is the machine's, the same for all ranks.
    """
    starts, ends = np.empty(repeats), np.empty(repeats)
    for i in range(repeats):
        nereid.barrier()
        starts[i] = time.monotonic()
        call()
        ends[i] = time.monotonic()
    return float(np.median(all_gather(ends).max(axis=0) - all_gather(starts).min(axis=0)))


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["64,256,256", "256,512,512", "131,77,253"], metavar="M,N,K")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--programs", type=int, default=4, help="programs on each rank")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    world = nereid.world_size()
    say(f"{'kernel':<18}  {'m x n x k':>16}  {'ranks':>5}  {'max error':>9}  {'allowed':>9}  {'time':>10}  {'GFLOP/s':>7}")
    for name, module in [("AllGather+GEMM", allgather_gemm), ("GEMM+ReduceScatter", gemm_reduce_scatter)]:
        for shape in args.shape:
            m, n, k = (int(part) for part in shape.split(","))
            operator, arguments, error, bound = module.run_case(
                m, n, k, np.dtype(args.dtype), args.seed, programs=args.programs)
            seconds = median_time(lambda: operator(*arguments), args.repeats)
            # Every rank multiplies (world * m, k) by (k, n) in both kernels.
            rate = 2.0 * world * world * m * n * k / seconds / 1e9
            error, bound = largest(error), largest(bound)
            say(f"{name:<18}  {f'{m} x {n} x {k}':>16}  {world:>5}  {error:>9.1e}  {bound:>9.1e}  "
                f"{seconds * 1e3:>7.2f} ms  {rate:>7.2f}")
    say(f"all results are within the allowed error of float64 numpy, on {world} rank{'s' if world > 1 else ''}")


if __name__ == "__main__":
    main()
