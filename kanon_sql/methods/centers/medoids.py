"""The member of each class from which its radius is smallest."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.centers.records import MetricRecords, records_of
from kanon_sql.points.points import Labels, MetricPoints

LARGE = 5_000
"""A class of more keeps the center that it has, or gets its first record: to compare all pairs
would take long."""


@inner
def _reach(
    numeric: Any, codes: Any, scale: Any, members: Any, start: int, end: int, c: int, most: float
) -> float:
    """The largest key of record c to a member, or one above ``most`` as soon as there is one."""
    worst = 0.0
    for p in range(start, end):
        # as squared_distance adds up; a call for each pair would take twice as long
        i, key = members[p], 0.0
        for a in range(numeric.shape[1]):
            gap = numeric[i, a] - numeric[c, a]
            key += gap * gap
        for a in range(codes.shape[1]):
            if codes[i, a] != codes[c, a]:
                key += 2.0 * scale[a]
        if key > worst:
            worst = key
            # it can't be the best any more: most candidates end here after a few members
            if worst > most:
                break
    return worst


@kernel
def _choose(records: MetricRecords, members: Any, starts: Any, centers: Any, beat: Any) -> None:
    numeric, codes, scale, _ = records
    for g in range(len(starts) - 1):
        if beat[STOP] == 1:
            return
        start, end = starts[g], starts[g + 1]
        best, least = centers[g], np.inf
        if best >= 0:
            # to begin with the center that a class has lets most others be given up early
            least = _reach(numeric, codes, scale, members, start, end, best, np.inf)
        elif end - start > LARGE:
            best = members[start]
        for p in range(start, end if end - start <= LARGE else start):
            c = members[p]
            reach = _reach(numeric, codes, scale, members, start, end, c, least)
            if reach < least:
                best, least = c, reach
        centers[g] = best


def best_centers(
    points: MetricPoints, labels: Labels, centers: Labels | None, watch: Watch
) -> Labels:
    """A center for each class: the member from which its radius is smallest, the first of those
    that tie; the center that it has where no member is better.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1; -1 for records that are left out.
        centers: int64, shape (groups,), any records; None where there are none yet.
        watch: its stop ends the search with StoppedError.

    Returns:
        int64, shape (groups,).
    """
    groups = int(labels.max()) + 1
    members = np.argsort(labels, kind="stable")[int(np.sum(labels < 0)) :]
    starts = np.searchsorted(labels[members], np.arange(groups + 1)).astype(np.int64)
    medoids = np.full(groups, -1, np.int64) if centers is None else centers.astype(np.int64)
    _choose(records_of(points), members.astype(np.int64), starts, medoids, watch.beat())
    watch.check()
    return medoids
