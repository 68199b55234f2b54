# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all operators are made of: groups, workspaces, arrays, plans, the registry."""
