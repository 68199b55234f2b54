# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which torch these tests use: the one of this Python or, when NEREID_TEST_TORCH names a folder, the one there.

scripts/test.sh names that of Debian's package python3-torch, the only build of torch for processors alone that pip and apt
have; it lies behind everything else on the path, so that only torch comes from there. It was built for an
older numpy, with which it shares no arrays here; no test asks for that."""

import importlib.util
import os
import sys

import pytest

if os.environ.get("NEREID_TEST_TORCH"):
    sys.path.append(os.environ["NEREID_TEST_TORCH"])
    if importlib.util.find_spec("torch") is None:
        raise pytest.UsageError(f"NEREID_TEST_TORCH={os.environ['NEREID_TEST_TORCH']} has no torch (Debian: python3-torch)")
