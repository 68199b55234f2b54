# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of compiled kernels.

One folder per kernel, ``<root>/<first two digits>/<key>/``, with ``kernel.o``
(object code) and ``kernel.json`` (metadata, and the digest of the object code).
A folder is made under a temporary name and renamed: any number of processes may
read and write at once, and a crash leaves no half entry under a key.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Iterator, NamedTuple

from nereid import _runtime
from nereid._base import environment as _environment
from nereid._base import targets as _targets


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


def read_result(key: str) -> Any:
    """A small JSON result stored under a key; None when it is missing or damaged."""
    root = cache_root()
    if root is None or _environment.flag("NEREID_ALWAYS_COMPILE"):
        return None
    try:
        return json.loads((_folder(root, key).with_suffix(".json")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_result(key: str, result: Any) -> None:
    root = cache_root()
    if root is None:
        return
    path = _folder(root, key).with_suffix(".json")
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(result, file)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _folder(root: Path, key: str) -> Path:
    return root / key[:2] / key


def read(key: str) -> tuple[bytes, dict[str, Any]] | None:
    """(object code, metadata) of an entry; None when it is missing or damaged."""
    root = cache_root()
    if root is None or _environment.flag("NEREID_ALWAYS_COMPILE") or os.environ.get("NEREID_DUMP"):
        return None  # a dump is made by compiling
    folder = _folder(root, key)
    try:
        text = (folder / "kernel.json").read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        text = ""
    try:
        metadata = json.loads(text)
        code = (folder / "kernel.o").read_bytes()
        if metadata.pop("object_sha256") == hashlib.sha256(code).hexdigest():
            return code, metadata
    except (OSError, ValueError, KeyError, AttributeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)  # damaged: make it anew
    return None


def write(key: str, code: bytes, metadata: dict[str, Any]) -> None:
    """Stores an entry. A cache that cannot be written is no reason to fail."""
    root = cache_root()
    if root is None:
        return
    folder = _folder(root, key)
    temporary = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.mkdtemp(prefix=".new-", dir=folder.parent)
        Path(temporary, "kernel.o").write_bytes(code)
        text = json.dumps({**metadata, "object_sha256": hashlib.sha256(code).hexdigest()})
        Path(temporary, "kernel.json").write_text(text, encoding="utf-8")
        os.rename(temporary, folder)
    except OSError:
        # Somebody else was faster, or the disk is full or read-only.
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def only_one(key: str) -> Iterator[None]:
    """Lets one process of all that share the cache compile an entry while the
    others wait for it. The lock dies with its process."""
    root = cache_root()
    lock = None
    if root is not None:
        try:
            folder = _folder(root, key).parent
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


def entries() -> list[Entry]:
    """What the cache holds, by name; unreadable entries as "?"."""
    root = cache_root()
    found = []
    for folder in root.glob("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 64) if root is not None else ():
        size = 0
        name = "?"
        try:
            size = sum(file.stat().st_size for file in folder.iterdir())
            name = str(json.loads((folder / "kernel.json").read_text(encoding="utf-8"))["name"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        found.append(Entry(folder.name, name, size))
    return sorted(found, key=lambda entry: (entry.name, entry.key))


def clear() -> int:
    """Removes all entries and results; returns how many kernels there were. Only
    what the cache itself has made goes: the folder may hold other things."""
    root = cache_root()
    if root is None:
        return 0
    count = 0
    for entry in entries():
        shutil.rmtree(_folder(root, entry.key), ignore_errors=True)
        count += 1
    for pattern in ("[0-9a-f]" * 64 + ".json", ".new-*"):
        for path in root.glob("[0-9a-f][0-9a-f]/" + pattern):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    path.unlink()
    return count
