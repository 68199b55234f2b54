# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes modules of other packages' names from tables.

A table gives the contents of each module by its full name. A package with a table is
Nereid's: a submodule that the table does not have is an error that says so. Only where a
source tree of the package lies on the path are its other submodules loaded from there;
they then import ours for what the table has.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

from nereid.compat import _profile
from nereid.compat.packages import CHANGED, PACKAGES


class Missing(ModuleNotFoundError):
    """A submodule that has no counterpart."""


class _ThenChanged(importlib.abc.Loader):
    """Loads a package as its own loader does, and lets a module of ours change it."""

    def __init__(self, loader: Any, change: str) -> None:
        self._loader, self._change = loader, change

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self._loader
        importlib.import_module(f"nereid.compat.{self._change}").apply(module)

    def __getattr__(self, name: str) -> Any:  # what else the loader can do
        return getattr(self._loader, name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self) -> None:
        #: Whether the packages of CHANGED are changed as well.
        self.changes = False
        self._tables: dict[str, dict[str, dict[str, Any]]] = {}
        self._deciding: set[str] = set()
        self._left_alone: dict[str, bool] = {}

    def _is_ours(self, root: str) -> bool:
        if root not in PACKAGES or root in self._deciding:
            return False
        if PACKAGES[root][1]:
            return True
        if root not in self._left_alone:
            self._deciding.add(root)
            try:
                self._left_alone[root] = root in sys.modules or importlib.util.find_spec(root) is not None
            finally:
                self._deciding.discard(root)
        return not self._left_alone[root]

    def _table(self, root: str) -> dict[str, dict[str, Any]]:
        provider = PACKAGES[root][0]
        if provider not in self._tables:
            self._tables[provider] = importlib.import_module(f"nereid.compat.{provider}").modules()
        return self._tables[provider]

    def _source_tree(self, root: str) -> list[str]:
        """Folders of a package of that name on the path."""
        spec = importlib.machinery.PathFinder.find_spec(root)
        return list(spec.submodule_search_locations or []) if spec is not None else []

    def _changed(self, name: str) -> importlib.machinery.ModuleSpec | None:
        self._deciding.add(name)
        try:
            spec = importlib.util.find_spec(name) if name not in sys.modules else None
        finally:
            self._deciding.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenChanged(spec.loader, CHANGED[name])
        return spec

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        root, dot, _ = name.partition(".")
        if name in CHANGED and self.changes and name not in self._deciding:
            return self._changed(name)
        if not self._is_ours(root):
            return None
        table = self._table(root)
        if name not in table:
            if dot and path and importlib.machinery.PathFinder.find_spec(name, path) is not None:
                return None  # of the source tree
            raise Missing(
                f"No module named '{name}': Nereid stands in for {root} here (nereid.compat.triton), and has no such "
                "module",
                name=name,
            )
        is_package = any(other.startswith(name + ".") for other in table)
        spec = importlib.machinery.ModuleSpec(name, self, origin="nereid.compat", is_package=is_package)
        if root == "triton_dist" and is_package:
            below = name.split(".")[1:]
            folders = [os.path.join(folder, *below) for folder in self._source_tree(root)]
            spec.submodule_search_locations = [folder for folder in folders if os.path.isdir(folder)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        name = module.__name__
        table = self._table(name.partition(".")[0])
        module.__doc__ = f"Nereid, under the name {name}."
        module.__dict__.update(table[name])
        _profile.choose(name)

        def missing(attribute: str) -> Any:
            if f"{name}.{attribute}" in table:
                return importlib.import_module(f"{name}.{attribute}")
            raise AttributeError(
                f"module '{name}' has no attribute '{attribute}': Nereid stands in for it here, and has no counterpart")

        module.__dict__.setdefault("__getattr__", missing)
        # As the packages do it that ours stand for: their parts are there after one import. Those by
        # which a script shows what machine it is for come when it asks for them.
        for other in table:
            if other.rpartition(".")[0] == name and not _profile.is_sign(other):
                importlib.import_module(other)
        module.__dict__.update(table[name])  # a name of the table wins over a part of the same name

    def taken(self) -> list[str]:
        """The modules that this finder has made."""
        return [name for name, module in sys.modules.items() if getattr(getattr(module, "__spec__", None), "loader", None) is self]
