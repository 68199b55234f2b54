# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OpenSHMEM-like library of the kernel language: put, get, signals, barriers
(``from nereid import libshmem_device``)."""

from nereid.language._generated.libshmem_device import *  # noqa: F401,F403
