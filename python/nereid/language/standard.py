# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the language under the name of upstream's module (``tl.standard``)."""

from nereid.language._generated.tl import *  # noqa: F401,F403
