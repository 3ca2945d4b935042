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

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inlined, inner
from kanon_sql.points.distances import distance_of
from kanon_sql.search.queries import NOBODY, nearest_in_tree
from kanon_sql.search.threshold_tree import Ball, ThresholdTree, members_within, new_ball
from kanon_sql.search.unassigned import LEFT

WIDER = 1.2
"""A ball is read this much farther than the time that has come."""

FEW = 16
"""Records below which a ball that is not large enough is read again, twice as far, at once."""

MANY = 24
"""Frozen records among the members above which sums are first taken over roughly."""

ONE = np.int64(1)  # a plain number would have what takes it compiled twice; see NOBODY


class OpeningCosts(NamedTuple):
    """Which clusters may be opened, and what for.

    Attributes:
        least: float64, shape (n,); the least radius of a cluster around each record.
        most: the largest radius.
        base: float64, shape (n,); the cost of opening a cluster around each record ...
        rate: ... and what is added to it per unit of its radius.
    """

    least: Any
    most: float
    base: Any
    rate: float


class Workspace(NamedTuple):
    """Room for looking at the clusters of one center.

    Attributes:
        ball: the members of the largest cluster that is looked at.
        held: float64, shape (n,); the alpha of those that are frozen.
        rank: int64, shape (n,); where each of them stands among the members.
        worth: float64, shape (n + 1,); of each radius that is looked at, below 0 if it may be the
            best one.
        pair: int64, shape (2,); a record, and the unassigned one nearest to it.
        pair_keys: float64, shape (2,); their keys.
        nearest: int64, shape (n,); the unassigned record that was last found nearest to each, -1
            for none.
        delta: float64, shape (n,); its distance.
    """

    ball: Ball
    held: Any
    rank: Any
    worth: Any
    pair: Any
    pair_keys: Any
    nearest: Any
    delta: Any


@inner
def new_workspace(n: int) -> Workspace:
    """Room for n records."""
    return Workspace(
        new_ball(n), np.empty(n), np.empty(n, np.int64), np.empty(n + 1), np.empty(2, np.int64),
        np.empty(2), np.full(n, -1, np.int64), np.empty(n),
    )


@inner
def slack_of(n: int, base: float, rate: float, time: float) -> float:
    """More than all rounding together may change a time, of n records and these costs."""
    return (n + 8) * 1e-15 * (base + (rate + 1.0) * time)


@inner
def _sort(away: Any, indices: Any, m: int) -> None:
    """Sorts the first m records by (distance, index)."""
    # a shell sort: in place, and quick where records come nearly in order, as they do from a tree
    gap = 1
    while gap < m // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, m):
            value, i, spot = away[p], indices[p], p
            while spot >= gap and (
                away[spot - gap] > value or (away[spot - gap] == value and indices[spot - gap] > i)
            ):
                away[spot], indices[spot] = away[spot - gap], indices[spot - gap]
                spot -= gap
            away[spot], indices[spot] = value, i
        gap //= 3


@inlined
def _worth(
    work: Workspace, threshold: Any, m: int, first: float, base: float, rate: float, now: float
) -> None:
    """Which of the radii that ``_cheapest`` looks at may be the best one, in their order: all but
    those whose time is later than that of another, whatever rounding does. Here sums are taken
    over from one radius to the next; where few records are frozen that would not pay."""
    (records, away), held, rank, worth, _, _, _, _ = work
    frozen, all_held = np.int64(0), 0.0
    for p in range(m):
        worth[p] = -np.inf
        if threshold[records[p]] < np.inf:
            held[frozen], rank[frozen] = threshold[records[p]], p
            all_held += held[frozen]
            frozen += 1
    worth[m] = -np.inf
    # few are summed up in no time: then all radii may be worth it
    if frozen <= MANY:
        return
    # from here on held is ascending: those below d have ceased to contribute
    _sort(held, rank, frozen)
    tiny, least, total, d = (m + 8) * 1e-15, np.inf, 0.0, first
    u = tight = q = p = count = 0
    while d < least:
        before = q
        while q < m and away[q] <= d:
            alpha = threshold[records[q]]
            if alpha == np.inf:
                u += 1
            elif alpha >= d:
                tight += 1
                total += alpha
            q += 1
        while p < frozen and held[p] < d:
            # those that came in with this d were not counted if they are below it
            if rank[p] < before:
                tight -= 1
                total -= held[p]
            p += 1
        cost = base + rate * d
        # a time may be off by the slack both ways: only what is later even so is left out
        slack = tiny * (all_held + m * d + cost)
        worth[count] = max(now, d + (cost - total + tight * d - slack) / u - slack)
        least = min(least, max(now, d + (cost - total + tight * d + slack) / u + slack))
        count += 1
        if q == m:
            break
        d = away[q]
    for p in range(count):
        worth[p] = -np.inf if worth[p] <= least else np.inf


