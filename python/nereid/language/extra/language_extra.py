# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels for GPUs say about single threads. The names are there so that
modules can be imported; using them in a kernel is an error that says what to write
instead."""

from nereid.language._generated.language_extra import *  # noqa: F401,F403
