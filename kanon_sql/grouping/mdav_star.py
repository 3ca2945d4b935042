"""MDAV* (thaeter2021, section 3): extend a close group or make a new one, whichever costs less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.steps import (
    closest_group,
    drop_assigned,
    empty_groups,
    furthest_first,
    join_group,
    nearest,
    place_leftovers,
    sse_of,
)


@njit(cache=True, nogil=True)
def _mdav_star(numeric: Any, codes: Any, scale: Any, k: int) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    active, m = np.arange(n), n
    found, gaps = np.empty(max(k, 2), np.int64), np.empty(max(k, 2))
    around, around_gaps = np.empty(k, np.int64), np.empty(k)
    made, next_origin = 0, 0
    while m >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        origin = order[next_origin]
        nearest(numeric, codes, scale, active, m, origin, -1, found, gaps, k - 1)
        cost_new = sse_of(numeric, codes, scale, found, k) / k
        group = -1
        # cost (2) is never negative, so it can only win against a positive cost (1)
        if made > 0 and m > k and cost_new > 0.0:
            group, growth = closest_group(numeric, codes, scale, origin, made, True, groups)
            nearest(
                numeric, codes, scale, active, m, found[1], origin, around, around_gaps, k - 1
            )
            cost_extend = (growth + sse_of(numeric, codes, scale, around, k)) / (k + 1)
            if not cost_extend < cost_new:
                group = -1
        if group >= 0:
            join_group(numeric, codes, origin, group, labels, groups)
        else:
            for p in range(k):
                join_group(numeric, codes, found[p], made, labels, groups)
            made += 1
        m = drop_assigned(active, m, labels)
    place_leftovers(numeric, codes, scale, active, m, made, True, labels, groups)
    return labels


def mdav_star(points: Points, k: int, options: Mapping[str, Any]) -> Grouping:
    """Groups of k records or more, without an upper bound.

    The unassigned record x furthest from the centroid either founds a group with its k-1 nearest
    (cost (1): its SSE per record) or joins clos(x), the group whose SSE grows least (cost (2):
    the growth and the SSE of a group around x's nearest neighbour, over k+1 records). Leftovers
    join the group whose SSE grows least.

    Source: thaeter2021, section 3, algorithm MDAV*. Needs len(points) >= k >= 1. O(n^2).
    """
    return Grouping(_mdav_star(points.numeric, points.codes, points.scale, k), {})
