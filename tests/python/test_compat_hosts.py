# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host side of files written for devices: torch's devices, the host libraries of symmetric memory.

torch is Debian's, which belongs to Debian's Python: the tests run scripts there, with a copy of the
package made of links beside it."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"


def has_torch() -> bool:
    return os.access(PYTHON, os.X_OK) and not subprocess.run(
        [PYTHON, "-c", "import sys, torch; assert sys.version_info[:2] == (%d, %d)" % sys.version_info[:2]],
        capture_output=True).returncode


@pytest.fixture(scope="session")
def torch_environment(tmp_path_factory):
    """Variables with which PYTHON finds this build of Nereid."""
    if not has_torch():
        pytest.skip("could not import 'torch' in Debian's Python (Debian: python3-torch)")
    import nereid
    from nereid import _compiler, _runtime

    site = tmp_path_factory.mktemp("site")
    package = site / "nereid"
    package.mkdir()
    for file in Path(nereid.__file__).parent.iterdir():
        (package / file.name).symlink_to(file)
    for module in (_compiler, _runtime):
        (package / Path(module.__file__).name).symlink_to(module.__file__)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEREID_", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(site), "NEREID_CACHE_DIR": str(site / "cache")}


@pytest.fixture
def run(torch_environment, tmp_path):
    """Runs a script on `ranks` ranks as triton; returns its sorted lines and its errors."""

    def call(text, ranks=1, code=0, **more):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        done = subprocess.run([PYTHON, "-m", "nereid", "run", "--as-triton", "-n", str(ranks), str(script)],
                              capture_output=True, text=True, timeout=200, env={**torch_environment, **more})
        assert done.returncode == code, done.stdout + done.stderr
        return sorted(done.stdout.splitlines()), done.stderr

    return call


# ---- torch


def test_devices(run):
    """Tensors of a device are CPU memory, moved as they would be: a copy once, and none when they are there."""
    lines, _ = run("""
        import torch
        host = torch.ones(4)
        for move in (lambda t: t.cuda(), lambda t: t.npu(), lambda t: t.to("cuda:0"), lambda t: t.to(device="npu")):
            there = move(host)
            there += 1
            back = there.cpu()
            there += 1
            assert host.tolist() == [1] * 4 and back.tolist() == [2] * 4 and there.tolist() == [3] * 4
            assert move(there) is there and there.is_cuda
        made = torch.zeros(3, dtype=torch.int32, device="npu:1")
        assert made.cuda() is made and made.new_zeros(2, device="cuda").tolist() == [0, 0]
        assert torch.as_tensor(host, device="cuda").data_ptr() != host.data_ptr()
        assert made.to(torch.float16).dtype is torch.float16 and made.to("cuda", torch.int64).dtype is torch.int64
        generator = torch.Generator(device="cuda").manual_seed(3)
        first = torch.rand(3, generator=generator, device="cuda")
        torch.cuda.manual_seed(5); one = torch.rand(3); torch.manual_seed(5)
        assert torch.equal(one, torch.rand(3)) and not torch.equal(first, one)
        layer = torch.nn.Linear(2, 2).cuda().to("cuda")
        assert layer(torch.ones(1, 2, device="cuda")).shape == (1, 2)
        print("right")
    """)
    assert lines == ["right"]


def test_streams_and_properties(run):
    lines, _ = run("""
        import torch, triton
        for device in (torch.cuda, torch.npu):
            start, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
            stream = device.Stream()
            stream.wait_stream(device.current_stream())
            with device.stream(stream):
                start.record(); device._sleep(3000000); end.record()
            device.synchronize()
            assert start.elapsed_time(end) >= 2 and end.query() and stream.query()
            assert device.is_available() and device.device_count() >= 1
            device.set_device("cuda:0")
            assert device.current_device() == 0 and device.get_device_properties(0).multi_processor_count >= 1
            try:
                device.CUDAGraph()
            except NotImplementedError as error:
                print(error)
        assert triton.testing.do_bench(lambda: None, warmup=1, rep=1) >= 0
    """)
    assert [line.partition(":")[0] for line in lines] == ["torch.cuda.CUDAGraph", "torch.npu.CUDAGraph"]
    assert "call the function again instead" in lines[0]


