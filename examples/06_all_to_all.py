# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-to-all: rank r gives block t of its (ranks, S, H, D) array to rank t.

The task space rank x head x block of D x block of S is flattened before it is divided
among the programs, so that all of them have work even with two ranks, and the target is
rotated by the rank's number, so that no rank is written by all others at once.

    nereid run -n 4 examples/06_all_to_all.py --shape 33,3,70
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, say
from nereid import libshmem_device
from nereid.language.extra.cann.extension import sub_vec_id


@nereid.jit
def all_to_all_kernel(src_ptr, received_ptr, S, H, D, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr):
    rank = dl.rank()
    world = dl.num_ranks()
    blocks_s = tl.cdiv(S, BLOCK_S)
    blocks_d = tl.cdiv(D, BLOCK_D)
    tasks_per_block_s = world * H * blocks_d

    if sub_vec_id() == 0:
        for work in range(tl.program_id(0), blocks_s * tasks_per_block_s, tl.num_programs(0)):
            block_s = work // tasks_per_block_s
            rest = work % tasks_per_block_s
            turn = rest % world
            rest //= world
            head = rest % H
            block_d = rest // H
            target = (rank + turn) % world

            offs_s = block_s * BLOCK_S + tl.arange(0, BLOCK_S)
            offs_d = block_d * BLOCK_D + tl.arange(0, BLOCK_D)
            mask = (offs_s < S)[:, None] & (offs_d < D)[None, :]
            offs = (offs_s[:, None] * H + head) * D + offs_d[None, :]
            data = tl.load(src_ptr + target * S * H * D + offs, mask=mask)
            remote_ptr = dl.symm_at(received_ptr, target)
            tl.store(remote_ptr + rank * S * H * D + offs, data, mask=mask)
    libshmem_device.barrier_all()


def all_to_all(src: np.ndarray, programs: int = 4, block_s: int = 16, block_d: int = 32) -> np.ndarray:
    """`src` has shape (ranks, S, H, D); block r of the result is what rank r gave to this rank."""
    world, s, h, d = src.shape
    received = nereid.symm.zeros(src.shape, src.dtype)
    nereid.barrier()
    all_to_all_kernel[(programs,)](src, received, s, h, d, BLOCK_S=block_s, BLOCK_D=block_d)
    return np.array(received.numpy())


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1,1", "16,2,32", "33,3,70"], metavar="S,H,D")
    parser.add_argument("--dtype", choices=["float16", "float32", "float64", "int32"], default="float32")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rank, world = nereid.rank(), nereid.world_size()
    for shape in args.shape:
        s, h, d = (int(part) for part in shape.split(","))
        sent = [np.random.default_rng((args.seed, s, h, d, r)).uniform(-100, 100, (world, s, h, d)).astype(args.dtype)
                for r in range(world)]
        want = np.stack([sent[r][rank] for r in range(world)])
        check(f"all-to-all of {shape}", all_to_all(sent[rank], args.programs), want.astype(np.float64), 0.0)
        say(f"all-to-all  {s:>4} x {h} x {d:<4} {args.dtype} between {world} ranks  ok")


if __name__ == "__main__":
    main()
