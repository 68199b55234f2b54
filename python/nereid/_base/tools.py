# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs outside of the compiler that targets compile with (``tool`` of a target's
row). Each is a module of nereid._tools that is run by a Python of its own, since
what is wrong with another compiler must not end this process: it reads requests, one
JSON text a line, and writes an answer a line for each."""

from __future__ import annotations

import atexit
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import threading
from typing import Any

#: What is installed for each.
_EXTRAS = {"triton": "nereid[cuda]"}

_lock = threading.Lock()
_running: dict[str, subprocess.Popen] = {}


def version(tool: str) -> str:
    """Of the package `tool`, as keys of caches have it; "none" when it is not installed."""
    try:
        return importlib.metadata.version(tool)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def run(tool: str, request: str) -> str:
    """The tool's answer to `request`, both JSON texts. An object with the one entry
    `error` when there is none: the tool is not installed, or has ended."""
    if importlib.util.find_spec(tool) is None:
        return _error(
            f"the package {tool}, which makes the code, is not installed for {sys.executable}: pip install '{_EXTRAS[tool]}'"
        )
    with _lock:
        try:
            process = _process(tool)
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        if answer.endswith(b"\n"):
            return answer.decode()
        gone = _running.pop(tool, None)
        if gone is not None:
            gone.kill()
            status = gone.wait()
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            said = gone.stderr_tail() if hasattr(gone, "stderr_tail") else ""
            return _error(f"the compiler of the package {tool} {version(tool)} {how}{said}")
        return _error(f"the compiler of the package {tool} could not be started")


def _error(text: str) -> str:
    return json.dumps({"error": text})


class _Process(subprocess.Popen):
    """With the last of what it has written to its standard error."""

    def __init__(self, arguments: list[str], **options: Any):
        super().__init__(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self._tail: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.stderr:
            self._tail = [*self._tail[-9:], line]

    def stderr_tail(self) -> str:
        self._reader.join(timeout=5)
        text = b"".join(self._tail).decode(errors="replace").strip()
        return f":\n{text}" if text else ""


def _process(tool: str) -> _Process:
    known = _running.get(tool)
    if known is None or known.poll() is not None or known.owner != os.getpid():
        known = _Process([sys.executable, "-m", f"nereid._tools.{tool}_compiler"])
        known.owner = os.getpid()
        _running[tool] = known
    return known


@atexit.register
def _end() -> None:
    for process in _running.values():
        if process.owner == os.getpid():
            process.kill()
