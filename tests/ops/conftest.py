# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # mutants
