# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single operations: signals, barriers, put and get, all-gather, launches; then protocols under stress.

    nereid run -n 2 --target cuda bench/cuda/operations.py LINES [PART...]        # parts: the functions below"""

import contextlib
import importlib
import sys
import time
import traceback

import configs
import numpy as np
from measure import Bench, launch_options, nereid, torch

import kernels
import tutorials

b = Bench(sys.argv[1])
dist, rank, world = b.dist, b.rank, b.world
peer = (rank + 1) % world


def middle(values):
    return sorted(values)[len(values) // 2]


def whole(launch, rounds, times=5):
    """Microseconds a round of a kernel that does `rounds` rounds itself."""
    found = []
    for _ in range(times):
        b.sync()
        start = time.perf_counter()
        launch()
        found.append((time.perf_counter() - start) / rounds * 1e6)
        b.sync()
    return b.slowest(middle(found))


def floor():
    import torch.distributed._symmetric_memory as memory

    from floor import round_trips_relaxed

    words = memory.empty(1024, dtype=torch.int32, device=f"cuda:{rank}")
    handle = memory.rendezvous(words, dist.group.WORLD.group_name)
    other = handle.get_buffer(peer, (1024,), torch.int32)
    addresses = [torch.tensor([t.data_ptr()], device="cuda") for t in (words, other)]
    del addresses
    rounds = 20000

    def launch():
        round_trips_relaxed[(1,)](words.data_ptr(), other.data_ptr(), rounds, rank, num_warps=4)
        torch.cuda.synchronize()

    found = []
    for _ in range(6):
        words.zero_()
        b.sync()
        start = time.perf_counter()
        launch()
        found.append((time.perf_counter() - start) / rounds * 1e6)
        b.sync()
    return b.slowest(middle(found[1:]))


def signals():
    word, rounds = nereid.symm.zeros(64, "int64"), 20000
    found = []
    for _ in range(6):
        word.zero_()
        b.sync()
        start = time.perf_counter()
        kernels.round_trips[(1,)](word, rounds, num_warps=4)
        found.append((time.perf_counter() - start) / rounds * 1e6)
        b.sync()
    trip = b.slowest(middle(found[1:]))
    b.record("signal round trip", ours_us=trip)
    for programs in (1, 16, b.sms):
        b.record("barrier_all", programs=programs, ours_us=whole(lambda: kernels.only_barriers[(programs,)](5000, num_warps=4), 5000))
    b.record("unordered floor", ours_us=floor())


def copies():
    count = 32 << 20  # elements of 4 bytes
    symmetric, plain = nereid.symm.zeros(count), torch.randn(count, device="cuda")
    symmetric.torch().copy_(torch.randn(count, device="cuda"))
    b.sync()
    result = {}
    for name, kernel in (("put", kernels.put_all), ("get", kernels.get_all)):
        def call(i, kernel=kernel, name=name, programs=32, warps=8):
            kernel[(programs,)](*((symmetric, plain) if name == "put" else (plain, symmetric)), count, peer, num_warps=warps)
        for programs in (32, 64, b.sms):
            for warps in configs.COPY_WARPS:
                # One rank alone at a time: the link in one direction.
                for actor in range(world):
                    micros = b.ours((lambda i: call(i, programs=programs, warps=warps)) if rank == actor else (lambda i: None))
                    if actor == 0:
                        b.say(f"   {name} by {programs} programs of {warps} warps: {micros:.1f} us")
                        result[name, programs] = min(micros, result.get((name, programs), micros))
        b.sync()
        good = True
        if name == "put":
            mine = symmetric.torch().clone()
            b.sync()
            theirs = [torch.empty_like(plain) for _ in range(world)]
            dist.all_gather(theirs, plain)
            good = bool((mine == theirs[(rank - 1) % world]).all())
        else:
            theirs = [torch.empty_like(plain) for _ in range(world)]
            dist.all_gather(theirs, symmetric.torch().clone())
            good = bool((plain == theirs[peer]).all())
        good = b.all(good)
        b.record(f"{name} right", good=good)
    engine = {}
    if rank == 0:
        far = torch.empty(count, device=f"cuda:{peer}")
        for name, to, source in (("put", far, plain), ("get", plain, far)):
            times = []
            for _ in range(6):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                torch.cuda.synchronize()
                begin.record()
                for _ in range(10):
                    to.copy_(source, non_blocking=True)
                end.record()
                torch.cuda.synchronize()
                times.append(begin.elapsed_time(end) * 100)
            engine[name] = middle(times[1:])
    b.sync()
    for (name, programs), micros in result.items():
        b.record(f"{name} of 128 MB", programs=programs, ours_us=micros, engine_us=engine.get(name, 0.0), ours_GB_s=count * 4 / max(micros, 1) / 1e3)


def all_gather():
    kernel = importlib.import_module("05_all_gather").all_gather_kernel
    most = (128 << 20) // 4
    memory, source = nereid.symm.zeros(most * world), torch.empty(most, device="cuda")
    for size in (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 25, 1 << 27):
        count = size // 4
        x = source[:count]
        x.normal_()
        full = torch.empty(world, count, device="cuda")
        full[rank].copy_(x)
        nccl = b.peer(lambda i: dist.all_gather_into_tensor(full, full[rank]), repeats=20 if size > 1 << 22 else 50)
        nccl_out = b.peer(lambda i: dist.all_gather_into_tensor(full, x), repeats=20 if size > 1 << 22 else 50)
        best = None
        for constants, warps in configs.ALL_GATHER:
            for programs in sorted({max(1, min(p, count * world // constants["BLOCK"])) for p in (8, 32, 64, b.sms)}):
                def call(i):
                    kernel[(programs,)](x, memory, count, **constants, num_warps=warps)
                got = memory.torch()[:count * world].view(world, count)
                got.fill_(float("nan"))
                b.once(call)
                if not b.all(bool((got == full).all())):
                    b.record("wrong", what="all-gather", size=size, config=f"{constants} {programs}")
                    continue
                micros = b.ours(call, repeats=20 if size > 1 << 22 else 100, rounds=5)
                if best is None or micros < best[0]:
                    best = (micros, f"block {constants['BLOCK']} warps {warps} programs {programs}")
        if best:
            b.record("all-gather", bytes=size, ours_us=best[0], nccl_us=nccl, nccl_out_of_place_us=nccl_out, config=best[1])


def launches():
    from floor import empty5 as stock

    x, y = torch.zeros(16, device="cuda"), nereid.symm.zeros(16)
    count, ours, own = 500, tutorials.empty5, nereid.Stream()

    def and_wait():
        stock[(1,)](x, x, x, 3, 5)
        torch.cuda.synchronize()

    # Name, stream, call: in turn, since the processors of some machines change their speed.
    rows = [
        ("stream_us", own, lambda: ours[(1,)](x, x, x, 3, 5, num_warps=4)),
        ("triton_us", None, lambda: stock[(1,)](x, x, x, 3, 5)),
        ("torch_stream_us", b.stream, lambda: ours[(1,)](x, x, x, 3, 5, num_warps=4)),
        ("stream_symmetric_us", b.stream, lambda: ours[(1,)](y, y, y, 3, 5, num_warps=4)),
        ("and_wait_us", None, lambda: ours[(1,)](x, x, x, 3, 5, num_warps=4)),
        ("triton_and_wait_us", None, and_wait),
    ]
    if rank == 0:
        found = {name: [] for name, _, _ in rows}
        ours[(1,)](x, x, x, 3, 5, num_warps=4)
        stock[(1,)](x, x, x, 3, 5)
        for _ in range(15):
            for name, stream, call in rows:
                torch.cuda.synchronize()
                with stream or contextlib.nullcontext():
                    start = time.perf_counter()
                    for _ in range(count):
                        call()
                    found[name].append((time.perf_counter() - start) / count * 1e6)
                if stream:
                    stream.synchronize()
        started = time.perf_counter()
        with b.stream:
            for _ in range(2000):
                ours[(1,)](x, x, x, 3, 5, num_warps=4)
        b.stream.synchronize()
        sustained = (time.perf_counter() - started) / 2000 * 1e6
        ratios = {name.replace("_us", "_of_triton"): middle([mine / other for mine, other in zip(found[name], found["triton_us"])])
                  for name in ("stream_us", "torch_stream_us")}
        b.record("launch", **{name: middle(times) for name, times in found.items()}, stream_to_end_us=sustained, **ratios)
    b.sync()


def stress():
    programs, rounds = b.sms, 100000
    buffer, signal, wrong = nereid.symm.zeros(programs * 4096, "int32"), nereid.symm.zeros(programs * 2, "int64"), nereid.symm.zeros(programs, "int32")
    b.sync()
    start = time.perf_counter()
    kernels.stress_messages[(programs,)](buffer, signal, wrong, rounds, BLOCK=4096, num_warps=8)
    micros = (time.perf_counter() - start) / rounds * 1e6
    bad = int(nereid.symm.all_reduce(np.array([int(wrong.numpy().sum())]))[0])
    b.record("stress messages", programs=programs, rounds=rounds, wrong=bad, round_us=micros)
    word = nereid.symm.zeros(64, "int64")
    word.zero_()
    b.sync()
    kernels.round_trips[(1,)](word, rounds, num_warps=4)
    b.record("stress round trips", rounds=rounds, last=int(word.numpy()[0]))


def stress_barriers():
    for count in (16, configs.STRESS_PROGRAMS):
        slots, wrong = nereid.symm.zeros(world * count, "int32"), nereid.symm.zeros(count, "int32")
        for rounds in (100, 1000, 10000, 50000):  # two barriers each
            slots.zero_()
            b.sync()
            start = time.perf_counter()
            kernels.stress_barriers[(count,)](slots, wrong, rounds, P=count, num_warps=4)
            micros = (time.perf_counter() - start) / rounds / 2 * 1e6
            bad = int(nereid.symm.all_reduce(np.array([int(wrong.numpy().sum())]))[0])
            b.record("stress barriers", programs=count, rounds=2 * rounds, wrong=bad, round_us=micros)


for part in (signals, launches, copies, all_gather, stress, stress_barriers):
    if sys.argv[2:] and part.__name__ not in sys.argv[2:]:
        continue
    try:
        part()
    except Exception as error:  # what else there is goes on
        print(f"rank {rank}: {traceback.format_exc()[-1500:]}", flush=True)
        b.record("failed", part=part.__name__, error=f"{type(error).__name__}: {str(error)[:600]}")
        nereid.recover()
