# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libshmem_device: transfers, single elements, signals, atomics, order; constants of its libraries."""

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem
from nereid.testing import SpawnError, spawn

NETWORK = {"NEREID_RANKS_PER_NODE": "1"}
RANDOM = {"NEREID_SCHEDULE": "random:11"}

# ---- transfers: every spelling moves the same bytes

PUTS = ["putmem", "putmem_block", "putmem_warp", "putmem_wave", "putmem_wg", "putmem_nbi", "putmem_nbi_block",
        "putmem_nbi_warp", "putmem_nbi_wave", "putmem_nbi_wg", "putmem_rma", "putmem_rma_block", "putmem_rma_warp",
        "putmem_rma_nbi", "putmem_rma_nbi_block", "putmem_rma_nbi_warp"]
GETS = ["getmem", "getmem_block", "getmem_warp", "getmem_wave", "getmem_wg", "getmem_nbi", "getmem_nbi_block",
        "getmem_nbi_warp", "getmem_nbi_wave", "getmem_nbi_wg"]
SIGNALLED = ["putmem_signal", "putmem_signal_block", "putmem_signal_warp", "putmem_signal_wave", "putmem_signal_wg",
             "putmem_signal_nbi", "putmem_signal_nbi_block", "putmem_signal_nbi_warp", "putmem_signal_nbi_wave",
             "putmem_signal_nbi_wg", "putmem_signal_rma", "putmem_signal_rma_block", "putmem_signal_rma_nbi",
             "putmem_nbi_signal", "putmem_nbi_signal_warp", "putmem_nbi_signal_block"]


@nereid.jit(do_not_specialize=["to", "at"])
def put_kernel(dest, to, source, at, n, PUT: tl.constexpr):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    PUT(dest + to, source + at, n, right)
    shmem.quiet()
    shmem.barrier_all()


@nereid.jit(do_not_specialize=["to", "at"])
def get_kernel(dest, to, source, at, n, GET: tl.constexpr):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    GET(dest + to, source + at, n, right)
    shmem.quiet()
    shmem.barrier_all()


@nereid.jit(do_not_specialize=["to", "at"])
def signalled_kernel(dest, to, source, at, n, flags, PUT: tl.constexpr, ADD: tl.constexpr):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    PUT(dest + to, source + at, n, flags, 5, ADD, right)
    shmem.signal_wait_until(flags, 0, 5)
    shmem.barrier_all()


def move(cases, names):
    """Moves bytes by every function of `names`, in each of the (bytes, dest offset, source offset) of `cases`."""
    rank, ranks = nereid.rank(), nereid.world_size()
    source, dest = nereid.symm.empty((5000,), "uint8"), nereid.symm.empty((5000,), "uint8")
    flags = nereid.symm.zeros((1,), "uint64")
    sender = (rank + 1) % ranks if names[0].startswith("get") else (rank - 1) % ranks
    pattern = lambda of: ((np.arange(5000) * 7 + of * 31) % 251).astype(np.uint8)
    for name in names:
        for size, to, at in cases:
            source[:], dest[:], flags[:] = pattern(rank), 255, 0
            nereid.barrier()
            arguments = (dest, to, source, at, size)
            function = getattr(shmem, name)
            if "signal" in name:
                family = "ROCSHMEM" if name.endswith(("_wave", "_wg")) else "MORI" if "nbi_signal" in name else "NVSHMEM"
                signalled_kernel[(1,)](*arguments, flags, function, getattr(shmem, family + "_SIGNAL_ADD"))
                assert flags[0] == 5
            else:
                (get_kernel if name.startswith("get") else put_kernel)[(1,)](*arguments, function)
            want = np.full(5000, 255)
            want[to : to + size] = pattern(sender)[at : at + size]
            np.testing.assert_array_equal(dest[:], want, err_msg=f"{name} of {size} bytes from {at} to {to}")
            nereid.barrier()


def cases_of(rng, count):
    return [(0, 0, 0), (1, 3, 5), *((int(rng.integers(1, 4900)), int(rng.integers(64)), int(rng.integers(64)))
                                     for _ in range(count))]


