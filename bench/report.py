# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures as lines, as a table in Markdown, as JSON, as a picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- figures: nereid bench {} -->", "<!-- end of figures -->"


class ReportError(Exception):
    """The text is for the user."""


def verdict(result: dict[str, Any]) -> str:
    if result["missing"]:
        return "not measured"
    if result["reached"] is None:
        return ""
    return "reached" if result["reached"] else "NOT REACHED"


def subject(result: dict[str, Any]) -> str:
    words = [result["row"]]
    if result["part"]:
        words.append(result["part"])
    if result["ranks"] == 1:
        words.append(f"{result['threads']} thread{'s' * (result['threads'] > 1)}")
    return ", ".join(words)


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.4g} ms"


def line(result: dict[str, Any]) -> str:
    """One figure and, below it, the command that repeats it."""
    text = f"{subject(result)}: "
    if result["missing"]:
        text += f"not measured against {result['peer']}: {result['missing']}"
    else:
        of = f" of {result['label']}" if result["label"] else ""
        text += f"{result['value']:.3g}{of}"
        details = [result["bar"] and f"bar {result['bar']}", verdict(result),
                   result["peer_seconds"] and f"{_milliseconds(result['seconds'])} against "
                   f"{_milliseconds(result['peer_seconds'])}", result["note"]]
        if shown := "; ".join(part for part in details if part):
            text += f" ({shown})"
    return f"{text}\n    {result['command']}"


def table(machine: dict[str, Any], results: list[dict[str, Any]]) -> str:
    cpus = sorted({result["cpu"] for result in results})
    heading = (f"{machine['processor']} ({', '.join(machine['extensions'])}), {machine['cores']} cores; "
               f"medians of {results[0]['rounds'] if results else 0} interleaved rounds"
               f"{'' if cpus in ([], ['native']) else '; code for ' + ', '.join(cpus)}.")
    rows = [("row", "peer", "bar", "measured", "", "time", "peer's", "")]
    for result in results:
        value = "" if result["missing"] else f"{result['value']:.3g}"
        rows.append((subject(result), result["label"] or result["peer"], result["bar"], value, verdict(result),
                     _milliseconds(result["seconds"]), _milliseconds(result["peer_seconds"]),
                     result["missing"] or result["note"]))
    lines = ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join([heading, "", *lines])


def summary(results: list[dict[str, Any]]) -> str:
    count = {kind: sum(verdict(result) == kind for result in results) for kind in ("reached", "NOT REACHED", "not measured")}
    return f"{count['reached']} bars reached, {count['NOT REACHED']} not, {count['not measured']} not measured"


def write_page(page: Path, words: str, text: str) -> None:
    """Writes the table between the lines of `page` that name this command."""
    begin = BEGIN.format(words)
    old = page.read_text(encoding="utf-8")
    if begin not in old or END not in old.split(begin, 1)[1]:
        raise ReportError(f"--write: {page} has no line '{begin}' with '{END}' after it to write between")
    made = re.sub(re.escape(begin) + ".*?" + re.escape(END), lambda _: f"{begin}\n{text}\n{END}", old, count=1, flags=re.S)
    page.write_text(made, encoding="utf-8")


def write_json(path: Path, machine: dict[str, Any], results: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps({"machine": machine, "figures": results}, indent=1) + "\n", encoding="utf-8")


def check_png() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ReportError("--png needs the package matplotlib: pip install matplotlib") from None


def shares(results: list[dict[str, Any]]) -> list[tuple[str, float, bool]]:
    """Of the figures with a bar: name, measured / bar (for costs bar / measured), whether it is reached."""
    return [(f"{subject(result)} / {result['peer']}",
             result["bar_value"] / result["value"] if result["at_most"] else result["value"] / result["bar_value"],
             bool(result["reached"])) for result in results if not result["missing"] and result["bar_value"]]


def write_png(path: Path, machine: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Whatever ends right of 1 is reached."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names, values, reached = zip(*(shares(results) or [("nothing with a bar was measured", 0.0, False)]))
    figure, axes = plt.subplots(figsize=(10, 1.5 + 0.28 * len(names)), layout="constrained")
    axes.barh(range(len(names)), values, color=["tab:green" if good else "tab:red" for good in reached])
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("measured / bar (for costs bar / measured)")
    axes.set_title(str(machine["processor"]), fontsize=9)
    figure.savefig(path, dpi=120, format="png")
