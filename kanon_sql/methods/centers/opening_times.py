"""When the next cluster around a record opens (see primal_dual.py), by looking at few of them.

There are n clusters (v, d) around each record v, and none of them is ever listed. What leaves every
bit of the result as it is:

- A cluster opens only while a potential member is unassigned; so only d >= first(v) matter, the
  larger of the distance from v to the nearest unassigned record and the least d allowed for v. All
  such clusters are neither open nor shut down, since both leave no unassigned member behind.
- Of these, only d matter at which a member joins that grows or contributes: at the next larger d
  nothing is gained and the cost is no less. This holds for the rounded sums too, since rounding is
  monotone, and the sums have the same order.
- A cluster needs d <= its opening time. So the ball around v is read as far as the time of the
  clusters found, and no farther; else a lower bound of the time is kept.
- A frozen record with alpha < first(v) is nothing to v, and passed over by the search
(threshold_tree.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.points.distances import distance_of
from kanon_sql.search.queries import NOBODY, nearest_in_tree
from kanon_sql.search.threshold_tree import members_within

WIDER = 1.4
"""A ball is read this much farther than the time that has come."""

FEW = 16
"""Records below which a ball that is not large enough is read again, twice as far, at once."""

MANY = 24
"""Frozen records among the members above which sums are first taken over roughly."""

ONE = np.int64(1)  # a plain number would have what takes it compiled twice; see NOBODY


@njit(cache=True, nogil=True)
def slack_of(n: int, base: float, rate: float, time: float) -> float:
    """More than all rounding together may change a time, of n records and these costs."""
    return (n + 8) * 1e-15 * (base + (rate + 1.0) * time)


@njit(cache=True, nogil=True)
def _sort(away: Any, found: Any, m: int) -> None:
    """Sorts the first m records by (distance, index)."""
    gap = 1
    while gap < m // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, m):
            value, i, spot = away[p], found[p], p
            while spot >= gap and (
                away[spot - gap] > value or (away[spot - gap] == value and found[spot - gap] > i)
            ):
                away[spot], found[spot] = away[spot - gap], found[spot - gap]
                spot -= gap
            away[spot], found[spot] = value, i
        gap //= 3


@njit(cache=True, nogil=True)
def _worth(
    away: Any, found: Any, m: int, first: float, standing: Any, costs: Any, now: float,
    held: Any, rank: Any, worth: Any,
) -> None:
    """Which of the radii that ``_cheapest`` looks at may be the best one, in their order: all but
    those whose time is later than that of another, whatever rounding does. Here sums are taken
    over from one radius to the next; where few records are frozen that would not pay."""
    base, rate = costs
    frozen, all_held = np.int64(0), 0.0
    for p in range(m):
        worth[p] = -np.inf
        if standing[found[p]] < np.inf:
            held[frozen], rank[frozen] = standing[found[p]], p
            all_held += held[frozen]
            frozen += 1
    worth[m] = -np.inf
    if frozen <= MANY:
        return
    _sort(held, rank, frozen)
    tiny, least, total, d = (m + 8) * 1e-15, np.inf, 0.0, first
    u = tight = q = p = count = 0
    while d < least:
        before = q
        while q < m and away[q] <= d:
            alpha = standing[found[q]]
            if alpha == np.inf:
                u += 1
            elif alpha >= d:
                tight += 1
                total += alpha
            q += 1
        while p < frozen and held[p] < d:
            if rank[p] < before:
                tight -= 1
                total -= held[p]
            p += 1
        cost = base + rate * d
        slack = tiny * (all_held + m * d + cost)
        worth[count] = max(now, d + (cost - total + tight * d - slack) / u - slack)
        least = min(least, max(now, d + (cost - total + tight * d + slack) / u + slack))
        count += 1
        if q == m:
            break
        d = away[q]
    for p in range(count):
        worth[p] = -np.inf if worth[p] <= least else np.inf


@njit(cache=True, nogil=True)
def _cheapest(
    away: Any, found: Any, m: int, first: float, standing: Any, costs: Any, now: float, held: Any,
    rank: Any, worth: Any,
) -> Any:
    """The (time, radius) at which the first cluster of a center opens, of those with a radius of
    at least ``first`` among m records that are sorted by their distance."""
    base, rate = costs
    _worth(away, found, m, first, standing, costs, now, held, rank, worth)
    best, best_d, d = np.inf, -1.0, first
    u = frozen = q = count = 0
    while d < best:
        while q < m and away[q] <= d:
            if standing[found[q]] == np.inf:
                u += 1
            else:
                held[frozen] = standing[found[q]]
                frozen += 1
            q += 1
        if worth[count] < 0.0:
            paid = 0.0
            for p in range(frozen):
                if held[p] >= d:
                    paid += held[p] - d
            time = max(now, d + (base + rate * d - paid) / u)
            if time < best:
                best, best_d = time, d
        count += 1
        if q == m:
            break
        d = away[q]
    return best, best_d


@njit(cache=True, nogil=True)
def next_opening(
    ground: Any, unassigned: Any, offer: Any, scratch: Any, v: int, front: float,
    now: float,
) -> Any:
    """When a cluster around v opens next, if nothing else happens: (time, radius, True); or less
    than the time, and False."""
    space, form, standing = ground[0], ground[5], ground[6]
    least, base, rate, most = offer
    found, away, held, rank, worth, one, gap = scratch
    delta, n = 0.0, len(standing)
    if standing[v] < np.inf:
        nearest_in_tree(
            space, unassigned[0], unassigned[1], unassigned[2], v, NOBODY, one, gap, ONE
        )
        delta = distance_of(gap[1], form)
    first = max(delta, least[v])
    if not first <= most or first == np.inf:
        return np.inf, -1.0, False
    bound = first + (base[v] + rate * first) / n
    bound -= slack_of(n, base[v], rate, bound)
    if bound > front:
        return bound, -1.0, False
    wide = min(WIDER * max(front, first), most)
    while True:
        count = members_within(ground, v, wide, first, found, away)
        m = np.int64(0)
        for p in range(count):
            if standing[found[p]] >= away[p]:
                found[m], away[m] = found[p], away[p]
                m += 1
        _sort(away, found, m)
        best, d = _cheapest(
            away, found, m, first, standing, (base[v], rate), now, held, rank, worth
        )
        if best <= wide or wide == most:
            return best, d, True
        if count >= FEW:
            break
        wide = min(2.0 * wide, most)
    bound = min(best, wide + (base[v] + rate * wide) / n)
    return bound - slack_of(n, base[v], rate, bound), -1.0, False
