# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs outside of the compiler that targets compile with (``tool`` of a target's
row). Each is a module of nereid._tools that is run by a Python of its own, since
what is wrong with another compiler must not end this process: it reads requests, one
JSON text a line, and writes an answer a line for each."""

from __future__ import annotations

import atexit
import importlib.metadata
import json
import os
import subprocess
import sys
import threading
from typing import Any

#: What is installed for each package.
_EXTRAS = {"triton": "nereid[cuda]"}

_lock = threading.Lock()
_running: dict[str, subprocess.Popen] = {}
#: The last request and its answer, for each package: several stages of a kernel are asked for
#: one after the other.
_last: dict[str, tuple[str, str]] = {}


def installed(tool: str) -> str:
    """What there is of a tool, "triton==3.6.0": that package, whatever its version; no version when
    it is not installed."""
    package = tool.partition("==")[0]
    try:
        return f"{package}=={importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package


def run(tool: str, request: str) -> str:
    """The answer of a tool, "triton==3.6.0", to `request`, both JSON texts. An object with the one
    entry `error` when there is none: it is not installed in this version, or has ended."""
    package = tool.partition("==")[0]
    if (found := installed(tool)) != tool:
        what = f"{found} is" if "==" in found else "it is not"
        return _error(f"the code is made by the package {tool}, but {what} installed for {sys.executable}: "
                      f"pip install '{_EXTRAS[package]}'")
    with _lock:
        if package in _last and _last[package][0] == request:
            return _last[package][1]
        try:
            process = _process(package)
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        if answer.endswith(b"\n"):
            _last[package] = request, answer.decode()
            return _last[package][1]
        gone = _running.pop(package, None)
        if gone is not None:
            gone.kill()
            status = gone.wait()
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            said = gone.stderr_tail() if hasattr(gone, "stderr_tail") else ""
            return _error(f"the compiler of the package {tool} {how}{said}")
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


def _process(package: str) -> _Process:
    known = _running.get(package)
    if known is None or known.poll() is not None or known.owner != os.getpid():
        known = _Process([sys.executable, "-m", f"nereid._tools.{package}_compiler"])
        known.owner = os.getpid()
        _running[package] = known
    return known


def _begin_anew() -> None:
    """In a forked process: the lock may have been held, and what runs is the parent's."""
    global _lock
    _lock = threading.Lock()
    _running.clear()


os.register_at_fork(after_in_child=_begin_anew)


@atexit.register
def _end() -> None:
    for process in _running.values():
        if process.owner == os.getpid():
            process.kill()
