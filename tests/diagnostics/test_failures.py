# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs that go wrong: the others get an error that says who and where, in time, and nothing stays behind."""

import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import shared_memory
from jobs import HEADER, NEREID, line_of, run_job


@pytest.fixture(autouse=True)
def nothing_left_in_shared_memory():
    before = shared_memory.names()
    yield
    assert not shared_memory.left_since(before)


def test_plain_array_where_a_symmetric_one_is_needed(tmp_path):
    code, output, _, _ = run_job(tmp_path, """
        @nereid.jit
        def kernel(buffer_ptr):
            tl.store(dl.symm_at(buffer_ptr, 0), 1.0)

        nereid.init()
        kernel[(1,)](np.zeros(4, np.float32))
        """, 2)
    assert code != 0
    assert "buffer_ptr" in output and "symmetric" in output


@pytest.mark.parametrize("target", ["dl.num_ranks()", "-1"])
def test_rank_outside_the_job(tmp_path, target):
    code, output, _, script = run_job(tmp_path, f"""
        @nereid.jit
        def kernel(buffer_ptr, zero):
            target = zero + {target}
            remote_ptr = dl.symm_at(buffer_ptr, target)
            tl.store(remote_ptr, 1.0)

        nereid.init()
        buffer = nereid.symm.zeros((4,), np.float32)
        kernel[(1,)](buffer, 0)
        """, 2)
    assert code != 0
    assert re.search(rf"job\.py:{line_of(script, 'remote_ptr = ')}\b", output), output


def test_allocations_that_differ(tmp_path):
    code, output, seconds, _ = run_job(tmp_path, """
        nereid.init()
        nereid.symm.zeros((4 + nereid.rank(),), np.float32)
        """, 2)
    assert code != 0 and seconds < 30
    assert re.search(r"\(4,?\)", output) and re.search(r"\(5,?\)", output), output


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)", "raise KeyError('lost')"])
def test_rank_that_is_lost_while_others_wait(tmp_path, end):
    code, output, seconds, script = run_job(tmp_path, f"""
        @nereid.jit
        def kernel(signal_ptr, data_ptr):
            token = dl.wait(signal_ptr, 1, "gpu", "acquire")
            tl.store(dl.consume_token(data_ptr, token), 1.0)

        nereid.init()
        signal_mem = nereid.symm.zeros((1,), np.int64)
        data = nereid.symm.zeros((1,), np.float32)
        nereid.barrier()
        if nereid.rank() == 1:
            {end}
        start = time.monotonic()
        try:
            kernel[(1,)](signal_mem, data)
        except nereid.LaunchError as error:
            sys.stdout.write(f"SURVIVOR {{nereid.rank()}} {{time.monotonic() - start:.1f}} {{error}}\\n")
            sys.stdout.flush()
            raise
        """, 3)
    assert code != 0
    survivors = re.findall(r"SURVIVOR (\d) ([\d.]+)", output)
    assert sorted(rank for rank, _ in survivors) == ["0", "2"], output
    assert all(float(after) <= 5 for _, after in survivors), output
    assert "rank 1" in output


def test_barrier_that_not_all_programs_reach(tmp_path):
    code, output, seconds, script = run_job(tmp_path, """
        @nereid.jit
        def kernel(x_ptr):
            if tl.program_id(0) > 0:
                libshmem_device.barrier_all()
            tl.store(x_ptr, 1.0)

        nereid.init()
        x = nereid.symm.zeros((1,), np.float32)
        kernel[(3,)](x)
        """, 2, NEREID_TIMEOUT="3")
    assert code != 0 and seconds < 60
    assert re.search(rf"job\.py:{line_of(script, 'barrier_all()')}\b", output), output


def test_wait_that_nobody_answers(tmp_path):
    code, output, seconds, script = run_job(tmp_path, """
        @nereid.jit
        def kernel(signal_ptr, data_ptr):
            token = dl.wait(signal_ptr, 1, "gpu", "acquire", waitValue=7)
            tl.store(dl.consume_token(data_ptr, token), 1.0)

        nereid.init()
        signal_mem = nereid.symm.zeros((1,), np.int64)
        data = nereid.symm.zeros((1,), np.float32)
        kernel[(1,)](signal_mem, data)
        """, 2, NEREID_TIMEOUT="3")
    assert code != 0 and seconds < 60
    assert re.search(rf"job\.py:{line_of(script, 'dl.wait')}\b", output), output
    assert "7" in output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("waits", ["libshmem_device.barrier_all()", "flag = dl.consume_token(flag, dl.wait(flag, 1, 'sys', 'acquire'))"])
