"""MDAV+ (thaeter2021, section 2): one group a round, around the furthest record."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import NO, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import (
    empty_groups,
    furthest_first,
    join_group,
    place_leftovers,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Points
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space, make_space
from kanon_sql.search.unassigned import find_nearest, list_left, plant, settle


@kernel
def _mdav_plus(space: Space, order: Any, k: int, beat: Any) -> Any:
    n = space.numeric.shape[0]
    labels = np.full(n, -1, np.int64)
    groups = empty_groups(space, n // k)
    pool = plant(space, np.arange(n))
    found, gaps = np.empty(k, np.int64), np.empty(k)
    next_origin = 0
    for made in range(n // k):
        # the global centroid stays, and so does the order: the next unassigned one is furthest
        while labels[order[next_origin]] >= 0:
            next_origin += 1
        find_nearest(space, pool, order[next_origin], NOBODY, found, gaps, k - 1)
        for p in range(k):
            join_group(space, found[p], made, labels, groups)
        pool = settle(space, pool, labels, found, k)
        beat[DONE] += k
        # the labels are no good then, and nobody reads them
        if beat[STOP] != 0:
            return labels
    place_leftovers(space, list_left(labels), n // k, NO, labels, groups)
    return labels


def mdav_plus(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records, leftovers to the group with the closest centroid.

    Source: thaeter2021, section 2, algorithm MDAV+. Needs len(points) >= k >= 1.
    """
    k = task.k
    space = make_space(points)
    labels = _mdav_plus(space, furthest_first(space), k, watch.beat())
    watch.check()
    return Grouping(labels, {})
