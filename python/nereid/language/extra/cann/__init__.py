# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Ascend side of the language."""

from nereid.language.extra import libdevice
from nereid.language.extra.cann import extension
