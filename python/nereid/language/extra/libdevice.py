# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mathematical functions under the names of the device libraries
(``tl.extra.libdevice``)."""

try:
    from nereid.language._generated.libdevice import *  # noqa: F401,F403
except ImportError:
    pass
