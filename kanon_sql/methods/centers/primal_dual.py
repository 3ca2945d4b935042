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
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.heap import IndexedHeap, move_entry, new_indexed_heap
from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.centers.opening_times import (
    OpeningCosts,
    Workspace,
    new_workspace,
    next_opening,
    slack_of,
)
from kanon_sql.points.points import Floats, Labels, MetricPoints
from kanon_sql.search.threshold_tree import (
    ThresholdTree,
    lower_threshold,
    members_within,
    new_threshold_tree,
)
from kanon_sql.search.unassigned import LEFT, plant, settle

ALL = 32
"""Exact times up to which all become bounds when records are frozen, wherever these lie."""


class Duals(NamedTuple):
    """The dual variables.

    Attributes:
        alpha: float64, shape (n,); the time at which a record froze, 0 before.
        frozen: int64, shape (n,); 0 for a frozen record, -1 before, as ``settle`` takes it.
        cluster: int64, shape (n,); the cluster whose opening froze it, -1 before.
    """

    alpha: Any
    frozen: Any
    cluster: Any


class ExactTimes(NamedTuple):
    """The records whose time in the heap is exact, in no order.

    Attributes:
        records: int64, shape (n,); as many of them as the count says.
        place: int64, shape (n,); where each record stands there, -1 if its time is a bound.
        count: int64, shape (1,).
        reach: float64, shape (1,); no exact time is of a cluster with a larger radius.
    """

    records: Any
    place: Any
    count: Any
    reach: Any


class Sweeps(NamedTuple):
    """What shutting clusters down keeps.

    Attributes:
        swept: float64, shape (n,); the radius up to which clusters around each record are shut
            down, -1 if none is.
        wanted: float64, shape (n,); the radius to which they are to be, -1 for none.
        touched: int64, shape (n,); room for the records that are wanted.
        dead: int64, shape (n,); room for the members of a cluster that opens.
    """

    swept: Any
    wanted: Any
    touched: Any
    dead: Any


class Growing(NamedTuple):
    """All that grows, and what keeps it quick.

    Attributes:
        threshold_tree: the threshold of a frozen record is its alpha, or -1 once it is dead.
        costs: of the clusters.
        heap: all records, by the (time, radius) at which a cluster around each opens next: exact,
            or a lower bound, with a radius of -1.
        exact: which of the times are exact.
        duals: the dual variables.
        work: room for one center's clusters.
        fresh: int64, shape (n,); room for the records that an opening freezes.
        sweeps: used with ``sweep`` only.
    """

    threshold_tree: ThresholdTree
    costs: OpeningCosts
    heap: IndexedHeap
    exact: ExactTimes
    duals: Duals
    work: Workspace
    fresh: Any
    sweeps: Sweeps


@inner
def _new_growing(
    threshold_tree: ThresholdTree, costs: OpeningCosts, order: Any, bounds: Any
) -> Growing:
    """All records unassigned at time 0.

    Args:
        threshold_tree: see Growing.
        costs: of the clusters.
        order: int64, shape (n,); the records by their bounds.
        bounds: float64, shape (n,); lower bounds of the times at which clusters open.
    """
    n = len(order)
    return Growing(
        threshold_tree,
        costs,
        new_indexed_heap(order, bounds.copy(), np.full(n, -1.0)),
        ExactTimes(
            np.empty(n, np.int64), np.full(n, -1, np.int64), np.zeros(1, np.int64), np.zeros(1)
        ),
        Duals(np.zeros(n), np.full(n, -1, np.int64), np.full(n, -1, np.int64)),
        new_workspace(n),
        np.empty(n, np.int64),
        Sweeps(
            np.full(n, -1.0), np.full(n, -1.0), np.empty(n, np.int64), np.empty(n, np.int64)
        ),
    )


