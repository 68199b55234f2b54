# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nereid.symm: allocation, views, peers, the end of memory. Host side only."""

import gc
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid.testing import SpawnError, spawn


@pytest.mark.parametrize("dtype, name", [
    (np.float32, "float32"), ("float16", "float16"), (tl.int64, "int64"), (np.dtype("uint8"), "uint8"),
    ("bfloat16", "bfloat16"), (tl.float8e5, "float8_e5m2"), (bool, "bool"), (ml_dtypes.bfloat16, "bfloat16"),
])
def test_dtypes(dtype, name):
    tensor = nereid.symm.ones((3, 5), dtype)
    assert tensor.dtype == np.dtype(getattr(ml_dtypes, name, name)) and tensor.shape == (3, 5)
    assert tensor.numpy().dtype == tensor.dtype
    assert (np.asarray(tensor).astype(np.float64) == 1).all()
    assert tensor.nbytes == 15 * tensor.itemsize and tensor.size == 15 and tensor.ndim == 2


@pytest.mark.parametrize("shape", [(), 7, (0,), (3, 0, 2), (1, 1), (5, 3, 2)])
def test_shapes(shape):
    tensor = nereid.symm.full(shape, 2.5)
    expected = np.full(shape, 2.5, np.float32)
    assert tensor.shape == expected.shape
    np.testing.assert_array_equal(tensor.numpy(), expected)
    assert tensor.strides == expected.strides


@pytest.mark.parametrize("shape, error", [((-1,), ValueError), ((2.5,), TypeError), ("ab", TypeError), ((True,), TypeError)])
def test_wrong_shapes(shape, error):
    with pytest.raises(error):
        nereid.symm.zeros(shape)


@pytest.mark.parametrize("dtype", ["complex64", object, "nonsense", 5, tl.pointer_type(tl.int8)])
def test_wrong_dtypes(dtype):
    with pytest.raises(TypeError, match="symmetric memory cannot hold"):
        nereid.symm.zeros(3, dtype)


def test_views_share_memory():
    tensor = nereid.symm.from_array(np.arange(12, dtype=np.int32).reshape(3, 4))
    tensor[1, 2] = 100
    assert tensor.numpy()[1, 2] == 100 and int(tensor[1, 2]) == 100 and len(tensor) == 3
    assert np.from_dlpack(tensor)[1, 2] == 100
    tensor.numpy()[0] = 7
    assert (tensor.peer(0)[0] == 7).all()
    assert tensor.data_ptr() == tensor.numpy().ctypes.data
    assert tensor.stride() == (4, 1) and tensor.stride(0) == 4


def test_views_keep_the_memory():
    view = nereid.symm.full(1000, 3).numpy()
    gc.collect()
    other = nereid.symm.full(1000, 4)
    assert (view == 3).all() and (other.numpy() == 4).all()


def test_dropped_memory_is_used_again():
    used = nereid.job_info()["heap_bytes_used"]
    for _ in range(20):
        nereid.symm.empty(1 << 20)
    gc.collect()
    nereid.symm.empty(1)
    assert nereid.job_info()["heap_bytes_used"] <= used + 2 * (4 << 20)


def test_free():
    tensor = nereid.symm.zeros(10, name="to_be_freed")
    assert any(entry["label"] == "to_be_freed" for entry in nereid.symm.allocations())
    nereid.symm.free(tensor)
    assert not any(entry["label"] == "to_be_freed" for entry in nereid.symm.allocations())
    assert "freed" in repr(tensor)
    for use in (tensor.numpy, lambda: tensor.peer(0), lambda: nereid.symm.free(tensor)):
        with pytest.raises(ValueError, match="has been freed"):
            use()
    with pytest.raises(TypeError, match="numpy array"):
        nereid.symm.free(np.zeros(3))


def test_peer_outside_the_job():
    with pytest.raises(ValueError, match="rank 1 is outside the job of 1 ranks"):
        nereid.symm.zeros(3).peer(1)


def test_heap_that_is_full():
    with pytest.raises(nereid.JobError) as caught:
        nereid.symm.empty(1 << 50, np.uint8, name="huge")
    assert caught.value.code == "out of memory"


# ---- several ranks


def exchange():
    rank, world = nereid.rank(), nereid.world_size()
    tensor = nereid.symm.zeros((world, 3), np.int64)
    for peer in range(world):
        tensor.peer(peer)[rank] = 10 * rank + peer
    nereid.barrier()
    return tensor.numpy().tolist()


@pytest.mark.parametrize("world", [1, 2, 3, 5])
def test_peers(world):
    results = spawn(exchange, world)
    for rank, rows in enumerate(results):
        assert rows == [[10 * other + rank] * 3 for other in range(world)]


