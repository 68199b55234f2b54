# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of litmus tests in docs/memory-model.md is the list that LitmusTest.cpp runs."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def names_of_tests() -> list[tuple[str, int, set[str], set[str]]]:
    """Name, number of ranks, outcomes allowed, outcomes that have to appear for some seed."""
    text = (ROOT / "unittests/Runtime/LitmusTest.cpp").read_text(encoding="utf-8")
    text = text[text.index("const Litmus kLitmus[] = {") :]
    parts = re.split(r'^    \{"([^"]+)",\n', text[: text.index("\n};")], flags=re.M)[1:]
    found = []
    for name, body in zip(parts[::2], parts[1::2]):
        outcomes = [set(re.findall(r'"(\d+)"', one)) for one in re.findall(r'\{("\d+"(?:,\s*"\d+")*)\}', body)]
        found.append((name, int(re.match(r"\s*(\d+),", body)[1]), outcomes[0], outcomes[1] if len(outcomes) > 1 else set()))
    return found


def rows() -> list[list[str]]:
    text = (ROOT / "docs/memory-model.md").read_text(encoding="utf-8")
    table = text[text.index("| test | rank 0 |") :].split("\n\n")[0].splitlines()[2:]
    return [re.split(r"\s*\|\s*", line)[1:-1] for line in table]


def test_the_table_is_what_is_run():
    listed = [re.sub(r" \((SB|IRIW|CoRR)\)$", "", row[0]) for row in rows()]
    assert listed == [name for name, *_ in names_of_tests()]
    assert len(listed) >= 25


def test_outcomes():
    """What is marked as seen is what has to appear; one allowed outcome is named, several are not called one."""
    for row, (name, ranks, allowed, weak) in zip(rows(), names_of_tests()):
        assert ("seen**" in row[3]) == bool(weak), name
        assert weak <= allowed, name
        others = [int(number) for number in re.findall(r"\b(\d): ", row[2])]
        assert max(others, default=1) + 1 <= ranks, name
        single = re.fullmatch(r"r = (\d)", row[3])
        if single:
            assert {outcome[-1] for outcome in allowed} == {single[1]}, name
