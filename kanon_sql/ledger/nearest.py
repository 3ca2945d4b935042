"""The class of a ledger that costs a record least: kernels.

Every class may be the nearest, and there may be many. So those that published points stand by one
of their numbers, and a record looks at both sides of its own until that number alone costs more
than the best that was found; those that published sets stand by what they cost, and the first that
stands for a record is its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.points.points import Codes, Floats


class Spots(NamedTuple):
    """Where records or classes lie.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, m).
    """

    numeric: Floats
    codes: Codes


@inner
def _apart(records: Spots, i: int, classes: Spots, c: int, scale: Any, best: Any) -> Any:
    """What a class costs a record; more than ``best`` where it costs more than that. Summed in the
    order of the columns, so that it is the same whoever sums."""
    apart = 0.0
    for j in range(records.numeric.shape[1]):
        apart += (records.numeric[i, j] - classes.numeric[c, j]) ** 2
        if apart > best:
            return apart
    for j in range(records.codes.shape[1]):
        if records.codes[i, j] != classes.codes[c, j]:
            apart += 2.0 * scale[j]
            if apart > best:
                return apart
    return apart


@kernel
def nearest_points(
    records: Spots, classes: Spots, scale: Any, order: Any, axis: int, nearest: Any, costs: Any
) -> None:
    """Finds the nearest class of each record, the first of those that tie.

    Args:
        records: n of them.
        classes: c of them, in ascending order of the column of numbers ``axis``.
        scale: float64, shape (m,); what half a difference of codes costs.
        order: int64, shape (c,); the place of each class.
        axis: a column of numbers; -1 without one, and then the classes stand in any order.
        nearest: int64, shape (n,); gets the places.
        costs: float64, shape (n,); gets what they cost.
    """
    count = order.shape[0]
    for i in range(nearest.shape[0]):
        best, place = np.inf, np.int64(-1)
        lo, hi = np.int64(-1), np.int64(0)
        if axis >= 0:
            hi = np.searchsorted(classes.numeric[:, axis], records.numeric[i, axis])
            lo = hi - 1
        while lo >= 0 or hi < count:
            c = hi
            if axis >= 0:
                own, below, above = records.numeric[i, axis], np.inf, np.inf
                if lo >= 0:
                    below = (own - classes.numeric[lo, axis]) ** 2
                if hi < count:
                    above = (own - classes.numeric[hi, axis]) ** 2
                # all classes beyond both cost more by this number alone
                if min(below, above) > best:
                    break
                if below < above:
                    c = lo
            if c == lo:
                lo -= 1
            else:
                hi += 1
            apart = _apart(records, i, classes, c, scale, best)
            if apart < best or (apart == best and order[c] < place):
                best, place = apart, order[c]
        nearest[i], costs[i] = place, best


@kernel
def first_covers(
    values: Any, texts: Any, covered: Any, first: Any, width: Any, covers: Any
) -> None:
    """Finds the first class that stands for all values of each record, -1 without any.

    Args:
        values: int64, shape (n, columns).
        texts: int64, shape (c, columns); of the classes.
        covered: bool, shape (cells,); of each column whether a text stands for a value, text by
            text.
        first: int64, shape (columns,); where a column begins there.
        width: int64, shape (columns,); how many values it has.
        covers: int64, shape (n,); gets the places.
    """
    for i in range(covers.shape[0]):
        covers[i] = -1
        for c in range(texts.shape[0]):
            stands = True
            for j in range(texts.shape[1]):
                stands = stands and covered[first[j] + texts[c, j] * width[j] + values[i, j]]
            if stands:
                covers[i] = c
                break
