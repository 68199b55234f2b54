# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nereid.ops.torch: values against torch, derivatives by finite differences in fp64, tracing, process groups (gloo), and the
example of a tensor-parallel MLP."""

import contextlib
import io
import os
import runpy
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402

import nereid  # noqa: E402
import nereid.ops  # noqa: E402
import nereid.ops.torch as nops  # noqa: E402
from nereid.ops.torch import symm_mem  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
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
    if hasattr(torch.library, "opcheck"):  # torch 2.4
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
    if hasattr(mine, "group_name"):  # torch 2.1 and newer find the group by its name
        other = dist.new_group(dist.get_process_group_ranks(mine), use_local_synchronization=True)
        assert torch.ops.nereid.all_reduce(x, other.group_name, "sum", "sum").tolist() == [3.0 if me < 2 else 7.0] * 3
    with pytest.raises(nereid.ArgumentError, match="there is no group 'abc'"):
        torch.ops.nereid.all_reduce(x, "abc", "sum", "sum")
    dist.destroy_process_group()


@pytest.mark.ranks(2, 4)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tensor_parallel_mlp_trains_as_on_one_rank(monkeypatch, dtype):
    """The example, which compares 50 steps with those of one rank within 1e-10 in fp64 and 1e-4 in fp32."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = runpy.run_path(str(EXAMPLES / "13_tensor_parallel_mlp.py"))
    said, refused = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(refused):
        with pytest.raises(SystemExit):
            example["main"](["--rows", "13"])
        example["main"](["--dtype", dtype, "--seed", str(SEED)])
    assert said.getvalue().count("  ok\n") == (nereid.rank() == 0)
    assert "ranks cannot share --rows 13" in refused.getvalue()


@pytest.mark.ranks(2)
def test_compiled():
    """Traced by torch.compile, which sees the ops whole; from torch 2.4 on."""
    if not hasattr(torch.library, "register_autograd"):
        return
    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)

    def layer(x, w):
        return nops.reduce_scatter(torch.relu(nops.all_gather_gemm(x, w)))

    want = layer(x, w)
    want.sum().backward()
    grads, x.grad, w.grad = (x.grad, w.grad), None, None
    got = torch.compile(layer, backend="aot_eager", fullgraph=True)(x, w)
    got.sum().backward()
    assert torch.equal(got, want) and torch.equal(x.grad, grads[0]) and torch.equal(w.grad, grads[1])


@pytest.mark.ranks(3)
def test_by_the_names_of_symm_mem():
    """Every dimension that can be gathered or scattered, values and derivatives."""
    me, n = nereid.rank(), nereid.world_size()
    shards, factors = every((2, 3, 4), seed=3), every((4, 5), seed=4)
    for dim in (0, 1, -2):
        want = torch.cat(shards, dim)
        a, (first, second) = symm_mem.fused_all_gather_matmul(shards[me], [factors[me], factors[0]], dim, "")
        assert torch.equal(a, want)
        torch.testing.assert_close(first, want @ factors[me])
        torch.testing.assert_close(second, want @ factors[0])
        check_gradient(lambda x, y, z: sum(symm_mem.fused_all_gather_matmul(x, [y, z], dim, "", return_A=False)[1]),
                       [shards, factors, every((4, 5), seed=5)], me)
    wide = every((4 * n, 5), seed=4)
    a, (c,) = symm_mem.fused_all_gather_matmul(shards[me], [wide[me]], -1, "", return_A=True)
    assert torch.equal(a, torch.cat(shards, -1))
    torch.testing.assert_close(c, a @ wide[me])
    check_gradient(lambda x: symm_mem.fused_all_gather_matmul(x, [wide[me]], 2, "")[1][0], [shards], me)
    a, b = every((n, 2 * n, 4), seed=6), every((4, 3 * n), seed=7)
    total = sum(one @ two for one, two in zip(a, b))
    for dim, op in ((0, "sum"), (1, "avg"), (2, "sum"), (-1, "avg"), (-3, "avg")):
        want = total.chunk(n, dim)[me] / (n if op == "avg" else 1)
        torch.testing.assert_close(symm_mem.fused_matmul_reduce_scatter(a[me], b[me], op, dim, ""), want)
        check_gradient(lambda x, y: symm_mem.fused_matmul_reduce_scatter(x, y, op, dim, ""), [a, b], me)


@pytest.mark.ranks(2)
def test_what_symm_mem_refuses():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    for call, text in (
            (lambda: symm_mem.fused_all_gather_matmul(a, [], 0, ""), "Bs is empty"),
            (lambda: symm_mem.fused_all_gather_matmul(a, [b[0]], 0, ""), r"B is a matrix, but its shape is \(4,\)"),
            (lambda: symm_mem.fused_all_gather_matmul(a[0], [b], 0, ""), "A needs two dimensions or more"),
            (lambda: symm_mem.fused_all_gather_matmul(a, [b], 2, ""), r"gather_dim=2 is no dimension of A, whose shape is \(2, 3\)"),
            (lambda: symm_mem.fused_matmul_reduce_scatter(a, b, "max", 0, ""), "reduce_op is sum or avg, not 'max'"),
            (lambda: symm_mem.fused_matmul_reduce_scatter(a[:1], b, "sum", 0, ""), "has 1 elements, which 2 ranks cannot share"),
            (lambda: symm_mem.fused_matmul_reduce_scatter(a, b[:, :3], "sum", 1, ""), "has 3 elements, which 2 ranks cannot share"),
            (lambda: symm_mem.fused_all_gather_scaled_matmul(a), "operators have no fp8"),
            (lambda: symm_mem.fused_scaled_matmul_reduce_scatter(a), "operators have no fp8")):
        with pytest.raises(nereid.ArgumentError, match=text):
            call()


@pytest.mark.ranks(1)
def test_what_has_no_derivative():
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)
    with pytest.raises(NotImplementedError, match="gemm_all_reduce has no derivative"):
        nops.gemm_all_reduce(a, b).sum().backward()
    with pytest.raises(ValueError, match="grad is 'sum' or 'identity', not 'none'"):
        nops.all_reduce(a, grad="none")
    with pytest.raises(nereid.ArgumentError, match="x lies on the device meta, the kernels run on the CPU"):
        nereid.ops.AllReduce(10)(torch.empty(3, device="meta"))
