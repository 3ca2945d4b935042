"""MDAV+ (thaeter2021, section 2): one group a round, around the furthest record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.steps import (
    drop_assigned,
    empty_groups,
    furthest_first,
    join_group,
    nearest,
    place_leftovers,
)


@njit(cache=True, nogil=True)
def _mdav_plus(numeric: Any, codes: Any, scale: Any, k: int) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    active, m = np.arange(n), n
    found, gaps = np.empty(k, np.int64), np.empty(k)
    made, next_origin = 0, 0
    while m >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        nearest(numeric, codes, scale, active, m, order[next_origin], -1, found, gaps, k - 1)
        for p in range(k):
            join_group(numeric, codes, found[p], made, labels, groups)
        made += 1
        m = drop_assigned(active, m, labels)
    place_leftovers(numeric, codes, scale, active, m, made, False, labels, groups)
    return labels


def mdav_plus(points: Points, k: int, options: Mapping[str, Any]) -> Grouping:
    """Groups of k records, leftovers to the group with the closest centroid.

    Source: thaeter2021, section 2, algorithm MDAV+. Needs len(points) >= k >= 1. O(n^2 / k).
    """
    return Grouping(_mdav_plus(points.numeric, points.codes, points.scale, k), {})
