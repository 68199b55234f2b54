# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dl.wait, dl.notify, tokens: every signal type, any number of slots, token arithmetic through all constructs."""

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device
from nereid.testing import spawn

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]


@nereid.jit
def ring_kernel(data, flags, n: tl.constexpr, value):
    """Sends to the right, waits for the left."""
    rank = dl.rank()
    ranks = dl.num_ranks()
    right = (rank + 1) % ranks
    offs = tl.arange(0, n)
    tl.store(dl.symm_at(data, right) + n + offs, tl.load(data + offs))
    dl.notify(flags, right, signal=value)
    token = dl.wait(flags, 1, "npu", "acquire", waitValue=value)
    arrived = dl.consume_token(data, token)
    tl.store(data + 2 * n + offs, tl.load(arrived + n + offs) * 2)


def ring(dtype, value):
    rank, ranks = nereid.rank(), nereid.world_size()
    data = nereid.symm.zeros((3 * 64,), "float32")
    data[:64] = np.arange(64) + 100 * rank
    flags = nereid.symm.zeros((4,), dtype)
    nereid.barrier()
    ring_kernel[(1,)](data, flags, 64, value)
    left = (rank - 1) % ranks
    np.testing.assert_array_equal(data[128:], 2 * (np.arange(64) + 100 * left))
    return flags[0].item()


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_every_signal_type(dtype):
    value = 100 if dtype in SIGNED else 200
    assert spawn(ring, 3, (dtype, value)) == [value] * 3


@nereid.jit
def counting_kernel(flags, total):
    for r in range(dl.num_ranks()):
        dl.notify(flags, r, signal=1, sig_op="add", comm_scope="intra_node")
    flags = dl.consume_token(flags, dl.wait(flags, 1, "sys", "acquire", waitValue=total))
    tl.store(flags + 1, tl.load(dl.consume_token(flags, dl.wait(flags, 1, "gpu", "relaxed", waitValue=total))))


def counting(dtype, programs):
    flags = nereid.symm.zeros((2,), dtype)
    total = programs * nereid.world_size()
    counting_kernel[(programs,)](flags, total)
    return flags[1].item()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64"])
def test_added_signals_lose_nothing(dtype):
    assert spawn(counting, 4, (dtype, 20)) == [80] * 4


@nereid.jit
def many_slots_kernel(flags, count, out):
    rank = dl.rank()
    ranks = dl.num_ranks()
    for i in range(count):
        dl.notify(flags + i, (rank + 1) % ranks, signal=7)
    token = dl.wait(flags, count, "gpu", "acquire", waitValue=7)
    tl.store(out, tl.load(dl.consume_token(flags, token) + count - 1))


def many_slots(count):
    flags = nereid.symm.zeros((count,), "int32")
    out = nereid.symm.zeros((1,), "int32")
    many_slots_kernel[(1,)](flags, count, out)
    return int(out[0])


@pytest.mark.parametrize("count", [1, 32, 33, 100, 1000])
def test_waits_on_many_slots(count):
    assert spawn(many_slots, 2, (count,)) == [7, 7]


@nereid.jit
def no_slots_kernel(flags, count, out):
    token = dl.wait(flags, count, "gpu", "acquire")
    tl.store(dl.consume_token(out, token), 5)


def test_no_slots_return_at_once():
    flags, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    no_slots_kernel[(1,)](flags, 0, out)
    assert out[0] == 5


def test_negative_count_at_run_time():
    flags, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    with pytest.raises(nereid.LaunchError, match=r"(?s)test_signals.py:\d+:.*number of signals is -3"):
        no_slots_kernel[(1,)](flags, -3, out)


@nereid.jit
def negative_constant_kernel(flags, out):
    token = dl.wait(flags, -2, "gpu", "acquire")
    tl.store(dl.consume_token(out, token), 5)


def test_negative_count_at_compile_time():
    flags = nereid.symm.zeros((1,), "int32")
    with pytest.raises(nereid.CompilationError, match="'numBarriers' of dl.wait is -2"):
        negative_constant_kernel[(1,)](flags, flags)


@nereid.jit
def misaligned_kernel(flags, out):
    shifted = (flags + 1).to(tl.pointer_type(tl.int32))
    token = dl.wait(shifted, 1, "gpu", "acquire", waitValue=0)
    tl.store(dl.consume_token(out, token), 5)