WAITING = """
import time, torch, triton, triton.language as tl
import triton_dist.language as dl

@triton.jit
def consumer(flag, out):
    token = dl.wait(flag, 1, "gpu", "acquire")
    tl.store(dl.consume_token(out, token), 5)

@triton.jit
def plus(out, n):
    tl.store(out, tl.load(out) + n)

def zero():
    return torch.zeros(1, dtype=torch.int32, device="cuda")
"""


def test_a_consumer_may_be_launched_before_its_producer(run):
    lines, _ = run(WAITING + """
flag, out, other = zero(), zero(), zero()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    consumer[(1,)](flag, out)
    plus[(1,)](out, 2)                       # in its order
    event = torch.cuda.Event(); event.record()
assert not event.query() and not stream.query()
plus[(1,)](other, 3)                         # of another stream: returns as well
print("returned")
time.sleep(0.2)
with torch.cuda.stream(torch.cuda.Stream()):
    flag.fill_(1)
torch.cuda.current_stream().wait_stream(stream)
print(out.tolist(), event.query(), other.item())           # what the host reads is complete

# In the default stream, and a reader of every kind.
for read in (lambda: out.item(), lambda: out.cpu().item(), lambda: int(out.numpy()[0]), lambda: out.tolist()[0],
             lambda: int((out == 5).sum()) + 4, lambda: eval(repr(out)[8:9]), lambda: torch.empty(1).copy_(out).int().item()):
    flag.zero_(); out.zero_()
    consumer[(1,)](flag, out)
    with torch.cuda.stream(stream):
        flag.fill_(1)
    assert read() == 5

# An event of one stream orders another.
flag.zero_(); out.zero_()
consumer[(1,)](flag, out)
done = torch.cuda.current_stream().record_event()
stream.wait_event(done)
with torch.cuda.stream(stream):
    plus[(1,)](out, 10)
assert not stream.query()
third = torch.cuda.Stream()
with third:
    flag.fill_(1)
stream.synchronize()
print(out.item())
""")
    assert lines == ["15", "[7] True 3", "returned"]


def test_errors_of_streams_are_told_where_the_host_waits(run):
    lines, _ = run(WAITING + """
import nereid
@triton.jit
def fails(flag, out):
    token = dl.wait(flag, 1, "gpu", "acquire")
    tl.device_assert(tl.load(dl.consume_token(out, token)) == 1, "not one")
flag, out = zero(), zero()
fails[(1,)](flag, out, debug=True)
with torch.cuda.stream(torch.cuda.Stream()):
    flag.fill_(1)
try:
    torch.cuda.synchronize()
except nereid.NereidError as error:
    print("not one" in str(error))
print(out.item())
""")
    assert lines == ["0", "True"]


def test_words_that_streams_wait_for(run):
    lines, _ = run(WAITING + """
from triton_dist.utils import cuda, initialize_distributed, nvshmem_create_tensor, finalize_distributed
group = initialize_distributed()
rank, size = group.rank(), group.size()
flags, out = nvshmem_create_tensor((2,), torch.int32), zero()
torch.distributed.barrier()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    cuda.cuStreamWaitValue32(stream.cuda_stream, flags.data_ptr(), 1 + rank, cuda.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ)
    plus[(1,)](out, 4)
assert not stream.query()
local = zero()
cuda.cuStreamWaitValue32(stream.cuda_stream, local.data_ptr(), 6, cuda.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ)
with torch.cuda.stream(stream):
    plus[(1,)](out, 4)
local.fill_(7)
cuda.cuStreamWriteValue32(torch.cuda.current_stream().cuda_stream, flags.data_ptr(), 1 + rank, 0)
stream.synchronize()
print(out.item())
finalize_distributed()
""", ranks=2)
    assert lines == ["8", "8"]


def test_distributed(run):
    """The backends of devices are gloo; ranks come from the environment that nereid run sets."""
    lines, _ = run("""
        import torch, torch.distributed as dist
        dist.init_process_group("cpu:gloo,cuda:nccl")
        group = dist.new_group([0, 1], backend="hccl")
        x = torch.full((4,), dist.get_rank() + 1.0, device="cuda")
        dist.all_reduce(x, group=group)
        part = torch.empty(2)
        scatter = getattr(dist, "reduce_scatter_tensor", dist._reduce_scatter_base)
        scatter(part, torch.arange(4.0) * (dist.get_rank() + 1))
        dist.barrier(device_ids=[0])
        print(x.tolist(), part.tolist())
        dist.destroy_process_group()
    """, ranks=2)
    assert lines == ["[3.0, 3.0, 3.0, 3.0] [0.0, 3.0]", "[3.0, 3.0, 3.0, 3.0] [6.0, 9.0]"]


