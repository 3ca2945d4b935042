"""MDAV* (thaeter2021, section 3): extend a close group or make a new one, whichever costs less."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import YES, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import furthest_first, place_leftovers, sse_of
from kanon_sql.methods.microaggregation.group_index import (
    GroupIndex,
    find_group,
    join,
    new_groups,
    show,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Points
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space, make_space
from kanon_sql.search.unassigned import Pool, find_nearest, list_left, new_pool, settle


@kernel
def _mdav_star(
    space: Space, pool: Pool, index: GroupIndex, order: Any, k: int, beat: Any
) -> Any:
    n = space.numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    # two at least, so that found[1] exists where k is 1
    found, gaps = np.empty(max(k, 2), np.int64), np.empty(max(k, 2))
    around, around_gaps = np.empty(k, np.int64), np.empty(k)
    made, next_origin, left = 0, 0, n
    while left >= k:
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        origin = order[next_origin]
        find_nearest(space, pool, origin, NOBODY, found, gaps, k - 1)
        cost_new = sse_of(space, found, k) / k
        group, count = made, k
        # cost (2) is never negative, so it can only win against a positive cost (1)
        if made > 0 and left > k and cost_new > 0.0:
            find_nearest(space, pool, found[1], origin, around, around_gaps, k - 1)
            beside = sse_of(space, around, k)
            # a group that grows by more can't win: most often no group has to be looked at
            most = cost_new * (k + 1) * (1.0 + 1e-12) - beside
            if most >= 0.0:
                closest, growth = find_group(space, index, labels, origin, k, most)
                if closest >= 0 and (growth + beside) / (k + 1) < cost_new:
                    group, count = closest, 1
        for p in range(count):
            join(space, index, found[p], group, labels)
        # a member half way out: the origin lies at the rim of its group
        show(space, index, group, found[k // 2 if count > 1 else 0])
        pool = settle(space, pool, labels, found, count)
        made = max(made, group + 1)
        left -= count
        beat[DONE] += count
        if beat[STOP] != 0:
            return labels
    rest = list_left(labels)
    place_leftovers(space, rest, made, YES, labels, index.groups)
    return labels


def mdav_star(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records or more, without an upper bound.

    The unassigned record x furthest from the centroid either founds a group with its k-1 nearest
    (cost (1): its SSE per record) or joins clos(x), the group whose SSE grows least (cost (2):
    the growth and the SSE of a group around x's nearest neighbour, over k+1 records). Leftovers
    join the group whose SSE grows least.

    Source: thaeter2021, section 3, algorithm MDAV*. Needs len(points) >= k >= 1.
    """
    n, k = len(points), task.k
    space = make_space(points)
    pool = new_pool(space, np.arange(n))
    index = new_groups(space, pool.tree.place, n // k, k, True)
    labels = _mdav_star(space, pool, index, furthest_first(space), k, watch.beat())
    watch.check()
    return Grouping(labels, {})
