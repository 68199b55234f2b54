# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symmetric memory, teams, and what the host does with them: transfers, signals,
collectives. All functions that allocate or free are collective."""

from nereid._collectives import host as _host
from nereid._collectives.host import *  # noqa: F401,F403
from nereid._job import symmetric as _symmetric
from nereid._job.symmetric import *  # noqa: F401,F403

__all__ = [*_symmetric.__all__, *_host.__all__]