def test_zeros_are_zero_on_all_ranks_before_anybody_writes():
    def body():
        bad = 0
        for _ in range(50):
            tensor = nereid.symm.zeros(257, np.int32)
            tensor.peer((nereid.rank() + 1) % nereid.world_size())[:] = 1
            nereid.barrier()
            bad += int((tensor.numpy() != 1).sum())
            nereid.symm.free(tensor)
        return bad

    assert spawn(body, 3) == [0, 0, 0]


def test_ranks_that_drop_at_different_times():
    """Memory is only used again when every rank has dropped it."""

    def body():
        kept = None
        for turn in range(30):
            tensor = nereid.symm.full(5000, turn, np.int32)
            if turn == nereid.rank():
                kept = tensor  # each rank keeps another one
        nereid.barrier()
        assert (kept.numpy() == nereid.rank()).all()
        # The tensors that some rank keeps are alive on all ranks.
        assert all((kept.peer(rank) == nereid.rank()).all() for rank in range(nereid.world_size()))
        nereid.barrier()
        return nereid.job_info()["heap_bytes_used"]

    assert all(used < 15 * 20480 for used in spawn(body, 3))


def test_tensors_of_the_parent_do_not_disturb_its_ranks():
    tensors = [nereid.symm.zeros(100) for _ in range(4)]

    def body():
        nonlocal tensors
        tensors = []
        gc.collect()
        return [float(nereid.symm.full(10, turn).numpy()[0]) for turn in range(4)]

    assert spawn(body, 2) == [[0, 1, 2, 3]] * 2
    assert (tensors[0].numpy() == 0).all()


def in_child(*calls):
    """The texts of the errors that the calls raise in a forked child; "" for none."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        texts = []
        for call in calls:
            try:
                call()
                texts.append("")
            except Exception as error:
                texts.append(str(error).replace("\n", " "))
        os.write(write, "\n".join(texts).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        texts = pipe.read().split("\n")
    assert os.waitpid(child, 0)[1] == 0
    return texts


@nereid.jit
def overwrites(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 666.0)


def test_forked_children_do_not_write_the_memory_of_their_parent():
    x = nereid.symm.zeros((8,), np.float32)
    mine = np.zeros(8, np.float32)
    overwrites[(1,)](mine, N=8)
    texts = in_child(
        lambda: overwrites[(1,)](x, N=8),
        lambda: overwrites[(1,)](x.numpy(), N=8),
        lambda: overwrites[(1,)](mine, N=8),
    )
    assert (x.numpy() == 0).all()
    for text in texts[:2]:
        assert "is symmetric memory of the parent's job" in text and "'x'" in text, text
    assert texts[2] == ""
    overwrites[(1,)](x, N=8)
    assert (x.numpy() == 666).all()


def test_forked_children_have_no_part_in_the_job():
    def body():
        x = nereid.symm.zeros((8,), np.float32)
        nereid.barrier()
        texts = in_child(
            nereid.barrier,
            lambda: nereid.symm.zeros(4),
            lambda: x.put(np.ones(8, np.float32), 1 - nereid.rank()),
            nereid.init,
        )
        nereid.barrier()
        assert (x.numpy() == 0).all()
        return texts

    for rank, texts in enumerate(spawn(body, 2)):
        for text in texts[:2]:
            assert f"forked from rank {rank} of a job and has no part in it" in text, text
        assert texts[2] and texts[3], texts


@pytest.mark.parametrize("what", ["shape", "dtype", "call"])
def test_ranks_that_allocate_differently(what):
    def body():
        odd = nereid.rank() == 1
        if what == "shape":
            nereid.symm.zeros((4, 8 + odd), name="differs")
        elif what == "dtype":
            nereid.symm.zeros(16, np.int32 if odd else np.float32)
        elif odd:
            nereid.barrier()
            nereid.barrier()
        else:
            nereid.symm.zeros(4)

    with pytest.raises(SpawnError) as caught:
        spawn(body, 3, timeout=60)
    assert sorted(failure.rank for failure in caught.value.failures) == [0, 1, 2]
    assert all(isinstance(error, nereid.JobError) for error in caught.value.exceptions.values())
    if what == "shape":
        assert all("(4, 8)" in f.reason and "(4, 9)" in f.reason for f in caught.value.failures)


def test_use_of_a_job_that_was_never_joined():
    """In a job of several ranks nothing is joined behind the user's back."""
    script = """
import numpy as np, nereid
import ctypes
from nereid import _runtime
address = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value  # never called
kernel = _runtime.KernelImage.of_address(name="k", address=address, num_args=0, distributed=True)
for call in (nereid.rank, nereid.barrier, lambda: nereid.symm.zeros(3), lambda: kernel.launch((1, 1, 1), [])):
    try:
        call()
        print("no error")
    except nereid.JobError as error:
        print("nereid.init()" in str(error), "3 ranks" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "WORLD_SIZE": "3", "RANK": "0"})
    assert done.stdout.split("\n")[:4] == ["True True"] * 4, done.stdout + done.stderr
