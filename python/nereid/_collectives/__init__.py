# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers, signals and collectives of the host."""
