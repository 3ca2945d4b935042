"""Where a table is cut into blocks: between records that few classes would have together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Labels, LossPoints, Points
from kanon_sql.search.cut_cost import SAMPLE, cut_costs


@dataclass(frozen=True)
class Seam:
    """A cut between two blocks, or two sets of blocks.

    Attributes:
        rows: the records on both sides: int64.
        column: the column along which it is cut, the numeric ones first; -1: all are alike.
        value: where on its axis; of a column of categories nothing.
    """

    rows: Labels
    column: int
    value: float


@dataclass
class BlockCuts:
    """The blocks of a table, while they are cut.

    Attributes:
        points: the records.
        k: the least records of a class.
        members: the records of each block in canonical order, int64 arrays.
        seams: the cuts between them.
    """

    points: Points
    k: int
    members: list[Labels] = field(default_factory=list)
    seams: list[Seam] = field(default_factory=list)

    def divide(self, rows: Labels, bounds: Sequence[int]) -> None:
        """Adds blocks of these records, in canonical order.

        Args:
            rows: the records.
            bounds: behind how many of all records each block ends, the first being where the first
                block begins.
        """
        if len(bounds) == 2:
            self.members.append(rows)
            return
        middle = (len(bounds) - 1) // 2
        below = self.cut(rows, bounds[middle] - bounds[0])
        self.divide(rows[below], bounds[: middle + 1])
        self.divide(rows[~below], bounds[middle:])

    def cut(self, rows: Labels, at: int) -> npt.NDArray[np.bool_]:
        """Which of the records lie below a cut behind so many of them: bool, shape (rows,).

        Records of one value that the cut would divide are cut along another column.
        """
        column = self.harmless(rows)
        below = np.zeros(len(rows), np.bool_)
        if column < 0:
            below[:at] = True
            self.seams.append(Seam(rows, column, 0.0))
            return below
        values = self.values(rows, column)
        value = np.partition(values, at)[at]
        np.less(values, value, out=below)
        self.seams.append(Seam(rows, column, float(value)))
        within = at - int(np.count_nonzero(below))
        if within:
            equal = np.flatnonzero(values == value)
            below[equal] = self.cut(rows[equal], within)
        return below

    def values(self, rows: Labels, column: int) -> Any:
        """What the records have in a column: float64 or int32, shape (rows,)."""
        d = self.points.numeric.shape[1]
        numbers, codes = self.points.numeric, self.points.codes
        return numbers[rows, column] if column < d else codes[rows, column - d]

    def harmless(self, rows: Labels) -> int:
        """The column along which a cut costs these records least; -1 where all are alike."""
        taken = rows[:: max(1, len(rows) // SAMPLE)]
        points = self.points
        numbers, kinds = points.numeric[taken], list(points.codes[taken].T)
        # the most records of one value: those that a cut may have to divide along another column
        alike = [np.unique(each, return_counts=True)[1].max() for each in (*numbers.T, *kinds)]
        varied = np.array(alike) < len(taken)
        # a variance of equal values may be above 0 by rounding
        spreads = np.where(varied[: numbers.shape[1]], np.var(numbers, axis=0), 0.0)
        costs = np.concatenate(cut_costs(
            len(taken), spreads, kinds, points.scale, self.k, len(rows) / len(taken),
            isinstance(points, LossPoints),
        ))
        order = np.lexsort((alike, np.round(costs, 3)))
        if len(order) and np.isfinite(costs[order[0]]):
            return int(order[0])
        # the sample may be alike where the records are not
        for column in range(len(costs)):
            values = self.values(rows, column)
            if np.any(values != values[0]):
                return column
        return -1


def cut_blocks(points: Points, size: int, k: int) -> BlockCuts:
    """Blocks of nearly the same size and at most ``size`` records, as few as that allows: every
    cut costs classes."""
    n, cuts = len(points), BlockCuts(points, k)
    many = -(-n // size)
    cuts.divide(np.arange(n), [n * block // many for block in range(many + 1)])
    return cuts
