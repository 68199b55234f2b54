# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels, run in several ways that must agree. See docs/ttir.md."""
