# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of a test: the same for one NEREID_TEST_SEED."""

import os
import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    return np.random.default_rng([int(os.environ["NEREID_TEST_SEED"]), zlib.crc32(request.node.nodeid.encode())])
