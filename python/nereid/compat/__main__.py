# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m nereid.compat script.py ...``: runs a script (or, with ``-m``, a
module) whose imports of triton mean Nereid, as ``nereid run --as-triton`` does."""

from __future__ import annotations

import os
import sys

from nereid.compat import environment


def main() -> None:
    if not sys.argv[1:]:
        sys.exit("python -m nereid.compat: no script was given")
    os.execve(sys.executable, [sys.executable, *sys.argv[1:]], {**os.environ, **environment()})


if __name__ == "__main__":
    main()
