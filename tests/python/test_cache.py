# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache: hits across processes, many writers at once, damage, what makes a new key."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid import _runtime
from nereid._kernels import cache as _cache


@nereid.jit
def scale(x_ptr, factor, n):
    pid = tl.program_id(0)
    if pid < n:
        tl.store(x_ptr + pid, tl.load(x_ptr + pid) * factor)


@pytest.fixture(autouse=True)
def own_cache(cache_folder):
    scale._clear()
    yield cache_folder
    scale._clear()


def entries(folder: Path):
    return sorted(folder.glob("*/*.o"))


def run_scale():
    x = np.arange(5, dtype=np.float32)
    kernel = scale[(5,)](x, 3.0, 4)
    np.testing.assert_array_equal(x, [0, 3, 6, 9, 4])
    return kernel


def test_second_compilation_comes_from_the_cache(cache_folder):
    assert not run_scale().from_cache
    assert len(entries(cache_folder)) == 1
    scale._clear()
    assert run_scale().from_cache
    assert len(entries(cache_folder)) == 1


def test_stages_of_a_kernel_from_the_cache(cache_folder):
    fresh = dict(run_scale().asm)
    scale._clear()
    cached = run_scale()
    assert cached.from_cache and cached.asm["obj"] == fresh["obj"]
    assert "tt.func" in cached.asm["ttir"] and cached.asm["ttir"] == fresh["ttir"]
    assert "scale" in cached.asm["asm"] and "define" in cached.asm["llvm"]
    with pytest.raises(KeyError, match="the stages of the target cpu are"):
        cached.asm["ptx"]


@pytest.mark.parametrize("damage", ["truncated", "one bit", "other file", "empty"])
def test_damaged_entries_are_made_anew(cache_folder, damage):
    run_scale()
    (entry,) = entries(cache_folder)
    code = entry.read_bytes()
    middle = len(code) // 2
    entry.write_bytes({
        "truncated": code[:-1],
        "one bit": code[:middle] + bytes([code[middle] ^ 4]) + code[middle + 1:],
        "other file": bytes(reversed(code)),
        "empty": b"",
    }[damage])
    scale._clear()
    assert not run_scale().from_cache
    scale._clear()
    assert run_scale().from_cache


def test_switches(cache_folder, monkeypatch):
    run_scale()
    scale._clear()
    monkeypatch.setenv("NEREID_ALWAYS_COMPILE", "1")
    assert not run_scale().from_cache
    monkeypatch.delenv("NEREID_ALWAYS_COMPILE")
    scale._clear()
    monkeypatch.setenv("NEREID_CACHE", "0")
    assert not run_scale().from_cache


