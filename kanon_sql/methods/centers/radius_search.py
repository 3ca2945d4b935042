"""The least accepted radius, among the distances of all pairs of records.

A threshold algorithm (aggarwal2006, section 2.2) tries the distances of all pairs as its radius.
There are n(n-1)/2 of them, too many to list. But any key can be tried, one between those of pairs,
too: what is accepted is every key at or above the optimum's, and perhaps some below. So where a
key is rejected, the optimum's lies above. The search doubles a key until it is accepted, then goes
halfway between the largest rejected and the least accepted, by the keys of some records' pairs as
long as they tell the two apart, by numbers after that. It ends where no pair's key lies between
the two: then the accepted one is a lower bound of the optimum's. That all keys above an accepted
one would be accepted, too, is not assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.centers.lower_bounds import keys_between
from kanon_sql.points.points import Floats, MetricPoints
from kanon_sql.search.nearest_lists import nearest_lists

LISTED = 1_000_000
"""Pairs whose keys are listed, or those of one record if they are more."""


@dataclass(frozen=True)
class RadiusTrial:
    """What came of a key.

    Attributes:
        key: the key; where it was accepted and a smaller one is known to give the same, that one.
        result: what the test made of it; None where it was rejected.
        pairs: how many pairs of records lie within the key, 0 if that is not known.
    """

    key: float
    result: Any
    pairs: int = 0


def neighbour_keys(points: MetricPoints, k: int, watch: Watch) -> Floats:
    """For each record, the least key within which there are k records, itself among them.

    float64, shape (n,); k is n at most.
    """
    n, beat = len(points), watch.beat()
    if k < 2:
        return np.zeros(n)
    lists = nearest_lists(points, k - 1, beat)
    watch.check()
    return keys_between(points, np.arange(n), lists[:, -1])


def some_keys(points: MetricPoints) -> Floats:
    """The distinct keys of every step-th record's pairs, ascending; few enough to be listed."""
    n = len(points)
    step = -(-n // max(LISTED // n, 1))
    return np.unique([keys_between(points, i, np.arange(n)) for i in range(0, n, step)])


def least_accepted(
    points: MetricPoints, start: float, test: Callable[[float], RadiusTrial]
) -> RadiusTrial:
    """An accepted key that is the start, or such that no smaller pair's key can be the optimum's.

    Args:
        points: n records.
        start: a key that the optimum's isn't below.
        test: tries a key. It accepts any that no pair's key is above.
    """
    low = test(start)
    if low.result is not None:
        return low
    rungs = some_keys(points)
    high = low
    while high.result is None:
        low = high
        # the rungs hold all keys of the first record, so one is above 0 where any pair's is
        high = test(2.0 * low.key or float(rungs[rungs > 0.0][0]))
    sharp = high.key in rungs
    while np.nextafter(low.key, np.inf) < high.key and not 0 < low.pairs == high.pairs:
        first, last = np.searchsorted(rungs, low.key, "right"), np.searchsorted(rungs, high.key)
        just_below = False
        if first < last:
            key = float(rungs[(first + last) // 2])
        elif just_below := sharp:  # a pair's key; often the optimum's
            key = float(np.nextafter(high.key, -np.inf))
        else:
            key = low.key + (high.key - low.key) / 2.0
        trial = test(key)
        if trial.result is None:
            low = trial
        else:
            high = trial
            sharp = not just_below and (high.key < key or high.key in rungs)
    return high