@pytest.mark.parametrize("names", [PUTS, GETS, SIGNALLED], ids=["put", "get", "put_signal"])
def test_transfers(names, rng):
    spawn(move, 2, (cases_of(rng, 2), names))


@pytest.mark.parametrize("environment", [NETWORK, RANDOM], ids=["nodes", "random"])
@pytest.mark.parametrize("names", [PUTS[:7], GETS[:7], SIGNALLED[:7]], ids=["put", "get", "put_signal"])
def test_transfers_that_take_time(names, environment, rng):
    spawn(move, 3, (cases_of(rng, 2), names), environment=environment)


@nereid.jit
def negative_put_kernel(buffer, n):
    shmem.putmem(buffer, buffer, n, 0)


def test_negative_sizes():
    buffer = nereid.symm.zeros((4,), "int32")
    with pytest.raises(nereid.LaunchError, match=r"(?s)test_shmem.py:\d+:\d+.*putmem: the number of bytes is negative: -4"):
        negative_put_kernel[(1,)](buffer, -4)


@nereid.jit
def negative_constant_kernel(buffer):
    shmem.getmem(buffer, buffer, -4, 0)


def test_negative_constant_size():
    with pytest.raises(nereid.CompilationError, match="'nbytes' of libshmem_device.getmem is -4"):
        negative_constant_kernel[(1,)](nereid.symm.zeros((4,), "int32"))


# ---- typed functions

ELEMENTS = {
    "char": "int8", "schar": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64",
    "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "int8": "int8",
    "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32",
    "uint64": "uint64", "size": "uint64", "ptrdiff": "int64", "half": "float16", "bfloat16": "bfloat16",
    "float": "float32", "double": "float64",
}


@nereid.jit
def element_kernel(dest, back, value, P: tl.constexpr, G: tl.constexpr):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    P(dest + 1, value + shmem.my_pe(), right)
    shmem.barrier_all()
    tl.store(back, G(dest + 1, right))


def elements():
    rank, ranks = nereid.rank(), nereid.world_size()
    for name, dtype in ELEMENTS.items():
        dest, back = nereid.symm.zeros((3,), dtype), nereid.symm.zeros((1,), dtype)
        element_kernel[(1,)](dest, back, 41, getattr(shmem, name + "_p"), getattr(shmem, name + "_g"))
        assert [float(x) for x in dest[:]] == [0, 41 + (rank - 1) % ranks, 0], name
        assert float(back[0]) == 41 + rank, name
        nereid.symm.free(dest)


def test_single_elements():
    spawn(elements, 2)


def test_wrong_element_type():
    flags = nereid.symm.zeros((2,), "float32")
    with pytest.raises(nereid.CompilationError, match="(?s)int_p takes a pointer to int32.*libshmem_device.float_p"):
        element_kernel[(1,)](flags, flags, 1, shmem.int_p, shmem.int_g)


ATOMICS = {"inc": lambda x, v: x + 1, "set": lambda x, v: v, "add": lambda x, v: x + v, "and": lambda x, v: x & v,
           "or": lambda x, v: x | v, "xor": lambda x, v: x ^ v}


@nereid.jit
def update_kernel(dest, value, UPDATE: tl.constexpr, INC: tl.constexpr):
    if shmem.my_pe() == 0:
        if INC:
            UPDATE(dest + 1, 1)
        else:
            UPDATE(dest + 1, value, 1)
    shmem.barrier_all()


@nereid.jit
def fetch_kernel(dest, out, value, FETCH: tl.constexpr, KIND: tl.constexpr):
    if shmem.my_pe() == 0:
        if KIND == "inc" or KIND == "fetch":
            tl.store(out, FETCH(dest + 1, 1))
        elif KIND == "compare_swap":
            tl.store(out, FETCH(dest + 1, 77, value, 1))
        else:
            tl.store(out, FETCH(dest + 1, value, 1))
    shmem.barrier_all()


