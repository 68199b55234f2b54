# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public suites that run.py knows: which files, on how many ranks, with which
arguments. Arguments are those that the suites' own documentation gives, with sizes for a
processor where the defaults are for eight GPUs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file that checks itself."""

    path: str
    ranks: int = 2
    arguments: str = ""
    pytest: bool = False
    #: What it needs that is not there: it is not run.
    lacks: str = ""


@dataclass(frozen=True)
class Suite:
    """A public suite."""

    title: str
    files: tuple[File, ...]
    #: Folders of the checkout that its files import from.
    python_path: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


_TESTS = "python/triton_dist/test/nvidia"
_ASCEND = "python/triton_dist/test/ascend"

SUITES = {
    "triton-distributed": Suite("Triton-distributed", python_path=("python",), files=(
        File("tutorials/01-distributed-notify-wait.py"),
        File("tutorials/02-intra-node-allgather.py"),
        File("tutorials/03-inter-node-allgather.py"),
        File("tutorials/04-deepseek-infer-all2all.py"),
        File("tutorials/05-intra-node-reduce-scatter.py"),
        File("tutorials/06-inter-node-reduce-scatter.py"),
        File("tutorials/07-overlapping-allgather-gemm.py", lacks="it skips itself unless the ranks are of several "
             "machines; there it does 1e16 operations, which take a processor hours"),
        File("tutorials/08-overlapping-gemm-reduce-scatter.py", lacks="2e15 operations, which take a processor hours"),
        File(f"{_TESTS}/test_notify.py"),
        File(f"{_TESTS}/test_distributed_wait.py", ranks=1, arguments="--case correctness"),
        File(f"{_TESTS}/test_ring_put.py"),
        File(f"{_TESTS}/test_nvshmem_api.py"),
        File(f"{_TESTS}/test_nvshmem_init.py"),
        File(f"{_TESTS}/test_team_split.py", ranks=4),
        File(f"{_TESTS}/test_all_gather.py"),
        File(f"{_TESTS}/test_ag_small_msg.py"),
        File(f"{_TESTS}/test_common_ops.py", lacks="a fault of the file: a constexpr parameter of a kernel gets no value"),
        File(f"{_TESTS}/test_language_extra.py", lacks="it reads the text of its kernels in PTX"),
        File(f"{_TESTS}/test_utils.py", ranks=1, arguments="--case max_occupancy"),
        File(f"{_TESTS}/test_multimem_ld_reduce.py"),
        File(f"{_TESTS}/test_allreduce.py", arguments="--method two_shot --stress --iters 1 --verify_shapes 3 --verify_hang 5 "
             "--max_nbytes 65536"),
        File(f"{_TESTS}/test_fast_allgather.py",
             arguments="--iters 2 --warmup_iters 1 --mode push_2d_ll --minbytes 4096 --maxbytes 8192"),
        File(f"{_TESTS}/test_all_to_all.py", arguments="-M 8 -N 256 -G 16 --topk 4"),
        File(f"{_TESTS}/test_reduce_scatter.py", lacks="a fault of the library: reduce_scatter_ring_push_1d_intra_node_ce returns "
             "None when it is given no output, and the file looks at it"),
        File(f"{_TESTS}/test_ag_gemm.py", arguments="--case check -M 256 --shape_id LLaMA-7B --no-autotune"),
        File(f"{_TESTS}/test_gemm_rs.py", arguments="-M 128 -N 128 -K 256 --check --iters 2 --warmup 1 --verify-iters 2"),
        File(f"{_TESTS}/test_decode_attn.py", ranks=1, pytest=True, arguments='-k "not aot and 1-128"'),
        File(f"{_TESTS}/test_sp_decode_attn.py", arguments="--case correctness"),
        File(f"{_ASCEND}/test_my_pe.py", ranks=1, pytest=True),
        File(f"{_ASCEND}/test_num_ranks.py", ranks=1, pytest=True),
        File(f"{_ASCEND}/test_symm_at.py", ranks=1, pytest=True),
        File(f"{_ASCEND}/test_wait_notify.py", ranks=1, pytest=True),
        File("tutorials/ascend/01-ascend-allgather-gemm.py"),
        File("tutorials/ascend/02-ascend-gemm-reduce-scatter.py"),
        File("tutorials/ascend/03-ascend-gemm-allreduce-oneshot.py"),
    )),
    "iris": Suite("iris", files=tuple(
        File(f"tests/unittests/test_{name}.py", pytest=True)
        for name in ("load", "store", "get", "put", "atomic_add", "atomic_cas", "atomic_xchg"))),
}