@inner
def _open(growing: Growing, v: int, time: float, number: int, sweep: bool) -> Any:
    """Freezes the unassigned members of v's cluster, which opens; how many there are, and how many
    records are dead by that (with ``sweep``)."""
    alpha, frozen, cluster = growing.duals
    records, fresh, dead = growing.work.ball.records, growing.fresh, growing.sweeps.dead
    d = growing.heap.second[v]
    # without sweep only the unassigned members matter, and those have a threshold of inf
    need = d if sweep else np.inf
    count = members_within(growing.threshold_tree, v, d, need, growing.work.ball)
    members = died = 0
    for p in range(count):
        i = records[p]
        if frozen[i] < 0:
            alpha[i], frozen[i], cluster[i] = time, 0, number
            fresh[members] = i
            members += 1
        if sweep:
            dead[died] = i
            died += 1
        # a dead record has no use for any other cluster: no search may find it again
        lower_threshold(growing.threshold_tree, i, -1.0 if sweep else time)
    return members, died


@inner
def _shut_down(
    growing: Growing, unassigned: Any, died: int, members: int, time: float, number: int, beat: Any
) -> Any:
    """Assigns all unassigned potential members of clusters to which a dead record has a tight
    edge: what is unassigned then, and how many records are frozen in all."""
    threshold_tree, ball, fresh = growing.threshold_tree, growing.work.ball, growing.fresh
    records, least, most = ball.records, growing.costs.least, growing.costs.most
    alpha, frozen, cluster = growing.duals
    swept, wanted, touched, dead = growing.sweeps
    _, _, _, counts = unassigned
    count = 0
    for p in range(died if counts[LEFT] > 0 else 0):
        if beat[STOP] != 0:
            break
        wide = min(alpha[dead[p]], most)
        around = members_within(threshold_tree, dead[p], wide, -np.inf, ball)
        for q in range(around):
            w = records[q]
            # the widest cluster around w holds all others, so that one search for each w will do
            if wide > swept[w] and least[w] <= wide:
                # w is listed once, however many dead records reach it
                if wanted[w] < 0.0:
                    touched[count] = w
                    count += 1
                wanted[w] = max(wanted[w], wide)
    for p in range(count):
        w, start = touched[p], members
        around = members_within(threshold_tree, w, wanted[w], np.inf, ball)
        for q in range(around):
            i = records[q]
            alpha[i], frozen[i], cluster[i] = time, 0, number
            fresh[members] = i
            members += 1
            lower_threshold(threshold_tree, i, time)
        unassigned = settle(
            threshold_tree.space, unassigned, frozen, fresh[start:], members - start
        )
        # clusters around w up to there have no unassigned member left, and never get one
        swept[w], wanted[w] = wanted[w], -1.0
    return unassigned, members


@inner
def _make_bounds(growing: Growing, members: int, now: float) -> None:
    """Makes exact times bounds again where the records that have just been frozen may delay them.

    A cluster without any of them among its members opens as before. So only centers within the
    largest radius of an exact time are looked at, or all, if these are few.
    """
    costs, heap, ball_records = growing.costs, growing.heap, growing.work.ball.records
    records, place, exacts, reach = growing.exact
    n, near, everywhere = len(place), max(now * (1.0 + 1e-9), reach[0]), exacts[0] <= ALL
    for p in range(1 if everywhere else members):
        around = exacts[0]
        if not everywhere:
            around = members_within(
                growing.threshold_tree, growing.fresh[p], near, -np.inf, growing.work.ball
            )
        # from the end on, as the last one takes the place of each that is taken out
        for q in range(around - 1, -1, -1):
            w = records[q] if everywhere else ball_records[q]
            if place[w] >= 0:
                exacts[0] -= 1
                records[place[w]] = records[exacts[0]]
                place[records[exacts[0]]] = place[w]
                place[w] = -1
                heap.key[w] -= slack_of(n, costs.base[w], costs.rate, heap.key[w])
                heap.second[w] = -1.0
                move_entry(heap, w)


