"""Dual variables that grow until clusters are paid for (aggarwal2006, section 3, procedure 1).

Each pair (v, d) of a record v and a distance d from v to a record is a cluster that may be opened,
at the cost F = base(v) + rate * d; its potential members are the ball B(v, d). Unassigned records
grow alpha with the time. (v, d) opens when the sum of alpha - d, over the potential members with
alpha >= d, has reached F, and freezes its unassigned members.

Records wait in a heap by the time at which the first cluster around them opens (opening_times.py).
Frozen records only delay: what was computed for v stays a lower bound, up to rounding
(``slack_of`` is more than that). So the least bound is made anew, until it is exact. Exact times
are kept while no record within v's best d is frozen. When records are frozen, exact times within
reach become bounds again.

With ``sweep`` this is procedure 1: when a cluster opens, clusters shared with its dead members are
shut down, and their unassigned members join it. Without, there is no shutting down: see
shared_clusters.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.centers.opening_times import next_opening, slack_of
from kanon_sql.points.points import Floats, Labels, MetricPoints
from kanon_sql.search.threshold_tree import freeze, ground_of, members_within
from kanon_sql.search.unassigned import LEFT, plant, settle

ALL = 32
"""Exact times up to which all become bounds when records are frozen, wherever these lie."""


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
def _open(
    ground: Any, state: Any, found: Any, away: Any, v: int, d: float, time: float, number: int,
    sweep: bool, fresh: Any, dead: Any,
) -> Any:
    """Freezes the unassigned members of a cluster that opens; how many there are, and how many
    records are dead by that (with ``sweep``)."""
    alpha, free, cluster = state
    count = members_within(ground, v, d, d if sweep else np.inf, found, away)
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
        freeze(ground, i, -1.0 if sweep else time)
    return members, died


@njit(cache=True, nogil=True)
def _shut_down(
    ground: Any, unassigned: Any, offer: Any, state: Any, sweeps: Any, found: Any, away: Any,
    dead: Any, died: int, time: float, number: int, fresh: Any, members: int, beat: Any,
) -> Any:
    """Assigns all unassigned potential members of clusters to which a dead record has a tight
    edge: what is unassigned then, and how many records are frozen in all."""
    least, most = offer[0], offer[3]
    alpha, free, cluster = state
    swept, wanted, touched = sweeps
    count = 0
    for p in range(died if unassigned[3][LEFT] > 0 else 0):
        if beat[STOP] != 0:
            break
        wide = min(alpha[dead[p]], most)
        around = members_within(ground, dead[p], wide, -np.inf, found, away)
        for q in range(around):
            w = found[q]
            if wide > swept[w] and least[w] <= wide:
                if wanted[w] < 0.0:
                    touched[count] = w
                    count += 1
                wanted[w] = max(wanted[w], wide)
    for p in range(count):
        w, start = touched[p], members
        around = members_within(ground, w, wanted[w], np.inf, found, away)
        for q in range(around):
            i = found[q]
            alpha[i], free[i], cluster[i] = time, 0, number
            fresh[members] = i
            members += 1
            freeze(ground, i, time)
        unassigned = settle(ground[0], unassigned, free, fresh[start:], members - start)
        swept[w], wanted[w] = wanted[w], -1.0
    return unassigned, members


@njit(cache=True, nogil=True)
def _grow(
    ground: Any, offer: Any, order: Any, bounds: Any, spare: int, sweep: bool,
    alpha: Any, cluster: Any, centers: Any, radii: Any, beat: Any,
) -> Any:
    """Grows alpha until no more than ``spare`` records are unassigned, or none can be assigned.

    Returns:
        How many clusters opened, and how many records are unassigned.
    """
    base, rate = offer[1], offer[2]
    n = len(alpha)
    free = np.full(n, -1, np.int64)
    state = alpha, free, cluster
    unassigned = plant(ground[0], np.arange(n))
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
    opened, left = np.int64(0), n
    front = now = reach = 0.0
    while left > spare and beat[STOP] == 0:
        v = heap[0]
        if key[v] == np.inf:
            break
        front = max(front, key[v])
        if exact_at[v] < 0:
            time, d, known = next_opening(
                ground, unassigned, offer, scratch, v, front, now
            )
            if known:
                slack = slack_of(n, base[v], rate, time)
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
        unassigned = settle(ground[0], unassigned, free, fresh, members)
        if sweep:
            unassigned, members = _shut_down(
                ground, unassigned, offer, state, sweeps, found, away, dead, died, now, opened,
                fresh, members, beat,
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
                around = members_within(ground, fresh[p], near, -np.inf, found, away)
            for q in range(around - 1, -1, -1):
                w = exact[q] if everywhere else found[q]
                if exact_at[w] >= 0:
                    exacts -= 1
                    exact[exact_at[w]] = exact[exacts]
                    exact_at[exact[exacts]] = exact_at[w]
                    exact_at[w] = -1
                    key[w] -= slack_of(n, base[w], rate, key[w])
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
    bounds *= 0.999  # rounding changes less than that
    opened, left = 0, n
    if n > 0:
        opened, left = _grow(
            ground_of(points), (least, base, float(rate), float(most)),
            np.argsort(bounds, kind="stable"), bounds, spare, sweep, alpha, cluster, centers,
            radii, watch.beat(),
        )
        watch.check()
    centers, radii = centers[:opened].copy(), radii[:opened].copy()
    last = float(alpha.max(initial=0.0))
    return Growth(np.where(cluster < 0, last, alpha), cluster, centers, radii, left)
