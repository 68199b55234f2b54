# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``nereid fit``: will a kernel compile for an Ascend NPU, and what will hurt there.

The findings are the compiler's (stage "fit" of the target ascend). Where the vendor's tools are
installed they are asked as well: what they say of memory and types replaces the estimates."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
from typing import Any

from nereid.cli.kernels import UsageError, typed_kernel

DESCRIPTION = """Says whether a kernel will compile for an Ascend NPU, and what will be wrong or slow there, each at its line
with the fact and what to write instead. Asks the vendor's open compiler where it is installed
(scripts/setup.sh --ascend); else memory and types are estimated. The exit code is 1 when the kernel will not
compile, or not be launched. Nothing is run, and nothing is said about speed. docs/ascend.md has the checks."""

#: Findings that the vendor's tools decide, when they are asked.
DECIDED_BY_TOOLS = ("memory_overflow", "type_refused", "backward_address")

_TASKS = {10: "vector cores only", 20: "cube cores only", 32: "one cube core with two vector cores"}


def add_command(commands) -> None:
    parser = commands.add_parser("fit", help="will a kernel compile for an Ascend NPU, and what will hurt there",
                                 description=DESCRIPTION)
    parser.add_argument("kernel", metavar="FILE.py:NAME", help="the file and the name of the jit function in it")
    parser.add_argument("--profile", metavar="NAME", default="ascend910b", help=f"the model: ascend910b ({_default_chip()}), "
                        f"{', '.join(_chips())} (default ascend910b)")
    parser.add_argument("--grid", type=_count, default=0, metavar="N", help="programs of a launch, over all axes")
    parser.add_argument("--signature", metavar="TEXT", help="as of nereid compile")
    parser.add_argument("--tools", choices=("auto", "none"), default="auto",
                        help="ask the vendor's compiler when it is installed (auto, the default), or not (none)")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.set_defaults(function=main)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _chip_option() -> dict[str, Any] | None:
    from nereid import _runtime
    from nereid._base import targets as _targets

    return _targets.option("ascend", "fit_chip") if "ascend" in _runtime.target_names() else None


def _chips() -> list[str]:
    row = _chip_option()
    return list(row["choices"]) if row else []


def _default_chip() -> str:
    row = _chip_option()
    return row["default"] if row else "none"


def main(args: argparse.Namespace) -> int:
    from nereid import CompilationError

    if _chip_option() is None:
        raise UsageError("nereid fit: this build has no target ascend")
    chip = _default_chip() if args.profile == "ascend910b" else args.profile
    if chip not in _chips():
        raise UsageError(f"nereid fit: unknown model '{args.profile}'; known: ascend910b, {', '.join(_chips())}")
    from nereid._base import targets as _targets

    _targets.choose("ascend")
    os.environ["NEREID_PROFILE"] = "ascend910b"
    kernel, specs, _ = typed_kernel("nereid fit", args.kernel, args.signature)
    options = {**kernel._options({}), "target": "ascend", "profile": "ascend910b"}
    try:
        with contextlib.redirect_stdout(sys.stderr):
            report = fit(kernel, specs, options, chip, args.grid, args.tools == "auto")
    except CompilationError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2) if args.json else as_text(report))
    return 1 if any(finding["severity"] == "refused" for finding in report["findings"]) else 0


def fit(kernel: Any, specs: list, options: dict[str, Any], chip: str, grid: int = 0, ask_tools: bool = True) -> dict[str, Any]:
    """The report on a kernel for `chip`, a row of common/nereid/ascend_chips.def: `kernel`, `chip`, `grid`, `mode`,
    `cores`, `findings`, `memory` (bytes; each row says whether it is estimated), `tools` (versions of those that were
    asked), `verdict`. CompilationError when the front end refuses the kernel."""
    from nereid import _compiler

    stage = {**options, "fit_chip": chip, "fit_grid": grid}
    report = json.loads(_compiler.emit(kernel, specs, "fit", stage))
    report.update(grid=grid, tools=[], task_type=None, workspace=None, locks=None)
    report["verdict"] = ask(report, kernel, specs, stage) if ask_tools else "the vendor's compiler was not asked"
    return report


