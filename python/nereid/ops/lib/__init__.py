# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device functions that the operators' kernels share."""
