# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`--target ascend --emit=ttir`: what it writes, and what the vendor's tools make of it. The
second half needs these tools (docs/ascend.md); nothing here needs an NPU."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import nereid  # noqa: E402
from nereid._tools import ascend  # noqa: E402
from tests.ascend import corpus, outcomes  # noqa: E402

CHUNK = 50


# ---- what is written


def test_locations_have_no_ranges():
    text = corpus.export("01_vector_add.py:add_kernel")
    assert '01_vector_add.py":' in text and " to :" not in text
    assert "tt.load" in text and "nereid." not in text and "ascend." not in text


def test_operations_between_ranks_are_refused_at_their_line():
    with pytest.raises(nereid.CompilationError) as caught:
        corpus.export("05_all_gather.py:all_gather_kernel")
    assert "cannot be expressed in the TTIR of triton-ascend 3.2: it has no operations between ranks" in str(caught.value)
    assert "05_all_gather.py:" in str(caught.value)


# ---- the vendor's tools


@pytest.fixture(scope="module")
def tools():
    return ascend.find()


@pytest.mark.ascend_tools
def test_the_list_is_of_these_versions(tools):
    versions, expected, sentences = outcomes.read_list()
    assert versions == ", ".join(tools.versions)
    assert set(expected) <= set(corpus.names())
    unexplained = [key for key in set(expected.values()) if sentences.get(key, "not explained yet") == "not explained yet"]
    assert not unexplained, unexplained


def check(names, tools, capsys):
    results = outcomes.outcomes(names, tools)
    with capsys.disabled():
        print(f"\n{names[0]} to {names[-1]}: {outcomes.counts(results)} ({', '.join(tools.versions)}, {outcomes.CHIP})")
    changed = outcomes.differences(results)
    assert not changed, "\n".join([*changed, "python -m tests.ascend.outcomes --record writes the list anew"])


@pytest.mark.ascend_tools
def test_examples(tools, capsys):
    check(list(corpus.EXAMPLES), tools, capsys)


@pytest.mark.ascend_tools
@pytest.mark.parametrize("first", range(corpus.SEEDS.start, corpus.SEEDS.stop, CHUNK))
def test_random_kernels(first, tools, capsys):
    check([f"random-{seed}" for seed in range(first, min(first + CHUNK, corpus.SEEDS.stop))], tools, capsys)