def test_misaligned_signal():
    flags, out = nereid.symm.zeros((16,), "int8"), nereid.symm.zeros((1,), "int32")
    with pytest.raises(nereid.LaunchError, match="wait: .*is not aligned to the signal's 4 bytes"):
        misaligned_kernel[(1,)](flags, out)


def test_waits_beyond_the_allocation():
    def body():
        flags = nereid.symm.zeros((4,), "int32", name="ready")
        out = nereid.symm.zeros((1,), "int32")
        with pytest.raises(nereid.LaunchError, match="4 signals, 64 bytes apart, from 'ready'.*past its end.*ascend910b"):
            many_slots_wait_only[(1,)](flags, out)
        nereid.recover()
        # Memory behind the allocation may hold what is waited for by chance.
        flags.fill_(1)
        behind = nereid.symm.full((64,), 1, "int32")
        with pytest.raises(nereid.LaunchError, match="past its end"):
            many_slots_wait_only[(1,)](flags, out)
        nereid.recover()
        assert behind[0] == 1
    spawn(body, 1, environment={"NEREID_PROFILE": "ascend910b"})


@nereid.jit
def many_slots_wait_only(flags, out):
    token = dl.wait(flags, 4, "npu", "acquire")
    tl.store(dl.consume_token(out, token), 5)


# ---- tokens


@nereid.jit
def wait_for(flags, i):
    return dl.wait(flags + i, 1, "gpu", "acquire")


@nereid.jit
def tokens_kernel(flags, data, out, n, MODE: tl.constexpr):
    rank = dl.rank()
    other = 1 - rank
    if rank == 0:
        for i in range(n):
            tl.store(dl.symm_at(data, other) + i, i + 1)
            dl.notify(flags + i, other)
    else:
        token = 0
        if MODE == "sum":
            token = dl.wait(flags, 1, "gpu", "acquire") + dl.wait(flags + 1, n - 1, "gpu", "acquire")
        elif MODE == "loop":
            for i in range(n):
                token += dl.wait(flags + i, 1, "gpu", "acquire")
        elif MODE == "while":
            i = 0
            while i < n:
                token = token + dl.wait(flags + i, 1, "gpu", "acquire")
                i += 1
        elif MODE == "call":
            for i in range(n):
                token += wait_for(flags, i)
        elif MODE == "branch":
            for i in range(n):
                if i % 2 == 0:
                    token += wait_for(flags, i)
                else:
                    token = token + dl.wait(flags + i, 1, "gpu", "acquire")
        elif MODE == "product":
            token = dl.wait(flags, n, "gpu", "acquire") * 0
        elif MODE == "difference":
            token = dl.wait(flags, n, "gpu", "acquire")
            token = token - token
        elif MODE == "and":
            token = dl.wait(flags, n, "gpu", "acquire") & 0
        data = dl.consume_token(data, token)
        total = 0
        for i in range(n):
            total += tl.load(data + i)
        tl.store(out, total)


def tokens(mode, n):
    flags = nereid.symm.zeros((n,), "int32")
    data, out = nereid.symm.zeros((n,), "int32"), nereid.symm.zeros((1,), "int32")
    for round in range(3):
        flags[:] = 0
        data[:] = 0
        nereid.barrier()
        tokens_kernel[(1,)](flags, data, out, n, mode)
        nereid.barrier()
    return int(out[0])


@pytest.mark.parametrize("mode", ["sum", "loop", "while", "call", "branch", "product", "difference", "and"])
@pytest.mark.parametrize("seed", [None, 7])
def test_token_arithmetic(mode, seed):
    environment = {} if seed is None else {"NEREID_SCHEDULE": f"random:{seed}"}
    assert spawn(tokens, 2, (mode, 9), environment=environment)[1] == 45


@nereid.jit
def unused_load_kernel(flags, data):
    """The wait must happen although nobody uses what is loaded."""
    if dl.rank() == 1:
        token = dl.wait(flags, 1, "gpu", "acquire")
        x = tl.load(dl.consume_token(data, token))
        tl.store(flags + 1, tl.load(flags))
    else:
        for i in range(2000):
            tl.store(data + 1, i)
            libshmem_device.fence()
        dl.notify(flags, 1)


