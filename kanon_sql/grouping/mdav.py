"""MDAV (Domingo-Ferrer; [D09] in thaeter2021): two groups a round, at opposite ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.steps import (
    category_counts,
    centroid_distances,
    drop_assigned,
    nearest,
    squared_distance,
)


@njit(cache=True, nogil=True)
def _mdav(numeric: Any, codes: Any, scale: Any, k: int, over_all: bool) -> Any:
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    labels = np.full(n, -1, np.int64)
    sums = np.zeros(d)
    for i in range(n):
        for a in range(d):
            sums[a] += numeric[i, a]
    counts = category_counts(codes)
    active, m = np.arange(n), n
    found, gaps = np.empty(k, np.int64), np.empty(k)
    made = 0
    while m >= 2 * k:
        divisor = float(n) if over_all else float(m)
        origin = active[
            np.argmax(centroid_distances(numeric, codes, scale, active, m, sums, counts, divisor))
        ]
        for side in range(2 if m >= 3 * k else 1):
            first = origin
            if side == 1:
                furthest = -1.0
                for p in range(m):
                    gap = squared_distance(numeric, codes, scale, active[p], origin)
                    if gap > furthest:
                        furthest, first = gap, active[p]
            nearest(numeric, codes, scale, active, m, first, -1, found, gaps, k - 1)
            for p in range(k):
                labels[found[p]] = made
                for a in range(d):
                    sums[a] -= numeric[found[p], a]
                for a in range(c):
                    counts[a, codes[found[p], a]] -= 1
            made += 1
            m = drop_assigned(active, m, labels)
    for p in range(m):
        labels[active[p]] = made
    return labels


def mdav(points: Points, k: int, options: Mapping[str, Any]) -> Grouping:
    """Groups of k records, the last one of k to 2k-1.

    While 3k records or more remain, one group is made around the record furthest from their
    centroid, and one around the record furthest from that one (of those then left, which differs
    only where many records tie). The centroid is kept by subtracting each grouped record.

    Source: [D09] as cited in thaeter2021, section 2. Needs len(points) >= k >= 1. O(n^2 / k).
    """
    return Grouping(_mdav(points.numeric, points.codes, points.scale, k, False), {})


def mdav_with_slip(points: Points, k: int) -> Grouping:
    """MDAV as it must have run for thaeter2021's table 1: the remaining records' sum is divided
    by the original n. Kept only to reproduce that table; not offered as a method."""
    return Grouping(_mdav(points.numeric, points.codes, points.scale, k, True), {})
