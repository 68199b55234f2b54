# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device cuda from Python, without a GPU: on a driver of the tests, which keeps its memory in memory of
the host and runs no kernel that was compiled for a GPU, and on no driver at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nereid

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "build/release/unittests/Runtime/libNereidFakeCuda.so"

needs_driver = pytest.mark.skipif(not DRIVER.exists(), reason="the unit tests are not built")
pytestmark = pytest.mark.skipif("cuda" not in nereid._runtime.target_names(), reason="this build has no target cuda")

SYMMETRIC = '''
import numpy as np
import nereid

nereid.init(target="cuda")
r, w = nereid.rank(), nereid.world_size()
after = (r + 1) % w

t = nereid.symm.full((4, 8), r + 1.5)
assert t.numpy().shape == (4, 8) and (t.numpy() == r + 1.5).all()
t[1, 2] = 9
assert t[1, 2] == 9 and t[0, 0] == r + 1.5
nereid.barrier()
part = t.peer(after)
assert part[1, 2] == 9 and part[0, 0] == after + 1.5
nereid.barrier()
t.copy_(np.arange(32).reshape(4, 8))
assert (np.asarray(t) == np.arange(32).reshape(4, 8)).all()
t.zero_()
assert (t.numpy() == 0).all() and t.strides == (32, 4)
for view in (t.numpy(), t.peer(after)):
    try:
        view[0, 0] = 1
        raise SystemExit("a copy was written")
    except ValueError:
        pass
interface = t.__cuda_array_interface__
assert interface["data"] == (t.data_ptr(), False) and interface["shape"] == (4, 8) and interface["typestr"] == "<f4"
nereid.symm.free(t)

assert (nereid.symm.from_array(np.arange(5.0)).numpy() == np.arange(5)).all()
assert (nereid.symm.all_reduce(np.full(5, r + 1.0)) == w * (w + 1) / 2).all()
assert (nereid.symm.all_gather(np.array([r])) == np.arange(w)[:, None]).all()
t = nereid.symm.full(5, float(r))
nereid.symm.broadcast(t, w - 1)
assert (t.numpy() == w - 1).all()
for _ in range(5):  # dropped ones are freed
    nereid.symm.zeros(100)
assert len(nereid.symm.allocations()) < 6

s, d = nereid.symm.zeros(4, np.int64), nereid.symm.zeros(8)
nereid.barrier()
nereid.symm.put(d, np.full(8, r, np.float32), after)
nereid.symm.signal_op(s, 5, after)
nereid.symm.signal_op(s, 2, after, op="add")
nereid.symm.signal_wait_until(s, 7)
assert (d.numpy() == (r - 1) % w).all()
assert (nereid.symm.get(d, after) == r).all()
out = nereid.symm.zeros(8)
assert nereid.symm.get(d, after, out=out) is out and (out.numpy() == r).all()
nereid.barrier()
try:
    nereid.init(target="cpu")
    raise SystemExit("another target was taken")
except ValueError as error:
    assert "joined its job for the target cuda" in str(error), error
print("ok")
'''

LAUNCHES = '''
import numpy as np
import nereid
import nereid.language as tl


@nereid.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


class Foreign:
    """What numba's arrays say of themselves."""

    def __init__(self, tensor):
        self.tensor, self.__cuda_array_interface__ = tensor, tensor.__cuda_array_interface__


x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
kernel = add[(1,)](x, y, 100, BLOCK=128)
assert kernel.target == "cuda" and kernel.asm["cubin"][:4] == b"\\x7fELF"
assert (x == np.arange(100)).all() and (y == 0).all()  # copied there and back; nothing ran
add[(2,)](x[10:50], x[40:90], 40, BLOCK=128)  # they share bytes
t = nereid.symm.zeros(100)
add[(1,)](t, Foreign(t), 100, BLOCK=128)
stream = nereid.Stream()
with stream:
    add[(1,)](t, t, 100, BLOCK=128)
    try:
        add[(1,)](x, t, 100, BLOCK=128)
        raise SystemExit("an array of the host was taken in a stream")
    except nereid.ArgumentError as error:
        assert "which a stream does not wait for" in str(error), error
stream.synchronize()
assert (x == np.arange(100)).all()
print("ok")
'''