def test_without_torch(tmp_path):
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("there is a torch in this Python")
    script = tmp_path / "script.py"
    script.write_text("import torch\n")
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "--as-triton", str(script)], capture_output=True, text=True)
    assert done.returncode == 1 and "the script needs torch, which is not installed" in done.stderr, done.stderr


# ---- host libraries of symmetric memory

PUT = """
import torch, triton, triton.language as tl
from triton_dist.language.extra import libshmem_device

@triton.jit
def put(x_ptr, team):
    me = libshmem_device.team_my_pe(team)
    libshmem_device.int_p(x_ptr, 7 + me, (me + 1) % libshmem_device.team_n_pes(team))
    libshmem_device.barrier_all()
"""

ACLSHMEM = PUT + """
import multiprocessing, os, shmem as ash

def rank_process(rank, size, how, address):
    if how == "attributes":
        a = ash.InitAttr()
        a.my_rank, a.n_ranks, a.local_mem_size, a.ip_port = rank, size, 1 << 22, address
        assert ash.aclshmem_init(a) == 0
    elif how == "id":
        assert ash.aclshmem_init_using_unique_id(rank, size, 1 << 22, bytes.fromhex(address)) == 0
    else:
        from shmem import core
        core.init(uid=bytes.fromhex(address), rank=rank, nranks=size, initializer_method="uid", mem_size=1 << 22)
        core.barrier_all()
    assert (ash.my_pe(), ash.pe_count()) == (rank, size)
    x = ash.aclshmem_create_tensor([4], dtype=torch.int32, device_id=rank)
    put[(1,)](x, libshmem_device.ACLSHMEM_TEAM_WORLD)
    team = ash.team_split_strided(libshmem_device.ACLSHMEM_TEAM_WORLD, 0, 1, size)
    memory = ash.aclshmem_malloc(64)
    source = torch.full((16,), 100 + rank, dtype=torch.int32)
    ash.aclshmemx_putmem_signal(memory, source.data_ptr(), 16, memory + 32, 3, 1, (rank + 1) % size)
    ash.aclshmem_signal_wait_until(memory + 32, 3, 3)  # greater or equal
    got = torch.empty(4, dtype=torch.int32)
    ash.aclshmem_getmem(got.data_ptr(), memory, 16, rank)
    try:
        ash.aclshmem_putmem(source.data_ptr(), memory, 16, 0)
    except ValueError as error:
        assert "do not lie in symmetric memory" in str(error), error
    print(how, int(x[0]), got.tolist(), ash.team_n_pes(team), flush=True)
    ash.aclshmem_free(memory)
    ash.aclshmem_free_tensor(x)
    ash.team_destroy(team)
    assert (ash.aclshmem_finialize if rank else ash.aclshmem_finalize)() == 0

if __name__ == "__main__":
    for how in ("attributes", "id", "core"):
        address = "tcp://127.0.0.1:8666" if how == "attributes" else ash.aclshmem_get_unique_id().hex()
        children = [multiprocessing.get_context("spawn").Process(target=rank_process, args=(r, 2, how, address))
                    for r in range(2)]
        for child in children:
            child.start()
        for child in children:
            child.join()
            assert child.exitcode == 0
"""


def test_aclshmem_of_spawned_ranks(run):
    """One process that starts the ranks; they know each other by what the script tells them."""
    lines, errors = run(ACLSHMEM)
    expected = [f"{how} {7 + (1 - r)} {[100 + (1 - r)] * 4} 2" for how in ("attributes", "core", "id") for r in (1, 0)]
    assert lines == sorted(expected)
    assert "its kernels run by the rules of ascend910b" in errors


