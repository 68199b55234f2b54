# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are launched: jit, aggregates, autotuning, arrays as arguments."""