def test_one_program_waits_while_another_polls(tmp_path, ranks, waits):
    code, output, seconds, script = run_job(tmp_path, f"""
        @nereid.jit
        def kernel(flag):
            if tl.program_id(0) == 0:
                {waits}
            while tl.load(flag) == 0:  # polls
                pass

        nereid.init()
        kernel[(2,)](nereid.symm.zeros((4,), np.int32))
        """, ranks, NEREID_TIMEOUT="1")
    assert code != 0 and seconds < 60
    assert "nothing has moved in the whole job for 1 s" in output, output
    assert re.search(rf"job\.py:{line_of(script, '# polls')}\b", output), output


@pytest.mark.parametrize("poll", [
    "libshmem_device.int32_atomic_fetch(words, peer) == 0",
    "libshmem_device.int32_atomic_compare_swap(words, 1, 2, peer) != 1",
    "libshmem_device.int32_atomic_swap(words + 1, 7, peer) != 0",
    "libshmem_device.int32_atomic_fetch_add(words, 0, peer) == 0",
    "libshmem_device.int32_g(words, peer) == 0",
])
def test_poll_through_remote_calls_that_change_nothing(tmp_path, poll):
    code, output, seconds, script = run_job(tmp_path, f"""
        @nereid.jit
        def kernel(words):
            peer = 1 - dl.rank()
            while {poll}:
                pass

        nereid.init()
        words = nereid.symm.zeros((4,), np.int32)
        words[1] = 7
        nereid.barrier()
        kernel[(1,)](words)
        """, 2, NEREID_TIMEOUT="1")
    assert code != 0 and seconds < 60
    assert "nothing has moved in the whole job for 1 s" in output, output
    assert re.search(rf"job\.py:{line_of(script, 'while ')}\b", output), output


def test_remote_polls_of_a_job_that_goes_on(tmp_path):
    """A lock that all programs fight for, for several times the time-out, and polls with work in each round."""
    code, output, _, _ = run_job(tmp_path, """
        @nereid.jit
        def kernel(words, rounds, work):
            peer = 0
            total = tl.load(words + 2)
            for i in range(rounds):
                while libshmem_device.int32_atomic_compare_swap(words, 0, 1, peer) != 0:
                    pass
                total = tl.load(words + 2)
                for j in range(work):
                    total = total * 1664525 + 1013904223
                tl.store(words + 2, total)
                libshmem_device.int32_atomic_add(words + 1, 1, peer)
                libshmem_device.quiet()
                libshmem_device.int32_atomic_swap(words, 0, peer)
            while libshmem_device.int32_atomic_fetch(words + 1, peer) < 2 * 2 * rounds:
                for j in range(work):
                    total = total * 1664525 + 1013904223
                tl.store(words + 3, total)

        nereid.init()
        words = nereid.symm.zeros((4,), np.int32)
        nereid.barrier()
        kernel[(2,)](words, 6, 30_000_000)
        nereid.barrier()
        assert nereid.rank() != 0 or words[1] == 24, words
        """, 2, NEREID_TIMEOUT="1")
    assert code == 0, output


def test_killed_launcher_takes_the_job_with_it(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(HEADER + textwrap.dedent("""
        nereid.init()
        sys.stdout.write(f"PID {os.getpid()}\\n")  # in one piece, whatever the buffering
        sys.stdout.flush()
        time.sleep(100)
        """))
    job = subprocess.Popen([str(NEREID), "run", "-n", "3", str(script)], stdout=subprocess.PIPE, text=True)
    try:
        pids = [int(re.search(r"PID (\d+)", job.stdout.readline()).group(1)) for _ in range(3)]
    finally:
        job.kill()
        job.wait()
    deadline = time.monotonic() + 10
    alive = pids
    while alive and time.monotonic() < deadline:
        time.sleep(0.1)
        alive = [pid for pid in pids if Path(f"/proc/{pid}").exists()
                 and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()]
    assert not alive


def test_exit_code_of_the_script(tmp_path):
    assert run_job(tmp_path, "nereid.init()\n", 2)[0] == 0
    assert run_job(tmp_path, "nereid.init()\nsys.exit(7)\n", 2)[0] == 7


@pytest.mark.parametrize("variable, values", [
    ("NEREID_PROFILE", ("cuda", "ascend910b")),
    ("NEREID_SCHEDULE", ("fifo", "random:3")),
    ("NEREID_RANKS_PER_NODE", ("1", "2")),
])
def test_ranks_that_disagree_about_the_job(tmp_path, variable, values):
    script = tmp_path / "job.py"
    script.write_text(HEADER + "nereid.init()\n", encoding="utf-8")
    options = [f"--rank-env={rank}:{variable}={value}" for rank, value in enumerate(values)]
    done = subprocess.run([str(NEREID), "run", "-n", "2", *options, str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert f"set {variable} alike on all ranks" in done.stderr
    assert all(value in done.stderr for value in values)
