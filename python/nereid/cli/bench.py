# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``nereid bench``: starts bench/run.py of the source tree, where the benchmarks and the sources of their peers are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Sequence

import nereid
from nereid.cli.kernels import UsageError

#: Where the package lies when it is used from its source tree.
SOURCES = Path(__file__).resolve().parents[3]


def add_command(commands) -> None:
    """For the list of commands: the program parses its own arguments."""
    commands.add_parser("bench", add_help=False, help="measure speed beside OpenBLAS, MPI, C++ and torch (nereid bench --help)")


def _program(sources: str | None) -> Path:
    program = Path(sources or SOURCES) / "bench" / "run.py"
    if program.is_file():
        return program
    if sources:
        raise UsageError(f"nereid bench: --sources {sources}: there is no bench/run.py")
    raise UsageError(
        "nereid bench: the benchmarks compare with programs that are built from source, and are no part of the installed "
        f"package. Get the sources of nereid {nereid.__version__}, build the peers there (cmake -B build/release "
        "-DNEREID_BUILD_BENCH=ON && ninja -C build/release), and write nereid bench --sources FOLDER")


def run(arguments: Sequence[str]) -> int:
    """`--sources FOLDER` comes first: the source tree, for a package that is not used from one."""
    sources = None
    if arguments[:1] == ["--sources"]:
        if len(arguments) < 2:
            raise UsageError("nereid bench: --sources takes the folder of the source tree")
        sources, arguments = arguments[1], arguments[2:]
    return subprocess.run([sys.executable, str(_program(sources)), *arguments]).returncode
