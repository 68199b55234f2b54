# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the vendor's tools make of the corpus, and the list of what they are known not to take.

    python -m tests.ascend.outcomes            says what has changed against the list
    python -m tests.ascend.outcomes --record   writes the list anew

The list has a section for each reason: the stage that refuses and what it says (numbers left
out), a sentence that explains it, and the names of the kernels. It holds for the versions in
its first line."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nereid import CompilationError
from nereid._tools import ascend

from . import corpus

LIST = Path(__file__).with_name("expected-failures.txt")
CHIP = "Ascend910B3"
#: Stages in their order; "accepted" is none of them.
STAGES = ("export", "lower", "compile")

_HEAD = """# Kernels of tests/ascend/corpus.py that do not get through export, triton-adapter-opt (lower) and
# bishengir-compile (compile), by reason. Written by `python -m tests.ascend.outcomes --record`; the
# sentences below the reasons are kept."""


def outcome(name: str, tools: ascend.Tools) -> tuple[str, str]:
    """The stage that refuses a kernel and its reason; ("accepted", "") when none does."""
    try:
        text = corpus.export(name)
    except CompilationError as error:
        return "export", general(error.message)
    return tools_outcome(text, tools)


def tools_outcome(text: str, tools: ascend.Tools) -> tuple[str, str]:
    answer = tools.lower(text, CHIP)
    if not answer.accepted:
        return "lower", general(answer.reason)
    answer = tools.compile(answer.text, CHIP)
    return ("accepted", "") if answer.accepted else ("compile", general(answer.reason))


def general(reason: str) -> str:
    """A reason without what differs from kernel to kernel, and, of several values that the lowering
    could not convert, without which it named: that differs from run to run."""
    reason = re.sub(r"(unresolved materialization) from .*", r"\1", reason)
    return re.sub(r"-?\d+", "N", reason)[:160].strip()


def outcomes(names: list[str], tools: ascend.Tools) -> dict[str, tuple[str, str]]:
    texts: dict[str, str] = {}
    results: dict[str, tuple[str, str]] = {}
    for name in names:
        try:
            texts[name] = corpus.export(name)
        except CompilationError as error:
            results[name] = "export", general(error.message)
    # The tools are processes of their own.
    with ThreadPoolExecutor(2) as pool:
        results.update(zip(texts, pool.map(lambda text: tools_outcome(text, tools), texts.values())))
    return results


def read_list() -> tuple[str, dict[str, tuple[str, str]], dict[tuple[str, str], str]]:
    """The versions; name -> (stage, reason); (stage, reason) -> sentence."""
    versions, key = "", ("", "")
    expected: dict[str, tuple[str, str]] = {}
    sentences: dict[tuple[str, str], str] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []:
        if line.startswith("versions: "):
            versions = line.removeprefix("versions: ")
        elif found := re.fullmatch(r"\[(\w+): (.*)\]", line):
            key = found[1], found[2]
        elif line.startswith("    "):
            expected.update((name, key) for name in line.split())
        elif line and not line.startswith("#"):
            sentences[key] = line
    return versions, expected, sentences


def counts(results: dict[str, tuple[str, str]]) -> str:
    """ "accepted 180, refused by the export 0, by lower 60, by compile 60 of 300"."""
    stages = [stage for stage, _ in results.values()]
    return f"{stages.count('accepted')} of {len(stages)} accepted; refused in " + ", ".join(
        f"{stage} {stages.count(stage)}" for stage in STAGES)


def record(results: dict[str, tuple[str, str]], tools: ascend.Tools) -> None:
    _, _, sentences = read_list()
    sections: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, key in results.items():
        if key[0] != "accepted":
            sections[key].append(name)
    order = sorted(sections.items(), key=lambda item: (STAGES.index(item[0][0]), -len(item[1]), item[0][1]))
    text = f"{_HEAD}\nversions: {', '.join(tools.versions)}\n"
    for key, names in order:
        text += f"\n[{key[0]}: {key[1]}]\n{sentences.get(key, 'not explained yet')}\n"
        for first in range(0, len(names), 8):
            text += "    " + " ".join(names[first:first + 8]) + "\n"
    LIST.write_text("# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n" + text, encoding="utf-8")


def differences(results: dict[str, tuple[str, str]]) -> list[str]:
    """One line for each kernel whose outcome is not the list's."""
    _, expected, _ = read_list()
    lines = []
    for name, got in results.items():
        want = expected.get(name, ("accepted", ""))
        if got == want:
            continue
        if got[0] == "accepted":
            lines.append(f"{name} is accepted now; the list says: {want[0]}: {want[1]}")
        else:
            lines.append(f"{name}: {got[0]}: {got[1]}; the list says: {want[0]} {want[1]}".rstrip())
    return lines


def main() -> int:
    tools = ascend.find()
    results = outcomes(corpus.names(), tools)
    print(counts(results))
    if sys.argv[1:] == ["--record"]:
        record(results, tools)
        return 0
    changed = differences(results)
    print("\n".join(changed) or "as the list says")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
