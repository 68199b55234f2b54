# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which algorithm a call takes: a table of measured choices for the target, where it has the
operator, else a model of the machine's links.

`tables/<target>.json` has the machine's numbers, `alpha` (seconds from a signal to its
acquire at a peer) and `beta` (bytes per second that one rank can send), and rows of measured
choices: operator, ranks, bytes of one rank's contribution, choice; and by the bytes of an element `blocks`, rows,
columns and inner size of the tiles of products, and `options` of the launches that make them. The nearest row by
logarithm of bytes decides, among those for as many ranks. NEREID_OPS_TABLE names a file with more such rows, made by
``nereid run -n N -m nereid.ops.tune``, which are looked at first; NEREID_OPS_TABLES=0 takes the model alone.
"""

from __future__ import annotations

import functools
import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import nereid
from nereid._base import environment, targets

_TABLES = Path(__file__).resolve().parents[1] / "tables"


class Choice(NamedTuple):
    name: str
    reason: str


@functools.lru_cache(maxsize=None)
def table(target: str) -> dict[str, Any]:
    file = _TABLES / f"{target}.json"
    if not file.is_file():
        raise FileNotFoundError(f"nereid.ops has no table for the target {target}: {file}")
    return json.loads(file.read_text(encoding="utf-8"))


class Machine(NamedTuple):
    alpha: float
    beta: float


def machine() -> Machine:
    facts = table(targets.active())["machine"]
    return Machine(facts["alpha"], facts["beta"])


def read_table(file: Path) -> dict[str, Any]:
    """A table that a user has made. ArgumentError when it is none."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        for rows in found["measured"].values():
            for row in rows:
                if not (row["ranks"] >= 1 and row["bytes"] >= 1 and isinstance(row["choice"], str)):
                    raise ValueError(f"{row} is no measured choice")
        return found
    except OSError as error:
        raise nereid.ArgumentError(f"the table {file} of operators (NEREID_OPS_TABLE) cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise nereid.ArgumentError(f"{file} (NEREID_OPS_TABLE) is no table of operators as nereid.ops.tune writes them: {error}") from None


@functools.lru_cache(maxsize=None)
def _users_table(file: str) -> dict[str, Any]:
    return read_table(Path(file))


def measured(operator: str, ranks: int, nbytes: int, allowed: tuple[str, ...]) -> Choice | None:
    """A table's choice for the nearest measured shape, when it has one within a factor of 4."""
    if not environment.flag("NEREID_OPS_TABLES", "1"):
        return None
    users = os.environ.get("NEREID_OPS_TABLE", "")
    for source in ([_users_table(users)] if users else []) + [table(targets.active())]:
        best, distance = None, math.log(4.0)
        for row in source["measured"].get(operator, ()):
            if row["choice"] not in allowed or row["ranks"] != ranks:
                continue
            away = abs(math.log(max(nbytes, 1) / row["bytes"]))
            if away < distance:
                best, distance = row, away
        if best is not None:
            return Choice(best["choice"], f"measured at {best['ranks']} ranks, {best['bytes']} bytes")
    return None


def cheapest(costs: dict[str, float]) -> Choice:
    """The choice with the smallest modelled time in seconds."""
    name = min(costs, key=lambda key: costs[key])
    times = ", ".join(f"{key} {1e6 * value:.1f} us" for key, value in costs.items())
    return Choice(name, f"modelled: {times}")