@kernel
def _grow(
    threshold_tree: ThresholdTree, costs: OpeningCosts, order: Any, bounds: Any, spare: int,
    sweep: bool,
    beat: Any,
) -> Any:
    """Grows alpha until no more than ``spare`` records are unassigned, or none can be assigned.

    Returns:
        The dual variables; the centers and radii of the clusters, as they opened: int64 and
        float64, shape (clusters,); how many records are unassigned.
    """
    growing = _new_growing(threshold_tree, costs, order, bounds)
    # unpacked once: to read a field counts the references to all arrays in it, at each opening
    _, _, heap, exact, duals, work, fresh, _ = growing
    space, frozen, key, radius = threshold_tree.space, duals.frozen, heap.key, heap.second
    exacts, place, count, reach = exact
    n = len(frozen)
    centers, radii = np.empty(n, np.int64), np.empty(n)
    unassigned = plant(space, np.arange(n))
    opened, left = np.int64(0), n
    front = now = 0.0
    # the least entry is either exact, and opens, or a bound, and is made anew: bounds only rise, so
    # that no cluster is passed over
    while left > spare and beat[STOP] == 0:
        v = heap.entries[0]
        # no cluster can open any more: the records that are left are too far from others
        if key[v] == np.inf:
            break
        # a bound may be off by rounding, so that the least one may go back: time doesn't
        front = max(front, key[v])
        if place[v] < 0:
            time, d, known = next_opening(
                threshold_tree, unassigned, costs, work, v, front, now
            )
            if known:
                slack = slack_of(n, costs.base[v], costs.rate, time)
                # openings look for exact times as far as the largest radius of one: a cluster that
                # is large, and not about to open, would widen all of these searches
                if d <= front or time - 2.0 * slack <= front:
                    exacts[count[0]], place[v] = v, count[0]
                    count[0] += 1
                    reach[0] = max(reach[0], d)
                else:
                    time, d = time - slack, -1.0
            key[v], radius[v] = time, d
            move_entry(heap, v)
            continue
        now = key[v]
        centers[opened], radii[opened] = v, radius[v]
        members, died = _open(growing, v, now, opened, sweep)
        unassigned = settle(space, unassigned, frozen, fresh, members)
        if sweep:
            unassigned, members = _shut_down(
                growing, unassigned, died, members, now, opened, beat
            )
        # numbered in the order of opening: a frozen record names its cluster by that
        opened += 1
        left -= members
        beat[DONE] += members
        _make_bounds(growing, members, now)
    return duals, centers[:opened].copy(), radii[:opened].copy(), left


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


def _like_the_one_before(points: MetricPoints, least: Floats, base: Floats) -> Any:
    """Whether each record, and what clusters around it cost, is as the one before in canonical
    order: bool, shape (n,)."""
    alike = np.zeros(len(points), np.bool_)
    alike[1:] = True
    for column in (*points.numeric.T, *points.codes.T, least, base):
        alike[1:] &= column[1:] == column[:-1]
    return alike


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
    bounds = np.where(least <= most, least + (base + rate * least) / max(n, 1), np.inf)
    # if all n records paid from the time of the radius on, none could open earlier
    bounds *= 0.999  # rounding changes less than that
    # of equal records only the first opens clusters: those of the others would open when it does,
    # and then have nobody left to freeze
    bounds[_like_the_one_before(points, least, base)] = np.inf
    if n == 0:
        none, nowhere = np.zeros(0, np.int64), np.zeros(0)
        return Growth(nowhere, none, none, nowhere, 0)
    duals, centers, radii, left = _grow(
        new_threshold_tree(points), OpeningCosts(least, float(most), base, float(rate)),
        np.argsort(bounds, kind="stable"), bounds, spare, sweep, watch.beat(),
    )
    watch.check()
    alpha, _, cluster = duals
    # the dual variables of unassigned records have grown up to the last opening
    last = float(alpha.max())
    return Growth(np.where(cluster < 0, last, alpha), cluster, centers, radii, left)
