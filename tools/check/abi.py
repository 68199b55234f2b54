#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface of compiled kernels changes only with its number.

abi/versions.txt holds, for each NRD_ABI_VERSION, a digest of the headers and
tables of abi/ without their comments and white space. After a change: raise
NRD_ABI_VERSION in abi/nereid/abi.h, then run `tools/check/abi.py --record`.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import tree

FOLDER = Path("abi/nereid")
HEADER = FOLDER / "abi.h"
VERSIONS = Path("abi/versions.txt")
VERSION = re.compile(r"^#define NRD_ABI_VERSION (\d+)$", re.M)
#: A string or character literal, or a comment.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def digest_of(root: Path) -> str:
    """Of what a C compiler sees of the folder, the number itself left out."""
    digest = hashlib.sha256()
    for path in sorted((root / FOLDER).iterdir()):
        if path.suffix not in (".h", ".def"):
            continue
        text = VERSION.sub("", path.read_text(encoding="utf-8"))
        text = TOKEN.sub(lambda match: match[0] if match[0][0] in "\"'" else " ", text)
        digest.update(f"{path.name}\0{' '.join(text.split())}\0".encode())
    return digest.hexdigest()


def version_of(root: Path) -> int | None:
    match = VERSION.search((root / HEADER).read_text(encoding="utf-8")) if (root / HEADER).is_file() else None
    return int(match[1]) if match else None


def recorded(root: Path) -> dict[int, str]:
    rows = {}
    if (root / VERSIONS).is_file():
        for line in (root / VERSIONS).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                version, digest = line.split()
                rows[int(version)] = digest
    return rows


def check(root: Path) -> list[str]:
    version = version_of(root)
    if version is None:
        return [f"{HEADER}: no line '#define NRD_ABI_VERSION N'"]
    rows, digest = recorded(root), digest_of(root)
    problems = []
    if version not in rows:
        problems.append(f"{VERSIONS}: no line for NRD_ABI_VERSION {version}; run tools/check/abi.py --record")
    elif rows[version] != digest:
        problems.append(f"{FOLDER}: changed, but NRD_ABI_VERSION is still {version}: kernels compiled before would be taken for "
                        f"new ones. Raise it to {max(rows) + 1} in {HEADER}, then run tools/check/abi.py --record")
    elif version != max(rows):
        problems.append(f"{HEADER}: NRD_ABI_VERSION is {version}, {VERSIONS} goes up to {max(rows)} already")
    return problems


def record(root: Path) -> None:
    version, rows = version_of(root), recorded(root)
    if version in rows and rows[version] != digest_of(root):
        sys.exit(f"abi.py: {version} stands for other headers already; raise NRD_ABI_VERSION to {max(rows) + 1} first")
    if version not in rows:
        with open(root / VERSIONS, "a", encoding="utf-8") as file:
            file.write(f"{version} {digest_of(root)}\n")


if __name__ == "__main__":
    if "--record" in sys.argv:
        sys.argv.remove("--record")
        record(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
    tree.run(check, __doc__)
