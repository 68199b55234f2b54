# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``tl.extra.cuda``: libdevice under the name of CUDA's module."""

from nereid.language.extra import libdevice
