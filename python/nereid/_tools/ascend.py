# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The open part of the vendor's compiler for Ascend, where it is installed.

    TTIR --lower()--> linalg --compile()--> what CANN's code generator is given

The first step is triton-adapter-opt of the package triton-ascend, the second
bishengir-compile of ascendnpu-ir. The step after it, hivmc, is part of CANN and closed:
a stand-in keeps what it would be given, and makes no binary.

The packages lie in an environment of their own, since the first brings a package that is
called triton: NEREID_ASCEND_TOOLS, else the one beside this Python's environment whose name
goes on with "-ascend". As a script this file says which versions there are.

An assertion, a crash or a tool that takes too long is an answer like any other."""

from __future__ import annotations

import importlib.metadata
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Seconds after which a tool has no answer.
TIME_LIMIT = 60

#: What installs the tools.
HOW_TO_INSTALL = "scripts/setup.sh --ascend"

_LOWERING = "triton/backends/ascend/triton-adapter-opt"
_COMPILER = "ascendnpuir/bin/bishengir-compile"


class ToolsMissing(Exception):
    """They are not installed; says what is missing and where it was looked for."""


@dataclass(frozen=True)
class Answer:
    """What a tool made of a text. `text` is empty when it failed; `reason` is then the first
    thing it said, in one line without places, and `messages` all of it."""

    text: str
    reason: str
    messages: str

    @property
    def accepted(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Tools:
    """The tools of one environment. Objects are made by find()."""

    lowering: Path
    compiler: Path
    #: Of the two packages, "triton-ascend 3.2.0".
    versions: tuple[str, str]

    def lower(self, ttir: str, chip: str) -> Answer:
        """TTIR to linalg for a chip, "Ascend910B3"."""
        newer = str(is_950(chip))
        passes = [
            f"--discrete-mask-access-conversion=compile-on-910-95={newer} force-simt-template=False",
            "--triton-to-annotation",
            f"--triton-to-unstructure=compile-on-910-95={newer} force-simt-template=False",
            "--triton-to-hivm",
            "--triton-to-hfusion",
            "--triton-to-llvm",
            "--bubble-up-operation",
            "--triton-to-linalg=global-kernel=false named-ops=True enable-nd2nz-on-vector=False "
            f"enable-select-analysis=False compile-on-910-95={newer}",
        ]
        with tempfile.TemporaryDirectory(prefix="nereid-ascend-") as folder:
            source, target = Path(folder) / "kernel.ttir", Path(folder) / "kernel.mlir"
            source.write_text(ttir, encoding="utf-8")
            return _run([self.lowering, source, *passes, "--mlir-print-debuginfo", "-o", target], target)

    def compile(self, linalg: str, chip: str) -> Answer:
        """Linalg, as lower() writes it, to the IR that the closed code generator is given."""
        newer = is_950(chip)
        # As triton-ascend does: the compiler finds the mode itself.
        linalg = re.sub(r', mix_mode = "[a-z]*"', "", linalg)
        flags = [f"--target={chip}", "--enable-auto-multi-buffer=True", "--enable-auto-bind-sub-block=True",
                 "--enable-hfusion-compile=true", "--enable-triton-kernel-compile=true",
                 "--disable-ffts" if newer else "--enable-hivm-compile=true"]
        compiler = self.compiler.with_name(self.compiler.name + "-a5") if newer else self.compiler
        with tempfile.TemporaryDirectory(prefix="nereid-ascend-") as folder:
            source, target = Path(folder) / "kernel.mlir", Path(folder) / "handed-over.mlir"
            source.write_text(linalg, encoding="utf-8")
            stand_in = Path(folder) / ("hivmc-a5" if newer else "hivmc")
            stand_in.write_text(_STAND_IN.format(target=target), encoding="utf-8")
            stand_in.chmod(0o755)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ.get('PATH', '')}"}
            return _run([compiler, source, *flags, "-o", Path(folder) / "kernel.o"], target, environment)


@dataclass(frozen=True)
class Plan:
    """What the host must know of a kernel and its cores need, read from what the code generator is given."""

    #: 10 vector, 20 cube, 32 one cube core with two vector cores.
    task_type: int | None
    #: Bytes of one program's workspace; number of locks.
    workspace: int
    locks: int
    #: Peak of each on-chip memory, "UB", "L1", "L0C", in bytes.
    memory: dict[str, int]


_SPACES = {"ub": "UB", "cbuf": "L1", "cc": "L0C"}
_ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8}


def plan(handed_over: str) -> Plan:
    """Reads compile()'s text: on-chip buffers stand at addresses there."""
    constants = {name: int(value) for name, value in re.findall(r"(%[\w$.-]+) = arith.constant (-?\d+) : i64", handed_over)}

    def answer(name: str) -> int | None:
        found = re.search(rf"@\w+_infer_{name}_function\(\).*?constant (-?\d+)", handed_over, re.S)
        return int(found[1]) if found else None

    memory: dict[str, int] = {}
    buffers = re.finditer(r"hivm\.hir\.pointer_cast\(([^)]*)\)(?: \[[^\]]*\])? : memref<([0-9x]*?)x?((?:bf|f|i)\d+)"
                          r"(?:, strided<[^>]*>)?, #hivm\.address_space<(\w+)>>", handed_over)
    for addresses, shape, element, space in (buffer.groups() for buffer in buffers):
        size = math.prod(int(part) for part in shape.split("x") if part) * _ELEMENT_BYTES[element]
        for address in addresses.split(","):
            if space in _SPACES and address.strip() in constants:
                kind = _SPACES[space]
                memory[kind] = max(memory.get(kind, 0), constants[address.strip()] + size)
    return Plan(answer("task_type"), answer("workspace_shape") or 0, answer("sync_block_lock_num") or 0, memory)


