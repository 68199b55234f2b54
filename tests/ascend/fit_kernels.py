# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For each check of nereid fit: kernels that it reports, and neighbours that it does not. `# CHECK name` stands on
the lines that are reported; SIGNATURES says what each kernel is compiled with, and OPTIONS what else."""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device

_FLOATS = "x_ptr=*fp32:16, out_ptr=*fp32:16, n=i32, BLOCK=1024"
_SIGNALS = "x_ptr=*fp32:16, out_ptr=*fp32:16, sig_ptr=*i32:16, n=i32, BLOCK=1024"

SIGNATURES: dict[str, str] = {}
OPTIONS: dict[str, dict] = {}


def case(signature: str, **options):
    def add(kernel):
        SIGNATURES[kernel.__name__] = signature
        OPTIONS[kernel.__name__] = options
        return kernel

    return add


# ---- masks


@case(_FLOATS)
@nereid.jit
def odd_mask(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o % 2 == 0, other=0.0)  # CHECK load_mask, type_scalar
    tl.store(out_ptr + o, x, mask=o % 2 == 0)  # CHECK store_mask


@case(_FLOATS)
@nereid.jit
def range_mask(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0)
    tl.store(out_ptr + o, x, mask=(n > o) & (o >= 3))


@case(_FLOATS)
@nereid.jit
def either_mask(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=(o < 3) | (o >= n), other=0.0)  # CHECK load_mask
    tl.store(out_ptr + o, x, mask=o < n)


@case(_FLOATS)
@nereid.jit
def carried_mask(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    m = o < n
    for i in range(0, n):
        x = tl.load(x_ptr + i * BLOCK + o, mask=m, other=0.0)  # CHECK carried_mask
        tl.store(out_ptr + i * BLOCK + o, x)
        m = x > 0.0


# ---- addresses


@case(_FLOATS)
@nereid.jit
def gathered(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o % n)  # CHECK discrete_access, type_scalar
    y = tl.load(x_ptr + o // 3)  # CHECK discrete_access
    tl.store(out_ptr + o, x + y)


@case(_FLOATS)
@nereid.jit
def two_dimensions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 16)
    j = tl.arange(0, 32)
    x = tl.load(x_ptr + i[:, None] * n + j[None, :], mask=(i[:, None] < n) & (j[None, :] < n), other=0.0)
    tl.store(out_ptr + i[:, None] * 32 + j[None, :], x)


@case(_FLOATS)
@nereid.jit
def strided(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o * 2)  # CHECK strided_access
    y = tl.load(x_ptr + o * n)  # CHECK strided_access
    tl.store(out_ptr + o, x + y)


@case(_FLOATS)
@nereid.jit
def backwards(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o * -1 + n)  # CHECK backward_address
    tl.store(out_ptr + o, x)


@case(_FLOATS)
@nereid.jit
def repeated(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + n + tl.zeros([BLOCK], tl.int32))  # CHECK repeated_address
    tl.store(out_ptr + o, x)


@case("x_ptr=*fp16:16, out_ptr=*fp16:16, n=i32, BLOCK=16")
@nereid.jit
def short_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 8)
    j = tl.arange(0, 8)
    x = tl.load(x_ptr + i[:, None] * n + j[None, :])  # CHECK short_rows
    k = tl.arange(0, 4)
    y = tl.load(x_ptr + k[:, None] * 16 + tl.arange(0, BLOCK)[None, :])
    tl.store(out_ptr + k[:, None] * 16 + tl.arange(0, BLOCK)[None, :], y)
    tl.store(out_ptr + i[:, None] * 8 + j[None, :], x)  # CHECK short_rows


@case(_FLOATS)
@nereid.jit
def carried_addresses(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x_ptrs = x_ptr + o
    odd_ptrs = x_ptr + 2 * o
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(0, n):
        total += tl.load(x_ptrs, mask=o < n - i * BLOCK, other=0.0)
        total += tl.load(odd_ptrs)  # CHECK strided_access
        x_ptrs += BLOCK
        odd_ptrs += BLOCK
    tl.store(out_ptr + o, total)


# ---- signals


@case(_SIGNALS)
@nereid.jit
def producer(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    peer = (dl.rank() + 1) % dl.num_ranks()
    x = tl.load(x_ptr + o)
    tl.store(dl.symm_at(out_ptr, peer) + o, x)
    dl.notify(sig_ptr, peer, signal=1, sig_op="set")  # CHECK signal_order


@case(_SIGNALS)
@nereid.jit
def fenced_producer(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    peer = (dl.rank() + 1) % dl.num_ranks()
    x = tl.load(x_ptr + o)
    tl.store(dl.symm_at(out_ptr, peer) + o, x)
    libshmem_device.fence()
    dl.notify(sig_ptr, peer, signal=1, sig_op="set")


@case("a_ptr=*fp16:16, c_ptr=*fp32:16, sig_ptr=*i32:16")
@nereid.jit
def product_and_add(a_ptr, c_ptr, sig_ptr):
    o = tl.arange(0, 32)
    at = o[:, None] * 32 + o[None, :]
    a = tl.load(a_ptr + at)
    tl.store(c_ptr + at, tl.dot(a, a))
    libshmem_device.fence()
    dl.notify(sig_ptr, 0, signal=1, sig_op="add")  # CHECK signal_repeated
    dl.notify(sig_ptr, 0, signal=1, sig_op="set")


@case(_SIGNALS)
@nereid.jit
def barriers(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    libshmem_device.barrier_all()  # CHECK cube_barrier
    libshmem_device.barrier_all_vec()


@case(_SIGNALS)
@nereid.jit
def close_signals(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    rank = dl.rank()
    dl.notify(sig_ptr + rank, 0, signal=1, sig_op="set")  # CHECK signals_share_line
    dl.notify(sig_ptr + rank * 16, 0, signal=1, sig_op="set")
    dl.notify(sig_ptr + tl.program_id(0) * 4, 0, signal=1, sig_op="set")  # CHECK signals_share_line


# ---- waits


@case(_SIGNALS)
@nereid.jit
def polls(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    while tl.load(sig_ptr, volatile=True) != 1:  # CHECK spin_loop
        pass
    tl.store(out_ptr, 1.0)


@case(_SIGNALS)
@nereid.jit
def waits(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    token = dl.wait(sig_ptr, 1, "gpu", "acquire", waitValue=1)
    x_ptr = dl.consume_token(x_ptr, token)
    tl.store(out_ptr, tl.load(x_ptr))


@case(_SIGNALS, grid=41)
@nereid.jit
def waits_in_a_large_grid(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    token = dl.wait(sig_ptr, 1, "gpu", "acquire", waitValue=1)  # CHECK grid_waits
    x_ptr = dl.consume_token(x_ptr, token)
    tl.store(out_ptr, tl.load(x_ptr))


@case(_SIGNALS, grid=40)
@nereid.jit
def waits_in_a_small_grid(x_ptr, out_ptr, sig_ptr, n, BLOCK: tl.constexpr):
    token = dl.wait(sig_ptr, 1, "gpu", "acquire", waitValue=1)
    x_ptr = dl.consume_token(x_ptr, token)
    tl.store(out_ptr, tl.load(x_ptr))


@case(_FLOATS, grid=65536)
@nereid.jit
def too_many_programs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):  # CHECK grid_size
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o))


@case(_FLOATS, grid=65535)
@nereid.jit
def many_programs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o))


# ---- atomics


@case("p_ptr=*i32:16, w_ptr=*i64:16, n=i32, BLOCK=64")
@nereid.jit
def atomics(p_ptr, w_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.atomic_add(p_ptr + o, o)
    tl.atomic_add(w_ptr + o, o.to(tl.int64))  # CHECK locked_atomic
    tl.atomic_add(p_ptr, 1)  # CHECK scalar_atomic
    tl.atomic_add(p_ptr, 1, mask=n > 3)  # CHECK scalar_atomic
    peer = dl.symm_at(p_ptr, n)
    tl.atomic_add(peer + o, o)
    tl.atomic_xchg(peer + o, o)  # CHECK peer_atomic
    old = tl.atomic_cas(p_ptr, 0, 1)  # CHECK cas_result, locked_atomic
    tl.store(p_ptr, old)


# ---- on-chip memory


@case("x_ptr=*fp32:16, out_ptr=*fp32:16, n=i32, BLOCK=32768")
@nereid.jit
def two_large_blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    y = tl.load(x_ptr + BLOCK + o)  # CHECK memory_overflow
    tl.store(out_ptr + o, x * y)


@case("x_ptr=*fp32:16, out_ptr=*fp32:16, n=i32, BLOCK=16384")
@nereid.jit
def two_blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    y = tl.load(x_ptr + BLOCK + o)
    tl.store(out_ptr + o, x * y)


@case("a_ptr=*fp16:16, c_ptr=*fp32:16, SIZE=256, DEPTH=64")
@nereid.jit
def large_product(a_ptr, c_ptr, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.arange(0, SIZE)
    k = tl.arange(0, DEPTH)
    a = tl.load(a_ptr + i[:, None] * DEPTH + k[None, :])
    b = tl.load(a_ptr + k[:, None] * SIZE + i[None, :])
    c = tl.dot(a, b)  # CHECK memory_overflow
    tl.store(c_ptr + i[:, None] * SIZE + i[None, :], c)


@case("a_ptr=*fp16:16, c_ptr=*fp32:16, SIZE=128, DEPTH=64")
@nereid.jit
def product(a_ptr, c_ptr, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.arange(0, SIZE)
    k = tl.arange(0, DEPTH)
    a = tl.load(a_ptr + i[:, None] * DEPTH + k[None, :])
    b = tl.load(a_ptr + k[:, None] * SIZE + i[None, :])
    tl.store(c_ptr + i[:, None] * SIZE + i[None, :], tl.dot(a, b))


@case("x_ptr=*fp32:16, out_ptr=*fp32:16, n=i32, BLOCK=16384", chip="ascend950pr_9579")
@nereid.jit
def unrolled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for i in tl.static_range(5):
        x = tl.load(x_ptr + i * BLOCK + o)  # CHECK unrolled_blocks
        tl.store(out_ptr + i * BLOCK + o, x)


@case("x_ptr=*fp32:16, out_ptr=*fp32:16, n=i32, BLOCK=16384", chip="ascend950pr_9579")
@nereid.jit
def looped(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for i in range(5):
        x = tl.load(x_ptr + i * BLOCK + o)
        tl.store(out_ptr + i * BLOCK + o, x)


# ---- types


@case("x_ptr=*fp64:16, out_ptr=*fp64:16, BLOCK=1024")
@nereid.jit
def doubles(x_ptr, out_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)  # CHECK type_refused
    tl.store(out_ptr + o, x)  # CHECK type_refused


@case("x_ptr=*i64:16, out_ptr=*i64:16, BLOCK=1024")
@nereid.jit
def long_integers(x_ptr, out_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK).to(tl.int64)
    x = tl.load(x_ptr + o)
    tl.store(out_ptr + o, x + x)  # CHECK type_scalar


@case("x_ptr=*i32:16, out_ptr=*i32:16, BLOCK=1024")
@nereid.jit
def integers(x_ptr, out_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    tl.store(out_ptr + o, x + x)


@case("x_ptr=*u32:16, out_ptr=*u32:16, BLOCK=1024")
@nereid.jit
def upper_half(x_ptr, out_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    y = tl.umulhi(x, x)  # CHECK signed_umulhi, type_scalar
    tl.store(out_ptr + o, y)