@inlined
def _cheapest(
    work: Workspace, threshold: Any, m: int, first: float, base: float, rate: float, now: float
) -> Any:
    """The (time, radius) at which the first cluster of a center opens, of those with a radius of
    at least ``first`` among m records that are sorted by their distance."""
    (records, away), held, _, worth, _, _, _, _ = work
    _worth(work, threshold, m, first, base, rate, now)
    best, best_d, d = np.inf, -1.0, first
    u = frozen = q = count = 0
    while d < best:
        while q < m and away[q] <= d:
            if threshold[records[q]] == np.inf:
                u += 1
            else:
                held[frozen] = threshold[records[q]]
                frozen += 1
            q += 1
        if worth[count] < 0.0:
            # summed anew for each radius, always in the same order: this sum is what counts
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


@inner
def next_opening(
    threshold_tree: ThresholdTree, unassigned: Any, costs: OpeningCosts, work: Workspace, v: int,
    front: float, now: float,
) -> Any:
    """When a cluster around v opens next, if nothing else happens: (time, radius, True); or less
    than the time, and False.

    Args:
        threshold_tree: of all records; the threshold of a frozen one is its alpha.
        unassigned: the records that are not frozen, see plant.
        costs: of the clusters.
        work: room for the search.
        v: the center.
        front: no cluster opens before that time.
        now: the time of the last opening.
    """
    space, _, _, _, _, form, threshold, _ = threshold_tree
    ball, _, _, _, pair, pair_keys, nearest, deltas = work
    records, away = ball
    least, most, bases, rate = costs
    base, delta, n = bases[v], 0.0, len(threshold)
    if threshold[v] < np.inf:
        # a frozen center still may open a cluster, for the unassigned around it only
        # the one found before stays the nearest as long as it is unassigned
        if nearest[v] < 0 or threshold[nearest[v]] < np.inf:
            tree, leaves, stack, _ = unassigned
            nearest_in_tree(space, tree, leaves, stack, v, NOBODY, pair, pair_keys, ONE)
            nearest[v], deltas[v] = pair[1], distance_of(pair_keys[1], form)
        delta = deltas[v]
    first = max(delta, least[v])
    if not first <= most or first == np.inf:
        return np.inf, -1.0, False
    # if all records shared the cost from the radius on: most calls end here, before any ball is
    # read. The frozen do so only where they froze later
    left = unassigned.counts[LEFT]
    bound = first + (base + rate * first) / (left if first >= now else n)
    bound -= slack_of(n, base, rate, bound)
    if bound > front:
        return bound, -1.0, False
    # wider than the time that has come, so that the ball need not be read again at the next turn
    wide = min(WIDER * max(front, first), most)
    while True:
        # one that froze before it reached v neither contributes nor grows, and isn't found
        m = members_within(threshold_tree, v, wide, first, ball)
        _sort(away, records, m)
        best, d = _cheapest(work, threshold, m, first, base, rate, now)
        # a cluster that opens by then has no member farther away: what was read is enough
        if best <= wide or wide == most:
            return best, d, True
        # to read on would cost more than to come back when the time is nearer
        if m >= FEW:
            break
        wide = min(2.0 * wide, most)
    # larger clusters open no earlier than if all that are left had paid from that radius on, as no
    # other froze later
    bound = min(best, wide + (base + rate * wide) / left)
    return bound - slack_of(n, base, rate, bound), -1.0, False
