"""Regions: records of some classes that lie near to each other."""

from __future__ import annotations

import numpy as np

from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.points.points import Floats, Labels, Points


def _gaps(points: Points, members: Labels, i: int) -> Floats:
    """Squared distances of some records to record i: float64, shape (m,)."""
    gaps = ((points.numeric[members] - points.numeric[i]) ** 2).sum(axis=1)
    unlike = points.codes[members] != points.codes[i]
    out: Floats = gaps + unlike @ (2.0 * points.scale)
    return out


def cut_regions(points: Points, labels: Labels, size: int, turn: int) -> list[Labels]:
    """All records in regions of about ``size``, classes whole; other ones each turn.

    Records are cut in two between one of them, taken at random, and the one furthest from it, again
    and again.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1.
        size: records of a region.
        turn: 0, 1, 2 ...

    Returns: for each region its records, int64, ascending.
    """
    n = len(points)
    apart = embedded(points)
    random = np.random.RandomState(turn)  # whose numbers are the same in every version
    regions, waiting = [], [(np.arange(n), max(1, round(n / size)))]
    while waiting:
        members, parts = waiting.pop()
        _, own, sizes = np.unique(labels[members], return_inverse=True, return_counts=True)
        if parts == 1 or len(sizes) == 1:
            regions.append(members)
            continue
        one = members[random.randint(len(members))]
        other = members[np.argmax(_gaps(apart, members, one))]
        way = _gaps(apart, members, one) - _gaps(apart, members, other)
        # a class goes by the mean of its records
        order = np.argsort(np.bincount(own, weights=way) / sizes, kind="stable")
        ends = np.cumsum(sizes[order])
        first = parts // 2
        least = int(np.searchsorted(ends, len(members) * first / parts))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        within = rank[own] <= min(least, len(order) - 2)
        for side, count in ((within, first), (~within, parts - first)):
            waiting.append((members[side], count))
    return regions