OPERATORS = '''
import numpy as np
import nereid
import nereid.ops
from nereid.ops.core.workspace import Workspace

nereid.init(target="cuda")
r, w = nereid.rank(), nereid.world_size()
assert nereid.job_info()["programs"] == 4  # of the driver of the tests

space = Workspace("space", "a space", nereid.ops.Group.of(None), signals=3, payload=100)
assert space.calls == 0
space.say(f"call of rank {r}")
nereid.barrier()
assert [line.split(": ")[1] for line in space.who().splitlines()] == [f"call of rank {p}, 0 calls ended" for p in range(w)]
space.fill_payload(0xFF)
assert np.isnan(space.view("float32", 3, (2, 4), None)).all() and space.calls == 0
for text in ("one", "two", "one"):
    space.agree(text)
if w > 1:
    try:
        space.agree(f"rank {r}")
        raise SystemExit("ranks agreed")
    except nereid.JobError as error:
        assert "ranks disagree about this call: rank 0: rank 0; rank 1: rank 1" in str(error), error
space.reset()
assert space.calls == 0 and "space, 0 calls" in space.who()
space.close()

from nereid._job import agree, memory
assert agree.exchange(bytes([r] * 5)) == [bytes([p] * 5) for p in range(w)]
assert agree.Together(True, "test").maximum(float(r)) == w - 1
t = nereid.symm.zeros((4, 8))
memory.write(t.data_ptr() + 8, np.arange(3, dtype=np.float32))
assert t[0].tolist() == [0, 0, 0, 1, 2, 0, 0, 0] and memory.read(t.data_ptr() + 12, 4) == np.float32(1).tobytes()
part = t._elements(3, 5)
assert part.numpy().tolist() == [1, 2] and part.shape == (2,)
part.fill_(7)
assert t[0].tolist() == [0, 0, 0, 7, 7, 0, 0, 0]
constant = memory.constant(np.arange(5, dtype=np.int64))
assert constant.__cuda_array_interface__["shape"] == (5,) and constant.__cuda_array_interface__["typestr"] == "<i8"

op = nereid.ops.AllReduce(100, "float32")
x = np.ones(100, np.float32)
assert op.prepare(x) is None and op.programs == 4
op.close()
print("ok")
'''

PUTS = '''
import numpy as np
import nereid

nereid.init()
r, w = nereid.rank(), nereid.world_size()
after, before = (r + 1) % w, (r - 1) % w
x, gathered = nereid.symm.zeros((10, 100)), nereid.symm.zeros((w, 1000))
ready = nereid.symm.zeros(8, np.int64)
short = nereid.symm.zeros(2, np.int32)


def values(rank, call):
    return (np.arange(1000) + 1000 * rank + 7 * call).astype(np.float32)


for call in range(1, 6):
    x.copy_(values(r, call).reshape(10, 100))
    nereid.barrier()
    for piece in range(4):
        nereid.symm.put_async(gathered, x, after, dest_start=r * 1000 + piece * 250, source_start=piece * 250, count=250,
                              signal=ready, index=piece, value=call)
    for piece in range(4):  # whoever sees the signal sees the piece
        nereid.symm.signal_wait_until(ready, call, index=piece)
        part = slice(250 * piece, 250 * piece + 250)
        assert (gathered.numpy()[before][part] == values(before, call)[part]).all(), (call, piece)
    nereid.symm.quiet()
    nereid.barrier()

stream, y = nereid.Stream(), nereid.symm.zeros((10, 100))
with stream:
    x.fill_(r + 0.5)
    nereid.symm.put_async(y, x, after, signal=short, index=1, value=-3)
    x.fill_(0)
nereid.symm.signal_wait_until(short, -3, index=1)
assert (y.numpy() == before + 0.5).all()
stream.synchronize()
assert (x.numpy() == 0).all() and short[0] == 0
nereid.symm.put_async(y, x, r, count=0, signal=short, value=5)  # the signal alone
nereid.symm.quiet()
assert short[0] == 5
nereid.barrier()


def refused(kind, text, *args, **keywords):
    try:
        nereid.symm.put_async(*args, **keywords)
    except kind as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"not refused: {text}")


refused(TypeError, "put_async needs a symmetric tensor", x, np.zeros((10, 100), np.float32), after)
refused(TypeError, "the source has the dtype int64", x, ready, after, count=1)
refused(ValueError, "a part of them is copied with count=", gathered, x, after)
refused(ValueError, "say how many elements", x, y, after, dest_start=3)
refused(ValueError, "2 elements from 999 on are not inside the source of 1000 elements", gathered, x, after, source_start=999, count=2)
refused(ValueError, "-1 elements", x, y, after, count=-1)
refused(ValueError, "rank 9 is outside the job", x, y, 9)
refused(TypeError, "signals are 32-bit or 64-bit integers", x, y, after, signal=y)
refused(IndexError, "index (8,) is outside", x, y, after, signal=ready, index=8)
refused(OverflowError, "does not fit", x, y, after, signal=short, value=1 << 40)
print("ok")
'''


