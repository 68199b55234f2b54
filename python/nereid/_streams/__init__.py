# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queues of work that a rank does in the background."""
