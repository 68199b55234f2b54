# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid bench` measures its rows, and its arithmetic is right. No speed is tested here."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nereid.cli import bench as command

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def modules(monkeypatch):
    """harness, report, table and run of bench/."""
    monkeypatch.syspath_prepend(str(BENCH))
    yield {name: importlib.import_module(name) for name in ("harness", "report", "table", "run")}
    for name in ("harness", "report", "table", "run"):
        sys.modules.pop(name, None)


def bench(*arguments: str, code: int = 0, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, "-m", "nereid", "bench", *arguments], capture_output=True, text=True, timeout=280,
                          **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done


# ---- arithmetic


def test_sides_take_turns(modules):
    order = []
    times = modules["harness"].interleave({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=4, warmup=2)
    assert order[4:] == ["b", "a", "a", "b", "b", "a", "a", "b"]
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 4, "b": 4}


def test_value_is_the_median_of_the_ratios_of_the_rounds(modules):
    times = {"ours": [1.0, 2.0, 4.0], "peer": [2.0, 2.0, 2.0]}
    assert modules["harness"].compare(times, "ours", "peer") == 1.0
    assert modules["harness"].compare({"ours": [1.0, 2.0, 4.0], "peer": [3.0, 2.0, 2.0]}, "ours", "peer") == 1.0
    assert modules["harness"].compare({"ours": [3.0, 6.0, 2.0], "peer": [1.0, 2.0, 2.0]}, "ours", "peer", at_most=True) == 3.0


def test_a_bar_is_a_least_speed_or_a_greatest_cost(modules):
    table = modules["table"]
    assert table.Bar(0.9).reached(0.9) and not table.Bar(0.9).reached(0.89)
    assert table.at_most(3).reached(3) and not table.at_most(3).reached(3.1)
    assert table.Bar().reached(5) is None
    assert [str(table.Bar(0.9)), str(table.at_most(5, " ms")), str(table.Bar())] == [">= 0.9", "<= 5 ms", ""]


def test_the_fastest_side_of_a_peer_counts_and_the_peers_result_is_checked(modules):
    harness, table = modules["harness"], modules["table"]

    def spin(rounds):
        def call():
            for _ in range(rounds):
                pass
            return 1

        return call

    def check(result, _):
        assert result == 1, "not one"

    def case(*peers):
        return harness.Case(harness.Side("ours", spin(20_000)), {"cpp": lambda: list(peers)}, check)

    (figure,) = harness.run(case(harness.Side("slow", spin(400_000)), harness.Side("fast", spin(20_000))), {"cpp": table.Bar(1)}, 7, True)
    assert figure.label == "fast" and figure.value == pytest.approx(figure.peer_seconds / figure.seconds, rel=1)
    with pytest.raises(AssertionError, match="wrong computes something else: not one"):
        harness.run(case(harness.Side("wrong", lambda: 2)), {"cpp": table.Bar(1)}, 7, True)


def test_a_missing_peer_says_what_to_install_and_the_others_are_measured(modules):
    harness, table = modules["harness"], modules["table"]

    def missing():
        raise harness.Missing("it is not installed: pip install it")

    case = harness.Case(harness.Side("ours", lambda: 1), {"torch": missing, "cpp": lambda: [harness.Side("C++", lambda: 1)]},
                        lambda result, _: None)
    figures = harness.run(case, {"torch": table.Bar(1), "cpp": table.Bar(1)}, 7, True)
    assert [(figure.peer, figure.missing) for figure in figures] == [("torch", "it is not installed: pip install it"), ("cpp", "")]


def test_loops_that_are_not_built_say_how_to_build_them(modules, monkeypatch, tmp_path):
    monkeypatch.setattr(modules["harness"], "ROOT", tmp_path)
    with pytest.raises(modules["harness"].Missing, match="-DNEREID_BUILD_BENCH=ON && ninja -C build/release nereid-bench-peers-native$"):
        modules["harness"].loops()


