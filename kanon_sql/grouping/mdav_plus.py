"""MDAV+ (thaeter2021, section 2): one group a round, around the furthest record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.pool import fill_pool, find_nearest, list_active, settle
from kanon_sql.grouping.steps import empty_groups, furthest_first, join_group, place_leftovers


@njit(cache=True, nogil=True)
def _mdav_plus(numeric: Any, codes: Any, scale: Any, k: int) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    pool = fill_pool(numeric, codes, scale, n // k)
    found, gaps = np.empty(k, np.int64), np.empty(k)
    next_origin = 0
    for made in range(n // k):
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        origin = order[next_origin]
        find_nearest(numeric, codes, scale, pool, labels, origin, -1, found, gaps, k - 1)
        for p in range(k):
            join_group(numeric, codes, found[p], made, labels, groups)
        settle(pool, labels, found, k)
    left = list_active(pool, labels)
    place_leftovers(numeric, codes, scale, left, len(left), n // k, False, labels, groups)
    return labels


def mdav_plus(points: Points, k: int, options: Mapping[str, Any]) -> Grouping:
    """Groups of k records, leftovers to the group with the closest centroid.

    Source: thaeter2021, section 2, algorithm MDAV+. Needs len(points) >= k >= 1. O(n^2 / k).
    """
    return Grouping(_mdav_plus(points.numeric, points.codes, points.scale, k), {})
