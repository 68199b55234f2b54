# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams: order, events, errors at synchronize, waits between ranks and between streams."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit
def scale_add(x_ptr, factor, term, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor + term, mask=mask)


@nereid.jit
def fails(x_ptr, far):
    tl.store(x_ptr + far, 1.0)  # far away


@nereid.jit
def wait_then_store(signal_ptr, x_ptr, expected):
    token = dl.wait(signal_ptr, 1, "gpu", "acquire", waitValue=expected)
    tl.store(dl.consume_token(x_ptr, token), 7.0)


@nereid.jit
def send(signal_ptr, peer):
    dl.notify(signal_ptr, peer, signal=1, sig_op="set", comm_scope="intra_node")


def test_launches_and_host_operations_run_in_order():
    n = 1013
    x = nereid.symm.full(n, 1.0, name="x")
    stream = nereid.Stream()
    expected = np.ones(n)
    seen = []
    with stream:
        assert nereid.current_stream() is stream
        for i in range(20):
            scale_add[(nereid.cdiv(n, 128),)](x, 2.0, i, n, BLOCK=128)
            expected = expected * 2 + i
            if i % 5 == 4:
                x.fill_(i)
                stream.call(lambda: seen.append(x.numpy()[0]))
                expected[:] = i
        x.copy_(np.arange(n))
        scale_add[(nereid.cdiv(n, 128),)](x, 0.5, 3.0, n, BLOCK=128)
    assert nereid.current_stream() is None
    stream.synchronize()
    assert seen == [4, 9, 14, 19]
    np.testing.assert_allclose(x.numpy(), np.arange(n) * 0.5 + 3)


def test_a_launch_returns_before_it_has_run():
    stream, gate = nereid.Stream("gated"), threading.Event()
    x = np.zeros(4, np.float32)
    with stream:
        stream.call(gate.wait)
        compiled = scale_add[(1,)](x, 0.0, 5.0, 4, BLOCK=4)
    assert compiled.name.startswith("scale_add") and not stream.query() and x[0] == 0
    gate.set()
    nereid.synchronize()
    assert stream.query() and (x == 5).all()


def test_arguments_live_until_the_launch_has_run():
    stream, gate = nereid.Stream(), threading.Event()
    out = np.zeros(1, np.float32)

    @nereid.jit
    def copy_first(x_ptr, out_ptr):
        tl.store(out_ptr, tl.load(x_ptr))

    with stream:
        stream.call(gate.wait)
        copy_first[(1,)](np.full(100_000, 3.0, np.float32), out)
    for _ in range(10):
        np.zeros(100_000, np.float32)
    gate.set()
    stream.synchronize()
    assert out[0] == 3


def test_wrong_arguments_are_errors_at_once():
    with nereid.Stream(), pytest.raises(nereid.ArgumentError):
        scale_add[(1,)]("text", 0.0, 5.0, 4, BLOCK=4)


def test_errors_surface_at_synchronize_with_the_original_report():
    x = np.zeros(4, np.float32)
    stream = nereid.Stream("faulty")
    with stream:
        scale_add[(1,)](x, 0.0, 1.0, 4, BLOCK=4)
        fails[(1,)](x, 1 << 40)
        scale_add[(1,)](x, 0.0, 2.0, 4, BLOCK=4)  # dropped
        event = stream.record()
    with pytest.raises(nereid.LaunchError) as caught:
        stream.synchronize()
    line = next(i for i, text in enumerate(open(__file__), 1) if text.rstrip().endswith("# far away"))
    assert caught.value.code == "kernel fault" and caught.value.line == line
    if sys.version_info >= (3, 11):
        assert "given to faulty at" in caught.value.__notes__[-1] and "test_stream.py:" in caught.value.__notes__[-1]
    assert (x == 1).all() and event.query()
    # It can be used again.
    with stream:
        scale_add[(1,)](x, 0.0, 2.0, 4, BLOCK=4)
    stream.synchronize()
    assert (x == 2).all()


def test_errors_of_host_functions():
    stream = nereid.Stream()
    stream.call(lambda: {}["missing"])
    with pytest.raises(KeyError, match="missing"):
        stream.synchronize()


