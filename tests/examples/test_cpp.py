# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/cpp as a C++ user builds it: against an installed Nereid, found by find_package."""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NEREID_BUILD_DIR", ROOT / "build" / "release"))
CXX = os.environ.get("NEREID_CXX", "clang++-22")
RANKS = 4

pytestmark = pytest.mark.timeout(900)


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=800,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


def build(prefix: Path, source: Path, folder: Path, *options: str) -> Path:
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={CXX}",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", *options)
    run("cmake", "--build", folder)
    return folder


@pytest.fixture(scope="module")
def programs(prefix, tmp_path_factory):
    return build(prefix, ROOT / "examples" / "cpp", tmp_path_factory.mktemp("programs"))


def expected(n: int) -> list[str]:
    return [f"rank {rank} of {n}: the sum of 5003 elements is right" for rank in range(n)]


def test_installed_files_name_nothing_outside(prefix):
    """No path of the source or build tree in what CMake users read, no file of the compiler's insides."""
    for file in (prefix / "lib/cmake/Nereid").iterdir():
        text = file.read_text()
        assert str(ROOT) not in text and str(BUILD) not in text, file
    headers = {str(path.relative_to(prefix / "include")) for path in (prefix / "include").rglob("*") if path.is_file()}
    assert {"nereid/Compiler.h", "nereid/abi.h", "nereid/kernel.h", "nereid/profiles.h", "nereid/runtime/Job.h"} <= headers
    assert not [name for name in headers if "Dialect" in name or "lib/" in name]


def test_every_installed_header_stands_alone(prefix, tmp_path):
    compilers = [CXX, *filter(shutil.which, ["g++"])]
    for compiler, header in itertools.product(compilers, sorted((prefix / "include").rglob("*.h"))):
        name = header.relative_to(prefix / "include")
        source = tmp_path / "one.cpp"
        source.write_text(f'#include "{name}"\n#include "{name}"\n')
        run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{prefix / 'include'}", source)


def test_ranks_by_nereid_run(prefix, programs):
    out = run(prefix / "bin/nereid", "run", "-n", RANKS, programs / "ring_sum")
    assert sorted(out.splitlines()) == expected(RANKS)
    assert run(programs / "ring_sum").splitlines() == expected(1)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun here (Debian: openmpi-bin)")
def test_ranks_by_mpirun(programs):
    command = ["mpirun", "-n", RANKS, "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo"]
    if os.getuid() == 0:
        command.append("--allow-run-as-root")
    assert sorted(run(*command, programs / "ring_sum").splitlines()) == expected(RANKS)


@pytest.mark.skipif(shutil.which("torchrun") is None, reason="there is no torchrun here (Debian: python3-torch)")
def test_ranks_by_torchrun(programs):
    # What to do with each rank's output is said, since torch 1.13 under Python 3.11 fails by default.
    outputs = ",".join(f"{rank}:1" for rank in range(RANKS))
    out = run("torchrun", "--standalone", "--nnodes=1", f"--nproc_per_node={RANKS}", "--no_python",
              f"--redirects={outputs}", f"--tee={outputs}", programs / "ring_sum")
    assert sorted(re.findall(r"rank \d of \d: .*", out)) == expected(RANKS)


def test_no_python_and_no_llvm_in_the_process(programs):
    libraries = run("ldd", programs / "ring_sum")
    assert not re.search(r"python|LLVM|MLIR|boost", libraries), libraries


def test_compiler_as_a_library(prefix, programs):
    out = run(programs / "run_time", prefix / "bin/nereid")
    assert out.splitlines() == ["axpy from IR: 1000 elements are right", "axpy from Python source: 1000 elements are right"]
    libraries = run("ldd", programs / "run_time")
    assert "libNereidCompiler" in libraries and "python" not in libraries
    exported = run("nm", "-D", "--defined-only", "-C", prefix / "lib/libNereidCompiler.so").splitlines()
    assert {line.split(" T ")[-1].split("(")[0] for line in exported} == {"nereid::compileTTIR", "nereid::compileSource"}


