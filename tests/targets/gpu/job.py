# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each rank of test_gpu.py's jobs does: launches on a GPU, with arrays from everywhere."""

import sys

import kernels
import numpy as np

import nereid

nereid.init(target="cuda", timeout=10)
rank, world = nereid.rank(), nereid.world_size()


def arrays_of_the_host():
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    kernels.plain_add[(1,)](x, y, 1000, BLOCK=1024)
    assert (y == x + 1).all()
    z = np.arange(3000, dtype=np.float32)
    kernels.plain_add[(1,)](z[:1000], z[1000:2000], 1000, BLOCK=1024)
    assert (z[1000:2000] == z[:1000] + 1).all() and (z[2000:] == np.arange(2000, 3000)).all()
    kernels.plain_add[(1,)](x, x, 1000, BLOCK=1024)
    assert (x == np.arange(1000) + 1).all()


def tensors_of_torch():
    try:
        import torch
    except ImportError:
        return
    torch.cuda.set_device(rank % torch.cuda.device_count())
    t = nereid.symm.zeros(1000)
    x, y = t.torch(), torch.zeros(1000, device="cuda")
    assert x.is_cuda and x.data_ptr() == t.data_ptr() == torch.from_dlpack(t).data_ptr()
    x += rank + 1
    for source in (t, x):
        kernels.plain_add[(1,)](source, y, 1000, BLOCK=1024)
        assert (y == rank + 2).all().item()
    c = torch.arange(1000, dtype=torch.float32)
    kernels.plain_add[(1,)](c, c, 1000, BLOCK=1024)
    assert (c == torch.arange(1000) + 1).all().item()
    b = nereid.symm.from_array(torch.full((8,), 2.0, dtype=torch.bfloat16, device="cuda"))
    assert (b.torch() == 2).all().item()
    size = 64 << 20
    with torch.cuda.stream(torch.cuda.Stream()):
        big = torch.zeros(size, device="cuda")
        for _ in range(20):
            big += 1
        kernels.plain_add[(size // 1024,)](big, big, size, BLOCK=1024)
        assert (big == 21).all().item()


def streams():
    t, stream = nereid.symm.zeros(1000), nereid.Stream()
    with stream:
        for _ in range(100):
            kernels.plain_add[(1,)](t, t, 1000, BLOCK=1024)
    stream.synchronize()
    assert (t.numpy() == 100).all()


def litmus():
    p, rounds = 8, 20
    buffer, signal = nereid.symm.zeros(p * 4096, np.int32), nereid.symm.zeros(p * 2, np.int64)
    slots, wrong = nereid.symm.zeros(world * 16, np.int32), nereid.symm.zeros(16, np.int32)
    nereid.barrier()
    kernels.message[(p,)](buffer, signal, wrong, rounds, BLOCK=4096)
    assert wrong.numpy().sum() == 0
    kernels.barriers[(16,)](slots, wrong, rounds, P=16)
    assert wrong.numpy().sum() == 0
    kernels.store_then_load[(p,)](buffer, wrong, 1000, BLOCK=4096)
    assert wrong.numpy().sum() == 0


def waits_without_an_end():
    signals = nereid.symm.zeros(64, np.int64, name="signals")
    for _ in range(2):
        try:
            kernels.endless[(4,)](signals, 7)
            raise SystemExit("the wait has ended")
        except nereid.LaunchError as error:
            text = str(error)
            assert "4 programs 0-3: wait on 'signals' int64" in text and "value 0, waits for 7" in text, text
            assert "kernels.py:" in text and "waitValue=value" in text, text
        nereid.recover()
        litmus()  # the GPU can be used


for part in (arrays_of_the_host, tensors_of_torch, streams, litmus, waits_without_an_end):
    part()
sys.stdout.write("ok\n")