def unused_load():
    flags, data = nereid.symm.zeros((2,), "int32"), nereid.symm.zeros((2,), "int32")
    unused_load_kernel[(1,)](flags, data)
    return int(flags[1])


def test_a_wait_is_never_dropped():
    assert spawn(unused_load, 2)[1] == 1


@nereid.jit
def consume_kernel(flags, data, out, n, KIND: tl.constexpr, N: tl.constexpr):
    if dl.rank() == 0:
        tl.store(dl.symm_at(data, 1) + tl.arange(0, N), tl.arange(0, N).to(tl.float32), mask=tl.arange(0, N) < n)
        dl.notify(flags, 1)
    else:
        token = dl.wait(flags, 1, "gpu", "acquire")
        offs = tl.arange(0, N)
        if KIND == "scalar pointer":
            x = tl.load(dl.consume_token(data, token) + offs, mask=offs < n)
        elif KIND == "block of pointers":
            x = tl.load(dl.consume_token(data + offs, token), mask=offs < n)
        elif KIND == "block of offsets":
            x = tl.load(data + dl.consume_token(offs, token), mask=offs < n)
        elif KIND == "scalar offset":
            x = tl.load(data + dl.consume_token(0, token) + offs, mask=offs < n)
        elif KIND == "mask":
            x = tl.load(data + offs, mask=dl.consume_token(offs < n, token))
        elif KIND == "block pointer":
            block = tl.make_block_ptr(data, (n,), (1,), (0,), (N,), (0,))
            x = tl.load(dl.consume_token(block, token), boundary_check=(0,))
        elif KIND == "descriptor":
            desc = tl.make_tensor_descriptor(data, (n,), (1,), (N,))
            x = dl.consume_token(desc, token).load([0])
        tl.store(out + offs, x, mask=offs < n)


def consume(kind, n):
    flags = nereid.symm.zeros((1,), "int32")
    data, out = nereid.symm.zeros((64,), "float32"), nereid.symm.zeros((64,), "float32")
    consume_kernel[(1,)](flags, data, out, n, kind, 64)
    return out[:n].copy()


@pytest.mark.parametrize("kind", ["scalar pointer", "block of pointers", "block of offsets", "scalar offset", "mask",
                                  "block pointer", "descriptor"])
def test_consume_token_of(kind, rng):
    n = int(rng.integers(1, 65))
    np.testing.assert_array_equal(spawn(consume, 2, (kind, n))[1], np.arange(n))


@nereid.jit
def semantic_kernel(flags, out, SEMANTIC: tl.constexpr):
    dl.notify(flags, dl.rank())
    token = dl.wait(flags, 1, "gpu", SEMANTIC)
    tl.store(out, tl.load(dl.consume_token(flags, token)))


@pytest.mark.parametrize("semantic", ["release", "acq_rel"])
def test_release_on_a_wait_is_a_warning(semantic):
    flags, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    with pytest.warns(UserWarning, match=f"semantic '{semantic}' has no meaning on a wait"):
        semantic_kernel[(1,)](flags, out, semantic)
    assert out[0] == 1


@pytest.mark.parametrize("semantic", ["acquire", "relaxed"])
def test_semantics_of_a_wait(semantic):
    flags, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    semantic_kernel[(1,)](flags, out, semantic)
    assert out[0] == 1


def test_unknown_semantic():
    flags = nereid.symm.zeros((1,), "int32")
    with pytest.raises(nereid.CompilationError, match="accepted: 'acquire', 'relaxed'"):
        semantic_kernel[(1,)](flags, flags, "seq_cst")


@nereid.jit
def extern_kernel(out):
    pe = dl.extern_call("libshmem_device", "", [], {(): ("my_pe", tl.int32)}, True)
    tl.store(out, pe + 40)


def extern():
    out = nereid.symm.zeros((1,), "int32")
    extern_kernel[(1,)](out)
    return int(out[0])


def test_extern_call():
    assert spawn(extern, 2) == [40, 41]


# ---- values that are only known at run time are never cut to the word


