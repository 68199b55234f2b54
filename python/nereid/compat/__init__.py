# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other packages' names for what Nereid has, for source files that cannot be
changed. ``nereid.compat.triton`` stands in for triton and triton_dist in this
process; ``environment()`` makes a process and all that it starts do so."""

from __future__ import annotations

import os


def environment(path: str | None = None) -> dict[str, str]:
    """Variables with which a Python process, and every one that it starts, takes
    triton for Nereid: PYTHONPATH, with the folder of our start-up file before `path`
    (default: PYTHONPATH as it is)."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
    before = os.environ.get("PYTHONPATH", "") if path is None else path
    rest = [entry for entry in before.split(os.pathsep) if entry and entry != folder]
    return {"PYTHONPATH": os.pathsep.join([folder, *rest])}
