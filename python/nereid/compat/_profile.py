# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The profile that a script is written for, by the modules that it imports."""

from __future__ import annotations

import os
import sys

import nereid
from nereid.compat.packages import PROFILES

_chosen: str | None = None


def is_sign(module: str) -> bool:
    """Whether importing a module says for what machine a script is."""
    return module in PROFILES


def choose(module: str) -> None:
    """Settles the profile when `module` is a sign of one, unless NEREID_PROFILE (--profile) has
    or the job has begun. The first rank says so on standard error; the first sign counts."""
    global _chosen
    profile = PROFILES.get(module)
    if profile is None or _chosen is not None or os.environ.get("NEREID_PROFILE") or nereid.is_initialized():
        return
    _chosen = profile
    os.environ["NEREID_PROFILE"] = profile
    if os.environ.get("RANK", "0") == "0":
        print(f"nereid: the script imports {module}: its kernels run by the rules of {profile} (--profile says otherwise)",
              file=sys.stderr, flush=True)
