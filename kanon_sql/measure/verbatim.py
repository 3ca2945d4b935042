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

Pair = tuple[Any, Any]
"""Of all rows, and of the released points of their classes; shapes (n,)."""


def _codes(source: AnyCells, centers: AnyCells, column: int, width: int) -> list[Pair]:
    """A column of both: values are equal where all codes of them are. NULL is a value."""
    codes: list[Pair] = []
    if has_categories(source, column):
        codes.append(categories_of_both(source, centers, column, width))
    if has_numbers(source, column):
        values, shown = (number_column(cells, column, width) for cells in (source, centers))
        codes.append((_filled(values), _filled(shown)))
    return codes


def _filled(values: Floats) -> Floats:
    """Numbers, and infinity where there is none: infinite numbers were refused."""
    lacks = np.isnan(values)
    return np.where(lacks, np.inf, values) if lacks.any() else values


def _merged(centers: list[Any], labels: Labels) -> tuple[Labels, int]:
    """The number of the released class of each row, and how many there are: classes that release
    the same are one. A suppressed row has that as its number."""
    firsts = np.zeros(int(labels.max()) + 2, np.int64)
    firsts[labels] = np.arange(len(labels))  # the last entry is the one of -1
    released = [values[firsts[:-1]] for values in centers]
    order = np.lexsort(released)
    fresh = np.zeros(len(order), np.bool_)
    for values in released:
        fresh[1:] |= values[order[1:]] != values[order[:-1]]
    numbers = np.empty(len(order) + 1, np.int64)
    numbers[order] = np.cumsum(fresh)
    numbers[-1] = count = int(fresh.sum()) + 1
    return numbers[labels], count


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
    columns = [_codes(source, centers, j, width) for j in range(width)]
    classes, groups = _merged([spots for codes in columns for _, spots in codes], labels)
    sizes = np.bincount(classes, minlength=groups)[:groups]
    counts = []
    for codes in columns:
        equal = np.logical_and.reduce([values == spots for values, spots in codes])
        same = np.bincount(classes[equal], minlength=groups)[:groups]
        # who has the released value tells all: where no row differs from it, all rows agree
        counts.append(int(np.sum((same > 0) & (same < sizes))))
    return counts
