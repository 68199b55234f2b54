# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy of the tree with a transport and a control plane more, each one folder and one
line: both are in the tables of what is built. (That they pass the conformance suites:
NereidToyTransportTests and NereidToyControlTests. A target more: NereidRegistryTests.)"""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("CMakeLists.txt", "CMakePresets.json", "pyproject.toml", "abi", "cmake", "common", "compiler", "runtime", "tools",
         "unittests")
TOYS = ROOT / "unittests/Runtime/Conformance"
LICENCE = "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
LISTS = """
#include "control/ControlPlanes.h"
#include "transport/Transports.h"
#include <cstdio>
int main() {
  for (const auto &row : nereid::runtime::transportTable())
    std::printf("transport %s: %s\\n", row.name, row.help);
  for (const auto &row : nereid::runtime::controlPlaneTable())
    std::printf("control plane %s\\n", row.name);
}
"""


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=600)
    return done.returncode, done.stdout


def test_a_transport_and_a_control_plane_are_a_folder_and_a_line_each(tmp_path):
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, tmp_path / part)
    for folder, library, source, table, line in (
        ("runtime/transport/toy", "NereidTransport_toy", TOYS / "toy/Toy.cpp", "runtime/transport/transports.def",
         'NEREID_TRANSPORT(toy, true, false, "a thread that copies byte by byte")'),
        ("runtime/control/toy", "NereidControl_toy", TOYS / "toy_control/ToyControl.cpp", "runtime/control/planes.def",
         "NEREID_CONTROL_PLANE(toy)"),
    ):
        (tmp_path / folder).mkdir()
        shutil.copy(source, tmp_path / folder)
        (tmp_path / folder / "CMakeLists.txt").write_text(
            f"{LICENCE}nereid_add_runtime_library({library} {source.name} LINK NereidRuntimeBase PRIVATE Threads::Threads)\n")
        with open(tmp_path / table, "a") as rows:
            rows.write(line + "\n")
    tool = tmp_path / "unittests/Lists"
    tool.mkdir()
    (tool / "Lists.cpp").write_text(LISTS)
    (tool / "CMakeLists.txt").write_text("add_executable(Lists Lists.cpp)\n"
                                         'target_include_directories(Lists PRIVATE "${PROJECT_SOURCE_DIR}/runtime")\n'
                                         "target_link_libraries(Lists PRIVATE NereidRuntimeTransports NereidRuntimeControl)\n")
    with open(tmp_path / "unittests/CMakeLists.txt", "a") as lists:
        lists.write("add_subdirectory(Lists)\n")
    code, text = run("cmake", "--preset", "release", "-DNEREID_BUILD_COMPILER=OFF", "-DNEREID_BUILD_PYTHON=OFF",
                     cwd=tmp_path)
    assert code == 0, text
    code, text = run("ninja", "-C", "build/release", "Lists", cwd=tmp_path)
    assert code == 0, text
    code, text = run("build/release/unittests/Lists/Lists", cwd=tmp_path)
    assert code == 0, text
    assert {"transport shared_memory", "transport toy: a thread that copies byte by byte", "control plane memory",
            "control plane toy"} <= {row if "toy" in row else row.split(":")[0] for row in text.splitlines()}
    # What is above the tables, up to the suites themselves, has rules as before.
    code, text = run("ninja", "-C", "build/release", "-n", "NereidConformanceTests", cwd=tmp_path)
    assert code == 0, text
