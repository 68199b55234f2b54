# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the checks share: the files of the tree and the way a check reports."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

#: Folders that hold no source of ours.
SKIPPED_FOLDERS = {"build", ".venv", ".git", "__pycache__", ".pytest_cache", ".hypothesis", ".cache"}


def files_of(root: Path) -> list[Path]:
    """Every file of the tree under `root`, relative to it, sorted.

    In a git checkout these are the tracked files and the new ones that
    .gitignore does not name; elsewhere (an unpacked archive, a test's temporary
    folder) all files outside SKIPPED_FOLDERS.
    """
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0 and (root / ".git").exists():
        names = [name for name in listing.stdout.decode().split("\0") if name]
        return sorted(Path(name) for name in set(names) if (root / name).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [Path(folder, name).relative_to(root) for name in names]
    return sorted(found)


def run(check, description: str) -> None:
    """Calls `check(root)`, prints each problem it returns, exits 1 if there is one."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2],
                        help="the tree to check (default: this one)")
    root = parser.parse_args().root.resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    name = Path(sys.argv[0]).name
    if problems:
        print(f"{name}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        sys.exit(1)
    print(f"{name}: ok")
