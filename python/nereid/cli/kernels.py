# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a command line's FILE.py:NAME and types to a kernel."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path
from typing import Any


class UsageError(Exception):
    """Something is wrong with the command line; shown without a traceback."""


def _line_in(path: Path, error: BaseException) -> int:
    """The last line of a file that an error came through; 0 when it did not."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _load_file(command: str, path: Path, name: str) -> Any:
    """The module in a file. Its host code runs as far as the first launch or error: what
    is wanted is `name`, which is mostly defined before."""
    from nereid._launch.jit import LaunchWhileLoading, only_definitions

    if not path.exists():
        raise UsageError(f"{command}: there is no file '{path}'")
    # As if the file were run: its folder is where its imports are found.
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{command}: '{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    # What the file prints is not part of our output.
    try:
        with contextlib.redirect_stdout(sys.stderr), only_definitions():
            spec.loader.exec_module(module)
    except (Exception, SystemExit, LaunchWhileLoading) as error:
        launched = isinstance(error, LaunchWhileLoading)
        what = f"launches '{error}'" if launched else f"raises {type(error).__name__}"
        where = f"{path}:{_line_in(path, error)}"
        help = 'code for the host belongs under `if __name__ == "__main__":`'
        if not hasattr(module, name.split(".")[0]):
            if launched or isinstance(error, SystemExit):
                raise UsageError(f"{command}: {where} {what} before '{name}' is defined; {help}") from None
            raise
        print(f"{command}: {where} {what}; what stands behind was not run. To say so in the file: {help}",
              file=sys.stderr)
    return module


def find_kernel(command: str, target: str) -> Any:
    """The jit function FILE.py:NAME."""
    from nereid import JITFunction

    file, colon, name = target.rpartition(":")
    if not colon or not file:
        raise UsageError(f"{command}: write FILE.py:NAME, not '{target}'")
    module = _load_file(command, Path(file), name)
    kernels = [key for key, value in vars(module).items() if isinstance(value, JITFunction)]
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if not isinstance(value, JITFunction):
        what = "no name" if value is None else "no jit function"
        listed = f"; its jit functions are {', '.join(kernels)}" if kernels else "; it has no jit functions"
        raise UsageError(f"{command}: '{name}' is {what} in {file}{listed}")
    return value


def typed_kernel(command: str, target: str, signature: str | None) -> tuple[Any, list, str]:
    """A kernel, the types and values that it is compiled for, and the text that says them: what was
    given, else its own example. `command` ("nereid compile") stands before what is wrong."""
    from nereid._kernels import signature as _signature

    kernel = find_kernel(command, target)
    text = signature if signature is not None else kernel.example_signature
    suggestion = f'--signature "{_signature.example(kernel)}"'
    if text is None:
        parameters = ", ".join(f"{param.name}{': constexpr' if param.is_constexpr else ''}" for param in kernel.params)
        raise UsageError(
            f"{command}: the types of {kernel.__name__}'s arguments are needed. Its parameters are {parameters}; "
            f"write for example\n  {suggestion}"
        )
    try:
        return kernel, _signature.parse_signature(kernel, text), text
    except ValueError as error:
        raise UsageError(f"{command}: {error}; for example\n  {suggestion}") from None