@nereid.jit
def waits_for(signal, value, out):
    token = dl.wait(signal, 1, "sys", "acquire", waitValue=value)
    tl.store(dl.consume_token(out, token), 1)


@nereid.jit
def notifies(signal, value, out):
    dl.notify(signal, dl.rank(), signal=value, sig_op="set", comm_scope="inter_node")


@nereid.jit
def signals(signal, value, out):
    libshmem_device.signal_op(signal, value, libshmem_device.NVSHMEM_SIGNAL_SET, dl.rank())


@nereid.jit
def puts_and_signals(signal, value, out):
    libshmem_device.putmem_signal(
        out, out, 4, signal, value, libshmem_device.NVSHMEM_SIGNAL_SET, dl.rank()
    )


@nereid.jit
def waits_until(signal, value, out):
    libshmem_device.signal_wait_until(signal, libshmem_device.NVSHMEM_CMP_EQ, value)


@nereid.jit
def puts(signal, value, out):
    libshmem_device.p(signal, value, dl.rank())


@pytest.mark.parametrize(
    "kernel", [waits_for, notifies, signals, puts_and_signals, waits_until, puts], ids=lambda k: k.fn.__name__
)
def test_values_are_not_cut_to_the_word(kernel):
    out = nereid.symm.zeros(4, np.int32)
    for dtype, fits in ((np.int32, -7), (np.int32, 2**31 - 1), (np.uint32, 2**32 - 1)):
        signal = nereid.symm.full((1,), 5, dtype)
        with pytest.raises(nereid.LaunchError, match=r"the value 4294967301 does not fit the word of 32 bits"):
            kernel[(1,)](signal, 2**32 + 5, out)
        assert signal.numpy()[0] == 5
        if kernel in (waits_for, waits_until):
            signal.numpy()[0] = fits
        # Fits, though its type is wider.
        kernel[(1,)](signal, np.int64(fits), out)
        assert signal.numpy()[0] == fits


# ---- nor are ranks, counts, teams and codes cut to 32 bits


@nereid.jit
def maps_rank(signal, rank, count, out):
    libshmem_device.putmem(out, out + 1, 4, rank.to(tl.int64))


@nereid.jit
def signals_rank(signal, rank, count, out):
    libshmem_device.signal_op(signal, 1, libshmem_device.NVSHMEM_SIGNAL_SET, rank.to(tl.int64))


@nereid.jit
def adds_at_rank(signal, rank, count, out):
    libshmem_device.int_atomic_add(out, 1, rank.to(tl.int64))


@nereid.jit
def meets_team(signal, rank, count, out):
    libshmem_device.barrier(rank.to(tl.int64))


@nereid.jit
def calls_directly(signal, rank, count, out):
    dl.extern_call(
        "libshmem_device", "", [signal, tl.cast(1, tl.int32), tl.cast(1, tl.int32), rank.to(tl.int64)],
        {(tl.pointer_type(tl.int32), tl.int32, tl.int32, tl.int64): ("signal_op", ())}, is_pure=False,
    )  # fmt: skip


@nereid.jit
def sends_directly(signal, value, count, out):
    dl.extern_call(
        "libshmem_device", "", [signal, value.to(tl.int64), tl.cast(1, tl.int32), tl.cast(0, tl.int32)],
        {(tl.pointer_type(tl.int32), tl.int64, tl.int32, tl.int32): ("signal_op", ())}, is_pure=False,
    )  # fmt: skip


@nereid.jit
def waits_for_many(signal, rank, count, out):
    tl.store(dl.consume_token(out, dl.wait(signal, count.to(tl.int64), "sys", "acquire", waitValue=0)), 0)


@nereid.jit
def polls(signal, rank, count, out):
    tl.atomic_poll(signal, rank.to(tl.int64), timeout_ns=1)


BIG = 2**32
NUMBERS = [(kernel, BIG, 1) for kernel in (maps_rank, signals_rank, adds_at_rank, meets_team, calls_directly, polls)]


