# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read by every Python that starts with this folder on PYTHONPATH: the ranks of
``nereid run --as-triton``, and the processes that they start (spawned children, pytest,
torchrun). Nothing of Nereid is loaded before the first import of a name that it answers
to. The file of the same name that this one hides, if there is one, is run as well."""

import importlib.machinery
import importlib.util
import os
import sys


def _load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_FOLDER = os.path.dirname(os.path.abspath(__file__))
_TABLES = _load("_nereid_packages", os.path.join(_FOLDER, os.pardir, "packages.py"))


def _tell_what_to_install(package):
    """A script that ends because it cannot import `package` says what it lacks."""
    previous = sys.excepthook

    def hook(kind, value, trace):
        previous(kind, value, trace)
        if issubclass(kind, ModuleNotFoundError) and value.name == package:
            print(f"nereid run --as-triton: the script needs {package}, which is not installed for {sys.executable}: "
                  f"pip install {package} (any build of it; its devices are CPU memory here)", file=sys.stderr)

    sys.excepthook = hook


class _FirstImport:
    """Puts Nereid's finder in its own place when it is asked for the first of the names."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in _TABLES.PACKAGES and root not in _TABLES.CHANGED:
            return None
        sys.meta_path.remove(cls)
        try:
            from nereid.compat import triton as compat
        except ImportError as error:
            sys.meta_path.insert(0, cls)
            if root in _TABLES.CHANGED:
                return None  # the package itself is there, for a process that has no Nereid
            raise ImportError(
                f"'{root}' was to mean Nereid in this process (--as-triton), but {sys.executable} cannot import "
                f"Nereid: {error}. Install it for this Python, or start this process without the folder {_FOLDER} in "
                "PYTHONPATH",
                name=name,
            ) from error
        compat.install(devices=True)
        for package in _TABLES.CHANGED:
            if importlib.machinery.PathFinder.find_spec(package) is None:
                _tell_what_to_install(package)
        return compat.find_spec(name, path, target)


def _run_hidden():
    rest = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _FirstImport)
_run_hidden()
