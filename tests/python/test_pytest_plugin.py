# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The marker and the fixture for tests on several ranks."""

import asyncio
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import nereid


@pytest.fixture
def number():
    return 17


@pytest.mark.ranks(2, 3)
def test_runs_on_every_rank(number, tmp_path):
    assert number == 17 and nereid.world_size() in (2, 3) and tmp_path.is_dir()
    assert nereid.symm.all_reduce(np.array([nereid.rank()]))[0] == sum(range(nereid.world_size()))


@pytest.mark.ranks(2)
@pytest.mark.parametrize("value", [1, 2])
def test_with_parameters(value):
    assert nereid.symm.all_gather(np.int64(value * nereid.rank())).tolist() == [0, value]


@pytest.mark.ranks(2)
async def test_coroutine(number):
    await asyncio.sleep(0)
    assert number == 17 and nereid.world_size() == 2


def test_coroutines_and_generators_fail_loudly(tmp_path):
    code, output = run_pytest(tmp_path, """
        import asyncio, pytest

        @pytest.mark.ranks(2)
        async def test_raises():
            await asyncio.sleep(0)
            assert 1 == 2

        @pytest.mark.ranks(2)
        async def test_yields():
            yield 1
        """)
    assert code == 1 and "2 failed" in output and "assert 1 == 2" in output, output
    assert "a test on ranks cannot yield" in output


class TestMethods:
    offset = 5

    @pytest.mark.ranks(2)
    def test_method(self):
        assert self.offset + nereid.rank() in (5, 6)


def test_fixture(ranks):
    assert ranks(3, lambda base: base + nereid.rank(), 10) == [10, 11, 12]
    with pytest.raises(pytest.fail.Exception, match="ZeroDivisionError"):
        ranks(2, lambda: 1 // nereid.rank())


def run_pytest(tmp_path, body: str, *options: str):
    (tmp_path / "test_it.py").write_text(textwrap.dedent(body))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "nereid.pytest_plugin", "-p", "no:cacheprovider", "-c", "/dev/null",
         "--rootdir", str(tmp_path), str(tmp_path / "test_it.py"), *options],
        capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def test_failures_show_tracebacks_and_output_by_rank(tmp_path):
    code, output = run_pytest(tmp_path, """
        import os, signal, sys, pytest, nereid

        @pytest.mark.ranks(3)
        def test_raises():
            print("hello from", nereid.rank())
            os.write(2, b"and from the system\\n")
            if nereid.rank() == 1:
                value = 41
                assert value == 42
            nereid.barrier()

        @pytest.mark.ranks(2)
        def test_dies():
            if nereid.rank() == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            nereid.barrier()

        @pytest.mark.ranks(2)
        def test_skips():
            if nereid.rank() == 1:
                pytest.skip("not today")
            nereid.barrier()

        @pytest.mark.ranks(2)
        def test_passes():
            print("quiet")

        @pytest.mark.ranks(2, timeout=2)
        def test_hangs():
            import time
            time.sleep(100)
        """)
    assert code == 1 and "3 failed, 1 passed, 1 skipped" in output, output
    assert "test_raises[3-ranks] failed on rank" in output and "rank 1: " in output
    assert "assert value == 42" in output
    assert "hello from 1" in output and "and from the system" in output and "quiet" not in output
    assert "rank 0: killed by signal 9 (SIGKILL)" in output
    # The survivor knows how its peer ended.
    assert "was killed by signal 9 (Killed) while rank 1 waits in the host collective barrier()" in output, output
    assert "did not end within 2 s" in output


@pytest.mark.parametrize("mark", ["ranks", "ranks()", "ranks('2')", "ranks(0)", "ranks(2, retries=3)"])
def test_wrong_markers(tmp_path, mark):
    code, output = run_pytest(tmp_path, f"""
        import pytest

        @pytest.mark.{mark}
        def test_it():
            pass
        """)
    assert code != 0 and "write @pytest.mark.ranks(4)" in output, output