@pytest.mark.parametrize("kernel, rank, count", [*NUMBERS, (waits_for_many, 0, BIG)], ids=lambda v: getattr(getattr(v, "fn", None), "__name__", str(v)))
def test_numbers_are_not_cut(kernel, rank, count):
    signal, out = nereid.symm.zeros(2, np.int32), nereid.symm.zeros(2, np.int32)
    for bad in (BIG, BIG // 2, -BIG // 2 - 1, 3 * BIG + 1):
        values = [bad if value == BIG else value for value in (rank, count)]
        with pytest.raises(nereid.LaunchError, match=rf"the value {bad} does not fit int32 \(-2147483648 to 2147483647\), the type of this argument") as error:
            kernel[(1,)](signal, *map(np.int64, values), out)
        assert f"test_signals.py:{kernel.fn.__code__.co_firstlineno + 2}:" in str(error.value)
        assert not signal.numpy().any() and not out.numpy().any()
    kernel[(1,)](signal, np.int64(0), np.int64(1), out)


def test_values_of_direct_calls_are_not_cut():
    signal, out = nereid.symm.zeros(2, np.int32), nereid.symm.zeros(2, np.int32)
    with pytest.raises(nereid.LaunchError, match="the value 4294967301 does not fit the word of 32 bits"):
        sends_directly[(1,)](signal, np.int64(BIG + 5), 1, out)
    assert not signal.numpy().any()
    sends_directly[(1,)](signal, np.int64(2**31 - 1), 1, out)
    assert signal.numpy()[0] == 2**31 - 1


@nereid.jit
def moves_block_pointer(x, offset):
    pointer = tl.make_block_ptr(x, (2**40,), (1,), (0,), (4,), (0,))
    pointer = tl.advance(pointer, (offset,))
    tl.store(pointer, tl.load(pointer) + 1)


@nereid.jit
def starts_block_pointer(x, offset):
    pointer = tl.make_block_ptr(x, (2**40,), (1,), (offset,), (4,), (0,))
    tl.store(pointer, tl.load(pointer) + 1)


@nereid.jit
def shapes_descriptor(x, size):
    desc = tl.make_tensor_descriptor(x, [size], [1], [4])
    desc.store([4], desc.load([0]) + 1)


@pytest.mark.parametrize("kernel", [moves_block_pointer, starts_block_pointer, shapes_descriptor], ids=lambda k: k.fn.__name__)
def test_offsets_and_sizes_are_not_cut(kernel):
    """In kernels that need no job, too; unsigned numbers as well."""
    for bad in (np.int64(BIG), np.int64(2**31), np.int64(-BIG), np.uint32(2**31), np.uint64(2**64 - 1)):
        x = np.zeros(12, np.int32)
        with pytest.raises(nereid.LaunchError, match=rf"the value {bad} does not fit int32"):
            kernel[(1,)](x, bad)
        assert not x.any()
    for good in (np.int64(8), np.uint32(8), 8):
        x = np.zeros(12, np.int32)
        kernel[(1,)](x, good)
        np.testing.assert_array_equal(np.flatnonzero(x), np.arange(4, 8) if kernel is shapes_descriptor else np.arange(8, 12))


@nereid.jit
def reads_descriptor(x, out, far):
    desc = tl.make_tensor_descriptor(x, [4, 8], [8, 1], [1, 4])
    tl.store(out + tl.arange(0, 4), tl.reshape(desc.load([far, 0]), (4,)))
    tl.store(out + 4 + tl.arange(0, 4), tl.reshape(desc.load([1, far]), (4,)))
    rows = desc.gather(tl.arange(0, 2) + far, 0)
    tl.store(out + 8 + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :], rows)
    columns = desc.gather(tl.arange(0, 2), far)
    tl.store(out + 16 + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :], columns)
    desc.store([far, 0], tl.full((1, 4), 7.0, tl.float32))
    desc.scatter(tl.full((2, 4), 7.0, tl.float32), tl.arange(0, 2) + far, 0)


@pytest.mark.parametrize("far", [2**32, 2**31, -(2**32), 2**63 - 2, 3 * 2**32 + 1])
def test_far_coordinates_lie_outside(far):
    """What is read there is the padding, nothing is written."""
    x, out = np.arange(1, 33, dtype=np.float32).reshape(4, 8), np.full(24, -1, np.float32)
    reads_descriptor[(1,)](x, out, np.int64(far))
    np.testing.assert_array_equal(x.ravel(), np.arange(1, 33))
    np.testing.assert_array_equal(out, 0)
