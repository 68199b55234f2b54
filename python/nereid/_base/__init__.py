# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What everything else stands on: errors, environment variables."""
