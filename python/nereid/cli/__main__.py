# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

from nereid.cli.commands import main

sys.exit(main())
