# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a test has left in shared memory."""

import os
import time
from collections.abc import Iterable

FOLDER = "/dev/shm"


def names() -> set[str]:
    return set(os.listdir(FOLDER))


def left_since(before: Iterable[str], patience: float = 30.0) -> set[str]:
    """Names that came since `before` and stay for `patience` seconds. Other programs on this machine have theirs
    there too, UCX and torch among them, and take them away when they end."""
    left = names() - set(before)
    deadline = time.monotonic() + patience
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left &= names()
    return left
