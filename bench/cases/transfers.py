# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, barriers, transfers: the runtime beside bare C++ in the same processes.

Compiles the kernels of bench/runtime/kernels.py, starts the C++ benchmark of bench/runtime with them,
which takes turns by itself and tells cores that are near from cores that are far, and reads its lines.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

FOLDER = harness.ROOT / "bench/runtime"
#: ranks, name, us, us of the bare side, ratio, ..., [samples].
LINE = re.compile(r"^ *(\d+)  (.+?) +([\d.]+) +([\d.]+) +([\d.]+)(.*?)\[(\d+) of \d+(.*)\]$")


def compile_kernels(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location("runtime_kernels", FOLDER / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for kernel, signature in module.KERNELS.items():
        name = kernel.__name__
        subprocess.run([sys.executable, "-m", "nereid", "compile", f"{FOLDER / 'kernels.py'}:{name}",
                        "--emit", "obj", "--signature", signature, "-o", str(folder / f"{name}.o")], check=True)


def figure_of(line: str) -> harness.Figure | None:
    """What a line of the C++ benchmark says; None for a heading. Its own bars say which figures have one."""
    found = LINE.match(line)
    if not found:
        return None
    _, name, ours, bare, ratio, middle, samples, place = found.groups()
    rates = re.match(r" +([\d.]+) +([\d.]+) GB/s", middle)
    note = f"{rates[1]} against {rates[2]} GB/s, " if rates else ""
    words = place.split(",")[0].split()
    where = f", {words[0]}" if words else ""
    return harness.Figure("memory", "bare C++", f"{name}{where}", float(ratio), float(ours) * 1e-6, float(bare) * 1e-6,
                          f"{note}{samples} samples{'; others had the processors' if 'NOISY' in place else ''}",
                          noisy="NOISY" in place, detail={"has_bar": "bar " in middle})


def figures(only: str, ranks: int, rounds: int, bars: dict) -> list[harness.Figure]:
    """`rounds` is the number of undisturbed samples that are enough for one figure."""
    if "memory" not in bars:
        return []
    try:
        program = harness.built("nereid-bench-runtime", "the C++ benchmark of the runtime is")
    except harness.Missing as reason:
        return [harness.Figure("memory", missing=str(reason))]
    with tempfile.TemporaryDirectory() as folder:
        compile_kernels(Path(folder))
        command = [str(program), "--kernels", folder, "--only", only, "--ranks", str(ranks), "--samples", str(max(rounds, 5))]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} has failed:\n{done.stdout}{done.stderr}")
    found = [figure for line in done.stdout.splitlines() if (figure := figure_of(line))]
    return found or [harness.Figure("memory", missing="no sample was undisturbed: run it on a machine with nothing else to do")]
