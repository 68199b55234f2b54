# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other packages' names for what Nereid has, for source files that cannot be
changed. ``nereid.compat.triton`` stands in for triton and triton_dist."""
