# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m nereid: the command line, without the console script."""

import sys

from nereid.cli import main

if __name__ == "__main__":
    sys.exit(main())