def test_aclshmem_under_the_launcher(run):
    """The numbers of the script have to be the launcher's."""
    body = """
        import os, shmem as ash
        a = ash.InitAttr()
        a.my_rank, a.n_ranks = int(os.environ["RANK"]), 2
        ash.aclshmem_init(a)
        print(ash.my_pe())
        ash.aclshmem_finalize()
    """
    assert run(body, ranks=2)[0] == ["0", "1"]


NVSHMEM = PUT + """
import nvshmem.core, torch.distributed as dist
from triton_dist.utils import (NVSHMEM_SIGNAL_DTYPE, dist_print, finalize_distributed, initialize_distributed,
                               nvshmem_barrier_all_on_stream, nvshmem_create_tensor, nvshmem_create_tensors,
                               nvshmem_free_tensor_sync, rand_tensor)

group = initialize_distributed()
rank, size = nvshmem.core.my_pe(), nvshmem.core.n_pes()
assert (rank, size) == (dist.get_rank(), dist.get_world_size())
x = nvshmem_create_tensor((4,), torch.int32)
put[(1,)](x, libshmem_device.NVSHMEM_TEAM_WORLD)
parts = nvshmem_create_tensors((2, 3), torch.float16, rank, size)
parts[(rank + 1) % size].fill_(rank + 1)
signal = nvshmem_create_tensor((1,), NVSHMEM_SIGNAL_DTYPE)
nvshmem_barrier_all_on_stream(torch.cuda.current_stream())
source = torch.arange(4, dtype=torch.int32) + 10 * rank
nvshmem.core.put_signal(x, source, signal, 5, nvshmem.core.SignalOp.SIGNAL_ADD, (rank + 1) % size)
nvshmem.core.barrier(nvshmem.core.Teams.TEAM_WORLD)
print(x.tolist(), parts[rank].float().sum().item(), signal.item(), rand_tensor((2,), torch.int8).dtype)
try:
    nvshmem.core.put(source, x, 0)
except ValueError as error:
    assert "do not lie in symmetric memory" in str(error)
try:
    from triton_dist.utils import no_such_name
except ImportError as error:
    assert "no_such_name" in str(error)
nvshmem_free_tensor_sync(x)
finalize_distributed()
"""


def test_nvshmem_and_the_helpers_around_it(run):
    lines, errors = run(NVSHMEM, ranks=2)
    assert lines == ["[0, 1, 2, 3] 6.0 5 torch.int8", "[10, 11, 12, 13] 12.0 5 torch.int8"], lines
    assert "its kernels run by the rules of cuda" in errors


