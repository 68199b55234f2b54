# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Producers and consumers on different ranks: notify, wait and consume_token.

Every rank sends a vector to the next one, block by block, through a queue of SLOTS
slots in the receiver's symmetric memory. Half the programs of a rank produce, half
consume; a pair of them ("lane") has slots and signals of its own.

              rank r, producer                        rank r+1, consumer
    wait   empty[slot] == turn                 wait   full[slot] == turn + 1
    store  block -> queue[slot] of rank r+1    load   block <- queue[slot]
    notify full[slot] = turn + 1 on r+1        notify empty[slot] = turn + 1 on r

A slot is written again only after its consumer has said so, and a signal can never
run past the value that the other side waits for (waits compare for equality).

    nereid run -n 4 examples/04_producer_consumer.py
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, say


@nereid.jit
def ring_kernel(
    src_ptr, dst_ptr, queue_ptr, full_ptr, empty_ptr, n_elements,
    SLOTS: tl.constexpr, BLOCK: tl.constexpr,
):
    rank = dl.rank()
    world = dl.num_ranks()
    next_rank = (rank + 1) % world
    previous_rank = (rank + world - 1) % world

    pid = tl.program_id(0)
    lanes = tl.num_programs(0) // 2
    lane = pid // 2
    num_blocks = tl.cdiv(n_elements, BLOCK)

    if pid % 2 == 0:
        # Producer. The queue and the "full" signals are the next rank's.
        remote_queue = dl.symm_at(queue_ptr, next_rank)
        step = 0
        for block in range(lane, num_blocks, lanes):
            slot = lane * SLOTS + step % SLOTS
            turn = step // SLOTS
            offs = block * BLOCK + tl.arange(0, BLOCK)
            data = tl.load(src_ptr + offs, mask=offs < n_elements, other=0)
            token = dl.wait(empty_ptr + slot, 1, "gpu", "acquire", waitValue=turn)
            slot_ptr = dl.consume_token(remote_queue + slot * BLOCK, token)
            # Slots are whole blocks: no mask is needed here.
            tl.store(slot_ptr + tl.arange(0, BLOCK), data)
            dl.notify(full_ptr + slot, next_rank, signal=turn + 1, sig_op="set", comm_scope="intra_node")
            step += 1
    else:
        # Consumer.
        step = 0
        for block in range(lane, num_blocks, lanes):
            slot = lane * SLOTS + step % SLOTS
            turn = step // SLOTS
            token = dl.wait(full_ptr + slot, 1, "gpu", "acquire", waitValue=turn + 1)
            slot_ptr = dl.consume_token(queue_ptr + slot * BLOCK, token)
            data = tl.load(slot_ptr + tl.arange(0, BLOCK))
            offs = block * BLOCK + tl.arange(0, BLOCK)
            tl.store(dst_ptr + offs, data, mask=offs < n_elements)
            dl.notify(empty_ptr + slot, previous_rank, signal=turn + 1, sig_op="set", comm_scope="intra_node")
            step += 1


def send_to_next(src: np.ndarray, lanes: int = 2, slots: int = 3, block: int = 64) -> np.ndarray:
    """Returns the vector that the previous rank passed as `src`."""
    dst = np.empty_like(src)
    queue = nereid.symm.zeros((lanes, slots, block), src.dtype)
    full = nereid.symm.zeros((lanes, slots), np.int64)
    empty = nereid.symm.zeros((lanes, slots), np.int64)
    # No signal may arrive before its memory is zero on every rank.
    nereid.barrier()
    ring_kernel[(2 * lanes,)](src, dst, queue, full, empty, src.size, SLOTS=slots, BLOCK=block)
    nereid.barrier()
    return dst


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs="+", default=[1, 64, 5003])
    parser.add_argument("--dtype", choices=["float16", "float32", "float64", "int32"], default="float32")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--slots", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rank, world = nereid.rank(), nereid.world_size()
    for size in args.size:
        vectors = [np.random.default_rng((args.seed, size, r)).uniform(-100, 100, size).astype(args.dtype)
                   for r in range(world)]
        got = send_to_next(vectors[rank], args.lanes, args.slots)
        check(f"vector of {size} from the previous rank", got, vectors[rank - 1].astype(np.float64), 0.0)
        say(f"producer/consumer  {size:>6} x {args.dtype} around {world} ranks  ok")


if __name__ == "__main__":
    main()
