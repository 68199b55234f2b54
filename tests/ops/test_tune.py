# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured choices: made by nereid.ops.tune, looked at in front of the package's own."""

import json

import pytest

import nereid
from nereid import ops
from nereid.ops import tune
from nereid.ops.core import choice, registry


@pytest.mark.ranks(2)
def test_a_table_is_measured_and_then_looked_at(tmp_path, monkeypatch, capsys):
    file = tmp_path / "ops.json"
    if nereid.rank() == 0:  # another number of ranks stays; the same is replaced
        file.write_text(json.dumps({"note": "mine", "measured": {"AllReduce": [
            {"ranks": 8, "bytes": 64, "choice": "one_shot"}, {"ranks": 2, "bytes": 7, "choice": "one_shot"}]}}))
    nereid.barrier()
    tune.main(["--bytes", "64", "20000", "--rounds", "1", "--output", str(file), "all_reduce", "channel", "gemm_all_reduce"])
    nereid.barrier()
    table = json.loads(file.read_text())
    assert table["note"] == "mine" and set(table["measured"]) == {"AllReduce", "GemmAllReduce"}
    assert [(row["ranks"], row["bytes"]) for row in table["measured"]["AllReduce"]] == [(2, 64), (2, 20000), (8, 64)]
    monkeypatch.setenv("NEREID_OPS_TABLE", str(file))
    plan = ops.AllReduce(5000).plan(5000)
    chosen = {row["bytes"]: row["choice"] for row in table["measured"]["AllReduce"] if row["ranks"] == 2}
    assert plan.algorithm == chosen[20000] and plan.reason == "measured at 2 ranks, 20000 bytes"
    assert ops.AllReduce(500).plan(500).reason.startswith("modelled")  # nothing within a factor of 4
    monkeypatch.setenv("NEREID_OPS_TABLES", "0")
    assert ops.AllReduce(5000).plan(5000).reason.startswith("modelled")


@pytest.mark.ranks(2)
def test_every_choice_can_be_tried():
    tried = set()
    for operator in registry.OPERATORS:
        result = tune.best(operator, 3000, 1)
        if result is not None:
            tried.add(operator)
            assert result[0] in result[1] and len(result[1]) >= 2
    assert tried == {"all_gather", "all_reduce", "all_gather_gemm", "gemm_all_reduce"}


@pytest.mark.parametrize("text, problem", [
    (None, "cannot be read: No such file or directory"), ("{", "is no table of operators"), ("[]", "is no table of operators"),
    ('{"measured": {"AllReduce": [{"ranks": 2}]}}', "is no table of operators"),
    ('{"measured": {"AllReduce": [{"ranks": 2, "bytes": 0, "choice": "ring"}]}}', "is no measured choice")])
def test_what_is_no_table(tmp_path, text, problem):
    file = tmp_path / "table.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(nereid.ArgumentError, match=problem):
        choice.read_table(file)


def test_what_the_command_refuses(capsys):
    for arguments, problem in ((["gather"], "there is no operator 'gather'"), (["--bytes", "0"], "are positive numbers")):
        with pytest.raises(SystemExit):
            tune.main(arguments)
        assert problem in capsys.readouterr().err
