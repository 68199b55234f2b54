# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function's text and what it depends on to code: sources, dependencies, cache, compilation."""
