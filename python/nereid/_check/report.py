# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of a checked run as a document, and which of them the source allows.

A finding is what _runtime.check_log gives: code, title, first and second (file, line, column, source, rank, program,
kernel, what), bytes, order, help, note, more, text.
"""

from __future__ import annotations

import hashlib
import json
import linecache
import re
from pathlib import Path
from typing import Any

from nereid._check.codes import CODES

FORMATS = ("json", "sarif")

#: A comment at the line of either end, or alone on the line before it: the code or codes, and why it is no mistake.
_ALLOW = re.compile(r"#\s*nereid:\s*allow\s+(NRD-\d{4}(?:,\s*NRD-\d{4})*)\b[\s:,-]*(.*?)\s*$")


def _line(end: dict, back: int = 0) -> str:
    return linecache.getline(end["file"], end["line"] - back) if end["file"] and end["line"] > back else ""


def allowed(finding: dict) -> str | None:
    """The reason that the source gives for it; "" when there is a comment without a reason, which allows nothing."""
    for end in (finding["first"], finding["second"]):
        above = _line(end, 1)
        for text in (_line(end) or end["source"], above if above.lstrip().startswith("#") else ""):
            match = _ALLOW.search(text)
            if match and finding["code"] in match[1]:
                return match[2]
    return None


def split(findings: list[dict]) -> tuple[list[dict], list[dict]]:
    """Those that count, and those that the source allows, with `reason`."""
    kept, suppressed = [], []
    for finding in findings:
        reason = allowed(finding)
        if reason:
            suppressed.append({**finding, "reason": reason})
        else:
            if reason == "":
                finding = {**finding, "text": finding["text"] + "  note:  the comment `nereid: allow` at this line gives "
                                                                "no reason, so it allows nothing\n"}
            kept.append(finding)
    return kept, suppressed


def as_json(findings: list[dict], suppressed: list[dict], summary: str, schedule: str) -> str:
    """One object: `findings` and `suppressed`, lists of what is described above without `text`."""
    bare = [{name: value for name, value in finding.items() if name != "text"} for finding in findings]
    return json.dumps({"version": 1, "summary": summary, "schedule": schedule or "fifo", "findings": bare,
                       "suppressed": [{k: v for k, v in f.items() if k != "text"} for f in suppressed]}, indent=1)


def _location(end: dict, message: str = "") -> dict:
    place: dict[str, Any] = {"artifactLocation": {"uri": Path(end["file"]).as_posix() if end["file"] else "unknown"}}
    if end["line"] > 0:
        place["region"] = {"startLine": end["line"], **({"startColumn": end["column"]} if end["column"] > 0 else {})}
    return {"physicalLocation": place, **({"message": {"text": message}} if message else {})}


def _who(end: dict) -> str:
    program = "host code" if end["program"] < 0 else f"program {end['program']} of '{end['kernel']}'"
    return f"{end['what']}, by rank {end['rank']}, {program}"


def fingerprint(finding: dict) -> str:
    """The same for the same mistake although lines have moved: code, and the text of both lines."""
    parts = [finding["code"]] + [(end["source"] or _line(end)).strip() for end in (finding["first"], finding["second"])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def as_sarif(findings: list[dict], suppressed: list[dict], version: str) -> str:
    """SARIF 2.1.0: a rule for each code, the later access as the location, the earlier one as a related location."""
    results = []
    for finding in [*findings, *suppressed]:
        first, second = finding["first"], finding["second"]
        result = {
            "ruleId": finding["code"],
            "level": "error",
            "message": {"text": f"{finding['title']}. {finding['order']}. Help: {finding['help']}"},
            "locations": [_location(second)],
            "partialFingerprints": {"nereidLines/v1": fingerprint(finding)},
            "properties": {"bytes": finding["bytes"], "note": finding["note"], "more": finding["more"], "second": _who(second)},
        }
        if first["rank"] >= 0:
            result["relatedLocations"] = [_location(first, _who(first))]
        if "reason" in finding:
            result["suppressions"] = [{"kind": "inSource", "justification": finding["reason"]}]
        results.append(result)
    used = sorted({result["ruleId"] for result in results})
    rules = [{"id": code, "shortDescription": {"text": CODES[code].title}, "fullDescription": {"text": CODES[code].cause},
              "help": {"text": CODES[code].text()}} for code in used]
    return json.dumps({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": "nereid", "version": version, "rules": rules}}, "results": results}],
    }, indent=1)
