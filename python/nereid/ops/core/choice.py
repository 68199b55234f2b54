# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which algorithm a call takes: a table of measured choices for the target, where it has the
operator, else a model of the machine's links.

`tables/<target>.json` has the machine's numbers, `alpha` (seconds from a signal to its
acquire at a peer) and `beta` (bytes per second that one rank can send), and rows of measured
choices: operator, ranks, bytes of one rank's contribution, choice; and `blocks`, rows, columns and inner
size of the tiles of products by the bytes of an element. The nearest row by
logarithm of ranks and bytes decides. NEREID_OPS_TABLES=0 takes the model alone.
"""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

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


def measured(operator: str, ranks: int, nbytes: int, allowed: tuple[str, ...]) -> Choice | None:
    """The table's choice for the nearest measured shape, when it has one within a factor of 4."""
    if not environment.flag("NEREID_OPS_TABLES", "1"):
        return None
    best, distance = None, math.log(4.0)
    for row in table(targets.active())["measured"].get(operator, ()):
        if row["choice"] not in allowed or row["ranks"] != ranks:
            continue
        away = abs(math.log(max(nbytes, 1) / row["bytes"]))
        if away < distance:
            best, distance = row, away
    if best is None:
        return None
    return Choice(best["choice"], f"measured at {best['ranks']} ranks, {best['bytes']} bytes")


def cheapest(costs: dict[str, float]) -> Choice:
    """The choice with the smallest modelled time in seconds."""
    name = min(costs, key=lambda key: costs[key])
    times = ", ".join(f"{key} {1e6 * value:.1f} us" for key, value in costs.items())
    return Choice(name, f"modelled: {times}")
