"""MDAV+ (thaeter2021, section 2): one group a round, around the furthest record."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import NO, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import (
    GroupBuffers,
    empty_groups,
    join_group,
    place_leftovers,
    space_and_order,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Labels, Points
from kanon_sql.search.build_pool import new_pool, replant
from kanon_sql.search.prefetch import (
    AGAIN,
    COUNT,
    NEXT,
    Batch,
    all_left,
    next_share,
    visit_all,
)
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import Pool, find_nearest, take_away


class MdavPlusGroups(NamedTuple):
    """The groups made so far.

    Attributes:
        labels: int64, shape (n,); -1 for an unassigned record.
        members: of each group, the origin first; int64, shape (n // k, k).
        group_count: how many groups there are; int64, shape (1,).
    """

    labels: Labels
    members: Labels
    group_count: Labels


@kernel
def _turn(
    space: Space, pool: Pool, batch: Batch, groups: MdavPlusGroups, k: int, ahead: bool, beat: Any
) -> bool:
    """Finds the records nearest to the batch's origins ``ahead`` of their turn, or makes a group
    around each origin that is still unassigned: by one kernel, since both search, and to compile
    the search takes longest. Returns early, with True, where the pool's tree is to be renewed, or
    where the beat says stop."""
    labels, members, group_count = groups
    counts, neighbours, gaps = batch.counts, batch.neighbours, np.empty(k)
    if ahead:
        lo, hi = next_share(batch)
        while lo < hi:
            for j in range(lo, hi):
                find_nearest(space, pool, batch.origins[j], NOBODY, neighbours[j], gaps, k - 1)
            lo, hi = next_share(batch)
        return False
    while counts[NEXT] < counts[COUNT] and group_count[0] < len(members):
        j = counts[NEXT]
        counts[NEXT] += 1
        # the global centroid stays, and so does the order: the next unassigned one is furthest
        if labels[batch.origins[j]] >= 0:
            counts[AGAIN] += 1
            continue
        group = members[group_count[0]]
        if j < len(neighbours) and all_left(neighbours[j], k, labels):
            for p in range(k):
                group[p] = neighbours[j, p]
        else:
            counts[AGAIN] += 1
            find_nearest(space, pool, batch.origins[j], NOBODY, group, gaps, k - 1)
        for p in range(k):
            labels[group[p]] = group_count[0]
        group_count[0] += 1
        beat[DONE] += k
        if take_away(pool, group, k) or beat[STOP] != 0:
            return True
    return False


@kernel
def _place_rest(space: Space, groups: MdavPlusGroups, kept: GroupBuffers, rest: Any) -> None:
    """Puts the records that are in no group into the closest; ``kept``: room for the groups."""
    labels, members, _ = groups
    group_count, k = members.shape
    for g in range(group_count):
        # in the order in which they were found: sums have other bits in another one
        for p in range(k):
            join_group(space, members[g, p], g, labels, kept)
    place_leftovers(space, rest, group_count, NO, labels, kept)


class _PlusRounds:
    """What is done at each origin."""

    def __init__(self, space: Space, n: int, k: int, watch: Watch) -> None:
        self.space, self.k, self.watch, self.beat = space, k, watch, watch.beat()
        self.pool = new_pool(space, np.arange(n))
        members = np.empty((n // k, k), np.int64)
        self.groups = MdavPlusGroups(np.full(n, -1, np.int64), members, np.zeros(1, np.int64))

    def ask(self, batch: Batch, pool: Pool) -> None:
        """Finds the records nearest to each origin."""
        _turn(self.space, pool, batch, self.groups, self.k, True, self.beat)

    def visit(self, batch: Batch) -> None:
        """Makes the groups around them."""
        while _turn(self.space, self.pool, batch, self.groups, self.k, False, self.beat):
            self.watch.check()
            self.pool = replant(self.space, self.pool, self.groups.labels)
        self.watch.check()


def mdav_plus(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records, leftovers to the group with the closest centroid.

    Source: thaeter2021, section 2, algorithm MDAV+. Needs len(points) >= k >= 1.
    """
    n, k = len(points), task.k
    space, order = space_and_order(points)
    rounds = _PlusRounds(space, n, k, watch)
    labels = rounds.groups.labels
    visit_all(order, labels, rounds, k)
    # most often nobody is left, and what the groups are need not be known
    if n % k > 0:
        kept = empty_groups(space, n // k)
        _place_rest(space, rounds.groups, kept, np.flatnonzero(labels < 0))
    return Grouping(labels, {})
