# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets files written for triton run on Nereid as they are.

    import nereid.compat.triton      # before anything imports triton
    import triton                    # Nereid
    import triton.language as tl

or ``nereid run --as-triton script.py``. ``shmem``, the NPU's host library, stands for Nereid's symmetric
memory where none is installed. In this process, and only here, the names
``triton``, ``triton.language``, ``triton.testing``, ``triton.runtime``,
``triton_dist.language`` and so on then stand for modules of Nereid; an installed
triton is not touched, and not imported. A submodule that has no counterpart raises
ModuleNotFoundError, which says so.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from nereid.compat import _names

#: Packages whose names are taken over.
PACKAGES = ("triton", "triton_dist")


class _NoSuchModule(importlib.abc.MetaPathFinder):
    """Says why a submodule cannot be imported."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PACKAGES and "." in name:
            raise ModuleNotFoundError(
                f"No module named '{name}': Nereid stands in for {name.partition('.')[0]} here "
                f"(nereid.compat.triton), and has no such module",
                name=name,
            )
        return None


_finder = _NoSuchModule()
_taken: set[str] = set()


def is_installed() -> bool:
    """Whether the names stand for Nereid's modules in this process."""
    return _finder in sys.meta_path


def install() -> None:
    """Takes over the names; nothing the second time. Raises ImportError when a real
    triton has been imported already: files that have it could not be told apart."""
    if is_installed():
        return
    for package in PACKAGES:
        if package in sys.modules:
            raise ImportError(
                f"{package} has been imported already (from {getattr(sys.modules[package], '__file__', '?')}); import "
                "nereid.compat.triton before it"
            )
    modules = _names.modules()
    for name, contents in _names.optional_modules().items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            modules[name] = contents
            _taken.add(name)
    for name, contents in modules.items():
        module = types.ModuleType(name, f"Nereid, under the name {name}.")
        is_package = any(other.startswith(name + ".") for other in modules)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin="nereid.compat", is_package=is_package)
        if is_package:
            module.__path__ = []
        module.__dict__.update(contents)
        sys.modules[name] = module
    for name in modules:
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Gives the names back. Files that have imported them keep what they have."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES or name in _taken]:
        del sys.modules[name]
    _taken.clear()


install()
