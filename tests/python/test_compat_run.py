# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/compat/run.py on a suite of our own: what passes, what does not and why, and the page."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent.parent / "tools" / "compat"


@pytest.fixture
def tool(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("compat_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    yield module
    sys.modules.pop("suites", None)


KERNEL = """
import sys
import numpy as np
import triton, triton.language as tl
from helper import VALUE

@triton.jit
def add(x, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(x + i, tl.load(x + i) + VALUE)

VALUE = tl.constexpr(VALUE)
x = np.zeros(8, np.int32)
add[(1,)](x, 8)
assert (x == 3).all() and sys.argv[1:] == ["--size", "8"], (x, sys.argv)
"""


@pytest.fixture
def suite(tool, tmp_path, monkeypatch):
    from suites import File, Suite

    folder = tmp_path / "checkout"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "helper.py").write_text("VALUE = 3\n")
    (folder / "right.py").write_text(KERNEL)
    (folder / "wrong.py").write_text(KERNEL.replace("x == 3", "x == 4"))
    (folder / "refused.py").write_text(KERNEL.replace("tl.load(x + i) + VALUE", "tl.bogus(x)"))
    (folder / "endless.py").write_text("import time\ntime.sleep(60)\n")
    files = (
        File("right.py", arguments="--size 8"), File("wrong.py", ranks=1, arguments="--size 8"),
        File("refused.py", ranks=1, arguments="--size 8"), File("endless.py", ranks=1),
        File("other.py", lacks="a machine | of another kind"),
    )
    suite = Suite("Ours", files, python_path=("src",))
    monkeypatch.setitem(tool.SUITES, "ours", suite)
    return suite, folder


def test_a_file_passes_when_all_ranks_end_with_0(tool, suite, capsys):
    suite, folder = suite
    right, wrong, refused, endless, _ = suite.files
    passed, why, _ = tool.run(right, suite, folder, 200, False)
    assert passed and why == ""
    passed, why, _ = tool.run(wrong, suite, folder, 200, True)
    assert not passed and why.startswith("AssertionError"), why
    assert "Traceback" in capsys.readouterr().out  # verbose shows what it prints
    passed, why, _ = tool.run(refused, suite, folder, 200, False)
    assert not passed and "refused.py:" in why and "bogus" in why, why
    passed, why, seconds = tool.run(endless, suite, folder, 5, False)
    assert not passed and why == "not done after 5 s" and seconds < 60


def test_the_page(tool, suite, monkeypatch, capsys):
    suite, folder = suite
    monkeypatch.setattr(tool, "run", lambda file, *_: (file.path == "right.py", "it is | so", 1.0))
    tool.PAGE.write_text("# Head\n\n<!-- another -->\nkept\n<!-- end of another -->\n")
    monkeypatch.setattr(sys, "argv", ["run.py", "--suite", "ours", str(folder), "--write"])
    for _ in range(2):  # the second time in place of the first
        assert tool.main() == 1
    page = tool.PAGE.read_text()
    assert page.count("## Ours") == 1 and "kept" in page and "1 of 5 files run" in page
    assert "| `right.py` | 2 | `--size 8` | runs |" in page and "| `wrong.py` | 1 | `--size 8` | it is \\| so |" in page
    assert "| `other.py` | 2 |  | a machine \\| of another kind |" in page
    assert "lacks  other.py" in capsys.readouterr().out
    # Some rows anew: the others stay.
    monkeypatch.setattr(tool, "run", lambda file, *_: (True, "", 1.0))
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--only", "wrong"])
    assert tool.main() == 0
    page = tool.PAGE.read_text()
    assert "2 of 5 files run" in page and "| `wrong.py` | 1 | `--size 8` | runs |" in page
    assert "| `refused.py` | 1 | `--size 8` | it is \\| so |" in page and page.count("`right.py`") == 1
    # Of another commit nothing is kept.
    monkeypatch.setattr(tool, "version", lambda folder: "abc of today")
    assert tool.main() == 0
    page = tool.PAGE.read_text()
    assert "Commit abc of today: 1 of 5" in page and "| `refused.py` | 1 | `--size 8` | not tried |" in page


def test_versions(tool, tmp_path):
    assert tool.version(tmp_path) == "no repository"


def test_lists_name_each_file_once(tool):
    for name, suite in tool.SUITES.items():
        rows = [(file.path, file.arguments) for file in suite.files]
        assert len(rows) == len(set(rows)), name
