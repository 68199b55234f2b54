# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel with its arguments: what the generator makes and the workers run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .model import SIGNATURE

#: What the file of a kernel begins with, for each of the two languages.
HEADERS = {
    "nereid": "import nereid as triton\nimport nereid.language as tl\n",
    "stock": "import triton\nimport triton.language as tl\n",
}

#: The ways in which a kernel runs, by name. Where there is "ttir", there is "export"
#: as well: what our front end writes for the stock package, read again.
WAYS = {
    "nereid": "our front end, on the CPU",
    "ttir": "the stock front end's TTIR, on the CPU",
    "interpreter": "the stock package's interpreter",
}


@dataclass
class Argument:
    name: str
    dtype: str
    #: An array for a pointer, a number for a scalar.
    value: np.ndarray | int | float
    #: Outputs: by how much two correct ways may differ.
    tolerance: float = 0.0
    output: bool = False

    @property
    def is_pointer(self) -> bool:
        return isinstance(self.value, np.ndarray)

    @property
    def signature(self) -> str:
        return ("*" if self.is_pointer else "") + SIGNATURE[self.dtype]


@dataclass
class Program:
    seed: int
    source: str  #: without the imports
    kernel: str
    arguments: list[Argument]
    constants: dict[str, object] = field(default_factory=dict)
    grid: tuple[int, ...] = (1,)
    ways: tuple[str, ...] = tuple(WAYS)

    def text(self, language: str) -> str:
        return HEADERS[language] + "\n\n" + self.source

    def with_source(self, source: str) -> "Program":
        return replace(self, source=source)
