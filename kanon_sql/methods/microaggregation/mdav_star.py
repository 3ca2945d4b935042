"""MDAV* (thaeter2021, section 3): extend a close group or make a new one, whichever costs less."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import YES, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import (
    place_leftovers,
    space_and_order,
    sse_of,
)
from kanon_sql.methods.microaggregation.group_index import (
    GroupIndex,
    find_group,
    join,
    new_groups,
    show,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, Labels, Points
from kanon_sql.search.build_pool import new_pool, replant
from kanon_sql.search.prefetch import (
    AGAIN,
    COUNT,
    NEXT,
    Batch,
    all_left,
    next_share,
    unasked,
    visit_all,
)
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import LEFT, Pool, find_nearest, take_away

ASK, VISIT, PLACE = range(3)
"""What is done with a batch of origins."""

FOUNDED, BESIDE = 0, 1
"""Places in costs: of a group around the origin, per record, and of one around its nearest."""


class Near(NamedTuple):
    """Room for what is found around an origin.

    Attributes:
        neighbours: the origin and the records nearest to it; int64, shape (max(k, 2),), so that
            there is a neighbours[1] where k is 1.
        around: the nearest of these and the records nearest to it, but for the origin; likewise.
        costs: indexed by FOUNDED and BESIDE; float64, shape (2,).
        gaps: float64, shape (max(k, 2),).
    """

    neighbours: Labels
    around: Labels
    costs: Floats
    gaps: Floats


class MdavStarGroups(NamedTuple):
    """The groups made so far.

    Attributes:
        labels: int64, shape (n,); -1 for an unassigned record.
        known: the groups.
        group_count: how many there are; int64, shape (1,).
    """

    labels: Labels
    known: GroupIndex
    group_count: Labels


@inner
def _look(space: Space, pool: Pool, origin: int, k: int, near: Near) -> None:
    """Finds what is around an origin, and what it costs."""
    neighbours, around, costs, gaps = near
    find_nearest(space, pool, origin, NOBODY, neighbours, gaps, k - 1)
    costs[FOUNDED], costs[BESIDE] = sse_of(space, neighbours, k) / k, np.inf
    # cost (2) is never negative, so it can only win against a positive cost (1)
    if costs[FOUNDED] > 0.0 and pool.counts[LEFT] > k:
        find_nearest(space, pool, neighbours[1], origin, around, gaps, k - 1)
        costs[BESIDE] = sse_of(space, around, k)


@kernel
def _turn(
    space: Space, pool: Pool, batch: Batch, groups: MdavStarGroups, k: int, step: int, beat: Any
) -> bool:
    """One of three steps, by one kernel: to compile one for each would take twice as long.

    ASK finds for the batch's origins what is around them. VISIT has each that is still unassigned
    found a group or join one, and returns early, with True, where the pool's tree is to be renewed,
    or where the beat says stop. PLACE puts the origins into the groups that grow least.
    """
    labels, index, group_count = groups
    counts, width = batch.counts, max(k, 2)
    room = Near(
        np.empty(width, np.int64), np.empty(width, np.int64), np.empty(2), np.empty(width)
    )
    if step == PLACE:
        place_leftovers(space, batch.origins, group_count[0], YES, labels, index.groups)
        return False
    if step == ASK:
        lo, hi = next_share(batch)
        while lo < hi:
            for j in range(lo, hi):
                near = Near(batch.neighbours[j], batch.around[j], batch.costs[j], room.gaps)
                _look(space, pool, batch.origins[j], k, near)
            lo, hi = next_share(batch)
        return False
    while counts[NEXT] < counts[COUNT] and pool.counts[LEFT] >= k:
        j = counts[NEXT]
        counts[NEXT] += 1
        origin, near = batch.origins[j], room
        if labels[origin] >= 0:
            counts[AGAIN] += 1
            continue
        if j < len(batch.neighbours) and all_left(batch.neighbours[j], k, labels) and (
            batch.costs[j, BESIDE] == np.inf or all_left(batch.around[j], k, labels)
        ):
            near = Near(batch.neighbours[j], batch.around[j], batch.costs[j], room.gaps)
        else:
            counts[AGAIN] += 1
            _look(space, pool, origin, k, room)
        cost_new, beside = near.costs[FOUNDED], near.costs[BESIDE]
        group, count = group_count[0], k
        # a group that grows by more can't win: most often no group has to be looked at
        most = cost_new * (k + 1) * (1.0 + 1e-12) - beside
        if most >= 0.0:
            closest, growth = find_group(space, index, labels, origin, k, most)
            if closest >= 0 and (growth + beside) / (k + 1) < cost_new:
                group, count = closest, 1
        for p in range(count):
            join(space, index, near.neighbours[p], group, labels)
        # a member half way out: the origin lies at the rim of its group
        show(space, index, group, near.neighbours[k // 2 if count > 1 else 0])
        group_count[0] = max(group_count[0], group + 1)
        beat[DONE] += count
        if take_away(pool, near.neighbours, count) or beat[STOP] != 0:
            return True
    return False


class _StarRounds:
    """What is done at each origin."""

    def __init__(self, space: Space, n: int, k: int, watch: Watch) -> None:
        self.space, self.k, self.watch, self.beat = space, k, watch, watch.beat()
        self.pool = new_pool(space, np.arange(n))
        index = new_groups(space, self.pool.tree.place, n // k, k, True)
        self.groups = MdavStarGroups(np.full(n, -1, np.int64), index, np.zeros(1, np.int64))

    def _turn(self, pool: Pool, batch: Batch, step: int) -> bool:
        return bool(_turn(self.space, pool, batch, self.groups, self.k, step, self.beat))

    def ask(self, batch: Batch, pool: Pool) -> None:
        """Finds what is around each origin."""
        self._turn(pool, batch, ASK)

    def visit(self, batch: Batch) -> None:
        """Makes the groups, or lets the origins join one."""
        while self._turn(self.pool, batch, VISIT):
            self.watch.check()
            self.pool = replant(self.space, self.pool, self.groups.labels)
        self.watch.check()

    def place(self, rest: Batch) -> None:
        """Puts records into the groups that grow least."""
        self._turn(self.pool, rest, PLACE)


def mdav_star(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records or more, without an upper bound.

    The unassigned record x furthest from the centroid either founds a group with its k-1 nearest
    (cost (1): its SSE per record) or joins clos(x), the group whose SSE grows least (cost (2):
    the growth and the SSE of a group around x's nearest neighbour, over k+1 records). Leftovers
    join the group whose SSE grows least.

    Source: thaeter2021, section 3, algorithm MDAV*. Needs len(points) >= k >= 1.
    """
    n, k = len(points), task.k
    space, order = space_and_order(points)
    rounds = _StarRounds(space, n, k, watch)
    labels = rounds.groups.labels
    visit_all(order, labels, rounds, max(k, 2))
    rounds.place(unasked(np.flatnonzero(labels < 0), max(k, 2)))
    return Grouping(labels, {})
