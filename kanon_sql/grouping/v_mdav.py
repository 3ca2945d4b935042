"""V-MDAV (thaeter2021, section 2): a new group may be extended by records close to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.pool import fill_pool, find_nearest, list_active, settle
from kanon_sql.grouping.steps import empty_groups, furthest_first, join_group, place_leftovers
from kanon_sql.loss import sse

GAMMAS = tuple(step / 10 for step in range(21))


@njit(cache=True, nogil=True)
def _closest_outsider(near: Any, near_gaps: Any, size: int) -> int:
    """The member whose nearest unassigned record is nearest, ties by that record's index."""
    best = 0
    for p in range(1, size):
        if near_gaps[p] < near_gaps[best] or (
            near_gaps[p] == near_gaps[best] and near[p] < near[best]
        ):
            best = p
    return best


@njit(cache=True, nogil=True)
def _v_mdav(numeric: Any, codes: Any, scale: Any, k: int, gamma: float) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    pool = fill_pool(numeric, codes, scale, n // k)
    members, gaps = np.empty(2 * k, np.int64), np.empty(2 * k)
    near, near_gaps = np.empty(2 * k, np.int64), np.empty(2 * k)
    pair, pair_gaps = np.empty(2, np.int64), np.empty(2)
    made, next_origin, left = 0, 0, n
    while left >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        origin = order[next_origin]
        find_nearest(numeric, codes, scale, pool, labels, origin, -1, members, gaps, k - 1)
        for p in range(k):
            join_group(numeric, codes, members[p], made, labels, groups)
        settle(pool, labels, members, k)
        left -= k
        size = k
        near[:] = -1
        while gamma > 0.0 and size < 2 * k - 1 and left > 0:
            for p in range(size):
                if near[p] < 0 or labels[near[p]] >= 0:
                    find_nearest(
                        numeric, codes, scale, pool, labels, members[p], -1, pair, pair_gaps, 1
                    )
                    near[p], near_gaps[p] = pair[1], pair_gaps[1]
            best = _closest_outsider(near, near_gaps, size)
            outsider, gap_in = near[best], near_gaps[best]
            pair_gaps[1] = np.inf
            find_nearest(numeric, codes, scale, pool, labels, outsider, -1, pair, pair_gaps, 1)
            if not gap_in < gamma * pair_gaps[1]:
                break
            members[size] = outsider
            join_group(numeric, codes, outsider, made, labels, groups)
            settle(pool, labels, members[size:], 1)
            size += 1
            left -= 1
        made += 1
    rest = list_active(pool, labels)
    place_leftovers(numeric, codes, scale, rest, len(rest), made, False, labels, groups)
    return labels


def v_mdav(points: Points, k: int, options: Mapping[str, Any]) -> Grouping:
    """Groups of k to 2k-1 records, leftovers to the group with the closest centroid.

    A new group takes in its closest unassigned record x while d_in < gamma * d_out, squared
    distances from x to the group and to its closest unassigned neighbour. gamma 'best' tries
    0.0, 0.1 .. 2.0 and keeps the least information loss (the smallest such gamma).

    Source: thaeter2021, section 2. Needs len(points) >= k >= 1. O(n^2) for constant k.
    """
    wanted = options["gamma"]
    best: tuple[float, float, Any] | None = None
    for gamma in GAMMAS if wanted == "best" else (float(wanted),):
        labels = _v_mdav(points.numeric, points.codes, points.scale, k, gamma)
        loss = sse(points, labels) if wanted == "best" else 0.0
        # a gain within rounding is a tie, and ties go to the smaller gamma
        if best is None or loss < best[0] * (1.0 - 1e-12):
            best = loss, gamma, labels
    assert best is not None
    return Grouping(best[2], {"gamma": best[1]})
