# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that touch memory which is not there, or that compute without end: the report names the user's line."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.language.extra import libdevice

from jobs import NEREID, line_of, run_job

HERE = Path(__file__)


def line(text: str) -> int:
    """Line of this file that ends in the comment `text`."""
    return next(i for i, row in enumerate(HERE.read_text().splitlines(), 1) if row.endswith("# " + text))


@nereid.jit
def load_helper(ptr, offsets):
    value = tl.load(ptr + offsets)  # in the helper
    return value * 2


@nereid.jit
def wild_load(x_ptr, far, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    near = tl.load(x_ptr + offsets)
    result = near * 3.0 + load_helper(x_ptr, offsets + far)
    tl.store(x_ptr + offsets, result)


@nereid.jit
def wild_masked_store(x_ptr, far, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets)
    value = libdevice.pow(value, 2.0)
    tl.store(x_ptr + offsets + far, value, mask=offsets < 5)  # masked store


@nereid.jit
def wild_scalar_store(x_ptr, far):
    if tl.program_id(0) == 3:
        tl.store(x_ptr + far, 1.0)  # scalar store


@nereid.jit
def wild_atomic(x_ptr, far):
    tl.atomic_add(x_ptr + far, 1.0)  # atomic


@nereid.jit
def wild_in_loop(x_ptr, step, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    at = x_ptr + tl.arange(0, BLOCK)
    for _ in range(1 << 20):
        total += tl.load(at)  # in a loop
        at += step
    tl.store(x_ptr + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize(
    "kernel, place, program, args, constants",
    [
        (wild_load, "in the helper", (0, 0, 0), (1 << 40,), {"BLOCK": 64}),
        (wild_masked_store, "masked store", (0, 0, 0), (-(1 << 41),), {"BLOCK": 32}),
        (wild_scalar_store, "scalar store", (3, 0, 0), (1 << 39,), {}),
        (wild_atomic, "atomic", (0, 0, 0), (1 << 40,), {}),
        (wild_in_loop, "in a loop", (0, 0, 0), (1 << 28,), {"BLOCK": 16}),
    ],
)
def test_wild_access(kernel, place, program, args, constants):
    x = np.zeros(64, np.float32)
    with pytest.raises(nereid.LaunchError) as caught:
        kernel[(4 if program[0] else 1,)](x, *args, **constants)
    error = caught.value
    assert error.code == "kernel fault" and error.program == program
    assert (error.file, error.line) == (str(HERE), line(place)), str(error)
    rows = str(error).splitlines()
    assert rows[0].startswith(f"{HERE}:{line(place)}:{error.column}: error: access to memory that does not exist")
    source = HERE.read_text().splitlines()[error.line - 1].strip()
    assert rows[1].strip() == source and rows[2].strip() == "^", str(error)


def test_line_of_a_kernel_from_the_cache(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent("""
        import sys, numpy as np, nereid, nereid.language as tl

        @nereid.jit
        def kernel(x_ptr, far):
            tl.store(x_ptr + far, 1.0)

        try:
            kernel[(1,)](np.zeros(4, np.float32), 1 << 40)
        except nereid.LaunchError as error:
            print(error)
        """))
    for _ in range(2):
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100,
                              env={**os.environ, "NEREID_CACHE_DIR": str(tmp_path / "cache")})
        assert f"job.py:{line_of(script, 'tl.store')}:5: error:" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("later", [True, False])
def test_handlers_that_others_have_put_in_place_since(tmp_path, later):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent("""
        import faulthandler, sys, time
        import numpy as np, nereid, nereid.language as tl

        @nereid.jit
        def kernel(x_ptr, far):
            tl.store(x_ptr + far, 1.0)

        x = np.zeros(4, np.float32)
        kernel[(1,)](x, 1)
        for turn in range(2):
            faulthandler.enable()
            if LATER:
                time.sleep(0.1)
            try:
                kernel[(1,)](x, 1 << 40)
            except nereid.LaunchError as error:
                print(error)
        kernel[(1,)](x, 2)
        print(x.tolist(), flush=True)
        faulthandler._sigsegv()  # a fault that is no kernel's still goes to them
        """).replace("LATER", str(later)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100)
    assert done.stdout.count(f"job.py:{line_of(script, 'tl.store')}:5: error: access to memory") == 2, (
        done.stdout + done.stderr)
    assert "[0.0, 1.0, 1.0, 0.0]" in done.stdout
    assert done.returncode == -signal.SIGSEGV, done.stderr
    dumps = done.stderr.count("Fatal Python error: Segmentation fault")
    assert dumps == 1 if later else dumps >= 1, done.stderr


def test_address_beyond_the_heaps_and_null(tmp_path):
    code, output, _, script = run_job(tmp_path, """
        @nereid.jit
        def kernel(x_ptr, far):
            tl.store(dl.symm_at(x_ptr, 1) + far, 1.0)

        @nereid.jit
        def null(x_ptr, address):
            where = address.to(tl.pointer_type(tl.float32))
            tl.store(where, 1.0)

        nereid.init()
        x = nereid.symm.zeros((4,), np.float32, name="payload")
        for function, argument in (kernel, (1 << 20) // 4), (null, 8):
            if nereid.rank() == 0:
                try:
                    function[(1,)](x, argument)
                except nereid.LaunchError as error:
                    sys.stdout.write(f"REPORT {error}\\n")
            else:
                try:
                    nereid.barrier()
                except nereid.LaunchError as error:
                    sys.stdout.write(f"OTHER {error}\\n")
            sys.stdout.flush()
            nereid.recover()
        """, 2, NEREID_HEAP_SIZE="1M")
    assert code == 0, output
    assert f"job.py:{line_of(script, 'symm_at(x_ptr, 1)')}:5: error: access to memory" in output, output
    assert "past the end of the last symmetric heap (rank 1)" in output, output
    assert f"job.py:{line_of(script, 'tl.store(where')}:5: error: access to memory" in output, output
    assert "null pointer" in output, output


@nereid.jit
def store_through_null(flag_ptr, out_ptr):
    if tl.load(flag_ptr) == 1:
        null = (out_ptr.to(tl.int64) * 0).to(tl.pointer_type(tl.int32))
        tl.store(null, 1)  # null
    tl.store(out_ptr, 5)


@nereid.jit
def only_null(out_ptr):
    tl.store((out_ptr.to(tl.int64) * 0).to(tl.pointer_type(tl.int32)), 1)


def test_null_pointers_that_the_compiler_knows():
    out = np.zeros(1, np.int32)
    store_through_null[(1,)](np.zeros(1, np.int32), out)
    assert out[0] == 5
    with pytest.raises(nereid.LaunchError, match="(?s)null pointer.*# null"):
        store_through_null[(1,)](np.ones(1, np.int32), out)
    with pytest.raises(nereid.LaunchError, match="null pointer"):
        only_null[(1,)](out)


@nereid.jit
def endless(x_ptr, n):
    value = tl.load(x_ptr)
    i = 0
    while i < n:  # endless
        value = value * 0.5 + 1.0
    tl.store(x_ptr, value)


@nereid.jit
def endless_call(x_ptr, n):
    value = tl.load(x_ptr)
    i = 0
    while i < n:
        value = libdevice.pow(value, 1.5)  # endless call
    tl.store(x_ptr, value)


@pytest.mark.parametrize("kernel", [endless, endless_call])
def test_interrupt_of_a_kernel_that_computes(kernel):
    x = np.ones(1, np.float32)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt) as caught:
            kernel[(2,)](x, 1)
        assert time.monotonic() - start < 5
        notes = "".join(getattr(caught.value, "__notes__", ["test_faults.py:"]))
        assert "test_faults.py:" in notes
        # The process is as good as before.
        kernel[(2,)](x, 0)
    finally:
        signal.signal(signal.SIGINT, before)


def test_handler_that_does_not_raise_does_not_stop_the_kernel():
    x = np.ones(1, np.float32)
    seen = []

    def stop(*_):
        raise TimeoutError("enough")

    before = {sig: signal.signal(sig, handler)
              for sig, handler in ((signal.SIGUSR1, lambda *_: seen.append(1)), (signal.SIGALRM, stop))}
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        with pytest.raises(TimeoutError, match="enough"):
            endless[(1,)](x, 1)
        assert seen == [1]
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def test_handler_that_needs_much_stack():
    x = np.ones(1, np.float32)

    def deep(depth):
        return depth and max(deep(depth - 1), sorted([depth], key=lambda value: value)[0])

    def stop(*_):
        text = re.sub("a+", lambda match: str(deep(60)), "caat" * 50) + f"{textwrap.dedent(' x')}"
        raise TimeoutError(text[:3])

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="c60"):
            endless[(1,)](x, 1)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_rank_that_computes_without_end_is_named(tmp_path):
    code, output, seconds, script = run_job(tmp_path, """
        @nereid.jit
        def kernel(signal_ptr, x_ptr, n):
            me = dl.rank()
            if me == 1:
                value = tl.load(x_ptr)
                i = 0
                while i < n:
                    value = value * 0.5 + 1.0
                tl.store(x_ptr, value)
            else:
                token = dl.wait(signal_ptr, 1, "gpu", "acquire")
                tl.store(dl.consume_token(x_ptr, token), 1.0)

        nereid.init()
        signals = nereid.symm.zeros((1,), np.int64)
        x = nereid.symm.zeros((1,), np.float32)
        try:
            kernel[(1,)](signals, x, 1)
        except nereid.LaunchError as error:
            sys.stdout.write(f"SEEN {nereid.rank()}\\n{error}\\n")
            sys.stdout.flush()
            raise
        """, 3, NEREID_TIMEOUT="2")
    assert code != 0 and seconds < 40, output
    assert sorted(re.findall(r"SEEN (\d)", output)) == ["0", "1", "2"], output
    assert "rank 1 computes" in output, output
    assert output.count(f"at {script}:{line_of(script, 'while i < n')}") + \
        output.count(f"at {script}:{line_of(script, 'value = value * 0.5')}") >= 3, output


def test_interrupt_of_a_job_names_the_rank_that_computes(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent("""
        import sys, time, numpy as np, nereid, nereid.language as tl

        @nereid.jit
        def kernel(x_ptr, n):
            value = tl.load(x_ptr)
            i = 0
            while i < n:
                value = value * 0.5 + 1.0
            tl.store(x_ptr, value)

        nereid.init()
        x = nereid.symm.zeros((1,), np.float32)
        kernel[(1,)](x, 0)
        sys.stdout.write("READY\\n")
        sys.stdout.flush()
        if nereid.rank() == 1:
            kernel[(1,)](x, 1)
        nereid.barrier()
        """))
    job = subprocess.Popen([str(NEREID), "run", "-n", "2", str(script)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(2):
            assert job.stdout.readline() == "READY\n"
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        output, _ = job.communicate(timeout=30)
    finally:
        job.kill()
        job.wait()
    assert job.returncode == 130, output
    assert f"{script}:8" in output or f"{script}:9" in output, output
