# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The packages whose names Nereid answers to. Python's start-up reads this file before
anything else is loaded (startup/sitecustomize.py): it imports nothing."""

#: Package -> (module of nereid.compat whose modules() has the contents, whether ours stands in even
#: where a package of that name is installed: those need a device that is not here).
PACKAGES = {
    "triton": ("_names", True),
    "triton_dist": ("_names", True),
    "shmem": ("_shmem", False),
    "nvshmem": ("_nvshmem", True),
    "pynvshmem": ("_nvshmem", True),
    "iris": ("_iris", True),
    "torch_npu": ("_torch_npu", True),
}

#: Package -> module of nereid.compat whose apply(package) changes it after it was loaded.
CHANGED = {"torch": "_torch"}

#: Module -> profile by whose rules a script is written that imports it.
PROFILES = {
    "triton.language.extra.cann": "ascend910b",
    "triton.backends.ascend": "ascend910b",
    "triton_dist.language.extra.ascend": "ascend910b",
    "shmem": "ascend910b",
    "torch_npu": "ascend910b",
    "nvshmem": "cuda",
    "pynvshmem": "cuda",
    "triton_dist.language.extra.cuda": "cuda",
}