def test_events_order_two_streams():
    first, second, gate = nereid.Stream(), nereid.Stream(), threading.Event()
    log = []
    first.call(gate.wait)
    start = first.record()
    first.call(log.append, "first")
    done = first.record()
    second.wait(done)
    second.call(log.append, "second")
    assert not done.query()
    gate.set()
    second.synchronize()
    assert log == ["first", "second"]
    assert start.elapsed_time(done) >= 0
    with pytest.raises(RuntimeError, match="not been recorded"):
        nereid.Event().query()


def test_tuning_inside_a_stream_measures_launches():
    log = []

    @nereid.autotune(configs=[nereid.Config({"BLOCK": 16}), nereid.Config({"BLOCK": 64})], key=["n"], warmup=1, rep=1,
                     restore_value=["x_ptr"])
    @nereid.jit
    def tuned(x_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)

    x, stream = np.zeros(100, np.float32), nereid.Stream()
    with stream:
        stream.call(log.append, 1)
        stream.call(x.fill, 5)
        tuned[lambda meta: (nereid.cdiv(100, meta["BLOCK"]),)](x, 100)
        stream.call(log.append, 2)
    stream.synchronize()
    assert log == [1, 2] and (x == 6).all()
    assert nereid.testing.do_bench(lambda: time.sleep(0.002), warmup=1, rep=5) >= 2


def test_nested_streams():
    outer, inner = nereid.Stream("outer"), nereid.Stream("inner")
    with outer:
        with inner:
            assert nereid.current_stream() is inner
        assert nereid.current_stream() is outer
    assert nereid.current_stream() is None


@pytest.mark.ranks(2)
def test_the_host_may_signal_a_kernel_that_waits_in_a_stream():
    signals, x = nereid.symm.zeros(1, np.int64, name="signals"), nereid.symm.zeros(1)
    nereid.barrier()
    stream = nereid.Stream()
    with stream:
        wait_then_store[(1,)](signals, x, 3)
    time.sleep(0.4)  # long enough to be called a deadlock, if the host did not count
    nereid.symm.signal_op(signals, 3, 1 - nereid.rank())
    stream.synchronize()
    assert x[0] == 7
    nereid.barrier()


@pytest.mark.ranks(2)
def test_a_host_that_computes_beside_a_kernel_that_waits_is_no_standstill(tmp_path):
    script = tmp_path / "computes.py"
    script.write_text(textwrap.dedent("""
        import sys, time
        import nereid, nereid.distributed as dl, nereid.language as tl

        @nereid.jit
        def consumer(signal_ptr, x_ptr):
            token = dl.wait(signal_ptr, 1, "gpu", "acquire")
            tl.store(dl.consume_token(x_ptr, token), 7)

        signal, x = nereid.symm.zeros(1, "int32"), nereid.symm.zeros(1, "int32")
        stream = nereid.Stream()
        with stream:
            consumer[(1,)](signal, x)
        if sys.argv[1] == "computes":
            end = time.process_time() + 3
            while time.process_time() < end:
                pass
        else:
            time.sleep(5)
        signal[:] = 1
        stream.synchronize()
        print(x[0])
    """))
    alone = {name: value for name, value in os.environ.items()
             if not name.startswith("NEREID_") and not name.endswith(("RANK", "WORLD_SIZE"))}
    for how, code, text in ("computes", 0, "7"), ("sleeps", 1, "nothing has moved in the whole job for 1.5 s"):
        done = subprocess.run([sys.executable, str(script), how], capture_output=True, text=True, timeout=100,
                              env={**alone, "NEREID_TIMEOUT": "1.5"})
        assert done.returncode == code and text in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_deadlock_is_found_when_the_hosts_wait():
    signals, x = nereid.symm.zeros(1, np.int64, name="signals"), nereid.symm.zeros(1)
    nereid.barrier()
    stream = nereid.Stream()
    with stream:
        wait_then_store[(1,)](signals, x, 3)
    start = time.monotonic()
    with pytest.raises(nereid.LaunchError) as caught:
        stream.synchronize()
    assert time.monotonic() - start < 5
    assert caught.value.code == "deadlock" and "'signals'" in str(caught.value)
    assert len(caught.value.blocked) == nereid.world_size() and isinstance(caught.value.rank, int)
    assert (caught.value.program, caught.value.file, caught.value.line, caught.value.column) == (None,) * 4