GPU = """
import nvshmem.bindings, nvshmem.core, torch, triton, triton.language as tl, triton_dist, triton_dist.language as dl
from triton_dist.language.extra import libshmem_device
from triton_dist.language.extra.cuda.language_extra import (
    __fence, __syncthreads, arrive_inc, load_v2_b64, load_v4_u32, multimem_ld_reduce_v4, multimem_st_b32, multimem_st_v4,
    pack_b32_v2, st, st_v4_u32, tid, wait_eq)
from triton.language.extra.cuda import num_threads
from triton_dist.utils import (CUDA_CHECK, cuda, cudart, finalize_distributed, initialize_distributed,
                               nvshmem_barrier_all_on_stream, nvshmem_create_tensor)

@triton_dist.jit
def threads(x, y, flag, packed, world_size):
    t = tid(0)
    a, b, c, d = load_v4_u32(x + 4 * t)
    st_v4_u32(y + 4 * t, d, c, b, a)
    st(packed + t, pack_b32_v2(a, b))
    if t < world_size:
        libshmem_device.signal_op(flag + dl.rank(), 3, libshmem_device.NVSHMEM_SIGNAL_SET, t)
        libshmem_device.signal_wait_until(flag + t, libshmem_device.NVSHMEM_CMP_EQ, 3)
    __syncthreads()
    first, second = load_v2_b64(x)
    arrive_inc(flag + world_size, t, 1, "gpu")
    wait_eq(flag + world_size, t, 1, "gpu")

@triton.jit
def behind(signal):
    libshmem_device.signal_op(signal + 63, 4, libshmem_device.NVSHMEM_SIGNAL_SET, 1 - dl.rank())
    libshmem_device.signal_wait_until(signal + 63, libshmem_device.NVSHMEM_CMP_EQ, 4)

@triton.jit
def everywhere(p, q, out):
    there = libshmem_device.remote_mc_ptr(libshmem_device.NVSHMEM_TEAM_WORLD, p)
    t = tid(0)
    if dl.rank() == 0:
        multimem_st_b32(there + t, t + num_threads())
    if t < 2:
        a, b, c, d = multimem_ld_reduce_v4(q + 8 * t, acc_dtype=tl.float32)
        st(out + 4 * t, a)
        st(out + 4 * t + 1, b)
        st(out + 4 * t + 2, c)
        st(out + 4 * t + 3, d)

initialize_distributed()
rank, size = nvshmem.core.my_pe(), nvshmem.core.n_pes()
x, y = torch.arange(512, dtype=torch.int32, device="cuda"), torch.zeros(512, dtype=torch.int32, device="cuda")
packed = torch.zeros(128, dtype=torch.int64, device="cuda")
flag = nvshmem_create_tensor((size + 1,), torch.int64)
nvshmem_barrier_all_on_stream(torch.cuda.current_stream())
threads[(1,)](x, y, flag, packed, size)
assert (y.reshape(128, 4).flip(1) == x.reshape(128, 4)).all() and flag.tolist() == size * [3] + [1]
assert (packed == x[::4].long() + (x[1::4].long() << 32)).all()
behind[(1,)](nvshmem_create_tensor((1,), torch.int64))      # the library gives out pieces of 512 bytes
p, q = nvshmem_create_tensor((64,), torch.int32), nvshmem_create_tensor((16,), torch.float16)
q.copy_((torch.arange(16) + 100 * rank).half())
out = torch.zeros(8, dtype=torch.int32, device="cuda")
nvshmem_barrier_all_on_stream(torch.cuda.current_stream())
everywhere[(1,)](p, q, out, num_warps=2)
nvshmem_barrier_all_on_stream(torch.cuda.current_stream())
assert p.tolist() == list(range(64, 128))
total = sum((torch.arange(16) + 100 * r).float() for r in range(size)).half()
assert (out.numpy().view("uint16") == total.view(torch.int16).numpy().view("uint16")).all()

stream = torch.cuda.Stream()
(error,) = cuda.cuStreamWriteValue64(stream.cuda_stream, flag.data_ptr(), 9, cuda.CUstreamWriteValue_flags.CU_STREAM_WRITE_VALUE_DEFAULT)
CUDA_CHECK(error)
(error,) = cuda.cuStreamWaitValue64(stream.cuda_stream, flag.data_ptr(), 9, cuda.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ)
(error,) = cudart.cudaMemcpyAsync(y.data_ptr(), x.data_ptr(), 2048, cudart.cudaMemcpyKind.cudaMemcpyDefault, stream.cuda_stream)
CUDA_CHECK(error)
assert flag[0] == 9 and (x == y).all()
from nereid.compat import _cuda_driver
_cuda_driver._PATIENCE = 0.1
cuda.cuStreamWaitValue32(stream.cuda_stream, x.data_ptr(), 77, cuda.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ)
try:
    stream.synchronize()
    raise AssertionError("nobody has written 77")
except RuntimeError as error:
    assert "is no symmetric memory" in str(error)
row, column = nvshmem.core.team_split_2d(libshmem_device.NVSHMEM_TEAM_WORLD, size, None, 0, None, 0)
assert nvshmem.bindings.team_translate_pe(row, nvshmem.core.team_my_pe(row), libshmem_device.NVSHMEM_TEAM_WORLD) == rank
print("ok")
finalize_distributed()
"""


def test_kernels_of_gpus_and_the_driver_beside_them(run):
    assert run(GPU, ranks=2)[0] == ["ok", "ok"]


