"""Rows of ages, cities in countries and jobs, and what cities have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import CellColumns, Column

PATHS = {
    "Rome": ("Italy", "Europe"), "Milan": ("Italy", "Europe"), "Bonn": ("Germany", "Europe"),
    "Lima": ("Peru", "America"), "Cusco": ("Peru", "America"),
}
COLUMNS = [Column("age", "DOUBLE"), Column("city", "VARCHAR"), Column("job", "VARCHAR")]
Row = tuple[float | None, str | None, str | None]
SOURCE: list[Row] = [
    (30.0, "Rome", "nurse"), (40.0, "Milan", "cook"), (None, "Lima", "nurse"),
    (40.0, "Bonn", None), (70.0, "Cusco", "cook"), (None, None, "judge"), (30.0, None, None),
]
WEIGHTS = {"age": 3.0, "city": 0.5}


@dataclass(frozen=True)
class Tree:
    """A hierarchy of the paths above."""

    @property
    def levels(self) -> tuple[pa.Array, ...]:
        rows = sorted((*path[::-1], leaf) for leaf, path in PATHS.items())
        leaves = [(row[2], row[1], row[0], "*") for row in rows]
        return tuple(pa.array(level) for level in zip(*leaves, strict=True))


def cells_of(rows: Sequence[Row]) -> CellColumns:
    ages, *words = zip(*rows, strict=True)
    numbers = np.array([math.nan if age is None else age for age in ages])
    return CellColumns({0: numbers}, {j + 1: pa.array(w, pa.string()) for j, w in enumerate(words)})


def by_rows(rows: Sequence[Sequence[Any]]) -> pa.StructArray:
    """Cells row by row: texts are categories, all else numbers."""
    cells = [
        {"number": None if isinstance(v, str) else v, "category": v if isinstance(v, str) else None}
        for row in rows for v in row
    ]
    return pa.array(cells, pa.struct([("number", pa.float64()), ("category", pa.string())]))


def height(one: str | None, other: str | None) -> int:
    """Of the lowest common ancestor; NULL is a leaf below the root."""
    if one == other:
        return 0
    if one is None or other is None or PATHS[one][1] != PATHS[other][1]:
        return 3
    return 1 if PATHS[one][0] == PATHS[other][0] else 2
