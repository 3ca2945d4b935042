"""The classes of a grouping, and what their members have in a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.points.by_label import distinct, label_order
from kanon_sql.points.points import Labels

Numbers = npt.NDArray[Any]
"""Codes, counts or values, one per record or class."""


class ByClass:
    """Columns, seen class by class.

    Attributes:
        labels: int64, shape (n,); the class of each record, 0 .. groups-1.
        groups: how many classes there are.
        sizes: int64, shape (groups,); the records of each.
        order: int64, shape (n,); the records class by class.
        starts: int64, shape (groups,); where each class begins in the order.
    """

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.groups = int(labels.max()) + 1 if len(labels) else 0
        self.sizes = np.bincount(labels, minlength=self.groups)
        self.order = label_order(labels)
        self.starts = np.cumsum(self.sizes) - self.sizes

    @staticmethod
    def of(labels: Labels | ByClass) -> ByClass:
        """The classes of labels, if they aren't known already."""
        return labels if isinstance(labels, ByClass) else ByClass(labels)

    def span(self, column: Numbers) -> tuple[Numbers, Numbers]:
        """The least and the largest value of each class; shape (groups,)."""
        values = column[self.order]
        return (
            np.minimum.reduceat(values, self.starts), np.maximum.reduceat(values, self.starts)
        )

    def distinct(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """The distinct pairs of a class and a code of one of its members."""
        width = int(codes.max()) + 1
        pairs = self.labels * width + codes
        if self.groups * width <= 4 * len(pairs):
            keys = np.flatnonzero(np.bincount(pairs))
        else:
            keys = distinct(pairs)
        return keys // width, keys % width

    def any(self, mask: Numbers) -> Numbers:
        """Whether each class has a record in the mask."""
        return np.asarray(np.bincount(self.labels[mask], minlength=self.groups) > 0)


def rows_times(sizes: Numbers, losses: Numbers) -> float:
    """The sum of |e| times a number of each class e, the same in whatever order they stand."""
    return float(np.sum(np.sort(sizes * losses)))
