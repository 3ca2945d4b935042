"""MDAV* (thaeter2021, section 3): extend a close group or make a new one, whichever costs less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.pool import (
    enter_group,
    fill_pool,
    find_group,
    find_nearest,
    list_active,
    settle,
)
from kanon_sql.grouping.steps import (
    empty_groups,
    furthest_first,
    join_group,
    place_leftovers,
    sse_of,
)


@njit(cache=True, nogil=True)
def _mdav_star(numeric: Any, codes: Any, scale: Any, k: int) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    pool = fill_pool(numeric, codes, scale, n // k)
    found, gaps = np.empty(max(k, 2), np.int64), np.empty(max(k, 2))
    around, around_gaps = np.empty(k, np.int64), np.empty(k)
    made, next_origin, left = 0, 0, n
    while left >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        origin = order[next_origin]
        find_nearest(numeric, codes, scale, pool, labels, origin, -1, found, gaps, k - 1)
        cost_new = sse_of(numeric, codes, scale, found, k) / k
        group = -1
        # cost (2) is never negative, so it can only win against a positive cost (1)
        if made > 0 and left > k and cost_new > 0.0:
            group, growth = find_group(
                numeric, codes, scale, pool, origin, made, k, True, groups
            )
            find_nearest(
                numeric, codes, scale, pool, labels, found[1], origin, around, around_gaps, k - 1
            )
            cost_extend = (growth + sse_of(numeric, codes, scale, around, k)) / (k + 1)
            if not cost_extend < cost_new:
                group = -1
        if group >= 0:
            join_group(numeric, codes, origin, group, labels, groups)
            settle(pool, labels, found, 1)
            left -= 1
        else:
            group = made
            for p in range(k):
                join_group(numeric, codes, found[p], group, labels, groups)
            settle(pool, labels, found, k)
            made += 1
            left -= k
        enter_group(pool, groups, group, origin)
    rest = list_active(pool, labels)
    place_leftovers(numeric, codes, scale, rest, len(rest), made, True, labels, groups)
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
