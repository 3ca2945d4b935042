"""V-MDAV (thaeter2021, section 2): a new group may be extended by records close to it."""

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
    squared_distance,
)
from kanon_sql.loss import sse

GAMMAS = tuple(step / 10 for step in range(21))


@njit(cache=True, nogil=True)
def _closest_pair(
    numeric: Any, codes: Any, scale: Any, active: Any, m: int, newest: Any, fresh: int, gap_in: Any
) -> int:
    """Position of the active record closest to the group, after newest[:fresh] joined it."""
    best = 0
    for p in range(m):
        i = active[p]
        for q in range(fresh):
            gap_in[i] = min(gap_in[i], squared_distance(numeric, codes, scale, i, newest[q]))
        if gap_in[i] < gap_in[active[best]]:
            best = p
    return best


@njit(cache=True, nogil=True)
def _v_mdav(numeric: Any, codes: Any, scale: Any, k: int, gamma: float) -> Any:
    n = numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(numeric, codes, n // k)
    order = furthest_first(numeric, codes, scale)
    active, m = np.arange(n), n
    found, gaps = np.empty(k, np.int64), np.empty(k)
    pair, pair_gaps = np.empty(2, np.int64), np.empty(2)
    gap_in = np.empty(n)
    made, next_origin = 0, 0
    while m >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        nearest(numeric, codes, scale, active, m, order[next_origin], -1, found, gaps, k - 1)
        for p in range(k):
            join_group(numeric, codes, found[p], made, labels, groups)
        m = drop_assigned(active, m, labels)
        size, fresh = k, k
        if gamma > 0.0:
            gap_in[:] = np.inf
        while gamma > 0.0 and size < 2 * k - 1 and m > 0:
            i = active[_closest_pair(numeric, codes, scale, active, m, found, fresh, gap_in)]
            pair_gaps[1] = np.inf
            nearest(numeric, codes, scale, active, m, i, -1, pair, pair_gaps, 1)
            if not gap_in[i] < gamma * pair_gaps[1]:
                break
            join_group(numeric, codes, i, made, labels, groups)
            m = drop_assigned(active, m, labels)
            size, fresh, found[0] = size + 1, 1, i
        made += 1
    place_leftovers(numeric, codes, scale, active, m, made, False, labels, groups)
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
