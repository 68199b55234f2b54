# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilers of others, each run by a Python of its own; nereid._base.tools asks them."""
