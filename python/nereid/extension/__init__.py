# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extensions of the language beside its core."""
