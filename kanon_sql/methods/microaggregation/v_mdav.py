"""V-MDAV (thaeter2021, section 2): a new group may be extended by records close to it."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import NO, ONE, inner, kernel
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation import VMdavOptions
from kanon_sql.methods.microaggregation.centroids import (
    GroupBuffers,
    empty_groups,
    join_group,
    place_leftovers,
    space_and_order,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Grouping, Labels, Points
from kanon_sql.search.build_pool import new_pool, replant
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import Pool, find_nearest, list_left, take_away

GAMMAS = tuple(step / 10 for step in range(21))

MADE, NEXT, REST = range(3)
"""Places in numbers: groups made, the place in the order before which no record is left, and
records left."""


@inner
def _closest_outsider(near: Any, near_gaps: Any, size: int) -> int:
    """The member whose nearest unassigned record is nearest, ties by that record's index."""
    best = 0
    for p in range(1, size):
        if near_gaps[p] < near_gaps[best] or (
            near_gaps[p] == near_gaps[best] and near[p] < near[best]
        ):
            best = p
    return best


class VMdavGroups(NamedTuple):
    """The groups made so far.

    Attributes:
        labels: int64, shape (n,); -1 for an unassigned record.
        groups: the groups.
        numbers: indexed by MADE, NEXT and REST; int64, shape (3,).
    """

    labels: Labels
    groups: GroupBuffers
    numbers: Labels


@kernel
def _rounds(
    space: Space, pool: Pool, order: Any, known: VMdavGroups, k: int, gamma: float, beat: Any
) -> bool:
    """Makes groups, and places who is left. Returns early, with True, where the pool's tree is to
    be renewed; returns early, too, where the beat says stop."""
    labels, groups, numbers = known
    members, gaps = np.empty(2 * k, np.int64), np.empty(2 * k)
    near, near_gaps = np.empty(2 * k, np.int64), np.empty(2 * k)
    pair, pair_gaps = np.empty(2, np.int64), np.empty(2)
    renew = False
    while numbers[REST] >= k and beat[STOP] == 0:
        if renew:
            return True
        group = numbers[MADE]
        while labels[order[numbers[NEXT]]] >= 0:
            numbers[NEXT] += 1
        find_nearest(space, pool, order[numbers[NEXT]], NOBODY, members, gaps, k - 1)
        for p in range(k):
            join_group(space, members[p], group, labels, groups)
        renew = take_away(pool, members, k)
        left, size = numbers[REST] - k, k
        for p in range(2 * k):
            # unknown: no member of the new group has been asked yet
            near[p] = -1
        while gamma > 0.0 and size < 2 * k - 1 and left > 0:
            # records only leave, so what is nearest to a member stays so until it leaves itself
            for p in range(size):
                if near[p] < 0 or labels[near[p]] >= 0:
                    find_nearest(space, pool, members[p], NOBODY, pair, pair_gaps, ONE)
                    near[p], near_gaps[p] = pair[1], pair_gaps[1]
            best = _closest_outsider(near, near_gaps, size)
            outsider, gap_in = near[best], near_gaps[best]
            # with nobody else left, the search writes nothing: then it is infinitely far
            pair_gaps[1] = np.inf
            find_nearest(space, pool, outsider, NOBODY, pair, pair_gaps, ONE)
            if not gap_in < gamma * pair_gaps[1]:
                break
            members[size] = outsider
            join_group(space, outsider, group, labels, groups)
            renew = take_away(pool, members[size:], ONE)
            size += 1
            left -= 1
        numbers[MADE], numbers[REST] = group + 1, left
        beat[DONE] += size
    if beat[STOP] == 0:
        place_leftovers(space, list_left(labels), numbers[MADE], NO, labels, groups)
    return False


def _grouped(space: Space, order: Any, k: int, gamma: float, watch: Watch) -> Labels:
    """The labels with one gamma, int64, shape (n,)."""
    n, beat = len(order), watch.beat()
    groups = empty_groups(space, n // k)
    known = VMdavGroups(np.full(n, -1, np.int64), groups, np.array([0, 0, n]))
    pool = new_pool(space, np.arange(n))
    while _rounds(space, pool, order, known, k, gamma, beat):
        watch.check()
        pool = replant(space, pool, known.labels)
    watch.check()
    return known.labels


def v_mdav(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k to 2k-1 records, leftovers to the group with the closest centroid.

    A new group takes in its closest unassigned record x while d_in < gamma * d_out, squared
    distances from x to the group and to its closest unassigned neighbour. gamma 'best' tries
    0.0, 0.1 .. 2.0, on all cores, and keeps the least information loss (the smallest such gamma).

    Source: thaeter2021, section 2. Needs len(points) >= k >= 1.
    """
    own = task.own
    assert isinstance(own, VMdavOptions)
    k = task.k
    space, order = space_and_order(points)
    if own.gamma != "best":
        labels = _grouped(space, order, k, float(own.gamma), watch)
        return Grouping(labels, {"gamma": float(own.gamma)})

    def attempt(gamma: float) -> tuple[float, Any]:
        labels = _grouped(space, order, k, gamma, watch)
        return sse(points, labels), labels

    watch.expect((len(GAMMAS) - 1) * len(points))
    tried = in_parallel([partial(attempt, gamma) for gamma in GAMMAS])
    best = 0
    for g in range(1, len(GAMMAS)):
        # a gain within rounding is a tie, and ties go to the smaller gamma
        if tried[g][0] < tried[best][0] * (1.0 - 1e-12):
            best = g
    return Grouping(tried[best][1], {"gamma": GAMMAS[best]})
