# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets files written for triton run on Nereid as they are.

    import nereid.compat.triton      # before anything imports triton
    import triton                    # Nereid
    import triton.language as tl

or ``nereid run --as-triton script.py``. In this process, and only here, the names
``triton``, ``triton.language``, ``triton.testing``, ``triton.runtime``,
``triton_dist.language`` and so on then stand for modules of Nereid; an installed
triton is not touched, and not imported. packages.py lists all packages. A submodule that
has no counterpart raises ModuleNotFoundError, which says so.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from nereid.compat import _finder
from nereid.compat.packages import CHANGED, PACKAGES

_active = _finder.Finder()


def is_installed() -> bool:
    """Whether the names stand for Nereid's modules in this process."""
    return _active in sys.meta_path


def install(devices: bool = False) -> None:
    """Takes over the names; nothing the second time. With `devices`, torch is changed as well when it is
    imported: its devices "cuda" and "npu" are CPU memory then. Raises ImportError when a real
    triton has been imported already: files that have it could not be told apart."""
    if devices and not _active.changes:
        _active.changes = True
        for name, change in CHANGED.items():
            if name in sys.modules:
                importlib.import_module(f"nereid.compat.{change}").apply(sys.modules[name])
    if is_installed():
        return
    for package, (_, always) in PACKAGES.items():
        if always and package in sys.modules:
            raise ImportError(
                f"{package} has been imported already (from {getattr(sys.modules[package], '__file__', '?')}); import "
                "nereid.compat.triton before it"
            )
    sys.meta_path.insert(0, _active)


def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
    """The module of that name, as the import system asks for it; None for others' names."""
    return _active.find_spec(name, path, target)


def uninstall() -> None:
    """Gives the names back. Files that have imported them keep what they have."""
    if not is_installed():
        return
    sys.meta_path.remove(_active)
    for name in _active.taken():
        del sys.modules[name]


install()
