# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels' object files (``nereid compile --emit=obj``) for people to read."""

from __future__ import annotations

import json
from typing import Any

from nereid import _runtime


def describe(code: bytes) -> dict[str, Any]:
    """What an object file, given as bytes, for any device of this build says of its
    kernel; see ``_runtime.describe_object``. RuntimeError for a file that is damaged
    or no kernel's."""
    problems = []
    for device, _ in _runtime.devices():
        try:
            return _runtime.describe_object(code, device)
        except RuntimeError as error:
            problems.append(error)
    raise problems[0]


def as_json(description: dict[str, Any]) -> str:
    return json.dumps(description, indent=2)


def as_text(description: dict[str, Any]) -> str:
    uses = [word for word, used in (("ranks or symmetric memory", description["distributed"]),
                                    ("waits between programs", description["blocking"])) if used]
    rows = [
        ("kernel", description["name"]),
        ("ABI version", description["abi_version"]),
        ("processor", f"{description['architecture']}, {description['cpu']}"),
        ("may use", ", ".join(description["features"])),
        ("needs", ", ".join(uses) or "no job"),
        ("vector cores", description["lanes"]),
        ("launch mode", description["launch_mode"] or "-"),
        ("observers", "are told of its loads and stores" if description["instrumented"] else "see its calls only"),
        ("tile buffers", f"{description['scratch_bytes']} bytes per program"),
    ]
    lines = [f"{name:<14}{value}" for name, value in rows]
    lines.append("arguments" if description["args"] else "arguments     none")
    width = max([len(argument["name"]) for argument in description["args"]], default=0)
    for argument in description["args"]:
        notes = [f"a multiple of {argument['divisibility']}"] if argument["divisibility"] > 1 else []
        if argument["symmetric"]:
            notes.append("in symmetric memory")
        lines.append(f"  {argument['name']:<{width}}  {argument['type']:<8} {', '.join(notes)}".rstrip())
    lines.append("source lines")
    places = sorted({(site["file"], site["line"], site["text"]) for site in description["sites"] if site["line"]})
    lines += [f"  {file}:{line}: {text.strip()}" for file, line, text in places] or ["  unknown"]
    return "\n".join(lines)
