# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts that run as jobs of several ranks."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

NEREID = Path(sys.executable).parent / "nereid"
HEADER = """\
import os, signal, sys, time
import numpy as np
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device

"""


def run_job(tmp_path, body: str, ranks: int, timeout: float = 120, **environment: str):
    script = tmp_path / "job.py"
    script.write_text(HEADER + textwrap.dedent(body), encoding="utf-8")
    start = time.monotonic()
    done = subprocess.run([str(NEREID), "run", "-n", str(ranks), str(script)], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr, time.monotonic() - start, script


def line_of(script: Path, text: str) -> int:
    return next(i for i, line in enumerate(script.read_text().splitlines(), 1) if text in line)
