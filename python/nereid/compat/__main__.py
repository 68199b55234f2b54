# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m nereid.compat script.py ...``: runs a script (or, with ``-m``, a
module) whose imports of triton mean Nereid."""

from __future__ import annotations

import os
import runpy
import sys


def main() -> None:
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    if is_module:
        arguments = arguments[1:]
    if not arguments:
        sys.exit("python -m nereid.compat: no script was given")
    import nereid.compat.triton  # noqa: F401

    sys.argv = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
