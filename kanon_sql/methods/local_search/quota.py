"""Groups that have a record of each slice of the sensitive values: where a search begins that has
to keep the distribution of all rows in every class.

Source: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 3: as many slices as a
class has records, in the order of the sensitive values; a class takes the nearest record of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import ONE, kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.local_search.far import far_from_all
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, Points
from kanon_sql.search.axes import make_space
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import find_nearest, plant, settle


@kernel
def _take(
    space: Space, order: Any, slice_of: Any, records: Any, start: Any, labels: Any, beat: Any
) -> None:
    """Labels all records but the fewest that are left when a slice is empty: a group around each
    record in the order given that has no label yet."""
    k, groups = len(start) - 1, 0
    most = len(order) // k
    pools = [plant(space, records[start[s] : start[s + 1]]) for s in range(k)]
    neighbours, gaps = np.empty(2, np.int64), np.empty(2)
    one = np.empty(1, np.int64)
    for i in order:
        if labels[i] >= 0:
            continue
        if groups == most or beat[STOP] == 1:
            break
        for s in range(k):
            one[0] = i
            if s != slice_of[i]:
                find_nearest(space, pools[s], i, NOBODY, neighbours, gaps, ONE)
                one[0] = neighbours[1]
            labels[one[0]] = groups
            pools[s] = settle(space, pools[s], labels, one, 1)
        groups += 1


def quota_groups(points: Points, sensitive: Labels, k: int, watch: Watch) -> Labels:
    """Groups of k records or a few more, of each slice of the sensitive values at least one:
    int64, shape (n,).

    Args:
        points: n records in canonical order, n >= k.
        sensitive: shape (n,); the rank of the sensitive value of each.
        k: how many slices.
        watch: its stop raises StoppedError.
    """
    n = len(points)
    by_value = np.argsort(sensitive, kind="stable")
    start = np.arange(k + 1) * n // k
    slice_of = np.empty(n, np.int64)
    slice_of[by_value] = np.repeat(np.arange(k), np.diff(start))
    labels = np.full(n, -1, np.int64)
    order = np.argsort(-far_from_all(points), kind="stable")
    _take(make_space(points), order, slice_of, by_value, start, labels, watch.beat())
    watch.check()
    for i in np.flatnonzero(labels < 0).tolist():  # fewer than k
        gaps = ((points.numeric - points.numeric[i]) ** 2).sum(axis=1)
        gaps += (points.codes != points.codes[i]) @ (2.0 * points.scale)
        labels[i] = labels[int(np.argmin(np.where(labels >= 0, gaps, np.inf)))]
    return number_by_first(labels)
