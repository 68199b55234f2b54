# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The packages whose names Nereid answers to. Python's start-up reads this file before
anything else is loaded (startup/sitecustomize.py): it imports nothing."""

#: Package -> (module of nereid.compat whose modules() has the contents, whether ours stands in even
#: where a package of that name is installed: those need a device that is not here).
PACKAGES = {
    "triton": ("_names", True),
    "triton_dist": ("_names", True),
    "shmem": ("_shmem", False),
}
