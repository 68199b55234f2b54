# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather by pushing: each rank stores its vector into every rank's symmetric buffer.

The tasks are (block, target) pairs, flattened, and the targets are rotated by the number
of the rank: at any time all ranks write to different peers.

    nereid run -n 4 examples/05_all_gather.py
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, say
from nereid import libshmem_device


@nereid.jit
def all_gather_kernel(src_ptr, gathered_ptr, n_elements, BLOCK: tl.constexpr):
    rank = dl.rank()
    world = dl.num_ranks()
    total = tl.cdiv(n_elements, BLOCK) * world
    for task in range(tl.program_id(0), total, tl.num_programs(0)):
        target = (rank + task % world) % world
        offs = (task // world) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n_elements
        data = tl.load(src_ptr + offs, mask=mask)
        # First the peer's base address, then offsets: from here on it is a plain pointer.
        remote_ptr = dl.symm_at(gathered_ptr, target)
        tl.store(remote_ptr + rank * n_elements + offs, data, mask=mask)
    # All programs of all ranks: afterwards every part has arrived everywhere.
    libshmem_device.barrier_all()


def all_gather(src: np.ndarray, programs: int = 4, block: int = 256) -> np.ndarray:
    """The vectors `src` of all ranks, which have one size and type, as rows."""
    gathered = nereid.symm.zeros((nereid.world_size(), src.size), src.dtype)
    nereid.barrier()  # every rank's buffer is zero before the first store arrives
    all_gather_kernel[(programs,)](src, gathered, src.size, BLOCK=block)
    return np.array(gathered.numpy())


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs="+", default=[1, 256, 4099])
    parser.add_argument("--dtype", choices=["float16", "float32", "float64", "int32"], default="float32")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rank, world = nereid.rank(), nereid.world_size()
    for size in args.size:
        want = np.stack([np.random.default_rng((args.seed, size, r)).uniform(-100, 100, size).astype(args.dtype)
                         for r in range(world)])
        got = all_gather(want[rank].copy(), args.programs)
        check(f"all-gather of {size}", got, want.astype(np.float64), 0.0)
        say(f"all-gather  {size:>6} x {args.dtype} from each of {world} ranks  ok")


if __name__ == "__main__":
    main()
