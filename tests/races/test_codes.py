# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every code of the check has an example (nereid explain) that is reported with it, and mended it is not; what is found
as JSON and SARIF; comments that allow a finding; nereid check."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nereid._check import report
from nereid._check.codes import CODES, PRELUDE, find

ROOT = Path(__file__).resolve().parents[2]

DRIVER = """
import importlib.util, sys, nereid
nereid.init()
for path in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run()
    nereid.barrier()
"""


def nereid(*words, **options):
    done = subprocess.run([sys.executable, "-m", "nereid", *map(str, words)], capture_output=True, text=True, timeout=280,
                          **options)
    return done.returncode, done.stdout, done.stderr


def run_examples(tmp_path, side: str) -> list[dict]:
    paths = []
    # The one that hangs ends the job.
    for code in sorted(CODES.values(), key=lambda code: code.code == "NRD-0050"):
        path = tmp_path / f"{code.code}.py"
        path.write_text(getattr(code, side)(), encoding="utf-8")
        paths.append(path)
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    found = tmp_path / "found.json"
    _, _, text = nereid("run", "--check", f"--check-output={found}", "-n", 2, tmp_path / "driver.py", *paths)
    assert found.exists(), text
    return json.loads(found.read_text())["findings"]


def test_every_wrong_example_is_reported_with_its_code(tmp_path):
    findings = run_examples(tmp_path, "wrong")
    said = {code: {f["code"] for f in findings if Path(f["second"]["file"]).stem == code} for code in CODES}
    # A race is one or the other by the order of the run.
    either = {"NRD-0001": {"NRD-0002"}, "NRD-0002": {"NRD-0001"}}
    for code, codes in said.items():
        assert codes and codes <= {code} | either.get(code, set()), f"{code}: {codes}\n{findings}"


def test_every_mended_example_is_clean(tmp_path):
    findings = run_examples(tmp_path, "mended")
    assert not findings, "\n".join(f"{f['second']['file']}: {f['code']}: {f['order']}" for f in findings)


def test_every_code_that_is_reported_is_explained():
    reported = set()
    for path in (ROOT / "runtime" / "check").glob("*.cpp"):
        reported |= set(re.findall(r'"(NRD-\d{4})"', path.read_text(encoding="utf-8")))
    assert reported == set(CODES)
    table = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    for code in CODES:
        assert code in table or code.removeprefix("NRD-") in table, f"docs/check.md does not have {code}"


@pytest.mark.parametrize("name", ["NRD-0004", "nrd-0004", "0004", "4"])
def test_names_of_codes(name):
    assert find(name).code == "NRD-0004"


def test_explain():
    code, text, _ = nereid("explain", "NRD-0031")
    assert code == 0 and text.startswith("NRD-0031: ") and re.search(r"^  \+ *shmem\.quiet\(\)$", text, re.M), text
    code, _, text = nereid("explain", "NRD-9999")
    assert code == 2 and "has no 'NRD-9999'" in text


# ---- documents, comments, nereid check

SCRIPT = PRELUDE + '''

@nereid.jit
def push(data, N: tl.constexpr):
    tl.store(dl.symm_at(data, 0) + tl.arange(0, N), tl.full((N,), 1.0, tl.float32))  # HERE


nereid.init()
push[(1,)](symm.zeros(64, dtype="float32"), 64)
'''


def script(tmp_path, comment: str) -> Path:
    path = tmp_path / "push.py"
    path.write_text(SCRIPT.replace("# HERE", comment), encoding="utf-8")
    return path


def test_json(tmp_path):
    out = tmp_path / "found.json"
    code, _, text = nereid("run", "--check", f"--check-output={out}", "-n", 2, script(tmp_path, "#"))
    assert code == 40, text
    document = json.loads(out.read_text())
    (finding,) = document["findings"]
    assert finding["code"] == "NRD-0003" and finding["first"]["line"] == finding["second"]["line"] == 10
    assert {finding["first"]["rank"], finding["second"]["rank"]} == {0, 1}
    assert document["version"] == 1 and document["suppressed"] == [] and "1 error" in document["summary"]


def test_sarif(tmp_path):
    out = tmp_path / "found.sarif"
    path = script(tmp_path, "#")
    code, _, text = nereid("run", "--check", f"--check-output={out}", "--check-format=sarif", "-n", 2, path)
    assert code == 40, text
    document = json.loads(out.read_text())
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "NRD-0003" and [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["NRD-0003"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(path) and place["region"]["startLine"] == 10
    assert result["relatedLocations"] and result["partialFingerprints"]["nereidLines/v1"]


def test_a_format_needs_a_file(tmp_path):
    code, _, text = nereid("run", "--check", "--check-format=sarif", script(tmp_path, "#"))
    assert code == 2 and "--check-output=FILE" in text


@pytest.mark.parametrize("comment, allowed", [
    ("# nereid: allow NRD-0003 both write the same ones", True),
    ("# nereid: allow NRD-0003", False),
    ("# nereid: allow NRD-0001 another code", False),
])
def test_what_a_comment_allows(tmp_path, comment, allowed):
    out = tmp_path / "found.json"
    code, _, text = nereid("run", "--check", f"--check-output={out}", "-n", 2, script(tmp_path, comment))
    document = json.loads(out.read_text())
    assert code == (0 if allowed else 40), text
    assert len(document["suppressed"]) == allowed and len(document["findings"]) == (not allowed)
    if allowed:
        assert document["suppressed"][0]["reason"] == "both write the same ones"
        assert "0 errors; 1 allowed in the source" in text
    elif comment.endswith("NRD-0003"):
        assert "gives no reason, so it allows nothing" in text


def test_fingerprints_do_not_know_lines():
    end = {"file": "", "line": 3, "source": "  tl.store(x, y)", "rank": 0}
    moved = {**end, "line": 7, "source": "tl.store(x, y)"}
    one = {"code": "NRD-0001", "first": end, "second": end}
    assert report.fingerprint(one) == report.fingerprint({**one, "first": moved})
    assert report.fingerprint(one) != report.fingerprint({**one, "code": "NRD-0002"})


def test_check_runs_the_script_and_then_seeds(tmp_path):
    path = tmp_path / "quiet.py"
    path.write_text("import nereid\nnereid.init()\nnereid.barrier()\n", encoding="utf-8")
    code, _, text = nereid("check", "--seeds=2", "-n", 2, path)
    assert code == 0, text
    assert text.count("0 errors") == 3
    assert "no failure with 3 schedules, fifo to random:2" in text
    code, _, text = nereid("check", "-n", 2, script(tmp_path, "#"))
    assert code == 40 and text.count("1 error") == 1, text
    assert "failed with --schedule=fifo" in text
    assert re.search(r"^  nereid run -n 2 --check \S+push\.py$", text, re.M), text
