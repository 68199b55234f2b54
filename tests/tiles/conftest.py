# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers and protected memory for tests of tile code."""

import ctypes
import mmap
import os
import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    """A generator of its own for each test, from the run's seed."""
    return np.random.default_rng((int(os.environ["NEREID_TEST_SEED"]), zlib.crc32(request.node.nodeid.encode())))


@pytest.fixture
def fenced():
    """fenced(count, dtype): an array between two pages that may not be touched: it ends at the
    second one, and starts behind the first if it fills its pages."""
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.PAGESIZE
    kept = []

    def make(count, dtype=np.float32):
        size = max(1, count) * np.dtype(dtype).itemsize
        pages = -(-size // page)
        area = mmap.mmap(-1, (pages + 2) * page)
        base = np.frombuffer(area, np.uint8)
        kept.append((area, base))
        for start in (0, (pages + 1) * page):
            assert libc.mprotect(ctypes.c_void_p(base.ctypes.data + start), ctypes.c_size_t(page), 0) == 0
        end = (pages + 1) * page
        return base[end - size:end].view(dtype)[:count]

    yield make
    for area, base in kept:
        assert libc.mprotect(ctypes.c_void_p(base.ctypes.data), ctypes.c_size_t(len(area)), 3) == 0