#: Says a version, keeps its input, makes no binary.
_STAND_IN = """#!/bin/sh
if [ "$1" = --version ]; then echo "hivmc 0.3.0"; exit 0; fi
if [ -f "$1" ]; then cp "$1" "{target}"; fi
"""


def is_950(chip: str) -> bool:
    """Whether a chip, by the compiler's name for it, is of the series 950, which has a compiler of its own."""
    return chip.startswith(("Ascend950", "Ascend910_95"))


def environment_folder() -> Path:
    """Where the tools are looked for."""
    return Path(os.environ.get("NEREID_ASCEND_TOOLS") or sys.prefix + "-ascend")


def find() -> Tools:
    """The tools. ToolsMissing when one of them is not there."""
    folder = environment_folder()
    for site in sorted(folder.glob("lib/python3*/site-packages")):
        lowering, compiler = site / _LOWERING, site / _COMPILER
        if os.access(lowering, os.X_OK) and os.access(compiler, os.X_OK):
            versions = {found.metadata["Name"].lower().replace("_", "-"): found.version
                        for found in importlib.metadata.distributions(path=[str(site)])}
            return Tools(lowering, compiler, tuple(f"{name} {versions.get(name, 'of an unknown version')}"
                                                   for name in ("triton-ascend", "ascendnpu-ir")))
    raise ToolsMissing(f"the vendor's compiler for Ascend is not in {folder}: {HOW_TO_INSTALL} installs it, "
                       "NEREID_ASCEND_TOOLS names another environment that has it")


def _run(command: list, target: Path, environment: dict[str, str] | None = None) -> Answer:
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace",
                              timeout=TIME_LIMIT, env=environment, cwd=target.parent)
    except subprocess.TimeoutExpired as expired:
        said = expired.stderr or b""
        return Answer("", f"no answer within {TIME_LIMIT} s", said.decode(errors="replace"))
    text = target.read_text(encoding="utf-8") if done.returncode == 0 and target.exists() else ""
    if text:
        return Answer(text, "", done.stderr)
    return Answer("", _reason(done.returncode, done.stderr), done.stderr)


def _reason(status: int, said: str) -> str:
    """The first thing that a tool complained of, else how it ended."""
    for pattern in (r"\berror: (?!Failed to run BiSheng)(.*)", r"(LLVM ERROR: .*)", r"(Assertion .* failed)", r"([\w/]+\.cpp:\d+: .*)"):
        # Files of the machine that the tools were built on say nothing here.
        if found := re.search(pattern, said):
            return re.sub(r"(?:/[^\s/:]+)+/", "", found[1]).strip()
    if status < 0:
        return f"ended by signal {-status}"
    return f"ended with status {status}" if status else "wrote nothing"


def main() -> int:
    try:
        tools = find()
    except ToolsMissing as missing:
        print(missing, file=sys.stderr)
        return 1
    for version, program in zip(tools.versions, (tools.lowering, tools.compiler)):
        said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        llvm = re.search(r"llvm (?:version )?([\w.]+)", said, re.I)
        print(f"{version}: {program.name}, LLVM {llvm[1] if llvm else 'of an unknown version'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
