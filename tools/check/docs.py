#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links in the docs resolve, and the commands that they show exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import tree

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.M)
#: Code blocks of these languages hold commands, one a line.
SHELL = {"sh", "bash", "console"}


def anchors_of(text: str) -> set[str]:
    """The anchors that a Markdown reader gives the headings of `text`."""
    plain = FENCE.sub("", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(plain)}


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def check_links(root: Path, file: Path, text: str) -> list[str]:
    problems = []
    # Blanked, not cut, so that line numbers stay right.
    plain = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group(0)),
                     FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block.group(0)), text))
    for match in LINK.finditer(plain):
        target, _, anchor = match.group(1).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        where = f"{file}:{line_of(text, match.start())}: the link '{match.group(1)}'"
        path = (root / file).parent / target if target else root / file
        if not path.exists():
            problems.append(f"{where} leads nowhere")
        elif anchor and path.suffix == ".md" and anchor not in anchors_of(path.read_text(encoding="utf-8")):
            problems.append(f"{where} names no heading of {target or file}")
    return problems


def files_in_command(line: str) -> list[str]:
    """The words of a command line that name files of this tree."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    # Words with a suffix or below a folder of ours; `kernel.py:name` names a file too.
    found = []
    for word in words:
        name = word.split(":")[0].split("=")[-1].removeprefix("./")
        if re.fullmatch(r"(scripts|examples|bench|tests|tools|docs|\.ci)/[\w./-]+", name):
            found.append(name)
    return found


def check_commands(root: Path, file: Path, text: str) -> list[str]:
    problems = []
    for block in FENCE.finditer(text):
        if block.group(1) not in SHELL:
            continue
        first = line_of(text, block.start()) + 1
        for offset, line in enumerate(block.group(2).splitlines()):
            for name in files_in_command(line.removeprefix("$ ")):
                if not (root / name).exists():
                    problems.append(f"{file}:{first + offset}: the command names '{name}', which is not there")
                elif line.removeprefix("$ ").lstrip().removeprefix("./").startswith(name) \
                        and not (root / name).stat().st_mode & 0o111:
                    problems.append(f"{file}:{first + offset}: '{name}' is shown as a command but is not executable")
    return problems


def check(root: Path) -> list[str]:
    problems = []
    for file in tree.files_of(root):
        if file.suffix != ".md":
            continue
        text = (root / file).read_text(encoding="utf-8")
        problems += check_links(root, file, text) + check_commands(root, file, text)
    return problems


if __name__ == "__main__":
    tree.run(check, __doc__)
