"""Dual variables that grow until clusters are paid for (aggarwal2006, section 3, procedure 1).

Each pair (v, d) of a record v and a distance d from v to a record is a cluster that may be opened,
at the cost F = base(v) + rate * d; its potential members are the ball B(v, d). Unassigned records
grow alpha with the time. (v, d) opens when the sum of alpha - d, over the potential members with
alpha >= d, has reached F. There are n^2 clusters, and none of them is ever listed.

What makes this fast, and leaves every bit of the result as it is:

- A cluster opens only while a potential member is unassigned; so only d >= first(v) matter, the
  larger of the distance from v to the nearest unassigned record and the least d allowed for v. All
  such clusters are neither open nor shut down, since both leave no unassigned member behind.
- Of these, only d matter at which a member joins that grows or contributes: at the next larger d
  nothing is gained and the cost is no less. This holds for the rounded sums too, since rounding is
  monotone, and the sums have the same order.
- A cluster needs d <= its opening time. So the ball around v is read as far as the time of the
  clusters found, and no farther; else a lower bound of the time is kept.
- Frozen records only delay: what was computed for v stays a lower bound, up to rounding (``slack``
  below is more than all rounding together). So the least bound is made anew, until it is exact.
- Exact times are kept while no record within v's best d is frozen. When records are frozen, exact
  times within reach become bounds again.
- A frozen record with alpha < first(v) is nothing to v. The tree in which members are sought holds
  the largest alpha below each node, inf where a record is unassigned: most of it is passed over.

With ``sweep`` this is procedure 1: when a cluster opens, clusters shared with its dead members are
shut down, and their unassigned members join it. Without, there is no shutting down: see
shared_clusters.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.lanes import box_lanes, lowest_lane, record_lanes
from kanon_sql.grouping.leaves import NOBODY, nearest_in_tree, padded
from kanon_sql.grouping.metric_space import FORMS, distance_of, key_within
from kanon_sql.grouping.points import Floats, Labels, MetricPoints
from kanon_sql.grouping.pool import plant, settle
from kanon_sql.grouping.space import make_space
from kanon_sql.grouping.tree import FAN, LEAF
from kanon_sql.grouping.watch import DONE, STOP, Watch

WIDER = 1.4
"""A ball is read this much farther than the time that has come."""

FEW = 16
"""Records below which a ball that is not large enough is read again, twice as far, at once."""

ALL = 32
"""Exact times up to which all become bounds when records are frozen, wherever these lie."""

MANY = 64
"""Frozen records among the members above which sums are first taken over roughly."""

ONE = np.int64(1)


@njit(cache=True, nogil=True)
def _before(key: Any, radius: Any, v: int, w: int) -> bool:
    """Whether v's turn comes before w's: by (time, radius, record)."""
    if key[v] != key[w]:
        return bool(key[v] < key[w])
    return bool(radius[v] < radius[w] or (radius[v] == radius[w] and v < w))


@njit(cache=True, nogil=True)
def _move(heap: Any, place: Any, key: Any, radius: Any, v: int) -> None:
    """Brings v to its place in the heap, after its key has changed."""
    spot, n = place[v], len(heap)
    while spot > 0 and _before(key, radius, v, heap[(spot - 1) // 2]):
        heap[spot] = heap[(spot - 1) // 2]
        place[heap[spot]] = spot
        spot = (spot - 1) // 2
    while 2 * spot + 1 < n:
        below = 2 * spot + 1
        if below + 1 < n and _before(key, radius, heap[below + 1], heap[below]):
            below += 1
        if not _before(key, radius, heap[below], v):
            break
        heap[spot] = heap[below]
        place[heap[spot]] = spot
        spot = below
    heap[spot], place[v] = v, spot


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
    frozen, all_held = 0, 0.0
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
def _freeze(ground: Any, standing: Any, i: int, alpha: float) -> None:
    """Writes what a record has come to, and the largest of that below each node above it."""
    tree, highest = ground[1], ground[4]
    order, place, first = tree[0], tree[1], tree[8]
    standing[i] = alpha
    node, top = place[i] // LEAF, -1.0
    for q in range(node * LEAF, min((node + 1) * LEAF, len(order))):
        if order[q] >= 0:
            top = max(top, standing[order[q]])
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        if highest[g, s] == top:
            break
        highest[g, s] = top
        for t in range(FAN):
            top = max(top, highest[g, t])
        node //= FAN


@njit(cache=True, nogil=True)
def _members(
    ground: Any, standing: Any, origin: int, wide: float, need: float, found: Any, away: Any
) -> int:
    """The records within a distance that have come to ``need`` or more; their distances, too."""
    space, tree, leaves, stack, highest, form = ground
    apart, axes, sets, slack = space[3], space[4], space[5], space[7]
    first, waiting, sums, bounds, count = tree[8], stack[1], stack[3], stack[4], 0
    limit, room = key_within(wide, form), tree[8][-1]
    loose = padded(limit, slack)
    waiting[0], top = 0, 1
    while top > 0:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                tree[2], tree[3], tree[4], tree[6], node, axes, sets, origin, apart, 1.0, loose,
                bounds,
            )
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                if bounds[s] < np.inf and highest[node, s] >= need:
                    waiting[top] = base + s
                    top += 1
            continue
        hits = record_lanes(
            leaves[0], leaves[1], leaves[2], node - room, space[0], space[1], origin, apart, limit,
            sums,
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            i = tree[0][(node - room) * LEAF + s]
            if sums[s] < np.inf and standing[i] >= need:
                distance = distance_of(sums[s], form)
                if distance <= wide:
                    found[count], away[count] = i, distance
                    count += 1
    return count


@njit(cache=True, nogil=True)
def _next_opening(
    ground: Any, unassigned: Any, offer: Any, standing: Any, scratch: Any, v: int, front: float,
    now: float,
) -> Any:
    """When a cluster around v opens next, if nothing else happens: (time, radius, True); or less
    than the time, and False."""
    space, form = ground[0], ground[5]
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
    tiny = (n + 8) * 1e-15
    bound = first + (base[v] + rate * first) / n
    bound -= tiny * (base[v] + (rate + 1.0) * bound)
    if bound > front:
        return bound, -1.0, False
    wide = min(WIDER * max(front, first), most)
    while True:
        count = _members(ground, standing, v, wide, first, found, away)
        m = 0
        for p in range(count):
            if standing[found[p]] >= away[p]:
                found[m], away[m] = found[p], away[p]
                m += 1
        _sort(away, found, m)
        best, d = _cheapest(
            away, found, m, first, standing, (base[v], rate), now, held, rank,
            worth,
        )
        if best <= wide or wide == most:
            return best, d, True
        if count >= FEW:
            break
        wide = min(2.0 * wide, most)
    bound = min(best, wide + (base[v] + rate * wide) / n)
    return bound - tiny * (base[v] + (rate + 1.0) * bound), -1.0, False


@njit(cache=True, nogil=True)
def _open(
    ground: Any, state: Any, found: Any, away: Any, v: int, d: float, time: float, number: int,
    sweep: bool, fresh: Any, dead: Any,
) -> Any:
    """Freezes the unassigned members of a cluster that opens; how many there are, and how many
    records are dead by that (with ``sweep``)."""
    alpha, free, standing, cluster = state
    count = _members(ground, standing, v, d, d if sweep else np.inf, found, away)
    members = died = 0
    for p in range(count):
        i = found[p]
        if free[i] < 0:
            alpha[i], free[i], cluster[i] = time, 0, number
            fresh[members] = i
            members += 1
        if sweep:
            dead[died] = i
            died += 1
        _freeze(ground, standing, i, -1.0 if sweep else time)
    return members, died


@njit(cache=True, nogil=True)
def _shut_down(
    ground: Any, unassigned: Any, offer: Any, state: Any, sweeps: Any, found: Any, away: Any,
    dead: Any, died: int, time: float, number: int, fresh: Any, members: int,
) -> Any:
    """Assigns all unassigned potential members of clusters to which a dead record has a tight
    edge: what is unassigned then, and how many records are frozen in all."""
    least, most = offer[0], offer[3]
    alpha, free, standing, cluster = state
    swept, wanted, touched = sweeps
    count = 0
    for p in range(died):
        wide = min(alpha[dead[p]], most)
        around = _members(ground, standing, dead[p], wide, -np.inf, found, away)
        for q in range(around):
            w = found[q]
            if wide > swept[w] and least[w] <= wide:
                if wanted[w] < 0.0:
                    touched[count] = w
                    count += 1
                wanted[w] = max(wanted[w], wide)
    for p in range(count):
        w, start = touched[p], members
        around = _members(ground, standing, w, wanted[w], np.inf, found, away)
        for q in range(around):
            i = found[q]
            alpha[i], free[i], cluster[i] = time, 0, number
            fresh[members] = i
            members += 1
            _freeze(ground, standing, i, time)
        unassigned = settle(ground[0], unassigned, free, fresh[start:], members - start)
        swept[w], wanted[w] = wanted[w], -1.0
    return unassigned, members


@njit(cache=True, nogil=True)
def _grow(
    space: Any, form: int, offer: Any, order: Any, bounds: Any, spare: int, sweep: bool,
    alpha: Any, cluster: Any, centers: Any, radii: Any, beat: Any,
) -> Any:
    """Grows alpha until no more than ``spare`` records are unassigned, or none can be assigned.

    Returns:
        How many clusters opened, and how many records are unassigned.
    """
    base, rate = offer[1], offer[2]
    n = len(alpha)
    tiny = (n + 8) * 1e-15
    free, standing = np.full(n, -1, np.int64), np.full(n, np.inf)
    state = alpha, free, standing, cluster
    tree, leaves, stack, _ = plant(space, np.arange(n))
    highest = np.where(tree[6] == 0.0, np.inf, -np.inf)
    ground = space, tree, leaves, stack, highest, form
    unassigned = plant(space, np.arange(n))
    found, away = np.empty(n, np.int64), np.empty(n)
    scratch = (
        found, away, np.empty(n), np.empty(n, np.int64), np.empty(n + 1), np.empty(2, np.int64),
        np.empty(2),
    )
    sweeps = np.full(n, -1.0), np.full(n, -1.0), np.empty(n, np.int64)
    key, radius = bounds.copy(), np.full(n, -1.0)
    heap, place = order.copy(), np.empty(n, np.int64)
    for p in range(n):
        place[heap[p]] = p
    exact, exact_at, exacts = np.empty(n, np.int64), np.full(n, -1, np.int64), 0
    fresh, dead = np.empty(n, np.int64), np.empty(n, np.int64)
    opened, left = 0, n
    front = now = reach = 0.0
    while left > spare and beat[STOP] == 0:
        v = heap[0]
        if key[v] == np.inf:
            break
        front = max(front, key[v])
        if exact_at[v] < 0:
            time, d, known = _next_opening(
                ground, unassigned, offer, standing, scratch, v, front, now
            )
            if known:
                slack = tiny * (base[v] + (rate + 1.0) * time)
                if d <= front or time - 2.0 * slack <= front:
                    exact[exacts], exact_at[v] = v, exacts
                    exacts += 1
                    reach = max(reach, d)
                else:
                    time, d = time - slack, -1.0
            key[v], radius[v] = time, d
            _move(heap, place, key, radius, v)
            continue
        now = key[v]
        members, died = _open(
            ground, state, found, away, v, radius[v], now, opened, sweep, fresh, dead
        )
        unassigned = settle(space, unassigned, free, fresh, members)
        if sweep:
            unassigned, members = _shut_down(
                ground, unassigned, offer, state, sweeps, found, away, dead, died, now, opened,
                fresh, members,
            )
        centers[opened], radii[opened] = v, radius[v]
        opened += 1
        left -= members
        beat[DONE] += members
        # exact times that the frozen records may delay become bounds
        near, everywhere = max(now * (1.0 + 1e-9), reach), exacts <= ALL
        for p in range(1 if everywhere else members):
            around = exacts
            if not everywhere:
                around = _members(ground, standing, fresh[p], near, -np.inf, found, away)
            for q in range(around - 1, -1, -1):
                w = exact[q] if everywhere else found[q]
                if exact_at[w] >= 0:
                    exacts -= 1
                    exact[exact_at[w]] = exact[exacts]
                    exact_at[exact[exacts]] = exact_at[w]
                    exact_at[w] = -1
                    key[w] -= tiny * (base[w] + (rate + 1.0) * key[w])
                    radius[w] = -1.0
                    _move(heap, place, key, radius, w)
    return opened, left


@dataclass(frozen=True)
class Growth:
    """What the dual variables have become.

    Attributes:
        alpha: float64, shape (n,); the last time for records that are unassigned.
        cluster: int64, shape (n,); the cluster whose opening froze each record, -1 if none did.
        centers, radii: int64 and float64, shape (clusters,); the clusters, as they opened.
        left: how many records are unassigned.
    """

    alpha: Floats
    cluster: Labels
    centers: Labels
    radii: Floats
    left: int


def grow(
    points: MetricPoints, least: Floats, base: Floats, rate: float, most: float, spare: int,
    sweep: bool, watch: Watch,
) -> Growth:
    """Grows the dual variables; ties go to the cluster first by (time, radius, center).

    Args:
        points: n records.
        least: float64, shape (n,); the least radius of a cluster around each record.
        base: float64, shape (n,); the cost of opening a cluster around each record ...
        rate: ... and what is added to it per unit of its radius.
        most: the largest radius of a cluster.
        spare: the records that may stay unassigned.
        sweep: whether clusters are shut down, as in procedure 1.
        watch: told of the records frozen; its stop raises StoppedError.
    """
    n = len(points)
    alpha, cluster = np.zeros(n), np.full(n, -1, np.int64)
    centers, radii = np.zeros(n, np.int64), np.zeros(n)
    bounds = np.where(least <= most, least + (base + rate * least) / max(n, 1), np.inf)
    bounds -= np.where(bounds < np.inf, (n + 8) * 1e-15 * (base + (rate + 1.0) * bounds), 0.0)
    opened, left = 0, n
    if n > 0:
        opened, left = _grow(
            make_space(points), FORMS[points.form], (least, base, float(rate), float(most)),
            np.argsort(bounds, kind="stable"), bounds, spare, sweep, alpha, cluster, centers,
            radii, watch.beat(),
        )
        watch.check()
    centers, radii = centers[:opened].copy(), radii[:opened].copy()
    last = float(alpha.max(initial=0.0))
    return Growth(np.where(cluster < 0, last, alpha), cluster, centers, radii, left)
