# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the check of a run (docs/check.md) says of what it finds: codes, suppressions, JSON and SARIF."""
