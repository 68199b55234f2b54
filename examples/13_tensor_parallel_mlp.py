# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A two-layer MLP whose matrices are split among ranks, trained like the one on a single rank.

Each rank has its share of the rows of x, of the columns of the first matrix and of the rows of the second.
Between the layers activations are split by columns:

    h = gelu(all_gather_gemm(x, first))     all rows, this rank's columns
    y = gemm_reduce_scatter(h, second)      this rank's rows of the sum

Their derivatives are each other's, so nothing else communicates. The loss is the sum of the ranks' losses. Every
rank trains the whole model too, with torch alone; at the end its weights must be those of the split one. In fp64 they may
differ by 1e-10, in fp32 by 1e-4: some hundred roundings (6e-8) of numbers of size 1, carried on from step to step.

    nereid run -n 4 examples/13_tensor_parallel_mlp.py
    nereid run -n 2 --target cuda examples/13_tensor_parallel_mlp.py
    torchrun --standalone --nproc-per-node 4 examples/13_tensor_parallel_mlp.py --dtype float32
"""

import argparse

import torch
import torch.distributed as dist

import nereid
import nereid.ops.torch as nops
from common import say

BOUNDS = {"float64": 1e-10, "float32": 1e-4}


def weights(width: int, inner: int, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [0.3 * torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((width, inner), (inner, width))]


def batch(rows: int, width: int, seed: int) -> list[torch.Tensor]:
    """Inputs and targets."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn((rows, width), generator=generator, dtype=torch.float64) for _ in range(2)]


def train(first, second, batches, layer_1, layer_2, rate):
    """Gradient descent, a step for each of the batches (x, target, share of the mean that each element has).
    The trained matrices and the last loss."""
    first, second = (one.clone().requires_grad_() for one in (first, second))
    for x, target, share in batches:
        y = layer_2(torch.nn.functional.gelu(layer_1(x, first)), second)
        loss = ((y - target) ** 2).sum() * share
        loss.backward()
        with torch.no_grad():
            for one in (first, second):
                one -= rate * one.grad
                one.grad = None
    return first.detach(), second.detach(), loss.detach()


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rows", type=int, default=12, help="of a batch; ranks share them and --inner equally")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--inner", type=int, default=24)
    parser.add_argument("--dtype", choices=BOUNDS, default="float64")
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    me, n = nereid.rank(), nereid.world_size()
    if args.rows % n or args.inner % n:
        parser.error(f"{n} ranks cannot share --rows {args.rows} and --inner {args.inner} equally")
    dist.init_process_group("gloo")  # `nereid run` and torchrun set what it reads
    world, place = dist.group.WORLD, dict(dtype=getattr(torch, args.dtype), device=nereid.job_info()["device"])
    if place["device"] == "cuda":
        torch.cuda.set_device(me % torch.cuda.device_count())
    first, second = (one.to(**place) for one in weights(args.width, args.inner, args.seed))
    steps = [[one.to(**place) for one in batch(args.rows, args.width, args.seed + 1 + step)] for step in range(args.steps)]
    share = 1 / (args.rows * args.width)
    rows, inner = (slice(me * size // n, (me + 1) * size // n) for size in (args.rows, args.inner))

    whole = train(first, second, [(x, target, share) for x, target in steps], torch.matmul, torch.matmul, args.rate)
    mine = train(first[:, inner], second[inner], [(x[rows], target[rows], share) for x, target in steps],
                 lambda x, w: nops.all_gather_gemm(x, w, world), lambda x, w: nops.gemm_reduce_scatter(x, w, world), args.rate)
    loss = nops.all_reduce(mine[2].reshape(1), world)

    off = max((got - want).abs().max().item() for got, want in zip(
        (*mine[:2], loss), (whole[0][:, inner], whole[1][inner], whole[2].reshape(1))))
    if not off <= BOUNDS[args.dtype]:
        raise SystemExit(f"rank {me}: weights or loss are off by {off:.3g}, allowed are {BOUNDS[args.dtype]:.0e}")
    moved = (whole[0] - first).abs().max().item()
    say(f"{args.steps} steps in {args.dtype} on {n} ranks: loss {loss.item():.6f}, weights moved by up to {moved:.3f}, "
        f"off by {off:.1e} (allowed {BOUNDS[args.dtype]:.0e})  ok")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
