# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command nereid: run, compile, info, and what it says when it is used wrongly."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

KERNELS = '''\
import nereid
import nereid.language as tl

print("this file prints when it is loaded")


@nereid.jit
def scale(x_ptr, factor, n, STEP: tl.constexpr, bias=None):
    pid = tl.program_id(0) * STEP
    if pid < n:
        tl.store(x_ptr + pid, tl.load(x_ptr + pid) * factor)


@nereid.jit
def wrong(x_ptr):
    tl.store(x_ptr, missing)


@nereid.jit(example_signature="x_ptr=*fp16")
def documented(x_ptr):
    tl.store(x_ptr, 1.0)


number = 3
'''


@pytest.fixture
def kernels(tmp_path, cache_folder):
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    return path


def nereid(*args, timeout=120, **environment):
    done = subprocess.run([sys.executable, "-m", "nereid", *map(str, args)], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def write(path, text):
    path.write_text("import os, sys, time\nimport nereid\n" + text)
    return path


# ---- run


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_run(tmp_path, ranks):
    script = write(tmp_path / "s.py", "nereid.init()\nprint(nereid.rank(), nereid.world_size(), sys.argv[1:])\n")
    code, out, err = nereid("run", "-n", ranks, script, "--size", 3, "-n", "x")
    assert code == 0, err
    assert sorted(out.splitlines()) == [f"{rank} {ranks} ['--size', '3', '-n', 'x']" for rank in range(ranks)]


def test_run_options(tmp_path):
    script = write(tmp_path / "s.py", """
nereid.init()
info = nereid.job_info()
print(info["heap_bytes"] >> 20, info["timeout"], info["num_threads"], info["profile"], info["sub_vec_num"], os.environ["WHO"])
""")
    code, out, err = nereid("run", "-n", 2, "--tag-output", "--heap-size", "64M", "--timeout", "7", "--threads", "2",
                            "--profile", "ascend910b", "--schedule", "fifo", "--env", "WHO=rank{rank}", script)
    assert code == 0, err
    assert sorted(out.splitlines()) == [
        f"[{rank}] 64 7.0 2 ascend910b 2 rank{rank}" for rank in range(2)]


def test_run_prints_one_report_for_all_ranks(tmp_path):
    script = write(tmp_path / "s.py", """
import numpy as np
nereid.init()
flag = nereid.symm.zeros(1, np.int32)
nereid.symm.signal_wait_until(flag, 1)
""")
    code, out, err = nereid("run", "-n", 4, script)
    assert code == 1 and err.count("Traceback") == 1 and err.count("state of the job") <= 1, err
    assert len(re.findall(r"^rank \d: the same JobError as on rank \d, from the same line$", err, re.M)) == 3, err
    script = write(tmp_path / "t.py", "nereid.init()\nnereid.barrier()\nraise ValueError(nereid.rank())\n")
    code, out, err = nereid("run", "-n", 2, script)
    assert "the same" not in err or err.count("Traceback") == 1, err


def test_heap_sizes_in_scripts(tmp_path):
    script = write(tmp_path / "s.py", "nereid.init(heap_size=sys.argv[1])\nprint(nereid.job_info()['heap_bytes'] >> 20)\n")
    code, out, err = nereid("run", "-n", 2, "--heap-size=64M", script, "32M")
    assert code == 0 and out.split() == ["64", "64"], err
    code, out, err = nereid("run", "-n", 2, "--heap-size=64M", script, "96M")
    assert code == 1 and "asks for a heap of 96 MiB, but the job was started with 64 MiB for each rank" in err, err
    assert "write `nereid run --heap-size=96M ...`, or set NEREID_HEAP_SIZE=96M" in err


def test_run_exit_codes(tmp_path):
    assert nereid("run", "-n", 2, write(tmp_path / "a.py", "nereid.init()\n"))[0] == 0
    code, _, err = nereid("run", "-n", 3, write(tmp_path / "b.py", "nereid.init()\nsys.exit(9 if nereid.rank() == 1 else 0)\n"))
    assert code == 9 and "rank 1" in err
    code, _, err = nereid("run", "-n", 2, write(tmp_path / "c.py", "nereid.init()\nos.kill(os.getpid(), 9)\n"))
    assert code == 137
    code, _, err = nereid("run", "-q", "-n", 2, write(tmp_path / "d.py", "nereid.init()\nsys.exit(2)\n"))
    assert code == 2 and err == ""


def test_run_of_a_rank_that_raises(tmp_path):
    script = write(tmp_path / "s.py", """
nereid.init()
if nereid.rank() == 1:
    raise KeyError("this one")
nereid.barrier()
""")
    start = time.monotonic()
    code, out, err = nereid("run", "-n", 3, script)
    assert code == 1 and time.monotonic() - start < 30
    assert "KeyError: 'this one'" in err and "rank 1" in err


def test_run_of_modules_and_programs(tmp_path):
    write(tmp_path / "mod.py", "nereid.init()\nprint('module', sys.argv[1:])\n")
    code, out, _ = nereid("run", "-n", 1, "-m", "mod", "a", PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    assert code == 0 and out == "module ['a']\n"
    code, out, _ = nereid("run", "-n", 2, "--", "sh", "-c", "echo $NEREID_RANK of $NEREID_WORLD_SIZE")
    assert code == 0 and sorted(out.splitlines()) == ["0 of 2", "1 of 2"]


@pytest.mark.parametrize("args, words", [
    ((), "required"), (("walk",), "walk"), (("run",), "no script"), (("run", "-n", "0", "x.py"), "'0' is not a positive"),
    (("run", "-n", "two", "x.py"), "'two' is not a positive"), (("run", "none.py"), "no file 'none.py'"),
    (("run", "-n", "2", "--heap-size", "lots", "{script}"), "lots"), (("run", "--profile", "moon", "{script}"), "ascend910b"),
    (("run", "--schedule", "odd", "{script}"), "odd"), (("run", "--env", "X", "{script}"), "NAME=VALUE"),
    (("run", "--timeout", "-1", "{script}"), "--timeout"), (("run", "--frobnicate", "{script}"), "frobnicate"),
    (("run", "/tmp"), "folder"), (("run", "no-such-program-anywhere"), "no-such-program-anywhere"),
])
def test_wrong_use(tmp_path, args, words):
    script = write(tmp_path / "s.py", "nereid.init()\n")
    code, _, err = nereid(*(arg.replace("{script}", str(script)) for arg in args))
    assert code != 0 and words in err and "Traceback" not in err, err


def test_interrupt_stops_the_job(tmp_path):
    script = write(tmp_path / "s.py", "nereid.init()\nprint('up', flush=True)\ntime.sleep(100)\n")
    job = subprocess.Popen([sys.executable, "-m", "nereid", "run", "-n", "2", str(script)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    for _ in range(2):
        assert job.stdout.readline() == "up\n"
    start = time.monotonic()
    job.send_signal(signal.SIGINT)
    job.communicate(timeout=60)
    assert job.returncode == 130 and time.monotonic() - start < 15


# ---- compile

SIGNATURE = "x_ptr=*fp32:16, factor=fp32, n=i32, STEP=2"


def test_compile_stages(kernels, tmp_path):
    code, ttir, err = nereid("compile", f"{kernels}:scale", "--signature", SIGNATURE)
    assert code == 0, err
    assert "tt.func public @scale(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %factor: f32, %n: i32)" in ttir
    assert "prints" not in ttir
    for stage, words in (("cpu-tiles", "scale"), ("llvm", "define"), ("asm", ".globl")):
        code, out, err = nereid("compile", f"{kernels}:scale", "--signature", SIGNATURE, "--emit", stage)
        assert code == 0 and words in out, err
    target = tmp_path / "k.o"
    assert nereid("compile", f"{kernels}:scale", "--signature", SIGNATURE, "--emit=obj", "-o", target)[0] == 0
    assert target.read_bytes()[:4] == b"\x7fELF"


def test_compile_without_signature(kernels):
    code, out, err = nereid("compile", f"{kernels}:scale")
    assert code == 2 and out == ""
    assert "x_ptr, factor, n, STEP: constexpr" in err
    assert '--signature "x_ptr=*fp32, factor=i32, n=i32, STEP=64"' in err
    code, out, err = nereid("compile", f"{kernels}:documented")
    assert code == 0 and "!tt.ptr<f16>" in out, err


@pytest.mark.parametrize("signature, words", [
    ("x_ptr=*fp32", "lacks a type for the parameter 'factor'"),
    ("x_ptr=*fp32, factor=fp32, n=i32", "lacks a value (a constexpr) for the parameter 'STEP'"),
    ("x_ptr=*fp33, factor=fp32, n=i32, STEP=2", "'*fp33' is neither a type nor a value for the parameter 'x_ptr'"),
    ("x_ptr=*fp32, factor=fp32, n=i32, STEP=fp32x", "'fp32x' is not a value for the constexpr 'STEP'"),
    ("x_ptr=*fp32, x_ptr=*fp32", "'x_ptr' is given twice"), ("y=*fp32", "no parameter 'y'"), ("x_ptr", "name=type"),
])
def test_wrong_signatures(kernels, signature, words):
    code, _, err = nereid("compile", f"{kernels}:scale", "--signature", signature)
    assert code == 2 and words in err and "for example" in err, err


def test_compile_of_what_is_not_there(kernels, tmp_path):
    code, _, err = nereid("compile", f"{kernels}:scales")
    assert code == 2 and "scale, wrong, documented" in err
    code, _, err = nereid("compile", f"{kernels}:number")
    assert code == 2 and "no jit function" in err
    assert nereid("compile", tmp_path / "none.py:k")[0] == 2
    assert nereid("compile", str(kernels))[0] == 2


def test_compile_error(kernels):
    code, out, err = nereid("compile", f"{kernels}:wrong", "--signature", "x_ptr=*fp32")
    line = KERNELS.splitlines().index("    tl.store(x_ptr, missing)") + 1
    assert code == 1 and out == ""
    assert f"{kernels}:{line}:21: error: " in err and "^" in err and "missing" in err and "Traceback" not in err


def test_compile_of_scripts_without_a_main_guard(tmp_path, cache_folder):
    script = tmp_path / "script.py"
    script.write_text(KERNELS + """
import numpy as np
x = np.zeros(4, np.float32)
scale[(1,)](x, 2.0, 4, STEP=4)
open("launched", "w")


@nereid.jit
def later(x_ptr):
    tl.store(x_ptr, 1.0)
""")
    line = script.read_text().splitlines().index("scale[(1,)](x, 2.0, 4, STEP=4)") + 1
    code, out, err = nereid("compile", f"{script}:scale", "--signature", SIGNATURE)
    assert code == 0 and "tt.func public @scale" in out
    assert f"{script}:{line} launches 'scale'; what stands behind was not run" in err and "__main__" in err
    code, out, err = nereid("compile", f"{script}:later", "--signature", "x_ptr=*fp32")
    assert code == 2 and out == "" and f"{script}:{line} launches 'scale' before 'later' is defined" in err
    script.write_text(KERNELS + "import argparse\nargparse.ArgumentParser().parse_args(['--no-such'])\n")
    code, out, err = nereid("compile", f"{script}:scale", "--signature", SIGNATURE)
    assert code == 0 and "raises SystemExit" in err and "tt.func public @scale" in out


def test_compiled_text_runs_by_the_names_of_the_function(kernels, tmp_path):
    text = tmp_path / "kernel.ttir"
    assert nereid("compile", f"{kernels}:scale", "--signature", SIGNATURE, "-o", text)[0] == 0
    code, out, err = nereid("run-ir", text, "--signature")
    assert code == 0 and out.splitlines() == ["x_ptr: *fp32  a multiple of 16", "factor: fp32", "n: i32"], err
    code, out, err = nereid("run-ir", text, "--grid", "4", "--arg", "x_ptr=ones[7]", "--arg", "factor=3", "--arg", "n=7")
    assert code == 0 and "x_ptr: fp32[7] 4 of 7 changed" in out, out + err


# ---- info


def test_info():
    code, out, err = nereid("info", NEREID_TIMEOUT="12")
    assert code == 0, err
    for words in ("LLVM", "ABI version", "ascend910b", "NEREID_HEAP_SIZE", "NEREID_CACHE_DIR", "12 (set)"):
        assert words in out
    assert nereid("--version")[1].startswith("nereid ")


def test_info_of_an_object_file(kernels, tmp_path):
    file = tmp_path / "scale.o"
    assert nereid("compile", f"{kernels}:scale", "--signature", SIGNATURE, "--emit=obj", "-o", file)[0] == 0
    code, out, err = nereid("info", file)
    assert code == 0, err
    rows = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in out.splitlines() if line[0] != " "}
    assert rows["kernel"] == "scale" and rows["needs"] == "no job" and rows["processor"].startswith("x86_64, ")
    assert "  x_ptr   *fp32    a multiple of 16\n  factor  fp32\n  n       i32\n" in out
    line = KERNELS.splitlines().index("    pid = tl.program_id(0) * STEP") + 1
    assert f"{kernels}:{line}: pid = tl.program_id(0) * STEP" in out
    code, out, err = nereid("info", "--json", file)
    assert code == 0, err
    description = json.loads(out)
    assert description["name"] == "scale" and description["scratch_bytes"] == 0 and not description["blocking"]
    assert description["args"] == [
        {"name": "x_ptr", "type": "*fp32", "divisibility": 16, "symmetric": False},
        {"name": "factor", "type": "fp32", "divisibility": 0, "symmetric": False},
        {"name": "n", "type": "i32", "divisibility": 0, "symmetric": False},
    ]
    assert {site["line"] for site in description["sites"]} >= {line, line + 2}
    assert "sse2" in description["features"] and description["abi_version"] > 0


def test_info_of_other_files(kernels, tmp_path):
    assert nereid("info", "--json")[0] == 2
    for content, words in ((None, "No such file"), (b"text", "it is not an ELF file"), (b"", "it is not an ELF file")):
        file = tmp_path / "file.o"
        if content is not None:
            file.write_bytes(content)
        code, out, err = nereid("info", file)
        assert code == 2 and out == "" and words in err and str(file) in err and "Traceback" not in err, err
        file.unlink(missing_ok=True)
    code, _, err = nereid("info", kernels)
    assert code == 2 and "it is not an ELF file" in err
    code, _, err = nereid("info", sys.executable)
    assert code == 2 and "it is not a relocatable object file" in err
