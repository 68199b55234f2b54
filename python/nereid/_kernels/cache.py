# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of compiled kernels.

One file per kernel, ``<root>/<first two digits>/<key>.o``: its object file, which
says what it is and whether it is whole. A file is made under a temporary name and
renamed: any number of processes may read and write at once, and a crash leaves no
half entry under a key.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterator, NamedTuple

from nereid import _runtime
from nereid._base import environment as _environment
from nereid._base import targets as _targets
from nereid._kernels import description as _description


def cache_root() -> Path | None:
    """The cache's folder (NEREID_CACHE_DIR, else ~/.cache/nereid); None when it is
    switched off (NEREID_CACHE=0)."""
    if not _environment.flag("NEREID_CACHE", "1"):
        return None
    folder = os.environ.get("NEREID_CACHE_DIR")
    if folder:
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "nereid"


@functools.lru_cache(maxsize=None)
def compiler_build_id() -> str:
    """Changes with every build of the compiler; found without loading it."""
    spec = importlib.util.find_spec("nereid._compiler")
    if spec is None or not spec.origin:
        return "no compiler"
    status = os.stat(spec.origin)
    return f"{status.st_size}:{status.st_mtime_ns}"


def entry_key(parts: list[str], options: dict[str, Any] | None = None) -> str:
    """The key of what is made from `parts` by the target in `options` (without: the
    one in force, as the environment sets it)."""
    if options is None:
        target = _targets.active()
        options = {"target": target, **_targets.settings(target)}
    digest = hashlib.sha256()
    for part in [*parts, compiler_build_id(), _targets.cache_id(options), str(_runtime.ABI_VERSION)]:
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _path(root: Path, key: str, ending: str) -> Path:
    return root / key[:2] / (key + ending)


def _store(key: str, ending: str, content: bytes) -> None:
    """A cache that cannot be written is no reason to fail."""
    root = cache_root()
    if root is None:
        return
    path = _path(root, key, ending)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:  # the disk is full or read-only
        if temporary is not None:
            _remove(Path(temporary))


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def read_result(key: str) -> Any:
    """A small JSON result stored under a key; None when it is missing or damaged."""
    root = cache_root()
    if root is None or _environment.flag("NEREID_ALWAYS_COMPILE"):
        return None
    try:
        return json.loads(_path(root, key, ".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_result(key: str, result: Any) -> None:
    _store(key, ".json", json.dumps(result).encode())


def read(key: str, device: str) -> bytes | None:
    """The object file of an entry, for a device; None when it is missing or damaged."""
    root = cache_root()
    if root is None or _environment.flag("NEREID_ALWAYS_COMPILE") or os.environ.get("NEREID_DUMP"):
        return None  # a dump is made by compiling
    path = _path(root, key, ".o")
    try:
        code = path.read_bytes()
        _runtime.describe_object(code, device, sites=False)
        return code
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RuntimeError):
        _remove(path)  # damaged: make it anew
        return None


def write(key: str, code: bytes) -> None:
    """Stores the object file of an entry."""
    _store(key, ".o", code)


@contextlib.contextmanager
def only_one(key: str) -> Iterator[None]:
    """Lets one process of all that share the cache compile an entry while the
    others wait for it. The lock dies with its process."""
    root = cache_root()
    lock = None
    if root is not None:
        try:
            folder = _path(root, key, ".o").parent
            folder.mkdir(parents=True, exist_ok=True)
            # One lock file per folder of the cache, so that their number is bounded.
            lock = open(folder / f".lock-{key[2]}", "w", encoding="utf-8")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


class Entry(NamedTuple):
    """One compiled kernel in the cache."""

    key: str
    name: str
    bytes: int


#: What the cache names its files: keys, and temporary names.
_OBJECTS = "[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 64 + ".o"
_OTHERS = ("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 64 + ".json", "[0-9a-f][0-9a-f]/.new-*")


def entries() -> list[Entry]:
    """What the cache holds, by name; unreadable entries as "?"."""
    root = cache_root()
    found = []
    for path in root.glob(_OBJECTS) if root is not None else ():
        code, name = b"", "?"
        with contextlib.suppress(OSError, RuntimeError):
            code = path.read_bytes()
            name = _description.describe(code)["name"]
        found.append(Entry(path.stem, name, len(code)))
    return sorted(found, key=lambda entry: (entry.name, entry.key))


def clear() -> int:
    """Removes all entries and results; returns how many kernels there were. Only
    what the cache itself has made goes: the folder may hold other things."""
    root = cache_root()
    if root is None:
        return 0
    kernels = list(root.glob(_OBJECTS))
    for path in [*kernels, *(path for pattern in _OTHERS for path in root.glob(pattern))]:
        _remove(path)
    return len(kernels)