def test_kernels_of_two_streams_that_wait_for_each_other_are_reported():
    signals, x = nereid.symm.zeros(1, np.int64, name="flag"), nereid.symm.zeros(1)
    first, second = nereid.Stream("first"), nereid.Stream("second")
    with first:
        wait_then_store[(1,)](signals, x, 1)
    while first.query():
        time.sleep(0.01)
    time.sleep(0.05)
    with second:
        send[(1,)](signals, 0)
    with pytest.raises(nereid.LaunchError) as caught:
        first.synchronize()
    text = str(caught.value)
    assert "deadlock" in text and "'flag'" in text, text
    assert "kernel 'send' starts when this one has ended" in text, text
    second.synchronize()


@pytest.mark.ranks(2)
def test_transfers_and_signals_in_a_stream():
    me, peer = nereid.rank(), 1 - nereid.rank()
    data, flags = nereid.symm.zeros(33, np.float64), nereid.symm.zeros(2, np.uint64)
    back = np.zeros(33)
    stream = nereid.Stream()
    with stream:
        for round_ in range(1, 30):
            nereid.symm.put(data, np.full(33, 100.0 * me + round_), peer)
            nereid.symm.signal_op(flags, 1, peer, op="add")
            nereid.symm.signal_wait_until(flags, round_, cmp="ge")
            nereid.symm.get(data, peer, out=back)
            nereid.symm.signal_op(flags, round_, peer, index=1)
            nereid.symm.signal_wait_until(flags, round_, index=1, cmp="==")
        stream.barrier()
    stream.synchronize()
    np.testing.assert_array_equal(data.numpy(), 100.0 * peer + 29)
    np.testing.assert_array_equal(back, 100.0 * me + 29)
    with stream, pytest.raises(ValueError, match="out="):
        nereid.symm.get(data, peer)


def test_interrupt_of_synchronize_stops_the_launch():
    @nereid.jit
    def endless(x_ptr, n):
        value = tl.load(x_ptr)
        i = 0
        while i < n:
            value = value * 0.5 + 1.0
        tl.store(x_ptr, value)

    x = np.ones(1, np.float32)
    stream = nereid.Stream()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with stream:
            endless[(1,)](x, 1)
            stream.call(lambda: 1 / 0)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            stream.synchronize()
        assert time.monotonic() - start < 5
    finally:
        signal.signal(signal.SIGINT, before)
    assert stream.query()
    scale_add[(1,)](x, 0.0, 4.0, 1, BLOCK=4)
    assert x[0] == 4


def test_what_is_left_at_exit(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent("""
        import time, nereid
        ends, fails = nereid.Stream("ends"), nereid.Stream("fails")
        ends.call(time.sleep, 0.3)
        ends.call(print, "done", flush=True)
        fails.call(lambda: {}["missing"])
        """))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "done\n"
    assert "error in fails, which was not synchronized" in done.stderr and "KeyError: 'missing'" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    "ending, expected", [("", 1), ("raise SystemExit(3)", 3), ("raise ValueError", 1), ("nereid.synchronize()", 1)]
)
def test_a_launch_that_failed_unasked_fails_the_process(tmp_path, ending, expected):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent("""
        import atexit, nereid, numpy as np, nereid.distributed as dl, nereid.language as tl
        atexit.register(lambda: print("other handlers run", flush=True))
        @nereid.jit
        def k(x_ptr, rank):
            tl.store(dl.symm_at(x_ptr, rank), 1)
        x = nereid.symm.zeros(1, np.int32)
        stream = nereid.Stream()
        with stream:
            k[(1,)](x, 99)
        """) + ending)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == expected and done.stdout == "other handlers run\n", done
    assert "LaunchError" in done.stderr and "99" in done.stderr
