# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid fit`: each check on both sides, the report, and what the vendor's tools say of the same kernels."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from nereid._kernels import signature as _signature  # noqa: E402
from nereid._tools import ascend  # noqa: E402
from nereid.cli import fit as _fit  # noqa: E402

FILE = Path(__file__).with_name("fit_kernels.py")
ROOT = FILE.parents[2]
CHECKS = re.findall(r"^FIT_CHECK\((\w+), (\w+)", (ROOT / "compiler/lib/Target/Ascend/Fit/Checks.def").read_text(), re.M)


def load():
    spec = importlib.util.spec_from_file_location("nereid_fit_kernels", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


KERNELS = load()


def report_on(name, ask_tools=False):
    kernel = getattr(KERNELS, name)
    options = {"chip": "ascend910b3", "grid": 0, **KERNELS.OPTIONS[name]}
    specs = _signature.parse_signature(kernel, KERNELS.SIGNATURES[name])
    return _fit.fit(kernel, specs, {**kernel._options({}), "target": "ascend", "profile": "ascend910b"}, options["chip"],
                    options["grid"], ask_tools)


def expected(name):
    """(line, check) of the marks in a kernel's source."""
    lines = FILE.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}("))
    marks = set()
    for number, line in enumerate(lines[start:], start + 1):
        if number > start + 1 and line and not line.startswith((" ", "#")):
            break
        if "# CHECK " in line:
            marks |= {(number, check) for check in line.partition("# CHECK ")[2].split(", ")}
    return marks


@pytest.mark.parametrize("name", KERNELS.SIGNATURES)
def test_findings_stand_at_their_lines(name):
    report = report_on(name)
    found = {(finding["place"]["line"], finding["check"]) for finding in report["findings"]}
    assert found == expected(name)
    for finding in report["findings"]:
        assert finding["place"]["file"] == str(FILE) and finding["remedy"] and "{" not in finding["fact"] + finding["remedy"]


def test_every_check_has_a_kernel_that_it_reports():
    marked = {check for name in KERNELS.SIGNATURES for _, check in expected(name)}
    assert marked == {name for name, _ in CHECKS}


def test_memory_of_a_product():
    rows = {row["kind"]: row for row in report_on("product")["memory"]}
    assert rows["L0C"] == {"kind": "L0C", "needed": 128 * 128 * 4, "available": 128 << 10, "estimated": True}
    assert rows["L1"]["needed"] == 2 * 128 * 64 * 2 and rows["UB"]["needed"] == 0


# ---- the command


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "nereid", "fit", *arguments], capture_output=True, text=True, timeout=240,
                          cwd=ROOT, env={**os.environ, **environment})


def test_the_command_without_tools():
    done = run(f"{FILE}:odd_mask", "--signature", KERNELS.SIGNATURES["odd_mask"], "--tools", "none", "--grid", "50",
               "--profile", "ascend910b1")
    assert done.returncode == 0, done.stderr
    assert re.search(r"fit_kernels\.py:\d+:\d+: wrong: the mask of this store .* \[store_mask\]\n      tl\.store\(", done.stdout)
    assert "  help: compare offsets with a bound (mask=offsets < n)" in done.stdout
    assert "odd_mask on ascend910b1: 0 refused, 2 wrong" in done.stdout
    assert "vendor's tools  the vendor's compiler was not asked" in done.stdout
    assert "50 on 48 cores: 2 after each other on the fullest" in done.stdout
    assert "all estimated" in done.stdout


