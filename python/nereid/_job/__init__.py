# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The job of this process: joining it, teams, agreement between ranks, symmetric memory, ranks as forks."""
