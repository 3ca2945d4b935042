"""Lower bounds of the least possible cost that follow from each record's nearest neighbours alone.

In any clustering into classes of k or more, the class of a record holds k-1 others, all within
twice the class's radius of it. So no radius is below half the distance d to the record's (k-1)-th
nearest neighbour. Hence the largest of these halves bounds the largest radius, and their sum the
cellular cost, in which each record pays the radius of its class. Where ``out`` records may be left
out, at most that many of the halves don't count: the largest ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.points.points import Floats, MetricPoints, Points
from kanon_sql.search.nearest_lists import nearest_lists


def keys_between(points: Points, some: Any, others: Any) -> Floats:
    """The keys of pairs of records (see MetricPoints): float64, shape (m,).

    Args:
        points: n records.
        some, others: int64 indices, shape (m,) or one for all.
    """
    keys = np.zeros(np.broadcast_shapes(np.shape(some), np.shape(others)))
    for column in points.numeric.T:
        keys += (column[some] - column[others]) ** 2
    for column, scale in zip(points.codes.T, points.scale, strict=True):
        keys += np.where(column[some] != column[others], 2.0 * scale, 0.0)
    return keys


def half_distances(points: MetricPoints, k: int) -> Floats:
    """Half the distance of each record to its (k-1)-th nearest: float64, shape (n,), ascending."""
    lists = nearest_lists(points, k - 1)
    # where no record has a (k-1)-th nearest there is nothing to bound
    if lists.shape[1] < k - 1 or k == 1:
        return np.zeros(len(points))
    last = lists[:, -1].astype(np.int64)
    keys = keys_between(points, np.arange(len(points)), last)
    return np.sort(points.distances(keys)) / 2.0


def neighbour_bound(points: MetricPoints, k: int, objective: str, out: int = 0) -> float:
    """A lower bound of the largest radius ('radius') or the cellular cost ('cellular').

    Args:
        points: n records.
        k: the least class size.
        objective: of which of the two.
        out: how many records may be left out.
    """
    kept = half_distances(points, k)[: max(len(points) - out, 0)]
    if len(kept) == 0:
        return 0.0
    return float(kept[-1] if objective == "radius" else np.sum(kept))