def test_json_and_exit_code():
    done = run(f"{FILE}:two_large_blocks", "--signature", KERNELS.SIGNATURES["two_large_blocks"], "--tools", "none", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["chip"] == "ascend910b3" and report["tools"] == []
    assert [finding["check"] for finding in report["findings"]] == ["memory_overflow"]
    assert report["memory"][0] == {"kind": "UB", "needed": 262144, "available": 196608, "estimated": True}


def test_without_the_tools_the_report_says_so(tmp_path):
    done = run(f"{FILE}:integers", "--signature", KERNELS.SIGNATURES["integers"], NEREID_ASCEND_TOOLS=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"the vendor's compiler for Ascend is not in {tmp_path}: scripts/setup.sh --ascend installs it" in done.stdout


@pytest.mark.parametrize("words, message", [
    (["--profile", "cuda"], "nereid fit: unknown model 'cuda'; known: ascend910b, ascend910b1"),
    (["--grid", "0"], "'0' is not a positive whole number"),
    (["--signature", "x_ptr=*fp32"], "nereid fit: "),
])
def test_wrong_commands(words, message):
    done = run(f"{FILE}:integers", *words)
    assert done.returncode == 2 and not done.stdout and message in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_kernel_with_an_error_is_told_as_by_compile(tmp_path):
    file = tmp_path / "k.py"
    file.write_text("import nereid\nimport nereid.language as tl\n\n\n@nereid.jit\ndef k(x):\n    tl.store(x, nothing)\n")
    done = run(f"{file}:k", "--signature", "x=*fp32")
    assert done.returncode == 1 and f"{file}:7:" in done.stderr and "nothing" in done.stderr


# ---- the vendor's tools


@pytest.mark.ascend_tools
def test_the_table_of_models_is_the_compilers():
    done = subprocess.run([sys.executable, ROOT / "python/generate_ascend.py", "chips", "--check"], capture_output=True,
                          text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.ascend_tools
def test_tools_replace_estimates():
    report = report_on("two_blocks", ask_tools=True)
    assert report["verdict"] == "accepted up to the closed code generator" and report["task_type"] == 10
    assert not any(row["estimated"] for row in report["memory"])
    assert 131072 <= report["memory"][0]["needed"] <= 196608


@pytest.mark.ascend_tools
@pytest.mark.parametrize("name, stage", [("two_large_blocks", "bishengir-compile"), ("large_product", "bishengir-compile"),
                                         ("doubles", "bishengir-compile"), ("backwards", "triton-adapter-opt")])
def test_what_is_reported_as_refused_is_refused(name, stage):
    report = report_on(name, ask_tools=True)
    assert report["verdict"].startswith(f"refused by {stage}"), report["verdict"]
    assert {"tools_refused"} < {finding["check"] for finding in report["findings"]}


#: Kernels that are exported, for a chip that the tools were asked about.
EXPORTED = [name for name in KERNELS.SIGNATURES
            if "sig_ptr" not in KERNELS.SIGNATURES[name] and name != "atomics" and "chip" not in KERNELS.OPTIONS[name]]


@pytest.mark.ascend_tools
@pytest.mark.parametrize("name", EXPORTED)
def test_nothing_is_refused_without_a_reason(name):
    """What the tools refuse, a finding has said."""
    said = {finding["check"] for finding in report_on(name)["findings"]
            if finding["severity"] == "refused" or finding["check"] == "carried_mask"}
    asked = report_on(name, ask_tools=True)
    assert asked["tools"]
    assert said or not asked["verdict"].startswith("refused"), asked["verdict"]


@pytest.mark.ascend_tools
@pytest.mark.parametrize("mask, is_range", [
    ("o < n", True), ("o <= n", True), ("o >= n", True), ("o == n", True), ("n > o", True), ("(o < n) & (o >= 3)", True),
    ("o + 5 < n", True), ("o != n", False), ("o > n", False), ("o * 3 < n", False), ("(o < 3) | (o >= n)", False),
    ("n - o > 0", False), ("o % 2 == 0", False),
])
def test_masks_are_ranges_for_the_tools_as_for_us(mask, is_range, tmp_path):
    """The lowering copies part of the block for a range, and selects for any other mask."""
    from nereid import _compiler

    file = tmp_path / "k.py"
    file.write_text("import nereid\nimport nereid.language as tl\n\n\n@nereid.jit\ndef k(x, y, n):\n    o = tl.arange(0, 1024)\n"
                    f"    tl.store(y + o, tl.load(x + o), mask={mask})\n")
    spec = importlib.util.spec_from_file_location(f"nereid_mask_{abs(hash(mask))}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    specs = [("*fp32", 16), ("*fp32", 16), ("i32", 0)]
    options = {**module.k._options({}), "target": "ascend", "profile": "ascend910b"}
    report = _fit.fit(module.k, specs, options, "ascend910b3", ask_tools=False)
    assert ("store_mask" in {finding["check"] for finding in report["findings"]}) == (not is_range)
    answer = ascend.find().lower(_compiler.emit(module.k, specs, "ttir", options), "Ascend910B3")
    assert answer.accepted, answer.reason
    assert ("arith.select" in answer.text) == (not is_range)
