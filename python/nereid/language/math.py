# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise mathematics (``tl.math``)."""

from nereid.language._generated.tl_math import *  # noqa: F401,F403