IRIS = """
import iris, torch, triton, triton.language as tl

@triton.jit
def everything(x, y, sums, locks, rank, peer, bases, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    iris.store(y + i, iris.load(x + i, rank, peer, bases) * 2, rank, peer, bases, mask=i < BLOCK - 1)
    iris.put(x + i, y + BLOCK + i, rank, peer, bases)
    iris.get(x + i, y + 2 * BLOCK + i, rank, peer, bases)
    for target in range(2):
        iris.atomic_add(sums, 3, rank, target, bases, sem="release", scope="sys")
        iris.atomic_sub(sums + 1, 1, rank, target, bases)
    tl.store(locks + 2, iris.atomic_cas(locks, 5, 9, rank, peer, bases))
    tl.store(locks + 3, iris.atomic_xchg(locks + 1, rank + 4, rank, peer, bases))

shmem = iris.iris(1 << 20)
rank, peer, n = shmem.get_rank(), 1 - shmem.get_rank(), 64
assert shmem.get_num_ranks() == 2
x = shmem.arange(n, dtype=torch.float32)
x.add_(100 * rank)
y = shmem.zeros((3, n), dtype=torch.float32)
sums, locks = shmem.zeros(2, dtype=torch.int64), shmem.full(4, 5)
shmem.barrier()
everything[(1,)](x, y, sums, locks, rank, peer, shmem.get_heap_bases(), n)
shmem.barrier()
assert x.cuda() is x and x.cpu() is not x
base = torch.arange(n).float()
expected = torch.stack([(base + 100 * rank) * 2, base + 100 * peer, base + 100 * peer])
expected[0, -1] = 0                          # masked
assert torch.equal(y, expected), y
assert sums.tolist() == [6, -2] and locks.tolist() == [9, peer + 4, 5, 5], (sums, locks)
assert shmem.broadcast(None if rank else 2.5, 0) == 2.5
assert shmem.ones(3, 2).sum() == 6 and shmem.linspace(0, 1, 5).tolist() == [0, .25, .5, .75, 1]
assert shmem.randint(8, 2, 4).unique().tolist() in ([2, 3], [2], [3]) and shmem.uniform((2, 4), 1, 2).min() >= 1
assert shmem.randn(2, 3).shape == shmem.empty(2, 3).shape == (2, 3)
shmem.ones(n, dtype=torch.float32, out=x)
assert shmem.zeros_like(y).shape == y.shape and (x == 1).all()
assert len(iris.do_bench(lambda: iris.memset_tensor(locks, 3), n_warmup=1, n_repeat=3, return_mode="all")) == 3
assert locks.tolist() == [3] * 4
for wrong in (lambda: shmem.zeros(1 << 20, dtype=torch.int8), lambda: shmem.ones(n, out=torch.ones(n))):
    try:
        wrong()
        raise AssertionError("no error")
    except (MemoryError, RuntimeError) as error:
        assert "bytes are left" in str(error) or "a tensor of this heap" in str(error), error
print("ok")
"""


def test_iris(run):
    assert run(IRIS, ranks=2)[0] == ["ok", "ok"]


def test_source_tree_of_triton_dist(run, torch_environment, tmp_path):
    """Submodules of a source tree on the path are loaded from there, on top of ours."""
    package = tmp_path / "tree" / "triton_dist"
    (package / "kernels").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('ours stands in for it')\n")
    (package / "utils.py").write_text("raise RuntimeError('ours stands in for it')\n")
    (package / "kernels" / "__init__.py").write_text("")
    (package / "kernels" / "mine.py").write_text(
        "from triton_dist.utils import dist_print\nfrom triton.runtime.errors import PTXASError\n"
        "import triton.tools.link\nfrom triton.language.core import extern\nvalue = 11\n")
    lines, _ = run("""
        from triton_dist.kernels.mine import value
        import triton, triton_dist
        from triton_dist.jit import jit
        assert triton_dist.jit is jit is triton.jit
        print(value)
        try:
            import triton_dist.language.nothing
        except ModuleNotFoundError as error:
            print(error)
    """, PYTHONPATH=f"{torch_environment['PYTHONPATH']}:{package.parent}")
    assert lines[0] == "11" and "No module named 'triton_dist.language.nothing'" in lines[1]


def test_profile(run):
    """Chosen by what the script imports unless it has been told."""
    body = """
        import triton, nereid
        from triton.language.extra.cann.extension import sub_vec_id
        print(nereid.runtime.current_profile())
    """
    lines, errors = run(body, ranks=2)
    assert lines == ["ascend910b"] * 2 and errors.count("rules of ascend910b") == 1
    assert run(body, NEREID_PROFILE="host") == (["host"], "")
    assert run("import triton, triton.language, nereid; print(nereid.runtime.current_profile())")[0] == ["host"]
