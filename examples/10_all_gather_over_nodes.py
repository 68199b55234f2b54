# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather over several nodes: rows travel by put, a signal per row says that it is there.

Pointers from symm_at reach only ranks of the same node; put and signals reach all. They
are carried out later, in any order that fences allow, so the signal of a row needs a fence
after the put of the row. --forget-fence leaves it out: on one node in the order of the
system nobody notices, a random schedule finds it.

    nereid run -n 4 --ranks-per-node=2 examples/10_all_gather_over_nodes.py
    nereid run -n 4 --schedule=random:1..20 examples/10_all_gather_over_nodes.py
    nereid run -n 4 --schedule=random:1..20 examples/10_all_gather_over_nodes.py --forget-fence
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, say
from nereid import libshmem_device, symm


@nereid.jit
def all_gather_kernel(gathered_ptr, flags_ptr, out_ptr, n_elements, row_bytes, epoch, FENCE: tl.constexpr,
                      BLOCK: tl.constexpr):
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    # Program p sends to ranks p, p + programs, ... after this one.
    mine_ptr = gathered_ptr + rank * n_elements
    for step in range(pid, world, tl.num_programs(0)):
        target = (rank + step) % world
        libshmem_device.putmem_nbi_block(mine_ptr, mine_ptr, row_bytes, target)
        if FENCE:
            libshmem_device.fence()
        libshmem_device.signal_op(flags_ptr + rank, epoch, libshmem_device.NVSHMEM_SIGNAL_SET, target)
    # ... and copies rows p, p + programs, ... out as they arrive.
    for row in range(pid, world, tl.num_programs(0)):
        token = dl.wait(flags_ptr + row, 1, "sys", "acquire", waitValue=epoch)
        row_ptr = dl.consume_token(gathered_ptr + row * n_elements, token)
        for start in range(0, n_elements, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            mask = offs < n_elements
            tl.store(out_ptr + row * n_elements + offs, tl.load(row_ptr + offs, mask=mask), mask=mask)
    # All have read; completes the puts as well.
    libshmem_device.barrier_all()


class AllGather:
    """Gathers rows of `size` elements of `dtype`, as often as it is called."""

    def __init__(self, size: int, dtype, programs: int = 3, fence: bool = True):
        self.size, self.programs, self.fence, self.epoch = size, programs, fence, 0
        self.gathered = symm.zeros((nereid.world_size(), size), dtype, name="gathered")
        self.flags = symm.zeros((nereid.world_size(),), np.uint64, name="flags")
        nereid.barrier()

    def __call__(self, row: np.ndarray) -> np.ndarray:
        self.epoch += 1
        self.gathered.numpy()[nereid.rank()] = row
        out = np.empty(self.gathered.shape, row.dtype)
        all_gather_kernel[(self.programs,)](self.gathered, self.flags, out, self.size, row.nbytes, self.epoch,
                                            FENCE=self.fence, BLOCK=256)
        return out


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs="+", default=[1, 256, 4099])
    parser.add_argument("--dtype", choices=["float16", "float32", "float64", "int32"], default="float32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--forget-fence", action="store_true", help="leave out the fence between put and signal")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rank, world = nereid.rank(), nereid.world_size()
    for size in args.size:
        operator = AllGather(size, args.dtype, args.programs, fence=not args.forget_fence)
        for k in range(args.rounds):
            want = np.stack([np.random.default_rng((args.seed, size, k, r)).uniform(-100, 100, size).astype(args.dtype)
                             for r in range(world)])
            check(f"all-gather of {size}", operator(want[rank]), want.astype(np.float64), 0.0)
        say(f"all-gather  {args.rounds} x {size:>6} x {args.dtype} from each of {world} ranks  ok")


if __name__ == "__main__":
    main()
