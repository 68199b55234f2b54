# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TTIR is an interface: the stock triton wheel takes ours, and we take its.

No GPU is needed: triton compiles for a target that is not there.
"""

import importlib.util
import inspect
import os
import shutil
import subprocess
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from triton._C.libtriton import ir  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = GPUTarget("cuda", 90, 32)
VERSION = "3.6" if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 9) else "3.9"
OURS = sorted(path.stem for path in (HERE / "kernels").glob("*.mlir"))


def load_stock_kernels():
    spec = importlib.util.spec_from_file_location("nereid_stock_kernels", HERE / "stock_kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KERNELS


THEIRS = load_stock_kernels()


@pytest.fixture(autouse=True)
def no_cached_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))


@pytest.fixture(scope="session")
def nereid_opt() -> str:
    places = [os.environ.get("NEREID_OPT"), shutil.which("nereid-opt")]
    places += [str(ROOT / build / "tools/nereid-opt/nereid-opt") for build in ("build/release", "build")]
    for place in places:
        if place and Path(place).exists():
            return place
    pytest.fail("nereid-opt is not built: run scripts/build.sh, or set NEREID_OPT")


def run(tool: str, text: str, *options: str) -> str:
    done = subprocess.run([tool, "-", "--mlir-print-debuginfo", *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def export(tool: str, text: str) -> str:
    return run(tool, text, f"--nereid-export-ttir-pipeline=version={VERSION}")


def compile_ttir(text: str, folder: Path):
    """The stock wheel's compiler on a .ttir file."""
    path = folder / "k.ttir"
    path.write_text(text)
    return triton.compile(str(path), target=TARGET)


def stock_context():
    context = ir.context()
    ir.load_dialects(context)
    make_backend(TARGET).load_dialects(context)
    return context


def stock_source(name: str) -> ASTSource:
    function, signature, constants = THEIRS[name]
    return ASTSource(function, signature, constexprs=constants)


def stock_ttir(name: str) -> str:
    """What the stock front end writes, before any of its passes."""
    source = stock_source(name)
    backend = make_backend(TARGET)
    options = backend.parse_options({})
    arguments = [options, backend.get_codegen_implementation(options), backend.get_module_map(), stock_context()]
    if len(inspect.signature(source.make_ir).parameters) == 5:
        arguments.insert(0, TARGET)
    return str(source.make_ir(*arguments))


def stock_round_trip(text: str, folder: Path) -> str:
    """Read and printed by the stock wheel."""
    path = folder / "round_trip.ttir"
    path.write_text(text)
    context = stock_context()
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return str(module)


@pytest.mark.parametrize("name", OURS)
def test_our_text_compiles_to_a_cubin(name, nereid_opt, tmp_path):
    text = export(nereid_opt, (HERE / "kernels" / f"{name}.mlir").read_text())
    kernel = compile_ttir(text, tmp_path)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    assert kernel.metadata.name == name
    if name == "matmul":
        assert "mma" in kernel.asm["ptx"], "the dot became no matrix instruction"


@pytest.mark.parametrize("name", THEIRS)
def test_their_text_is_read(name, nereid_opt, tmp_path):
    """Both ways without loss: their text, printed by us, is what they print."""
    theirs = stock_ttir(name)
    ours = run(nereid_opt, theirs)
    assert run(nereid_opt, ours) == ours
    if name != "hints_and_barrier":  # printed in an older form
        assert stock_round_trip(ours, tmp_path) == stock_round_trip(theirs, tmp_path)


@pytest.mark.parametrize("name", THEIRS)
def test_their_text_survives_our_passes(name, nereid_opt, tmp_path):
    simplified = run(nereid_opt, stock_ttir(name), "--nereid-import-ttir-pipeline")
    assert "tt.call" not in simplified and "gpu." not in simplified and "ttg." not in simplified
    kernel = compile_ttir(export(nereid_opt, simplified), tmp_path)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    # The same code as without the detour, up to the order of instructions.
    direct = triton.compile(stock_source(name), target=TARGET, options={})
    assert kernel.metadata.shared == direct.metadata.shared
    assert abs(len(kernel.asm["ptx"].splitlines()) / len(direct.asm["ptx"].splitlines()) - 1) < 0.15


def test_wrong_version_is_an_error(nereid_opt):
    done = subprocess.run([nereid_opt, "-", "--nereid-export-ttir=version=1.0"], input="module {}",
                          capture_output=True, text=True)
    assert done.returncode != 0 and 'version is "3.6" or "3.9", got "1.0"' in done.stderr