def atomics(name, dtype):
    rank = nereid.rank()
    start, value = 77, 53
    dest, out = nereid.symm.zeros((3,), dtype), nereid.symm.zeros((1,), dtype)

    def run(kernel, *arguments):
        dest[:] = 0
        dest[1] = start
        nereid.barrier()
        kernel[(1,)](dest, *arguments)
        assert dest[0] == 0 and dest[2] == 0
        return dest[1].item() if rank == 1 else out[0].item()

    for op, apply in ATOMICS.items():
        if "float" in dtype and op != "set":
            continue
        for function in [f"{name}_atomic_{op}", f"atomic_{op}_{name}"]:
            if not hasattr(shmem, function):
                continue
            got = run(update_kernel, value, getattr(shmem, function), op == "inc")
            assert rank != 1 or got == apply(start, value), function
        if op != "set":
            got = run(fetch_kernel, out, value, getattr(shmem, f"{name}_atomic_fetch_{op}"), op)
            assert got == (apply(start, value) if rank == 1 else start), op
    for op in ["swap", "fetch"] + ([] if "float" in dtype else ["compare_swap"]):
        got = run(fetch_kernel, out, value, getattr(shmem, f"{name}_atomic_{op}"), op)
        assert got == ((start if op == "fetch" else value) if rank == 1 else start), op


@pytest.mark.parametrize("name", ["int", "ulong", "int32", "uint32", "int64", "uint64", "float", "double"])
@pytest.mark.parametrize("environment", [{}, NETWORK], ids=["node", "nodes"])
def test_atomics(name, environment):
    spawn(atomics, 2, (name, ELEMENTS[name]), environment=environment)


@nereid.jit
def code_kernel(dest, out):
    for i in range(100):
        shmem.atomic_uint64_nonfetch(dest, 2, shmem.MORI_AMO_ADD, 0, qp_id=1)
        shmem.atomic_add_uint64(dest, val=1, pe=0)
    tl.store(out, shmem.atomic_uint64_fetch(dest + 1, 5, 0, shmem.MORI_AMO_FETCH_OR, 0))
    tl.store(out + 1, shmem.atomic_uint64_fetch(dest + 1, 9, 5, shmem.MORI_AMO_COMPARE_SWAP, 0))
    shmem.quiet_pe(0)
    shmem.barrier_all()


def codes():
    dest, out = nereid.symm.zeros((2,), "uint64"), nereid.symm.zeros((2,), "uint64")
    code_kernel[(4,)](dest, out)
    return dest[:].tolist()


@pytest.mark.parametrize("environment", [{}, NETWORK, RANDOM], ids=["node", "nodes", "random"])
def test_atomics_with_codes(environment):
    got = spawn(codes, 3, environment=environment)
    assert got[0][0] == 3 * 4 * 300 and got[0][1] in (5, 9, 13)


# ---- signals

CMP = {"EQ": 5, "NE": 6, "GT": 4, "GE": 5, "LT": 6, "LE": 5}


@nereid.jit
def until_kernel(flags, out, value, CMP: tl.constexpr, SET: tl.constexpr):
    if shmem.my_pe() == 0:
        shmem.putmem_signal(out + 1, out + 2, 8, flags, 5, SET, 1)
    else:
        tl.store(out, shmem.signal_wait_until(flags, CMP, value))


def until(family, cmp, dtype, start):
    flags = nereid.symm.full((1,), start, dtype)
    out = nereid.symm.zeros((4,), "int64")
    nereid.barrier()
    until_kernel[(1,)](flags, out, CMP[cmp], getattr(shmem, f"{family}_CMP_{cmp}"), getattr(shmem, f"{family}_SIGNAL_SET"))
    return int(out[0])


@pytest.mark.parametrize("family", ["NVSHMEM", "ROCSHMEM", "ACLSHMEM", "MXSHMEM"])
@pytest.mark.parametrize("cmp", CMP)
def test_comparisons(family, cmp):
    start = {"NE": 6, "LT": 100, "LE": 100}.get(cmp, 0)
    dtype = {"NVSHMEM": "uint64", "ROCSHMEM": "int64", "ACLSHMEM": "int32", "MXSHMEM": "int16"}[family]
    assert spawn(until, 2, (family, cmp, dtype, start))[1] == 5


