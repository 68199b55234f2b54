# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # evaluate


@pytest.fixture
def rng(request):
    """Random numbers of this test in this run."""
    seed = int(os.environ["NEREID_TEST_SEED"])
    return np.random.default_rng([seed, zlib.crc32(request.node.nodeid.encode())])
