# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the rows of an array are shared among the ranks of a group."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import nereid


def is_number(value: Any) -> bool:
    """Whether it is an integer, Python's or numpy's."""
    return not isinstance(value, bool) and hasattr(value, "__index__")


def checked_shape(operator: str, name: str, value: Any) -> tuple[int, ...]:
    """ArgumentError unless it is a shape."""
    if not isinstance(value, (tuple, list)) or not all(is_number(size) and size >= 0 for size in value):
        raise nereid.ArgumentError(f"{operator}: {name} is a shape, a tuple of numbers from 0 on, not {value!r}")
    return tuple(int(size) for size in value)


class Shards:
    """Rank r has ``rows[r]`` rows, which begin at row ``starts[r]`` of the whole."""

    def __init__(self, operator: str, ranks: int, rows: int, rows_of: Any):
        if not is_number(rows) or rows < 0:
            raise nereid.ArgumentError(f"{operator}: the rows of a rank are a number from 0 on, not {rows!r}")
        if rows_of is None:
            self.rows = (int(rows),) * ranks
        else:
            if not isinstance(rows_of, (tuple, list)) or len(rows_of) != ranks or not all(
                    is_number(value) and value >= 0 for value in rows_of):
                raise nereid.ArgumentError(
                    f"{operator}: rows_of holds the rows of each of the {ranks} ranks, numbers from 0 on, but it is {rows_of!r}")
            self.rows = tuple(int(value) for value in rows_of)
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