def test_folder_that_cannot_be_written(monkeypatch, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("NEREID_CACHE_DIR", str(blocker / "cache"))
    assert not run_scale().from_cache


def test_entries_name_what_they_are(cache_folder):
    run_scale()
    description = _runtime.describe_object(entries(cache_folder)[0].read_bytes(), "cpu")
    assert description["name"] == "scale"
    assert [argument["type"] for argument in description["args"]] == ["*fp32", "fp32", "i32"]
    assert not list(cache_folder.glob("*/.new-*"))


def test_what_makes_a_new_key(cache_folder):
    """Types, divisibility and constants; not the values of run-time arguments."""
    x = np.zeros(64, np.float32)
    scale[(1,)](x, 2.0, 3)
    scale[(1,)](x, 3.0, 5)
    assert len(entries(cache_folder)) == 1
    scale[(1,)](x, 2.0, 16)
    scale[(1,)](x, 2.0, 1)
    scale[(1,)](x.astype(np.float64), 2.0, 3)
    scale[(1,)](x, 2.0, 3, debug=True)
    assert len(entries(cache_folder)) == 5


def test_changed_source_makes_a_new_key(cache_folder, tmp_path):
    script = tmp_path / "kernels.py"
    body = """
    import numpy as np, nereid, nereid.language as tl
    FACTOR = tl.constexpr({factor})
    @nereid.jit
    def inner(x):
        return x {op} FACTOR
    @nereid.jit
    def kernel(x_ptr):
        tl.store(x_ptr, inner(tl.load(x_ptr)))
    x = np.full(1, 10, np.int32)
    print(kernel[(1,)](x).from_cache, int(x[0]))
    """

    def run(**parts):
        script.write_text(textwrap.dedent(body.format(**parts)))
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run(factor=2, op="+") == ["False", "12"]
    assert run(factor=2, op="+") == ["True", "12"]
    assert run(factor=3, op="+") == ["False", "13"]  # a constexpr global
    assert run(factor=2, op="*") == ["False", "20"]  # a function that the kernel calls
    assert run(factor=2, op="+") == ["True", "12"]


def test_many_processes_at_once(cache_folder, tmp_path):
    """All get the right kernel; it is compiled once."""
    script = tmp_path / "many.py"
    script.write_text(textwrap.dedent("""
        import numpy as np, nereid, nereid.language as tl
        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, tl.load(x_ptr) + 5)
        x = np.zeros(1, np.int32)
        print(kernel[(1,)](x).from_cache, int(x[0]))
        """))
    jobs = [subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    lines = [job.communicate(timeout=120)[0].split() for job in jobs]
    assert all(line[1] == "5" for line in lines)
    assert [line[0] for line in lines].count("False") == 1
    assert len(entries(cache_folder)) == 1 and not list(cache_folder.glob("*/.new-*"))


def test_kernel_from_the_cache_needs_no_compiler(cache_folder, tmp_path):
    script = tmp_path / "warm.py"
    script.write_text(textwrap.dedent("""
        import sys
        import numpy as np, nereid, nereid.language as tl
        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, tl.exp(tl.load(x_ptr)))
        x = np.zeros(1, np.float32)
        print(kernel[(1,)](x).from_cache, "nereid._compiler" in sys.modules, x[0] == 1)
        """))
    for expected in ("False True True", "True False True"):
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == expected, done.stdout + done.stderr


def test_root_folder(monkeypatch):
    monkeypatch.delenv("NEREID_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert _cache.cache_root() == Path("/somewhere/nereid")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/user")
    assert _cache.cache_root() == Path("/home/user/.cache/nereid")


def test_relaunch_of_a_compiled_kernel():
    @nereid.jit
    def fill(x_ptr, BLOCK: tl.constexpr, value):
        tl.store(x_ptr + tl.program_id(0), value + BLOCK)

    x = np.zeros(4, np.int32)
    kernel = fill[(4,)](x, BLOCK=10, value=5)
    assert (x == 15).all()
    kernel[(2, 1, 1)](x, 6)
    np.testing.assert_array_equal(x, [16, 16, 15, 15])


def test_kernels_with_warnings_warn_in_every_process(cache_folder):
    import nereid.distributed as dl

    @nereid.jit(unused_token="warn")
    def kernel(signal_ptr, x_ptr):
        dl.wait(signal_ptr, 1, "gpu", "acquire")
        tl.store(x_ptr, 1.0)

    for _ in range(2):
        kernel._clear()
        with pytest.warns(UserWarning, match="token of this wait"):
            assert not kernel.warmup(np.int64, np.float32).from_cache
    assert not entries(cache_folder)


def test_disk_that_is_full(cache_folder):
    """Files cannot grow beyond a few bytes: nothing is stored, and nothing breaks."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
        assert not run_scale().from_cache
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not entries(cache_folder) and not list(cache_folder.glob("*/.new-*"))
    scale._clear()
    assert not run_scale().from_cache
    scale._clear()
    assert run_scale().from_cache


def test_folder_without_permission_to_write(cache_folder):
    run_scale()
    (entry,) = entries(cache_folder)
    folders = [entry.parent, cache_folder]
    for folder in folders:
        folder.chmod(0o555)
    try:
        scale._clear()
        assert run_scale().from_cache
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_dump_is_made_by_compiling(cache_folder, tmp_path, monkeypatch):
    run_scale()
    scale._clear()
    monkeypatch.setenv("NEREID_DUMP", str(tmp_path / "dump"))
    assert not run_scale().from_cache
    names = sorted(path.name for path in (tmp_path / "dump").iterdir())
    assert any("0-ttir" in name for name in names) and any("cpu-tiles" in name for name in names)


def test_a_dump_that_cannot_be_written_is_an_error(cache_folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NEREID_DUMP", str(tmp_path / "file" / "dump"))
    scale._clear()
    with pytest.raises(nereid.CompilationError, match="(?s)'ttir' cannot be written to .*file/dump.*NEREID_DUMP"):
        run_scale()


def test_list_and_clear(cache_folder, capsys):
    from nereid import cli

    run_scale()
    keep = cache_folder / "notes.txt"
    keep.write_text("mine")
    assert cli.main(["cache", "list"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("scale ") and f"{cache_folder}: 1 kernel, " in printed
    assert cli.main(["cache", "clear"]) == 0
    assert "1 kernel removed" in capsys.readouterr().out and not entries(cache_folder) and keep.exists()
    assert cli.main(["cache"]) == 0
    assert "0 kernels" in capsys.readouterr().out


def test_override(cache_folder, tmp_path, monkeypatch):
    text = run_scale().asm["ttir"]
    scale._clear()
    folder = tmp_path / "override"
    folder.mkdir()
    monkeypatch.setenv("NEREID_OVERRIDE", str(folder))
    assert run_scale().from_cache  # no file of that name
    assert text.count("arith.mulf") == 1
    (folder / "scale.ttir").write_text(text.replace("arith.mulf", "arith.addf"))
    scale._clear()
    x = np.arange(5, dtype=np.float32)
    kernel = scale[(5,)](x, 3.0, 4)
    np.testing.assert_array_equal(x, [3, 4, 5, 6, 4])
    assert "arith.addf" in kernel.asm["ttir"] and len(entries(cache_folder)) == 1
    with pytest.raises(nereid.CompilationError, match=r"scale.ttir: error: the kernel there takes \(\*fp32, fp32, i32\)"):
        scale[(5,)](np.arange(5, dtype=np.float64), 3.0, 4)
    (folder / "scale.ttir").write_text("module {")
    scale._clear()
    with pytest.raises(nereid.CompilationError, match="scale.ttir:1"):
        run_scale()
