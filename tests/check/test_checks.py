# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each script of tools/check passes on a good tree and fails, naming file and rule, on a bad one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "tools" / "check"
SPDX = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


def run_check(name: str, root: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(CHECKS / f"{name}.py"), str(root)], capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def tree(tmp_path):
    """A tree with the real table of layers, a file in all that it names and a few well-behaved ones."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    table = (ROOT / "docs/architecture.md").read_text().partition("<!-- layers:")[2].partition("\n\nTests")[0]
    for row in re.findall(r"^\| [^|]+ \| ([^|]+) \|", table, re.M):
        for place in re.findall(r"`([^`]+)`", row):
            is_file = "." in place.rsplit("/", 1)[-1]
            write(tmp_path, place if is_file else place.removesuffix("/*") + "/notes.txt",
                  SPDX if place.endswith(".h") else "# " + SPDX[3:])
    write(tmp_path, "abi/nereid/abi.h", SPDX)
    write(tmp_path, "runtime/base/status.h", SPDX)
    write(tmp_path, "runtime/symmetric/heap.cpp", SPDX + '#include "base/status.h"\n#include "nereid/abi.h"\n')
    write(tmp_path, "compiler/include/nereid/Dialect/Triton/IR/Ops.h",
          SPDX + '#include "mlir/IR/Dialect.h"\n#include "nereid/Dialect/Triton/IR/Ops.h.inc"\n')
    write(tmp_path, "compiler/lib/Transforms/Pass.cpp", SPDX + '#include "nereid/Dialect/Triton/IR/Ops.h"\n')
    write(tmp_path, "runtime/base/CMakeLists.txt", "# " + SPDX[3:] + "add_library(Base STATIC status.cpp)\n")
    write(tmp_path, "runtime/symmetric/CMakeLists.txt",
          "# " + SPDX[3:] + "add_library(Symmetric STATIC heap.cpp)\ntarget_link_libraries(Symmetric PUBLIC Base)\n")
    return tmp_path


@pytest.mark.parametrize("name", ["layering", "spdx", "file_length", "format"])
def test_good_tree_passes(name, tree):
    assert run_check(name, tree) == (0, f"{name}.py: ok\n")


@pytest.mark.parametrize("name", ["abi", "layering", "spdx", "file_length", "docs", "format"])
def test_this_tree_passes(name):
    code, output = run_check(name, ROOT)
    assert code == 0, output


@pytest.mark.parametrize("path, text, message", [
    ("runtime/base/bad.cpp", '#include "llvm/ADT/StringRef.h"\n',
     "runtime/base/bad.cpp:2: includes 'llvm/ADT/StringRef.h': 'Runtime base' may not use LLVM/MLIR"),
    ("runtime/symmetric/bad.cpp", '#include "nereid/Dialect/Triton/IR/Ops.h"\n',
     "'Runtime symmetric' may not use 'Dialects'"),
    ("runtime/base/bad.h", '#include "symmetric/heap.h"\n#include "../symmetric/heap.cpp"\n',
     "runtime/base/bad.h:3: includes '../symmetric/heap.cpp', which belongs to 'Runtime symmetric'"),
    ("compiler/lib/Frontend/bad.cpp", '#include "nereid/Transforms/Passes.h.inc"\n',
     "'Front end' may not use 'Transforms'"),
    ("compiler/lib/Target/CPU/bad.cpp", '#include "base/status.h"\n', "'Targets' (CPU) may not use 'Runtime base'"),
    ("compiler/lib/Dialect/bad.cpp", "#include <boost/context/fiber.hpp>\n",
     "'Dialects' may not use Boost.Context"),
    ("compiler/lib/Dialect/Bad.td", 'include "nereid/Frontend/Ast.td"\n', "'Dialects' may not use 'Front end'"),
    ("compiler/lib/Misc/bad.cpp", "", "compiler/lib/Misc/bad.cpp: lies in no layer"),
])
def test_bad_include_is_named(tree, path, text, message):
    write(tree, path, SPDX + text)
    code, output = run_check("layering", tree)
    assert code == 1
    assert message in output


def test_bad_link_is_named(tree):
    write(tree, "compiler/lib/Frontend/CMakeLists.txt", "nereid_add_compiler_library(NereidFrontend a.cpp LINK Base)\n")
    write(tree, "runtime/transport/CMakeLists.txt", "add_library(Transport x.cpp)\ntarget_link_libraries(Transport PRIVATE MLIRIR)\n")
    code, output = run_check("layering", tree)
    assert code == 1
    assert "'NereidFrontend' links 'Base', which belongs to 'Runtime base': 'Front end' may not use" in output
    assert "runtime/transport/CMakeLists.txt:2: 'Transport' links 'MLIRIR': 'Runtime transport' may not use LLVM/MLIR" in output


#: Breaches of the seams between transports, devices, public headers and extension modules: file, text, message.
BREACHES = {
    "a transport that knows another": (
        "runtime/transport/delayed/bad.cpp", '#include "transport/shared_memory/Copy.h"\n',
        "'Transports' (delayed) may not use 'Transports' (shared_memory)"),
    "a target that knows another": (
        "compiler/lib/Target/Null/bad.cpp", '#include "Target/CPU/Pipeline.h"\n',
        "'Targets' (Null) may not use 'Targets' (CPU)"),
    "a target that links another": (
        "compiler/lib/Target/Null/CMakeLists.txt", "nereid_add_compiler_library(NereidNullTarget n.cpp LINK NereidCPUTarget)\n",
        "'NereidNullTarget' links 'NereidCPUTarget', which belongs to 'Targets' (CPU)"),
    "a control plane that knows another": (
        "runtime/control/network/bad.cpp", '#include "control/memory/Segment.h"\n',
        "'Control planes' (network) may not use 'Control planes' (memory)"),
    "the job looks behind the interface of control planes": (
        "runtime/symmetric/bad.cpp", '#include "control/memory/Segment.h"\n',
        "'Runtime symmetric' may not use 'Control planes' (memory)"),
    "a device that knows another": (
        "runtime/device/null/bad.cpp", '#include "device/cpu/Worker.h"\n',
        "'Null device' may not use 'CPU device'"),
    "a call through a public header of a higher layer": (
        "runtime/base/bad.cpp", '#include "nereid/runtime/Job.h"\n',
        "'Runtime base' may not use 'Runtime symmetric'"),
    "the extension module of launches includes LLVM": (
        "python/src/runtime/bad.cpp", '#include "llvm/ADT/StringRef.h"\n',
        "'Python runtime module' may not use LLVM/MLIR"),
    "the extension module of launches looks into the runtime": (
        "python/src/runtime/bad.cpp", '#include "symmetric/heap.h"\n',
        "'Python runtime module' may not use 'Runtime symmetric'"),
    "the extension module of launches links LLVM": (
        "python/src/runtime/CMakeLists.txt", "nanobind_add_module(m m.cpp)\ntarget_link_libraries(m PRIVATE LLVMCore)\n",
        "'m' links 'LLVMCore': 'Python runtime module' may not use LLVM/MLIR"),
    "a library of the runtime links a higher one": (
        "runtime/base/CMakeLists.txt", "nereid_add_runtime_library(Base status.cpp LINK Symmetric)\n",
        "'Base' links 'Symmetric', which belongs to 'Runtime symmetric': 'Runtime base' may not use"),
    "a transport links another": (
        "runtime/transport/delayed/CMakeLists.txt", "nereid_add_runtime_library(Delayed d.cpp LINK Shared)\n",
        "'Delayed' links 'Shared', which belongs to 'Transports' (shared_memory)"),
    "a target in a folder of no row": (
        "plugins/CMakeLists.txt", "add_library(Plugin p.cpp)\ntarget_link_libraries(Plugin PRIVATE Base LLVMCore)\n",
        "plugins/CMakeLists.txt:2: 'Plugin' is made here, in no layer"),
    "a target of another folder's sources": (
        "runtime/base/CMakeLists.txt", "nereid_add_runtime_library(Base ../symmetric/heap.cpp)\n",
        "'Base' is made of '../symmetric/heap.cpp', which lies in another folder"),
    "a public header that no layer implements": (
        "runtime/include/nereid/runtime/Bad.h", "",
        "runtime/include/nereid/runtime/Bad.h: is a public header that no row"),
    "a source file in no layer": ("python/src/bad.cpp", "", "python/src/bad.cpp: lies in no layer"),
}


@pytest.mark.parametrize("name", BREACHES)
def test_breach_of_a_seam_is_named(tree, name):
    path, text, message = BREACHES[name]
    write(tree, "runtime/include/nereid/runtime/Job.h", SPDX)
    write(tree, "runtime/device/cpu/Worker.h", SPDX)
    write(tree, "runtime/transport/shared_memory/Copy.h", SPDX)
    write(tree, "runtime/control/memory/Segment.h", SPDX)
    write(tree, "compiler/lib/Target/CPU/Pipeline.h", SPDX)
    write(tree, "compiler/lib/Target/CPU/CMakeLists.txt", "# " + SPDX[3:] + "nereid_add_compiler_library(NereidCPUTarget c.cpp)\n")
    write(tree, "runtime/symmetric/heap.h", SPDX)
    write(tree, "runtime/transport/shared_memory/CMakeLists.txt",
          "# " + SPDX[3:] + "nereid_add_runtime_library(Shared s.cpp LINK Base)\n")
    assert run_check("layering", tree) == (0, "layering.py: ok\n")
    write(tree, path, (SPDX if path.endswith((".cpp", ".h")) else "# " + SPDX[3:]) + text)
    code, output = run_check("layering", tree)
    assert code == 1
    assert message in output


PYTHON_BREACHES = {
    "an import of a higher layer": (
        "_base/bad.py", "from nereid._launch import jit\n",
        "_base/bad.py:2: imports 'nereid._launch.jit', which belongs to 'Python launch': 'Python base' may not use"),
    "inside a function": (
        "_job/bad.py", "def f():\n    from nereid._launch.jit import name\n", "'Python job' may not use 'Python launch'"),
    "through the package": ("_job/bad.py", "import nereid\n", "'Python job' may not use 'Python package'"),
    "the compiler": ("_job/bad.py", "from nereid import _compiler\n", "'Python job' may not use 'Python compiler module'"),
    "a circle": (
        "_launch/jit.py", "from nereid._launch import other\n",
        "these modules import each other: nereid._launch.jit, nereid._launch.other"),
    "a module in no layer": ("stray.py", "", "python/nereid/stray.py: lies in no layer"),
    "a module that is not there": ("_job/bad.py", "import nereid._moon\n", "imports 'nereid._moon', which is no module"),
    "a relative import": ("_job/bad.py", "from . import job\n", "imports '.'; write the name from 'nereid' on"),
}


@pytest.mark.parametrize("name", PYTHON_BREACHES)
def test_breach_by_an_import_is_named(tree, name):
    path, text, message = PYTHON_BREACHES[name]
    head = "# " + SPDX[3:]
    for file in ("__init__.py", "_base/__init__.py", "_job/__init__.py", "_launch/__init__.py", "_launch/jit.py"):
        write(tree, f"python/nereid/{file}", head)
    write(tree, "python/nereid/_launch/other.py", head + "def f():\n    import nereid._launch.jit\n")
    assert run_check("layering", tree) == (0, "layering.py: ok\n")
    write(tree, f"python/nereid/{path}", head + text)
    code, output = run_check("layering", tree)
    assert code == 1
    assert message in output


def test_launching_needs_no_llvm():
    """Neither by a library that _runtime is linked with nor by code that was linked in."""
    import nereid._runtime
    with open(nereid._runtime.__file__, "rb") as file:
        elf = ELFFile(file)
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
        file.seek(0)
        content = file.read()
    assert needed and not [name for name in needed if "LLVM" in name or "MLIR" in name]
    assert b"LLVM ERROR" not in content
    import nereid._compiler
    assert b"LLVM ERROR" in Path(nereid._compiler.__file__).read_bytes()  # so it would be seen


def test_table_with_unknown_layer_is_named(tree):
    table = tree / "docs" / "architecture.md"
    table.write_text(table.read_text().replace("| Runtime launch | `runtime/launch`, ", "| Moonbase | `moon` | Moon |\n| Runtime launch | `runtime/launch`, "))
    code, output = run_check("layering", tree)
    assert code == 1
    assert "layer 'Moonbase' may use 'Moon', which is no layer of the table" in output


def test_row_about_nothing_is_named(tree):
    table = tree / "docs" / "architecture.md"
    table.write_text(table.read_text().replace("`runtime/launch`", "`runtime/launch`, `runtime/conformance`"))
    code, output = run_check("layering", tree)
    assert code == 1
    assert "the layer 'Runtime launch' names `runtime/conformance`, where there is no file" in output


def test_missing_licence_line_is_named(tree):
    write(tree, "runtime/base/bad.cpp", "\n\n\n" + SPDX + "int x;\n")
    write(tree, "python/nereid/__init__.py", "")
    code, output = run_check("spdx", tree)
    assert code == 1
    assert "runtime/base/bad.cpp:1: the line" in output
    assert "__init__.py" not in output


def test_long_file_is_named(tree):
    write(tree, "runtime/base/long.cpp", SPDX + "\n" * 999)
    assert run_check("file_length", tree)[0] == 0
    write(tree, "runtime/base/long.cpp", SPDX + "\n" * 1000)
    code, output = run_check("file_length", tree)
    assert code == 1
    assert "runtime/base/long.cpp: 1001 lines; split it, 1000 is the limit" in output
    write(tree, "runtime/base/long.cpp", SPDX + "// Written by make.py from the table: do not edit.\n" + "\n" * 1000)
    assert run_check("file_length", tree)[0] == 0


@pytest.mark.parametrize("text, message", [
    ("[a](gone.md)\n", "page.md:1: the link 'gone.md' leads nowhere"),
    ("# One\n[a](#two)\n", "page.md:2: the link '#two' names no heading"),
    ("```sh\nscripts/gone.sh\n```\n", "page.md:2: the command names 'scripts/gone.sh', which is not there"),
    ("```sh\nnereid run -n 4 examples/gone.py --seed 1\n```\n", "names 'examples/gone.py'"),
    ("```sh\n\nscripts/plain.sh\n```\n", "page.md:3: 'scripts/plain.sh' is shown as a command but is not executable"),
])
def test_bad_docs_are_named(tmp_path, text, message):
    write(tmp_path, "page.md", text)
    write(tmp_path, "scripts/plain.sh", "")
    code, output = run_check("docs", tmp_path)
    assert code == 1
    assert message in output


def test_good_docs_pass(tmp_path):
    write(tmp_path, "page.md", "# One, two\n[a](#one-two) [b](https://example.org/x) `kernel[grid](...)`\n"
                               "```python\nscripts/gone.sh\n```\n```sh\nbash scripts/plain.sh\n```\n")
    write(tmp_path, "scripts/plain.sh", "")
    assert run_check("docs", tmp_path) == (0, "docs.py: ok\n")


@pytest.fixture
def abi(tmp_path):
    """The C interface alone, with its numbers on record."""
    shutil.copytree(ROOT / "abi", tmp_path / "abi")
    assert run_check("abi", tmp_path) == (0, "abi.py: ok\n")
    return tmp_path


def record(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(CHECKS / "abi.py"), "--record", str(root)], capture_output=True, text=True)


@pytest.mark.parametrize("path, old, new", [
    ("abi/nereid/abi.h", "NRD_SIG_ADD = 2", "NRD_SIG_ADD = 3"),
    ("abi/nereid/abi.h", "int32_t rank; ", "int64_t rank; "),
    ("abi/nereid/entry_points.def", 'NRD_ENTRY(nrd_yield, "vpi")', 'NRD_ENTRY(nrd_yield, "vpl")'),
    ("abi/nereid/device_math.def", 'NRD_MATH(lgamma, "FF")\n', ""),
])
def test_changed_abi_needs_a_new_number(abi, path, old, new):
    text = (abi / path).read_text()
    assert old in text
    (abi / path).write_text(text.replace(old, new))
    code, output = run_check("abi", abi)
    assert code == 1 and "changed, but NRD_ABI_VERSION is still" in output
    assert "raise NRD_ABI_VERSION" in record(abi).stderr
    header = abi / "abi/nereid/abi.h"
    number = int(header.read_text().split("#define NRD_ABI_VERSION ")[1].split()[0])
    header.write_text(header.read_text().replace(f"NRD_ABI_VERSION {number}\n", f"NRD_ABI_VERSION {number + 1}\n"))
    assert run_check("abi", abi)[0] == 1
    assert record(abi).returncode == 0
    assert run_check("abi", abi) == (0, "abi.py: ok\n")


def test_new_abi_file_needs_a_new_number_and_comments_do_not(abi):
    header = abi / "abi/nereid/abi.h"
    header.write_text(header.read_text().replace("/* One running program:", "/* A running  program:") + "\n/* more */\n")
    assert run_check("abi", abi)[0] == 0
    write(abi, "abi/nereid/more.h", "/* nothing */\n")
    assert run_check("abi", abi)[0] == 1
