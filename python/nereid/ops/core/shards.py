# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the rows of an array are shared among the ranks of a group."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import nereid


class Shards:
    """Rank r has ``rows[r]`` rows, which begin at row ``starts[r]`` of the whole."""

    def __init__(self, operator: str, ranks: int, rows: int, rows_of: Any):
        if rows_of is None:
            self.rows = (rows,) * ranks
        else:
            self.rows = tuple(int(value) for value in rows_of)
            if len(self.rows) != ranks or min(self.rows) < 0:
                raise nereid.ArgumentError(
                    f"{operator}: rows_of holds the rows of each of the {ranks} ranks, but it is {tuple(rows_of)}")
        self.starts = (0, *itertools.accumulate(self.rows))
        self.total = self.starts[-1]
        self.most = max(self.rows)

    def table(self, row_elements: int) -> np.ndarray:
        """For kernels: the first element of each rank's part, and the end."""
        return np.array([start * row_elements for start in self.starts], np.int64)

    @property
    def text(self) -> str:
        return f"rows={self.rows[0]}" if len(set(self.rows)) == 1 else f"rows_of={self.rows}"


def equal_shares(rows: int, ranks: int) -> tuple[int, ...]:
    """As equal as can be; the first ranks have a row more."""
    return tuple(rows // ranks + (rank < rows % ranks) for rank in range(ranks))
