"""Released values that are a row's own although the rows of its class differ: those of medians and
most frequent values, and of published rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.encode.cells import (
    AnyCells,
    categories_of_both,
    has_categories,
    has_numbers,
    number_column,
)
from kanon_sql.points.points import Floats, Labels


def _codes(source: AnyCells, centers: AnyCells, column: int, width: int) -> Any:
    """A column of both, equal codes for equal values, NULL among them: float64, shapes (n,)."""
    missing: Any = np.inf
    if has_categories(source, column):
        codes = categories_of_both(source, centers, column, width)
        # infinite numbers were refused, so that one can stand for NULL
        missing = np.concatenate([np.where(each < 0, np.inf, each) for each in codes])
        if not has_numbers(source, column):
            return np.split(missing, 2)
    numbers = np.concatenate([number_column(cells, column, width) for cells in (source, centers)])
    return np.split(np.where(np.isnan(numbers), missing, numbers), 2)


def _merged(centers: Floats, labels: Labels) -> Labels:
    """The number of the released class of each row: classes that release the same are one."""
    firsts = np.zeros(int(labels.max()) + 1, np.int64)
    firsts[labels] = np.arange(len(labels))
    released = centers[firsts]
    order = np.lexsort(released.T)
    fresh = np.any(released[order[1:]] != released[order[:-1]], axis=1)
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum(fresh)
    return numbers[labels]


def original_values(
    source: AnyCells, centers: AnyCells, width: int, labels: Labels
) -> list[int]:
    """For each quasi-identifier, the classes whose released value is one of theirs, although not
    all of their rows have it. NULL is a value.

    Args:
        source, centers: the cells of n rows and of the released points of their classes.
        width: the quasi-identifiers.
        labels: int64, shape (n,), 0 .. groups-1; -1 where a row is suppressed.
    """
    kept = np.flatnonzero(labels >= 0)
    columns = [_codes(source, centers, j, width) for j in range(width)]
    released = np.column_stack([spots for _, spots in columns])[kept]
    classes = _merged(released, labels[kept])
    groups = int(classes.max()) + 1
    counts = []
    for values, spots in columns:
        same = np.bincount(classes, weights=values[kept] == spots[kept], minlength=groups)
        # who has the released value tells all: where no row differs from it, all rows agree
        counts.append(int(np.sum((same > 0) & (same < np.bincount(classes, minlength=groups)))))
    return counts
