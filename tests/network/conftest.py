# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from pathlib import Path

# The kernels are in modules of their own, which scripts that `nereid run` starts import too.
sys.path.insert(0, str(Path(__file__).parent))