def run(script, tmp_path, *, ranks=0, driver=DRIVER, **environment):
    file = tmp_path / "script.py"
    file.write_text(script)
    command = ["-m", "nereid", "run", "-n", str(ranks), str(file)] if ranks else [str(file)]
    environment = {**os.environ, "NEREID_CUDA_DRIVER": str(driver), "NEREID_CACHE_DIR": str(tmp_path / "cache"),
                   "NEREID_CUDA_ARCH": "sm_90", "NEREID_HEAP_SIZE": "4M", **environment}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120, env=environment)


@needs_driver
@pytest.mark.parametrize("ranks", [0, 2, 3])
def test_symmetric_memory_of_a_gpu(ranks, tmp_path):
    done = run(SYMMETRIC, tmp_path, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == max(1, ranks)


@needs_driver
def test_ranks_may_wait_for_each_other_without_limit(tmp_path):
    done = run(SYMMETRIC, tmp_path, ranks=2, NEREID_INIT_TIMEOUT="0")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_driver
@pytest.mark.parametrize("ranks", [0, 3])
def test_the_host_keeps_out_of_memory_of_a_gpu(ranks, tmp_path):
    """All of it goes through the driver: an access of the host's own would fault."""
    done = run(SYMMETRIC, tmp_path, ranks=ranks, NEREID_FAKE_CUDA_HIDDEN="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == max(1, ranks)


@needs_driver
@pytest.mark.parametrize("ranks", [0, 2])
def test_operators_keep_out_of_memory_of_a_gpu(ranks, tmp_path):
    pytest.importorskip("triton")
    done = run(OPERATORS, tmp_path, ranks=ranks, NEREID_FAKE_CUDA_HIDDEN="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == max(1, ranks)


@needs_driver
@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("ranks", [0, 2, 3])
def test_puts_beside_the_host(target, ranks, tmp_path):
    done = run(PUTS, tmp_path, ranks=ranks, NEREID_TARGET=target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == max(1, ranks)


@needs_driver
def test_arguments_of_launches(tmp_path):
    pytest.importorskip("triton")
    done = run(LAUNCHES, tmp_path, NEREID_TARGET="cuda")
    assert done.returncode == 0 and done.stdout == "ok\n", done.stdout + done.stderr


def test_a_machine_without_a_driver(tmp_path):
    done = run("import nereid\nnereid.init(target='cuda')\n", tmp_path, driver="libnone.so.1")
    assert done.returncode != 0
    assert ("the target cuda needs an NVIDIA GPU and its driver: the library libnone.so.1 cannot be loaded"
            in done.stderr), done.stderr
    assert "Traceback" in done.stderr
    shown = subprocess.run([sys.executable, "-m", "nereid", "info"], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "NEREID_CUDA_DRIVER": "libnone.so.1"})
    assert "the library libnone.so.1 cannot be loaded" in shown.stdout
