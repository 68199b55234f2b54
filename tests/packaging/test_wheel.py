# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel is complete in itself: it runs and compiles where no LLVM is installed, and shares a
process with another LLVM."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[2]

#: Runs its arguments in a mount namespace in which LLVM's packages are not to be seen.
WITHOUT_LLVM = """
set -eu
for folder in /usr/lib/llvm-*; do mount -t tmpfs none "$folder"; done
for file in /usr/lib/*/libLLVM* /usr/lib/*/libMLIR* /usr/bin/clang* /usr/bin/ld.lld*; do
  [ ! -e "$file" ] || mount --bind /dev/null "$file"
done
exec "$@"
"""


def readme_kernel() -> str:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    (kernel,) = [block for block in blocks if "nereid.init()" in block]
    return kernel


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    environment = dict(os.environ, NEREID_VENV=str(Path(sys.executable).parents[1]),
                       NEREID_BUILD_TESTS="ON")  # what build/release is configured with already
    print(run([ROOT / "scripts" / "wheel.sh", folder], env=environment))
    (wheel,) = folder.glob("nereid-*.whl")
    return wheel


@pytest.fixture(scope="module")
def without_llvm(wheel, tmp_path_factory):
    """A virtual environment with nothing but the wheel and what it needs; calls see no LLVM."""
    folder = tmp_path_factory.mktemp("fresh")
    run([sys.executable, "-m", "venv", folder / "venv"])
    run([folder / "venv" / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", wheel])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEREID_", "PYTHON"))}
    environment.update(HOME=str(folder), NEREID_CACHE_DIR=str(folder / "cache"))

    def call(*arguments):
        return run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", WITHOUT_LLVM, "sh",
                    folder / "venv" / "bin" / arguments[0], *arguments[1:]], cwd=folder, env=environment)

    call.folder = folder
    return call


def test_tag_names_the_platform(wheel):
    assert re.fullmatch(r"nereid-[\d.]+-cp3\d+-cp3\d+-manylinux_2_\d+_x86_64\.whl", wheel.name)


def test_wheel_brings_no_library_of_its_own(wheel):
    """LLVM is inside the modules: no folder of copied libraries, whose names could meet others."""
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if ".libs/" in name]
    assert [name for name in names if name.startswith("nereid/_compiler.")]


def test_modules_show_their_init_function_only(wheel, tmp_path):
    archive = zipfile.ZipFile(wheel)
    for name in (name for name in archive.namelist() if name.endswith(".so")):
        module = Path(archive.extract(name, tmp_path))
        with open(module, "rb") as file:
            symbols = ELFFile(file).get_section_by_name(".dynsym")
            shown = [symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"]
        assert shown == ["PyInit_" + module.name.split(".")[0]]


def test_readme_kernel_runs_without_llvm(without_llvm):
    (without_llvm.folder / "gather.py").write_text(readme_kernel(), encoding="utf-8")
    output = without_llvm("nereid", "run", "-n", "4", "--tag-output", "gather.py")
    assert output.count("has [0. 1. 2. 3.]") == 4


def test_command_line_compiles_without_llvm(without_llvm):
    output = without_llvm("nereid", "compile", ROOT / "examples" / "01_vector_add.py:add_kernel", "--emit=asm",
                          "--signature", "x_ptr=*fp32, y_ptr=*fp32, out_ptr=*fp32, n_elements=i32, BLOCK=1024")
    assert "add_kernel" in output
    assert "retq" in output


PROGRAM = """
import sys
import numpy as np
{first}
{second}
import nereid
import nereid.language as tl

@nereid.jit
def add_one(ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(ptr + offs, tl.load(ptr + offs, mask=offs < n) + 1, mask=offs < n)

values = np.arange(1000, dtype=np.float32)
add_one[(4,)](values, 1000, BLOCK=256)
assert (values == np.arange(1000) + 1).all()

from triton._C.libtriton import ir
context = ir.context()
ir.load_dialects(context)
open(sys.argv[1], "w").write("module {{ tt.func public @k(%a: !tt.ptr<f32>) {{ %c = arith.constant 1.0 : f32\\n"
                             "tt.store %a, %c : !tt.ptr<f32>\\ntt.return }} }}")
assert "tt.store" in str(ir.parse_mlir_module(sys.argv[1], context))
print("both")
"""


@pytest.mark.parametrize("first, second", [("import nereid._compiler", "import triton._C.libtriton"),
                                           ("import triton._C.libtriton", "import nereid._compiler")])
def test_triton_in_the_same_process(first, second, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(first=first, second=second), encoding="utf-8")
    environment = dict(os.environ, NEREID_CACHE_DIR=str(tmp_path / "cache"))
    assert run([sys.executable, program, tmp_path / "k.ttir"], env=environment) == "both\n"
