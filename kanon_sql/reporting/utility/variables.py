"""The columns of source and release as models take them: numbers, or places among labels.

Rows are sorted by what they hold, so that neither the order of the rows nor a sample depends on
how they came in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kanon_sql.reporting.distributions import Measured
from kanon_sql.reporting.readings import Floats, scaled

MOST_ROWS = 50_000
"""Rows of either table from which on a sample is taken: every so many of the sorted rows."""


@dataclass(frozen=True)
class Variable:
    """A column of one table.

    Attributes:
        name: its name.
        values: float64, shape (rows,): the number of each row (the middle of a range) in a unit of
            the column, or the place of its label; NaN where none is told.
        labels: of the places; the last may stand for all others. None of numbers.
    """

    name: str
    values: Floats
    labels: tuple[str, ...] | None

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether each row tells it."""
        return ~np.isnan(self.values)


Table = tuple[Variable, ...]


def tables_of(columns: Sequence[Measured]) -> tuple[Table, Table]:
    """The columns of the source, and of the release, both sorted, and samples where they are
    large. The same column has the same labels in both, and numbers of the same unit: of the power
    of two that leaves none above 1, so that the squares of none are too large or too small."""
    return _sorted([_variable(each, 0) for each in columns]), _sorted(
        [_variable(each, 1) for each in columns]
    )


def _variable(column: Measured, side: int) -> Variable:
    """A column of the source, 0, or of the release, 1."""
    if column.numbers is not None:
        middles = [each.middle for each in column.numbers]
        return Variable(column.name, scaled(middles[side], *middles), None)
    codes = column.groups[side]
    return Variable(
        column.name, np.where(codes < 0, np.nan, codes.astype(np.float64)), column.labels
    )


def _sorted(table: Sequence[Variable]) -> Table:
    rows = len(table[0].values) if table else 0
    order = np.lexsort([each.values for each in reversed(table)]) if table else np.arange(0)
    if rows > MOST_ROWS:
        order = order[np.arange(MOST_ROWS) * rows // MOST_ROWS]
    return tuple(replace(each, values=each.values[order]) for each in table)


def complete(table: Table) -> Table:
    """The rows that tell every column."""
    if not table:
        return table
    known = np.logical_and.reduce([each.known for each in table])
    return tuple(replace(each, values=each.values[known]) for each in table)