USE = """
#include <nereid/Compiler.h>
#include <nereid/runtime/LoadedKernel.h>
#include <cstdio>
#include <cstdlib>
#include "scale.h"
#include "add.h"
using namespace nereid::runtime;

template <typename R> void show(const char *what, const R &result) {
  std::printf("%s: %s\\n", what, result.ok() ? "ok" : result.error.c_str());
}
static void show(const char *what, const Status &status) {
  std::printf("%s: %s\\n", what, status.ok() ? "ok" : status.message().c_str());
}

int main(int, char **argv) {
  auto scale = kernels::scale::load();
  if (!scale.ok()) { std::printf("%s\\n", scale.status().report().c_str()); return 1; }
  alignas(16) float x[65] = {0, 1, 2, 3};
  show("right", scale->launch(nullptr, {4}, x, 2.5, 3u));
  std::printf("%g %g %g %g\\n", x[0], x[1], x[2], x[3]);
  Stream stream(nullptr);
  show("into a stream", scale->launch(stream, {4}, x, 2.0, 3u));
  show("misaligned in a stream", scale->launch(stream, {4}, x + 1, 2.5, 3u));
  show("stream", stream.synchronize());
  std::printf("%g %g %g %g\\n", x[0], x[1], x[2], x[3]);
  show("misaligned", scale->launch(nullptr, {4}, x + 1, 2.5, 3u));
  show("grid", scale->launch(nullptr, {0}, x, 2.5, 3u));
  show("other kernel", kernels::scale::load(kernels::add::embedded()).status());
  show("file", LoadedKernel::loadFile(argv[1]).status());
  show("no file", LoadedKernel::loadFile("/nowhere/k.o").status());
  show("count", LoadedKernel::loadFile(argv[1])->launch(nullptr, {1}, {argumentSlot(x)}));
  uint16_t half = 0x3c00;
  Float16 out[1] = {{0}};
  auto add = kernels::add::load();
  show("half", add->launch(nullptr, {1}, out, {half}));
  std::printf("%x\\n", out[0].bits);

  show("bad IR", nereid::compileTTIR("module {", "bad.ttir"));
  nereid::CompilerOptions options;
  options.cpu = "z80";
  show("bad cpu", nereid::compileTTIR("tt.func public @k() { tt.return }", "x", options));
  options = {};
  options.profile = "abacus";
  show("bad profile", nereid::compileTTIR("", "x", options));
  nereid::KernelSource source;
  source.text = "import nereid\\n@nereid.jit\\ndef k(x):\\n    nereid.language.store(x, y)\\n";
  source.kernel = "k";
  source.signature = "x=*fp32";
  source.command = argv[2];
  show("bad source", nereid::compileSource(source));
  source.command = "no-such-command";
  show("no command", nereid::compileSource(source));
}
"""


def test_generated_headers_and_errors(prefix, tmp_path):
    (tmp_path / "kernels.py").write_text("""
import nereid
import nereid.language as tl

@nereid.jit
def scale(x_ptr, double, n, STEP: tl.constexpr):
    pid = tl.program_id(0) * STEP
    if pid < n:
        tl.store(x_ptr + pid, tl.load(x_ptr + pid) * double.to(tl.float32))

@nereid.jit
def add(x_ptr, value):
    tl.store(x_ptr, tl.load(x_ptr) + value)
""")
    (tmp_path / "main.cpp").write_text(USE)
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.25)
project(use CXX)
find_package(Nereid 0.1 REQUIRED COMPONENTS Runtime Compiler)
add_executable(use main.cpp)
nereid_add_kernel(use "${CMAKE_CURRENT_SOURCE_DIR}/kernels.py:scale"
  SIGNATURE "x_ptr=*fp32:16, double=fp64, n=u32, STEP=1" CPU x86-64-v2)
nereid_add_kernel(use "${CMAKE_CURRENT_SOURCE_DIR}/kernels.py:add" SIGNATURE "x_ptr=*fp16, value=fp16")
target_link_libraries(use PRIVATE Nereid::Runtime Nereid::Compiler)
""")
    folder = build(prefix, tmp_path, tmp_path / "build")
    header = (folder / "use.kernels/scale.h").read_text()
    assert "float *x_ptr, double double_, std::uint32_t n) const" in header and "x86-64-v2" in header
    run(prefix / "bin/nereid", "compile", f"{tmp_path / 'kernels.py'}:add", "--signature", "x_ptr=*fp16, value=fp16",
        "--emit=object", "-o", tmp_path / "add.o")
    out = run(folder / "use", tmp_path / "add.o", prefix / "bin/nereid").splitlines()
    lines = dict(line.split(": ", 1) for line in out if ": " in line and not line.startswith(" "))
    assert lines["right"] == "ok" and "0 2.5 5 3" in out
    assert lines["into a stream"] == lines["stream"] == "ok" and "0 5 10 3" in out
    assert lines["misaligned in a stream"] == lines["misaligned"]
    assert lines["misaligned"] == (
        "kernel 'scale', argument 'x_ptr': the kernel was compiled for an address that is a multiple of 16; "
        "pass such a one, or compile it without ':16' in its signature")
    assert "every grid dimension must be at least 1" in lines["grid"]
    assert "holds the kernel add(*fp16, fp16), not scale(*fp32, fp64, i32)" in lines["other kernel"]
    assert lines["file"] == "ok" and "'/nowhere/k.o' cannot be opened: No such file" in lines["no file"]
    assert lines["count"] == "kernel 'add' takes 2 arguments, 1 were given"
    assert lines["half"] == "ok" and "3c00" in out
    assert "bad.ttir:1" in lines["bad IR"] and "'z80'" in lines["bad cpu"]
    assert "unknown profile 'abacus'; known are host" in lines["bad profile"]
    assert "kernel.py:4:" in lines["bad source"] and "'y'" in lines["bad source"]
    assert "the command 'no-such-command' is not in PATH" in lines["no command"]
