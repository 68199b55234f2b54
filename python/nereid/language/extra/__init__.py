# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the language has beyond its core: libdevice, the Ascend extension."""

from nereid.language.extra import cann, cuda, language_extra, libdevice
