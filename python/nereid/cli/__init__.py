# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line, ``nereid`` and ``python -m nereid``."""

from nereid.cli.commands import main

__all__ = ["main"]