def ask(report: dict[str, Any], kernel: Any, specs: list, options: dict[str, Any]) -> str:
    """Asks the vendor's tools, puts what they say into the report, and says in a sentence what came of it."""
    from nereid import CompilationError, _compiler
    from nereid._tools import ascend

    try:
        tools = ascend.find()
    except ascend.ToolsMissing as missing:
        return str(missing)
    try:
        text = _compiler.emit(kernel, specs, "ttir", options)
    except CompilationError as error:
        return f"the vendor's compiler was not asked: {error.message}"
    report["tools"] = list(tools.versions)
    model = report["compiler_name"]
    for stage, run in (("triton-adapter-opt", tools.lower), ("bishengir-compile", tools.compile)):
        answer = run(text, model)
        if not answer.accepted:
            report["findings"].append(refusal(stage, answer))
            return f"refused by {stage}: {answer.reason}"
        text = answer.text
    plan = ascend.plan(text)
    report.update(task_type=plan.task_type, workspace=plan.workspace, locks=plan.locks)
    report["memory"] = [{**row, "needed": plan.memory.get(row["kind"], 0), "estimated": False} for row in report["memory"]]
    report["findings"] = [row for row in report["findings"] if row["check"] not in DECIDED_BY_TOOLS]
    return "accepted up to the closed code generator"


def refusal(stage: str, answer: Any) -> dict[str, Any]:
    """What a tool refused as a finding, at the line that it names."""
    finding = {"check": "tools_refused", "severity": "refused", "fact": f"{stage} refuses the kernel: {answer.reason}",
               "remedy": "the findings above may say why; docs/ascend.md lists what the tools are known to refuse",
               "called_from": []}
    if place := re.search(r'"?([^\s"():]+\.py)"?:(\d+):(\d+)\)?: error', answer.messages):
        finding["place"] = {"file": place[1], "line": int(place[2]), "column": int(place[3])}
    return finding


# ---- text


def _bytes(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count / 1024:.4g} KiB"


def _place(place: dict[str, Any]) -> str:
    return f"{place['file']}:{place['line']}:{place['column']}"


def _finding_text(finding: dict[str, Any]) -> str:
    place = finding.get("place")
    lines = [f"{_place(place) + ': ' if place else ''}{finding['severity']}: {finding['fact']} [{finding['check']}]"]
    if place and place.get("text"):
        text = place["text"]
        start = place["column"] - 1
        width = max(1, min(place.get("end_column", place["column"] + 1) - place["column"], len(text) - start))
        lines += [f"  {text}", "  " + " " * start + "^" + "~" * (width - 1)]
    lines += [f"  called from {_place(caller)}" for caller in finding["called_from"]]
    return "\n".join([*lines, f"  help: {finding['remedy']}"])


def as_text(report: dict[str, Any]) -> str:
    order = ("refused", "wrong", "slow", "note")
    findings = sorted(report["findings"], key=lambda row: (order.index(row["severity"]), row.get("place", {}).get("line", 0)))
    parts = [_finding_text(finding) for finding in findings]
    counts = ", ".join(f"{sum(row['severity'] == word for row in findings)} {word}" for word in order)
    measured = any(not row["estimated"] for row in report["memory"])
    rows = [f"{report['kernel']} on {report['chip']}: {counts}",
            f"  vendor's tools  {', '.join(report['tools']) + ': ' if report['tools'] else ''}{report['verdict']}",
            f"  runs on         {_TASKS.get(report['task_type']) or ('vector cores only' if report['mode'] == 'vector' else 'cube and vector cores')}"
            + ("" if report["task_type"] else " (estimated)")]
    if report["grid"]:
        cores = report["cores"]
        rows.append(f"  programs        {report['grid']} on {cores} cores: {-(-report['grid'] // cores)} after each other on the "
                    "fullest")
    if measured:
        rows.append(f"  for the host    workspace {report['workspace']} bytes a program, {report['locks']} locks")
    rows.append("  on-chip memory  " + (f"{'kind':<6}{'needed':>12}{'available':>12}"
                                        + ("" if measured else "   all estimated: the compiler needs more, not less")))
    rows += [f"                  {row['kind']:<6}{_bytes(row['needed']):>12}{_bytes(row['available']):>12}"
             for row in report["memory"]]
    return "\n\n".join([*parts, "\n".join(rows)])