@nereid.jit
def run_time_codes_kernel(flags, out, cmp, op, value):
    shmem.signal_op(flags, value, op, 0)
    tl.store(out, shmem.signal_wait_until(flags, cmp, value))


@pytest.mark.parametrize("environment, dtype, cmp, op", [
    ({}, "uint64", 5, 10), ({"NEREID_PROFILE": "cuda"}, "uint64", 5, 9), ({"NEREID_PROFILE": "ascend910b"}, "int32", 3, 1),
])
def test_run_time_numbers_follow_the_profile(environment, dtype, cmp, op):
    def body():
        flags, out = nereid.symm.zeros((1,), dtype), nereid.symm.zeros((1,), dtype)
        run_time_codes_kernel[(1,)](flags, out, cmp, op, 3)
        assert flags[0] == 3 and out[0] == 3
        with pytest.raises(nereid.LaunchError, match="signal_op: the number given is not a valid signal operation; write a constant of libshmem_device"):
            run_time_codes_kernel[(1,)](flags, out, cmp, 4, 3)
        with pytest.raises(nereid.LaunchError, match="signal_wait_until: the number given is not a valid comparison; write a constant of libshmem_device"):
            run_time_codes_kernel[(1,)](flags, out, 9, op, 3)
    spawn(body, 1, environment=environment)


@nereid.jit
def typed_wait_kernel(flags, out):
    if shmem.my_pe() == 0:
        shmem.int_p(flags, 3, 1)
    else:
        shmem.int32_wait_until_greater_than(flags, 2)
        shmem.int_wait_until(flags, shmem.NVSHMEM_CMP_LE, 3)
        tl.store(out, shmem.int32_wait_until_equals(flags, 3))


def typed_wait():
    flags, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    typed_wait_kernel[(1,)](flags, out)
    return int(out[0])


def test_typed_waits():
    assert spawn(typed_wait, 2)[1] == 3


@nereid.jit
def order_kernel(data, flags, ORDER: tl.constexpr):
    """Data, an order, a flag: the flag never overtakes the data."""
    me = shmem.my_pe()
    bad = 0
    for round in range(1, 40):
        if me == 0:
            tl.store(data + 8, round)
            shmem.putmem(data, data + 8, 8, 1)
            if ORDER == 0:
                shmem.fence()
            elif ORDER == 1:
                shmem.quiet()
            elif ORDER == 2:
                shmem.fence_pe(1)
            elif ORDER == 3:
                shmem.quiet_pe(1, qp_id=2)
            else:
                shmem.fence_pe_qp(1, 0)
            shmem.signal_op(flags, round, 9, 1)
            shmem.signal_wait_until(flags, 0, round)
        else:
            shmem.signal_wait_until(flags, 0, round)
            if tl.load(data, volatile=True) != round:
                bad += 1
            shmem.signal_op(flags, round, 9, 0)
    tl.store(data + 1, bad)


def order(which):
    data, flags = nereid.symm.zeros((16,), "int64"), nereid.symm.zeros((1,), "uint64")
    order_kernel[(1,)](data, flags, which)
    return int(data[1])


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("environment", [{}, NETWORK, RANDOM], ids=["node", "nodes", "random"])
def test_order(which, environment):
    assert spawn(order, 2, (which,), environment=environment) == [0, 0]


BARRIERS = ["barrier_all", "barrier_all_block", "barrier_all_warp", "barrier_all_wave", "barrier_all_wg", "barrier_all_vec",
            "sync_all", "sync_all_block", "sync_all_warp"]


@nereid.jit
def all_kernel(data, bad, BARRIER: tl.constexpr):
    programs = tl.num_programs(0)
    ranks = shmem.n_pes()
    mine = shmem.my_pe() * programs + tl.program_id(0)
    for round in range(10):
        for r in range(ranks):
            tl.store(dl.symm_at(data, r) + mine, round + 1)
        BARRIER()
        for i in range(ranks * programs):
            if tl.load(data + i, volatile=True) != round + 1:
                tl.atomic_add(bad, 1)
        BARRIER()


