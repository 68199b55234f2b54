# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs public test suites and tutorials as they are, and writes docs/compatibility.md.

    python tools/compat/run.py --suite triton-distributed PATH        a checkout of that suite
    python tools/compat/run.py --suite triton-distributed PATH --only tutorials/01 --verbose
    python tools/compat/run.py --suite triton-distributed PATH --write

    python tools/compat/run.py --suite triton-distributed PATH --only nvidia --write      some rows anew

Each file of the suite's list (suites.py) is run by ``nereid run --as-triton`` with the
arguments that its row names; it passes when all its ranks end with 0, so it is the file
that says whether its numbers are right. ``--write`` puts what happened into the suite's
part of the page; with ``--only`` the other rows stay, if they are of the same commit. Needs Nereid, and whatever the suite imports (torch, pytest), in the
Python that runs it. Nothing of a suite is copied.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suites import SUITES, File, Suite  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
HEAD = """# Public suites

Which files of public test suites and tutorials run as they are, by `nereid run --as-triton`, on the ranks and with the
arguments that stand beside them. A file that runs has checked its own numbers. `python tools/compat/run.py --suite NAME
PATH --write` writes this page from a checkout; nothing of a suite is copied into this repository.
"""


def version(folder: Path) -> str:
    """Commit and date of a checkout."""
    git = ["git", "-c", "safe.directory=*", "-C", str(folder), "log", "-1", "--format=%h of %cs"]
    done = subprocess.run(git, capture_output=True, text=True)
    return done.stdout.strip() or "no repository"


def command(file: File, folder: Path) -> list[str]:
    start = [sys.executable, "-m", "nereid", "run", "--as-triton", "-n", str(file.ranks)]
    return [*start, *(["-m", "pytest", "-q"] if file.pytest else []), str(folder / file.path), *shlex.split(file.arguments)]


def reason(output: str) -> str:
    """The line that says best why a run has failed."""
    lines = [re.sub(r"^(\[rank\d+\]:|E) *", "", line).strip() for line in output.splitlines()]
    for pattern in (r"error: .*", r"^[\w.]*(Error|Exception|Exit)\b.*", r"no progress|deadlock.*", r"nereid.*"):
        found = [line for line in lines if re.search(pattern, line)]
        if found:
            return re.sub(r"\S*/([^/\s]+:\d+:\d+:)", r"\1", found[0])[:160]
    return "it says nothing"


def run(file: File, suite: Suite, folder: Path, limit: float, verbose: bool) -> tuple[bool, str, float]:
    """Whether the file has passed, why not, and seconds."""
    paths = [str(folder / part) for part in suite.python_path] + [os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, **dict(suite.environment), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:  # files write beside them what they find
        with subprocess.Popen(command(file, folder), cwd=scratch, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                output = process.communicate(timeout=limit)[0]
            except subprocess.TimeoutExpired:
                process.terminate()  # nereid run ends its ranks
                output = process.communicate()[0]
                return False, f"not done after {limit:.0f} s", time.monotonic() - start
    if verbose:
        print(output)
    passed = process.returncode == 0
    return passed, "" if passed else reason(output), time.monotonic() - start


def row(file: File, ok: bool, why: str) -> str:
    """A file's line of the page."""
    text = "runs" if ok else (file.lacks or why).replace("|", "\\|")
    arguments = f"`{file.arguments}`" if file.arguments else ""
    return f"| `{file.path}` | {file.ranks} | {arguments} | {text} |"


def earlier(name: str, commit: str) -> dict[str, str]:
    """The rows that the page has of the suite at this commit, by what comes before the result."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    old = re.search(rf"<!-- {name} -->.*?<!-- end of {name} -->", page, re.S)
    if not old or f"Commit {commit}:" not in old[0]:
        return {}
    lines = [line for line in old[0].splitlines() if line.startswith("| `")]
    return {head(line): line for line in lines}


def head(line: str) -> str:
    """A row without its result."""
    return "|".join(line.split("|")[:4])


def section(name: str, suite: Suite, folder: Path, results: list[tuple[File, bool, str]]) -> str:
    """A suite's part of the page: what happened now, and for other files what the page says."""
    commit = version(folder)
    now = {head(row(*result)): row(*result) for result in results}
    kept = earlier(name, commit)
    rows = []
    for file in suite.files:
        place = head(row(file, False, ""))
        rows.append(now.get(place) or kept.get(place) or row(file, False, "not tried"))
    passed = sum(line.endswith("| runs |") for line in rows)
    lines = [f"## {suite.title}", "", f"Commit {commit}: {passed} of {len(rows)} files run, unmodified.", ""]
    lines += ["| file | ranks | arguments | |", "| --- | --- | --- | --- |", *rows]
    return f"<!-- {name} -->\n" + "\n".join(lines) + f"\n<!-- end of {name} -->"


def write(name: str, text: str) -> None:
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else HEAD
    old = re.search(rf"<!-- {name} -->.*?<!-- end of {name} -->", page, re.S)
    page = page.replace(old[0], text) if old else f"{page.rstrip()}\n\n{text}\n"
    PAGE.write_text(page, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a checkout of the suite")
    parser.add_argument("--suite", required=True, choices=sorted(SUITES))
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each file")
    parser.add_argument("--write", action="store_true", help="write the suite's part of docs/compatibility.md")
    parser.add_argument("--verbose", action="store_true", help="show what files print")
    parser.add_argument("--all", action="store_true", help="also files that are known to lack something")
    options = parser.parse_args()
    suite, results = SUITES[options.suite], []
    for file in suite.files:
        if options.only not in file.path:
            continue
        if file.lacks and not options.all:
            results.append((file, False, file.lacks))
            print(f"lacks  {file.path}: {file.lacks}", flush=True)
            continue
        ok, why, seconds = run(file, suite, options.folder.resolve(), options.limit, options.verbose)
        results.append((file, ok, why))
        print(f"{'runs ' if ok else 'FAILS'}  {seconds:5.1f} s  {file.path}{'' if ok else ': ' + why}", flush=True)
    if options.write:
        write(options.suite, section(options.suite, suite, options.folder.resolve(), results))
    return 0 if all(ok or file.lacks for file, ok, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
