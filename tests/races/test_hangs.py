# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a wait never ended, by the lines of the wait and of the signal; what other failures do not lead to."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = '''
import numpy as np
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import symm


@nereid.jit
def kernel(flags, out):
    if dl.rank() == 0:
        pass
        {signals}
    else:
        {early}
        token = dl.wait(flags, 1, "sys", "acquire", waitValue=2)  # wait
        tl.store(dl.consume_token(out, token), 1.0)


nereid.init()
flags, out = symm.zeros(4, dtype="int32", name="flags"), np.zeros(1, np.float32)
{host}
kernel[(1,)](flags, out)
nereid.barrier()
'''


def notify(word: str, rank: int, value: int) -> str:
    return f'dl.notify({word}, {rank}, signal={value}, sig_op="set", comm_scope="intra_node")  # signal'


#: What rank 0 does, what rank 1 does first, what hosts do, a part of the title, whether a signal explains it.
ROWS = {
    "nobody": ("", "", "", "a wait for a signal that never comes", False),
    "another value": (notify("flags", 1, 1), "", "", "a wait for a value that never comes", True),
    "another rank": (notify("flags", 0, 2), "", "", "went to rank 0", True),
    "another word": (notify("flags + 1", 1, 2), "", "", "another word was signalled", True),
    "passed": (notify("flags", 1, 2) + "\n        " + notify("flags", 1, 3).replace("signal\n", "\n"),
               'tl.store(out, tl.load(dl.consume_token(out, dl.wait(flags, 1, "sys", "acquire", waitValue=3))))', "",
               "has been passed", True),
    "reset": ("", "", "symm.signal_op(flags, 2, 1)\nnereid.barrier()\nflags.fill_(0)\nnereid.barrier()",
              "wiped out by a reset", True),
}


def run(tmp_path, text: str):
    path, found = tmp_path / "hang.py", tmp_path / "found.json"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "--check", f"--check-output={found}", "-n", "2", str(path)],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr, json.loads(found.read_text())["findings"]


@pytest.mark.parametrize("name", ROWS)
def test_why(tmp_path, name):
    signals, early, host, title, explained = ROWS[name]
    text = SCRIPT.format(signals=signals, early=early, host=host)
    code, printed, findings = run(tmp_path, text)
    lines = text.splitlines()
    (finding,) = [f for f in findings if f["code"] == "NRD-0050"]
    assert code == 40 and title in finding["title"], printed
    assert lines[finding["second"]["line"] - 1].endswith("# wait") and finding["second"]["rank"] == 1
    assert "'flags' int32 (4,), bytes 0 to 3 on rank 1" in finding["bytes"]
    assert (finding["first"]["rank"] >= 0) == explained
    if signals:
        assert lines[finding["first"]["line"] - 1].endswith("# signal")


def test_with_the_signal_nothing_is_found(tmp_path):
    code, printed, findings = run(tmp_path, SCRIPT.format(signals=notify("flags", 1, 2), early="", host=""))
    assert code == 0 and not findings, printed


def test_a_rank_that_is_killed_is_no_hang(tmp_path):
    host = "import os, signal\nif nereid.rank() == 0:\n    os.kill(os.getpid(), signal.SIGKILL)"
    code, printed, findings = run(tmp_path, SCRIPT.format(signals="", early="", host=host))
    assert code == 128 + 9 and not findings, printed
