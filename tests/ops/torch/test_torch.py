# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nereid.ops.torch: values against torch, derivatives by finite differences in fp64, tracing, process groups (gloo), and a
tensor-parallel MLP that is trained like the one on one rank."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import torch.distributed as dist  # noqa: E402

import nereid  # noqa: E402
import nereid.ops  # noqa: E402
import nereid.ops.torch as nops  # noqa: E402

SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not


def every(shape, dtype=torch.float64, seed=0):
    """A tensor of each rank; every rank can make them all."""
    return [torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1000 * SEED + 100 * seed + rank))
            .to(dtype) for rank in range(nereid.world_size())]


@pytest.mark.ranks(3)
def test_values():
    me, n = nereid.rank(), nereid.world_size()
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        x = every((4 * n, 5), dtype)
        assert torch.equal(nops.all_gather(x[me]), torch.cat(x))
        tolerance = {torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float64: 1e-12}[dtype]
        total = sum(one.double() for one in x)
        for got, want in ((nops.all_reduce(x[me]), total), (nops.reduce_scatter(x[me]), total[4 * me:4 * me + 4]),
                          (nops.all_reduce(x[me], op="avg"), total / n)):
            assert got.dtype == dtype
            torch.testing.assert_close(got.double(), want, atol=tolerance, rtol=tolerance)
        blocks = every((n, 3, 5), dtype)
        assert torch.equal(nops.all_to_all(blocks[me]), torch.stack([one[me] for one in blocks]))
        b = every((5, 7), dtype, 1)
        whole = torch.cat(x).double() @ b[me].double()
        torch.testing.assert_close(nops.all_gather_gemm(x[me], b[me]).double(), whole, atol=tolerance, rtol=tolerance)
        parts = sum(one.double() @ two.double() for one, two in zip(x, b))
        torch.testing.assert_close(nops.gemm_all_reduce(x[me], b[me]).double(), parts, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(nops.gemm_reduce_scatter(x[me], b[me]).double(), parts[4 * me:4 * me + 4], atol=tolerance,
                                   rtol=tolerance)


@pytest.mark.ranks(1)
def test_an_operator_does_not_lose_a_gradient():
    op = nereid.ops.AllReduce(10)
    x = torch.ones(3)
    assert op(x).tolist() == [1.0] * 3
    x.requires_grad_()
    with pytest.raises(nereid.ArgumentError, match=r"AllReduce: x requires a gradient, .* pass x.detach\(\)"):
        op(x)  # looks like the call before, but for this
    assert op(x.detach()).tolist() == [1.0] * 3
    with torch.no_grad():
        assert op(x).tolist() == [1.0] * 3
    with pytest.raises(nereid.ArgumentError, match=r"x is a sparse tensor; pass x.to_dense\(\)"):
        op(torch.ones(3).to_sparse())


def check_gradient(function, inputs, me):
    """The derivative of the sum over all ranks of <output, weight> along one direction for each input, which are
    the same on all ranks' calls: by autograd and by central differences."""
    n = nereid.world_size()
    leaves = [[one.clone().requires_grad_(rank == me) for rank, one in enumerate(every_rank)] for every_rank in inputs]
    out = function(*[every_rank[me] for every_rank in leaves])
    weights = every(out.shape, seed=9)
    (out * weights[me]).sum().backward()
    step = 1e-5
    for number, every_rank in enumerate(inputs):
        for rank in range(n):  # one rank moves its input
            direction = torch.randn(every_rank[rank].shape, dtype=torch.float64, generator=torch.Generator().manual_seed(rank))
            losses = []
            for sign in (step, -step):
                args = [one[me] for one in inputs]
                if rank == me:
                    args[number] = args[number] + sign * direction
                loss = (function(*args) * weights[me]).sum()
                losses.append(nereid.symm.all_reduce(np.array([loss.item()]))[0])
            numeric = (losses[0] - losses[1]) / (2 * step)
            if rank == me:
                analytic = (leaves[number][me].grad * direction).sum().item()
                assert abs(analytic - numeric) <= 1e-7 * (1 + abs(numeric)), (number, analytic, numeric)


@pytest.mark.ranks(1, 3)
def test_derivatives():
    me, n = nereid.rank(), nereid.world_size()
    check_gradient(nops.all_gather, [every((2, 3))], me)
    check_gradient(nops.reduce_scatter, [every((2 * n, 3))], me)
    check_gradient(nops.all_reduce, [every((4,))], me)
    check_gradient(lambda x: nops.all_reduce(x, op="avg"), [every((4,))], me)
    check_gradient(nops.all_to_all, [every((n, 2, 3))], me)
    check_gradient(nops.all_gather_gemm, [every((2, 3)), every((3, 4), seed=1)], me)
    check_gradient(nops.gemm_reduce_scatter, [every((2 * n, 3)), every((3, 4), seed=1)], me)
    x = every((3,))[me].requires_grad_()
    nops.all_reduce(x, grad="identity").sum().backward()
    assert x.grad.tolist() == [1.0] * 3
    with pytest.raises(NotImplementedError, match="no derivative for op='max'"):
        nops.all_reduce(x, op="max").sum().backward()


@pytest.mark.ranks(1)
def test_gradcheck_on_one_rank():
    a, b = every((2, 3))[0].requires_grad_(), every((3, 4), seed=1)[0].requires_grad_()
    assert torch.autograd.gradcheck(nops.all_gather_gemm, (a, b))
    assert torch.autograd.gradcheck(nops.gemm_reduce_scatter, (a, b))
    for function in (nops.all_gather, nops.reduce_scatter, nops.all_reduce):
        assert torch.autograd.gradcheck(function, (a,))


@pytest.mark.ranks(2)
def test_ops_are_well_formed():
    """torch's own checks: schema, fake tensors, autograd registration, tracing."""
    x = torch.randn(4, 3)
    nops.all_gather(x)
    torch.library.opcheck(torch.ops.nereid.all_gather.default, (x, ""), test_utils=("test_schema", "test_faketensor"))
    with torch._subclasses.FakeTensorMode() as mode:
        a, b = mode.from_tensor(x), mode.from_tensor(torch.randn(3, 5))
        assert nops.all_gather_gemm(a, b).shape == (8, 5) and nops.gemm_reduce_scatter(a, b).shape == (2, 5)
        assert nops.reduce_scatter(a).shape == (2, 3) and nops.all_reduce(a).shape == (4, 3)
        assert nops.gemm_all_reduce(a, b).shape == (4, 5) and nops.all_to_all(mode.from_tensor(torch.randn(2, 3, 4))).shape == (2, 3, 4)


def joined(folder):
    """torch's ranks are those of the job."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=nereid.rank(), world_size=nereid.world_size())


@pytest.mark.ranks(4)
def test_process_groups(tmp_path):
    with pytest.raises(nereid.ArgumentError, match="call init_process_group first"):
        nops.group()
    joined(tmp_path)
    me = nereid.rank()
    rows = [dist.new_group([0, 1]), dist.new_group([3, 2])]
    mine = rows[me // 2]
    assert nops.group(mine).ranks == tuple(dist.get_process_group_ranks(mine)) and nops.group().size == 4
    x = torch.full((3,), float(me + 1))
    assert nops.all_reduce(x, mine).tolist() == [3.0 if me < 2 else 7.0] * 3
    assert nops.all_gather(x[:1], mine).tolist() == [float(r + 1) for r in dist.get_process_group_ranks(mine)]
    assert nops.all_reduce(x, dist.group.WORLD).tolist() == [10.0] * 3
    assert nops.all_reduce(x, nereid.ops.Group([me])).tolist() == x.tolist()
    op = nereid.ops.AllReduce(10, group=nops.group(mine))
    assert op(x).tolist() == [3.0 if me < 2 else 7.0] * 3
    with pytest.raises(nereid.ArgumentError, match="write group=nereid.ops.torch.group"):
        nereid.ops.AllReduce(10, group=mine)
    with pytest.raises(nereid.ArgumentError, match="no member of the process group"):
        nops.group(rows[1 - me // 2])
    with pytest.raises(nereid.ArgumentError, match="there is no group 'abc'"):
        torch.ops.nereid.all_reduce(x, "abc", "sum", "sum")
    dist.destroy_process_group()


ROWS, WIDTH, INNER, STEPS = 12, 8, 24, 50


def weights():
    generator = torch.Generator().manual_seed(SEED)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) * 0.3 for shape in ((WIDTH, INNER), (INNER, WIDTH))]


def batch(step):
    generator = torch.Generator().manual_seed(1 + step)
    return [torch.randn((ROWS, WIDTH), generator=generator, dtype=torch.float64) for _ in range(2)]


def train(first, second, rows, layer_1, layer_2, dtype):
    """Losses and weights of STEPS steps of gradient descent; `rows` picks this rank's part of a batch."""
    first, second = (one.to(dtype).clone().requires_grad_() for one in (first, second))
    for step in range(STEPS):
        x, target = (one[rows].to(dtype) for one in batch(step))
        y = layer_2(torch.nn.functional.gelu(layer_1(x, first)), second)
        loss = ((y - target) ** 2).sum() / ROWS
        loss.backward()
        with torch.no_grad():
            for one in (first, second):
                one -= 0.05 * one.grad
                one.grad = None
    return first.detach(), second.detach(), loss.item()


@pytest.mark.ranks(2, 4)
def test_a_tensor_parallel_mlp_trains_as_on_one_rank(tmp_path):
    """Rows are split among ranks between the layers (sequence parallelism), columns of the first and rows of the second
    matrix within: all_gather_gemm, then gemm_reduce_scatter. After 50 steps the weights are those of one rank: within
    1e-10 in fp64; in fp32 within 1e-4, some hundred roundings of 6e-8 in numbers of size 1, which steps carry on."""
    joined(tmp_path)
    me, n = nereid.rank(), nereid.world_size()
    world = dist.group.WORLD
    nops.group(world)
    first, second = weights()
    rows, columns = slice(me * ROWS // n, (me + 1) * ROWS // n), slice(me * INNER // n, (me + 1) * INNER // n)
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        one_1, one_2, one_loss = train(first, second, slice(None), torch.matmul, torch.matmul, dtype)
        got_1, got_2, loss = train(first[:, columns], second[columns], rows, lambda x, w: nops.all_gather_gemm(x, w, world),
                                   lambda x, w: nops.gemm_reduce_scatter(x, w, world), dtype)
        torch.testing.assert_close(got_1, one_1[:, columns], atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(got_2, one_2[columns], atol=tolerance, rtol=tolerance)
        losses = nops.all_reduce(torch.tensor([loss], dtype=torch.float64), world)
        assert abs(losses.item() - one_loss) <= tolerance * (1 + one_loss)
    dist.destroy_process_group()
