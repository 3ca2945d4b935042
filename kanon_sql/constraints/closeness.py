"""t-closeness: the sensitive values of a class are distributed nearly as those of all rows.

Source: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity,
ICDE 2007, sections 4.1 to 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from kanon_sql.constraints.constraint import PrivacyModel
from kanon_sql.constraints.rational import SURE, as_fraction
from kanon_sql.points.sensitive import Counts, Numbers, SensitiveColumn

DISTANCES = ("equal", "ordered", "numeric", "hierarchy")
"""What a row costs that is moved to another value: 1; the ranks between; the difference, over that
of the ends; the height of the lowest common ancestor, over that of the hierarchy."""

MANY = 1_000
"""The largest class size that is looked at for the least that could pass: it is a lower bound, and
what is above it need not be known."""

ROUNDED = 1e-14
"""More than rounding adds to a distance, so that a bound stays one."""


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

    def exact(self, table: Counts) -> bool:
        """Whether the distance of a class is compared in whole numbers: also of a single value,
        where it is plainly 0."""
        distance = self.distance_of(table.column)
        if table.missing == 0 and np.count_nonzero(table.values) <= 1:
            return True
        if distance == "ordered":
            return self.nulls == "value" or table.missing == 0
        return distance != "numeric"

    def feasible(self, table: Counts) -> bool:
        """Always; but for t = 0 where distances are rounded, so that none is plainly 0."""
        return self.exact(table) or self.t > SURE

    def least_class(self, table: Counts) -> int:
        """The size of the least class that passes, or MANY where that is less and t isn't 0; of a
        hierarchy, and where numbers are rounded, a lower bound."""
        if self.t == 0.0 and self.exact(table):
            # the shares of all rows, to the last row
            return table.rows // max(math.gcd(*table.values.tolist(), table.missing), 1)
        sizes = range(1, min(table.rows, MANY) + 1)
        passes = self._in_tree(table) if self._alike(table) else self._on_line(table)
        return next(filter(passes, sizes), max(len(sizes), 1))

    def _alike(self, table: Counts) -> bool:
        return self.distance_of(table.column) in ("equal", "hierarchy")

    def _in_tree(self, table: Counts) -> Callable[[int], bool]:
        """Whether a class of a size could pass, by the equal distances at all levels.

        No class is nearer to the table at any level than the shares of the table, rounded to whole
        rows by largest remainders. One class need not be the nearest at all levels.
        """
        rows, t, levels = table.rows, as_fraction(self.t), list(table.column.levels)
        if self.distance_of(table.column) == "equal":
            levels = [np.arange(table.column.values)]
        counts = [
            np.append(np.bincount(nodes, weights=table.values).astype(np.int64), table.missing)
            for nodes in levels
        ]

        def passes(size: int) -> bool:
            above = sum(_rounded(each, size, rows) for each in counts)
            return above <= t * len(counts) * size * rows

        return passes

    def _on_line(self, table: Counts) -> Callable[[int], bool]:
        """Whether a class of a size could pass, by ranks or numbers.

        No class is nearer than the medians of as many equal slices of the table: below each gap it
        has the multiple of 1 / size that is nearest to the share of the table.
        """
        present = table.values > 0
        counts, gaps = table.values[present], np.ones(max(int(present.sum()) - 1, 0))
        if self.distance_of(table.column) == "numeric":
            gaps = np.diff(table.column.numbers[present])
        elif self.nulls == "value" and table.missing:
            # a missing value is the last one of the order
            counts, gaps = np.append(counts, table.missing), np.ones(len(counts))
        below, known = np.cumsum(counts)[:-1], int(counts.sum())
        if self.exact(table):
            t, longest = as_fraction(self.t), len(gaps)
            return lambda size: _off(below, size, known).sum() <= t * longest * size * known

        @cache
        def rest(size: int) -> float:
            if size == 0 or len(gaps) == 0:
                return 0.0
            return float((_off(below, size, known) * (gaps / gaps.sum())).sum() / (size * known))

        most, share = self.t - SURE + ROUNDED, (table.rows - known) / table.rows

        def passes(size: int) -> bool:
            if table.rows == known:
                return rest(size) <= most
            missing = np.arange(max(size - known, 0), min(size, table.missing) + 1)
            near = missing[np.abs(missing / size - share) <= most]
            return any(
                abs(n / size - share) + min(1.0 - n / size, 1.0 - share) * rest(size - n) <= most
                for n in near.tolist()
            )

        return passes


def _rounded(counts: Numbers, size: int, rows: int) -> int:
    """How far above their shares of ``size`` rows the counts are that are nearest to them, in rows
    of the table: each is a share rounded down or, where the remainder is largest, up."""
    over = np.sort(size * counts % rows)[::-1]
    up = over[: int(over.sum()) // rows]
    return len(up) * rows - int(up.sum())


def _off(below: Numbers, size: int, rows: int) -> Numbers:
    """How far the shares below each gap are from the nearest multiple of 1 / size, in rows of the
    table times size: int64, shape (gaps,)."""
    over = size * below % rows
    return np.minimum(over, rows - over)