def test_a_measurement_has_the_environment_that_it_says(modules):
    environment = modules["harness"].environment(2, "native", {"OPENBLAS_CORETYPE": "Haswell", "NEREID_CPU": "x86-64-v2", "HOME": "/x"})
    assert "OPENBLAS_CORETYPE" not in environment and "NEREID_CPU" not in environment and environment["HOME"] == "/x"
    assert environment["NEREID_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "2"
    capped = modules["harness"].environment(1, "x86-64-v3", {})
    assert (capped["NEREID_CPU"], capped["OPENBLAS_CORETYPE"]) == ("x86-64-v3", "Haswell")


# ---- the table of rows


def test_rows_have_names_of_their_own_and_functions_that_are_there(modules):
    table = modules["table"]
    names = [row.name for row in table.ROWS]
    assert len(names) == len(set(names))
    for row in table.ROWS:
        assert row.bars and set(row.bars) <= set(table.PEERS), row.name
        module, function = row.case.split(":")
        assert f"def {function}(" in (BENCH / "cases" / f"{module}.py").read_text(), row.name


def test_rows_are_found_by_name_by_beginning_and_by_words(modules):
    find = modules["table"].find
    assert [row.name for row in find(["matmul 512 64x64x32"])] == ["matmul 512 64x64x32"]
    assert {row.name for row in find(["softmax"])} == {f"softmax rows of {n}" for n in (1000, 1024, 4096, 32768)} | {"interpreter, softmax"} \
        | {"compile softmax"}
    assert all(row.ranks == 4 for row in find(["4 ranks"]) if not row.measures)
    with pytest.raises(KeyError, match="sofmax"):
        find(["matmul", "sofmax"])


def test_lines_of_the_runtimes_benchmark_are_understood(modules):
    transfers = importlib.import_module("cases.transfers")
    figure = transfers.figure_of(" 2  put + consume 64 KiB / NT stores             6.118     5.873   0.96    10.7   11.2 GB/s  bar >= 0.90:"
                                 " reached  [31 of 64 near 47 ns]")
    assert (figure.part, figure.value, figure.noisy) == ("put + consume 64 KiB / NT stores, near", 0.96, False)
    assert figure.detail["has_bar"] and figure.note == "10.7 against 11.2 GB/s, 31 samples"
    figure = transfers.figure_of(" 4  barrier_all, 8 programs per rank              5.118     4.873   1.05  [5 of 64, NOISY]")
    assert figure.noisy and not figure.detail["has_bar"] and figure.part == "barrier_all, 8 programs per rank"
    assert transfers.figure_of(" n  what                                            us   bare us  ratio") is None


@pytest.mark.parametrize("rounds, given, reached", [
    (9, {}, True), (7, dict(value=0.5), False), (6, {}, None), (9, dict(noisy=True), None), (9, dict(missing="no", value=None), None),
    (9, dict(detail={"has_bar": False}), None)])
def test_a_verdict_takes_seven_quiet_rounds(modules, rounds, given, reached):
    run, harness, row = modules["run"], modules["harness"], modules["table"].find(["softmax rows of 1000"])[0]
    figure = vars(harness.Figure("cpp", value=1.0)) | given
    found = run.result_of(row, 1, run.arguments(["--rounds", str(rounds)]), figure)
    assert found["reached"] is reached
    assert found["command"].startswith("nereid bench 'softmax rows of 1000' --against cpp")


# ---- reports


def result(**given):
    return {**dict(row="add 1 Ki", part="", threads=1, ranks=1, cpu="native", rounds=9, peer="cpp", label="C++ loop", value=0.5, bar=">= 0.95",
                   bar_value=0.95, at_most=False, reached=False, seconds=2e-3, peer_seconds=1e-3, note="", missing="", noisy=False,
                   command="nereid bench 'add 1 Ki' --against cpp"), **given}


def test_a_line_says_bar_measured_and_how_to_repeat_it(modules):
    line = modules["report"].line
    assert line(result()) == ("add 1 Ki, 1 thread: 0.5 of C++ loop (bar >= 0.95; NOT REACHED; 2 ms against 1 ms)\n"
                              "    nereid bench 'add 1 Ki' --against cpp")
    assert "; reached;" in line(result(value=1.0, reached=True))
    assert "REACHED" not in line(result(reached=None)).upper()
    assert "not measured against cpp: it is not built" in line(result(missing="it is not built"))


def test_a_page_gets_the_table_between_its_lines(modules, tmp_path):
    report = modules["report"]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures: nereid bench add -->\nold\n<!-- end of figures -->\nafter\n")
    report.write_page(page, "add", "new")
    assert page.read_text() == "before\n<!-- figures: nereid bench add -->\nnew\n<!-- end of figures -->\nafter\n"
    with pytest.raises(report.ReportError, match="has no line '<!-- figures: nereid bench copy -->'"):
        report.write_page(page, "copy", "new")


def test_a_picture_needs_matplotlib(modules, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(modules["report"].ReportError, match="pip install matplotlib"):
        modules["report"].check_png()


def test_a_picture_shows_measured_by_bar(modules):
    found = modules["report"].shares([result(value=0.95, reached=True), result(at_most=True, value=2.0, bar_value=3.0),
                                      result(missing="it is not built"), result(bar_value=None)])
    assert found == [("add 1 Ki, 1 thread / cpp", 1.0, True), ("add 1 Ki, 1 thread / cpp", 1.5, False)]


# ---- the command


def test_rows_are_measured(tmp_path):
    out = tmp_path / "out.json"
    rows = ["matmul 512 64x64x32", "sum rows of 1000", "call of an operator"]
    done = bench(*rows, "--threads", "1", "--rounds", "1", "--json", str(out), "--table")
    found = json.loads(out.read_text())
    assert found["machine"]["processor"]
    assert [figure["row"] for figure in found["figures"]] == [row.name for row in _rows(rows)]
    for figure in found["figures"]:
        assert figure["missing"] or figure["value"] > 0
        assert figure["reached"] is None, "one round gives no verdict"
        assert figure["command"] in done.stdout and figure["row"] in done.stdout.split("| row |")[1]
    assert "[1 of 3, " in done.stderr


def _rows(names):
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module("table").find(names)
    finally:
        sys.path.remove(str(BENCH))
        sys.modules.pop("table")


def test_rows_on_ranks_are_measured(tmp_path):
    out = tmp_path / "out.json"
    bench("AllGather 4 KiB, 2 ranks", "--against", "numpy", "--rounds", "1", "--json", str(out))
    assert all(figure["value"] > 0 for figure in json.loads(out.read_text())["figures"])


@pytest.mark.parametrize("arguments, message", [
    (["sofmax"], "no row is called 'sofmax'; nereid bench --list has them all"),
    (["softmax rows of 1000", "--against", "mpi"], "none of these rows has such a peer"),
    (["--against", "opnblas"], "there is no peer 'opnblas'; the peers are openblas, mpi, cpp"),
    (["--threads", "two"], "--threads takes numbers with commas, not 'two'"),
    (["--rounds", "0"], "--rounds takes a number of 1 or more"),
    (["--sources", "/nowhere"], "--sources /nowhere: there is no bench/run.py"),
])
def test_wrong_arguments(arguments, message):
    assert message in bench(*arguments, code=2).stderr


def test_list_names_rows_and_bars():
    shown = bench("attention", "--list").stdout
    assert "attention fp32 head 64" in shown and "openblas >= 1.2, torch >= 1" in shown and "matmul" not in shown


def test_an_installed_package_says_where_the_benchmarks_are(monkeypatch, tmp_path, capsys):
    from nereid.cli import main

    monkeypatch.setattr(command, "SOURCES", tmp_path)
    assert main(["bench", "add"]) == 2
    shown = capsys.readouterr().err
    assert "no part of the installed package" in shown and "-DNEREID_BUILD_BENCH=ON" in shown and "nereid bench --sources FOLDER" in shown
    (tmp_path / "bench").mkdir()
    shutil.copy(BENCH / "run.py", tmp_path / "bench")
    assert command._program(str(tmp_path)) == tmp_path / "bench" / "run.py"
