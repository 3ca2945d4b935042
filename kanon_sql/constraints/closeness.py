"""t-closeness: the sensitive values of a class are distributed nearly as those of all rows.

Source: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity,
ICDE 2007, sections 4.1 to 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanon_sql.constraints.constraint import PrivacyModel
from kanon_sql.points.sensitive import Counts, Floats, SensitiveColumn

DISTANCES = ("equal", "ordered", "numeric", "hierarchy")
"""What a row costs that is moved to another value: 1; the ranks between; the difference, over that
of the ends; the height of the lowest common ancestor, over that of the hierarchy."""

MANY = 1_000
"""The largest class size that is looked at for the least that could pass: it is a lower bound, and
what is above it need not be known."""


@dataclass(frozen=True, kw_only=True)
class Closeness(PrivacyModel):
    """The earth mover's distance between the values of a class and those of all rows is at most t.

    A missing value is a value of its own, and as far from every other as two values can be.

    Attributes:
        t: the bound.
        distance: the ground distance, one of DISTANCES; None: 'hierarchy' for a column with one,
            'ordered' for numbers, dates and times, 'equal' for all else.
    """

    name: ClassVar[str] = "t_closeness"
    option: ClassVar[str] = "t"

    t: float
    distance: str | None = None

    def distance_of(self, column: SensitiveColumn) -> str:
        """The ground distance of a column."""
        if self.distance is not None:
            return self.distance
        if len(column.levels):
            return "hierarchy"
        return "ordered" if column.ordered else "equal"

    def best(self, table: Counts) -> float:
        """0: one class has the distribution of all rows."""
        return 0.0

    def feasible(self, table: Counts) -> bool:
        """Always."""
        return True

    def least_class(self, table: Counts) -> int:
        """A lower bound of the size of a class that passes."""
        present = table.values > 0
        counts = table.values[present].astype(np.float64)
        if len(counts) < 1:
            return 1
        distance = self.distance_of(table.column)
        if distance == "hierarchy":
            # the mean over the levels is at least what the level below the root has
            counts = np.bincount(table.column.levels[-1][present], weights=counts)
            counts = counts[counts > 0]
        if distance in ("equal", "hierarchy"):
            shares = np.append(counts, table.missing) / table.rows
            height = len(table.column.levels) if distance == "hierarchy" else 1
            return _least_by_rounding(shares[shares > 0], self.t * height, table.rows)
        if table.missing:
            return 1
        gaps = np.ones(len(counts) - 1)
        if distance == "numeric":
            gaps = np.diff(table.column.numbers[present])
        return _least_by_slices(counts, gaps, self.t, table.rows)


def _least_by_rounding(shares: Floats, most: float, rows: int) -> int:
    """The least size at which the shares, rounded to whole rows by largest remainders, are within
    ``most`` of the shares, by the equal ground distance. No rounding is nearer."""
    for size in range(1, min(rows, MANY) + 1):
        whole = np.floor(shares * size * (1.0 + 1e-14))
        over = shares * size - whole
        missing = int(size - whole.sum())
        nearest = np.sort(over)[::-1]
        # a value that is rounded up is above its share by what the remainder lacks to 1
        away = (1.0 - nearest[:missing]).sum()
        if away <= most * size * (1.0 + 1e-12) + 1e-12:
            return size
    return min(rows, MANY)


def _least_by_slices(counts: Floats, gaps: Floats, t: float, rows: int) -> int:
    """The least size at which a class of the medians of as many equal slices of all rows passes,
    on a line of values with these gaps. No class is nearer."""
    whole = gaps.sum()
    below = np.cumsum(counts)[:-1] / counts.sum()
    for size in range(1, min(rows, MANY) + 1):
        # of a class the best share below a gap is the nearest multiple of 1 / size
        own = np.round(below * size) / size
        if (np.abs(own - below) * gaps).sum() <= t * whole * (1.0 + 1e-12) + 1e-15:
            return size
    return min(rows, MANY)
