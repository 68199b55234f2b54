# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel that the bench launches: function, types, constants, options of the target.

A kernel's object has a name that follows from its function, its constants and its options, so
that it can be compiled on one machine (compile.py) and run on another (objects.py).
"""

TILE = "BLOCK_M BLOCK_N BLOCK_K".split()


def tile(*sizes, **others):
    return {**dict(zip(TILE, sizes)), **others}


AG_TYPES = ("gathered_ptr=*bf16:16, b_ptr=*bf16:16, c_ptr=*bf16:16, ready_ptr=*i64:16, free_ptr=*i64:16, call=i32, "
            "m_per_rank=i32:16, N=i32:16, K=i32:16, movers=i32")
RS_TYPES = ("a_ptr=*bf16:16, b_ptr=*bf16:16, c_ptr=*bf16:16, parts_ptr=*bf16:16, done_ptr=*i64:16, ready_ptr=*i64:16, "
            "free_ptr=*i64:16, call=i32, m_per_rank=i32:16, N=i32:16, K=i32:16, movers=i32")
RS_DIRECT_TYPES = RS_TYPES.replace("done_ptr=*i64:16, ", "").replace(", movers=i32", "")
EXAMPLE_TYPES = ("a_ptr=*bf16:16, b_ptr=*bf16:16, c_ptr=*bf16:16, peer_mem_ptr=*bf16:16, {}m_per_rank=i32:16, N=i32:16, "
                 "K=i32:16, stride_am=i32:16, stride_bk=i32:16, stride_cm=i32:16")
ONES = dict(stride_ak=1, stride_bn=1, stride_cn=1)
EXAMPLE_TILES = [(tile(128, 256, 64), 8, 3), (tile(128, 128, 64), 8, 3)]

#: What is tried for the fused operators: constants, warps, stages.
AG_LARGE = [(tile(128, 256, 64, GROUP_M=8, PIECES=1, BLOCK=8192), 8, 4), (tile(128, 256, 64, GROUP_M=8, PIECES=1, BLOCK=8192), 8, 3),
            (tile(128, 256, 64, GROUP_M=8, PIECES=2, BLOCK=8192), 8, 3), (tile(128, 256, 64, GROUP_M=8, PIECES=1, BLOCK=16384), 8, 4)]
AG_SMALL = [(tile(64, 128, 64, GROUP_M=8, PIECES=8, BLOCK=4096), 4, 4), (tile(64, 128, 64, GROUP_M=8, PIECES=4, BLOCK=4096), 4, 3),
            (tile(128, 128, 64, GROUP_M=8, PIECES=16, BLOCK=4096), 8, 4), (tile(128, 256, 64, GROUP_M=8, PIECES=16, BLOCK=4096), 8, 4),
            (tile(128, 256, 64, GROUP_M=8, PIECES=32, BLOCK=4096), 8, 4), (tile(128, 128, 64, GROUP_M=8, PIECES=16, BLOCK=4096), 8, 3)]
RS_LARGE = [(tile(128, 256, 64, GROUP_M=8, CARRY=8, BLOCK=8192), 8, 4), (tile(128, 256, 64, GROUP_M=8, CARRY=8, BLOCK=8192), 8, 3),
            (tile(128, 256, 64, GROUP_M=8, CARRY=4, BLOCK=16384), 8, 4), (tile(128, 256, 64, GROUP_M=8, CARRY=16, BLOCK=16384), 8, 4)]
RS_SMALL = [(tile(64, 128, 64, GROUP_M=8, CARRY=1, BLOCK=8192), 4, 4), (tile(64, 128, 64, GROUP_M=8, CARRY=4, BLOCK=8192), 4, 4),
            (tile(128, 128, 64, GROUP_M=8, CARRY=1, BLOCK=8192), 8, 4)]
RS_DIRECT = [(tile(64, 128, 64, GROUP_M=8), 4, 4)]
GEMM = [({**tile(128, 256, 64, GROUP_M=8), "DESCRIPTOR": d}, 8, s) for d, s in ((False, 3), (False, 4), (True, 3))]
GEMM.append(({**tile(128, 128, 64, GROUP_M=8), "DESCRIPTOR": True}, 8, 4))
ALL_GATHER = [(dict(BLOCK=1024), 4), (dict(BLOCK=4096), 8), (dict(BLOCK=8192), 8), (dict(BLOCK=16384), 16)]
STRESS_PROGRAMS = 128
COPY_WARPS = (8, 16, 32)

KERNELS = [
    *(("11_allgather_gemm_roles", "allgather_gemm_roles_kernel", AG_TYPES, c, dict(num_warps=w, num_stages=s))
      for c, w, s in AG_LARGE[:2] + AG_SMALL[:1]),
    *(("12_gemm_reduce_scatter_roles", "gemm_reduce_scatter_roles_kernel", RS_TYPES, c, dict(num_warps=w, num_stages=s))
      for c, w, s in RS_LARGE[:2] + RS_SMALL[:1]),
    ("05_all_gather", "all_gather_kernel", "src_ptr=*fp32:16, gathered_ptr=*fp32:16, n_elements=i32:16", ALL_GATHER[0][0],
     dict(num_warps=ALL_GATHER[0][1])),
    ("05_all_gather", "all_gather_kernel", "src_ptr=*fp32:16, gathered_ptr=*fp32:16, n_elements=i32:16", ALL_GATHER[2][0],
     dict(num_warps=ALL_GATHER[2][1])),
    *(("kernels", "persistent_gemm", "a_ptr=*bf16:16, b_ptr=*bf16:16, c_ptr=*bf16:16, M=i32:16, N=i32:16, K=i32:16", c,
       dict(num_warps=w, num_stages=s)) for c, w, s in GEMM),
    *(("kernels", "gemm_reduce_scatter_direct", RS_DIRECT_TYPES, c, dict(num_warps=w, num_stages=s)) for c, w, s in RS_DIRECT),
    ("kernels", "round_trips", "signal_ptr=*i64:16, rounds=i32", {}, dict(num_warps=4)),
    ("kernels", "only_barriers", "rounds=i32", {}, dict(num_warps=4)),
    ("kernels", "stress_barriers", "slots_ptr=*i32:16, wrong_ptr=*i32:16, rounds=i32", dict(P=STRESS_PROGRAMS), dict(num_warps=4)),
    ("kernels", "stress_barriers", "slots_ptr=*i32:16, wrong_ptr=*i32:16, rounds=i32", dict(P=16), dict(num_warps=4)),
    ("kernels", "stress_messages", "buffer_ptr=*i32:16, signal_ptr=*i64:16, wrong_ptr=*i32:16, rounds=i32", dict(BLOCK=4096),
     dict(num_warps=8)),
    *(("kernels", name, "to_ptr=*fp32:16, from_ptr=*fp32:16, count=i32:16, peer=i32", {}, dict(num_warps=w))
      for name in ("put_all", "get_all") for w in COPY_WARPS),
    ("kernels", "wait_forever", "signal_ptr=*i64:16, value=i32", {}, dict(num_warps=4)),
    ("tutorials", "empty5", "a_ptr=*fp32:16, b_ptr=*fp32:16, c_ptr=*fp32:16, n=i32, m=i32", {}, dict(num_warps=4)),
    ("tutorials", "add_one", "x_ptr=*fp32:16, y_ptr=*fp32:16, n=i32:16", dict(BLOCK=1024), dict(num_warps=4)),
    ("07_allgather_gemm", "allgather_gemm_kernel", EXAMPLE_TYPES.format(""),
     {**ONES, **EXAMPLE_TILES[0][0], "GROUP_M": 8, "COMM_BLOCK_M": 32, "COMM_BLOCK_K": 256}, dict(num_warps=8, num_stages=3)),
    ("09_allgather_gemm_signals", "allgather_gemm_signals_kernel", EXAMPLE_TYPES.format("ready_ptr=*i64:16, call=i32, "),
     {**ONES, **EXAMPLE_TILES[0][0], "COMM_BLOCK_K": 128}, dict(num_warps=8, num_stages=3)),
    ("tutorials", "softmax_rows", "out_ptr=*bf16:16, in_ptr=*bf16:16, stride=i32:16, n_rows=i32:16, n_cols=i32:16", dict(BLOCK=4096),
     dict(num_warps=8)),
    ("tutorials", "layer_norm_rows", "out_ptr=*bf16:16, in_ptr=*bf16:16, weight_ptr=*bf16:16, bias_ptr=*bf16:16, stride=i32:16, "
     "n_cols=i32:16, eps=fp32", dict(BLOCK=4096), dict(num_warps=8)),
    ("tutorials", "attention", "q_ptr=*bf16:16, k_ptr=*bf16:16, v_ptr=*bf16:16, out_ptr=*bf16:16, scale=fp32, length=i32:16",
     dict(BLOCK_M=128, BLOCK_N=64, HEAD=64), dict(num_warps=8, num_stages=3)),
    ("tutorials", "matmul_tiles", "a_ptr=*bf16:16, b_ptr=*bf16:16, c_ptr=*bf16:16, M=i32:16, N=i32:16, K=i32:16, stride_am=i32:16, "
     "stride_bk=i32:16, stride_cm=i32:16", tile(128, 256, 64, GROUP_M=8), dict(num_warps=8, num_stages=3)),
    # Not the first choice.
    *(("11_allgather_gemm_roles", "allgather_gemm_roles_kernel", AG_TYPES, c, dict(num_warps=w, num_stages=s))
      for c, w, s in AG_SMALL[1:] + AG_LARGE[2:]),
    *(("12_gemm_reduce_scatter_roles", "gemm_reduce_scatter_roles_kernel", RS_TYPES, c, dict(num_warps=w, num_stages=s))
      for c, w, s in RS_SMALL[1:] + RS_LARGE[2:]),
    *(("05_all_gather", "all_gather_kernel", "src_ptr=*fp32:16, gathered_ptr=*fp32:16, n_elements=i32:16", c, dict(num_warps=w))
      for c, w in ALL_GATHER[1:4:2]),
    ("07_allgather_gemm", "allgather_gemm_kernel", EXAMPLE_TYPES.format(""),
     {**ONES, **EXAMPLE_TILES[1][0], "GROUP_M": 8, "COMM_BLOCK_M": 32, "COMM_BLOCK_K": 256}, dict(num_warps=8, num_stages=3)),
    ("09_allgather_gemm_signals", "allgather_gemm_signals_kernel", EXAMPLE_TYPES.format("ready_ptr=*i64:16, call=i32, "),
     {**ONES, **EXAMPLE_TILES[1][0], "COMM_BLOCK_K": 128}, dict(num_warps=8, num_stages=3)),
]


def object_name(function: str, constants: dict, options: dict) -> str:
    """Of the file that a kernel's object is kept in. Options: num_warps and num_stages count."""
    parts = [function, *(f"{name}{value}" for name, value in sorted(constants.items()))]
    parts += [f"{name}{options.get(name, default)}" for name, default in (("num_warps", 4), ("num_stages", 3))]
    return "-".join(parts).replace("BLOCK_", "").replace("num_", "") + ".obj"