def barriers(name):
    data, bad = nereid.symm.zeros((9,), "int32"), nereid.symm.zeros((1,), "int32")
    all_kernel[(3,)](data, bad, getattr(shmem, name))
    return int(bad[0])


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers(name):
    assert spawn(barriers, 3, (name,)) == [0] * 3


@nereid.jit
def pointer_kernel(data, out):
    me = shmem.my_pe()
    other = 1 - me
    tl.store(shmem.remote_ptr(data, other), me + 10)
    tl.store(shmem.remote_ptr(data + 1, me, other), me + 20)
    shmem.set_rocshmem_ctx(0)
    shmem.barrier_all()
    tl.store(out, tl.load(data) + tl.load(data + 1))


def pointers():
    data, out = nereid.symm.zeros((2,), "int32"), nereid.symm.zeros((1,), "int32")
    pointer_kernel[(1,)](data, out)
    return int(out[0])


def test_remote_pointers():
    assert spawn(pointers, 2) == [32, 30]


# ---- errors at compile time


def compile_error(kernel, *arguments):
    with pytest.raises(nereid.CompilationError) as caught:
        kernel[(1,)](*arguments)
    return str(caught.value)


@nereid.jit
def multicast_kernel(flags):
    shmem.remote_mc_ptr(0, flags)


@nereid.jit
def mixed_call_kernel(flags):
    shmem.signal_op(flags, 1, shmem.ACLSHMEM_SIGNAL_ADD, 0)
    shmem.signal_wait_until(flags, shmem.NVSHMEM_CMP_GE, 1)


@nereid.jit
def acl_call_kernel(flags):
    shmem.barrier_vec(shmem.NVSHMEM_TEAM_WORLD)


@nereid.jit
def wrong_kind_kernel(flags):
    shmem.signal_wait_until(flags, shmem.NVSHMEM_SIGNAL_ADD, 1)


@nereid.jit
def block_barrier_kernel(flags):
    shmem.barrier_all_block()


@nereid.jit
def vector_barrier_kernel(flags):
    shmem.barrier_all_vec()


def test_compile_errors():
    flags = nereid.symm.zeros((1,), "uint64")
    text = compile_error(multicast_kernel, flags)
    assert "remote_mc_ptr" in text and "dl.symm_at" in text
    text = compile_error(mixed_call_kernel, flags)
    assert "NVSHMEM_CMP_GE is a constant of NVSHMEM" in text and "ACLSHMEM_SIGNAL_ADD of ACLSHMEM" in text
    assert "write ACLSHMEM_CMP_GE" in text and "first constant is used here" in text
    text = compile_error(acl_call_kernel, flags)
    assert "function of ACLSHMEM" in text and "write ACLSHMEM_TEAM_WORLD" in text
    assert "NVSHMEM_CMP_EQ" in compile_error(wrong_kind_kernel, flags)


def profile_errors():
    wide, narrow = nereid.symm.zeros((1,), "uint64"), nereid.symm.zeros((1,), "int32")
    if nereid.job_info()["profile"] == "cuda":
        text = compile_error(vector_barrier_kernel, wide)
        assert "NVSHMEM, for which the profile cuda stands" in text and "ACLSHMEM" in text
        assert "64-bit signals under the profile cuda" in compile_error(run_time_codes_kernel, narrow, narrow, 0, 9, 1)
    else:
        text = compile_error(block_barrier_kernel, wide)
        assert "ACLSHMEM, for which the profile ascend910b stands" in text and "NVSHMEM, MORI and MXSHMEM" in text
        assert "32-bit signals under the profile ascend910b" in compile_error(run_time_codes_kernel, wide, wide, 0, 9, 1)


@pytest.mark.parametrize("profile", ["cuda", "ascend910b"])
def test_profiles_at_compile_time(profile):
    spawn(profile_errors, 1, environment={"NEREID_PROFILE": profile})


def test_unknown_profile():
    with pytest.raises(SpawnError, match="unknown profile 'moon'; known: host, cuda, ascend910b"):
        spawn(profile_errors, 1, environment={"NEREID_PROFILE": "moon"})
