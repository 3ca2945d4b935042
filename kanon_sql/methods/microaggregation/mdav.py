"""MDAV (Domingo-Ferrer; [D09] in thaeter2021): two groups a round, at opposite ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import category_counts
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, Labels, Points
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space, make_space
from kanon_sql.search.unassigned import find_furthest, find_nearest, list_left, plant, settle

WORTH = 8
"""A new order is worth it when as many records were looked at as this many times those left."""


class Centroid(NamedTuple):
    """The mean of some records in the embedding.

    Attributes:
        center: of the numeric attributes; float64, shape (d,).
        shares: of each category; float64, shape (c, widest domain).
    """

    center: Floats
    shares: Floats


class Ranking(NamedTuple):
    """Records by their distance from a centroid, the furthest first.

    Attributes:
        order: the records; int64, shape (m,).
        far: their distances, not squared; float64, shape (m,).
    """

    order: Labels
    far: Floats


@inner
def _terms_of_centroid(scale: Any, counts: Any, m: int, terms: Any) -> None:
    """What each category adds to the squared distance from the centroid of m records with these
    category counts."""
    for a in range(counts.shape[0]):
        squares = np.int64(0)
        for v in range(counts.shape[1]):
            squares += counts[a, v] * counts[a, v]
        for v in range(counts.shape[1]):
            terms[a, v] = scale[a] * ((squares - 2 * m * counts[a, v] + m * m) / (m * m))


@inner
def _gap(space: Space, terms: Any, center: Any, i: int) -> float:
    """Squared distance of record i to the centroid."""
    numeric, codes = space.numeric, space.codes
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - center[a]
        total += gap * gap
    for a in range(codes.shape[1]):
        total += terms[a, codes[i, a]]
    return total


@inner
def _rank_by_distance(space: Space, terms: Any, center: Any, left: Any) -> Ranking:
    """The records left, the furthest from the centroid first."""
    far = np.empty(len(left))
    for p in range(len(left)):
        far[p] = np.sqrt(_gap(space, terms, center, left[p]))
    # stable: of equal ones the first in canonical order is looked at first, and wins
    order = np.argsort(-far, kind="mergesort")
    return Ranking(left[order], far[order])


@inner
def _distance_moved(scale: Any, now: Centroid, before: Centroid) -> float:
    """How far the centroid has moved, in the embedding."""
    center, shares, old_center, old_shares = now.center, now.shares, before.center, before.shares
    total = 0.0
    for a in range(len(center)):
        total += (center[a] - old_center[a]) ** 2
    for a in range(shares.shape[0]):
        for v in range(shares.shape[1]):
            total += scale[a] * (shares[a, v] - old_shares[a, v]) ** 2
    return float(np.sqrt(total))


@inner
def _furthest_from_centroid(
    space: Space, terms: Any, center: Any, moved: float, labels: Any, ranking: Ranking,
    next_place: int,
) -> Any:
    """The unassigned record furthest from the centroid, and how many records were looked at.

    No record is further from it now than it was from the old one and the way that it has moved
    (with a margin for rounding), so the search ends early in the old ranking.
    """
    order, far = ranking.order, ranking.far
    best, furthest, looked = -1, -1.0, 0
    for p in range(next_place, len(order)):
        if (far[p] + moved) * (1.0 + 1e-11) + 1e-11 * (1.0 + far[0]) < np.sqrt(max(furthest, 0.0)):
            break
        i = order[p]
        looked += 1
        # assigned since the ranking was made; passing over them counts as work, too
        if labels[i] >= 0:
            continue
        gap = _gap(space, terms, center, i)
        # not in canonical order here, so a tie must be looked at
        if gap > furthest or (gap == furthest and i < best):
            best, furthest = i, gap
    return best, looked


@inner
def _terms_of_record(apart: Any, codes: Any, i: int, terms: Any, most: Any) -> None:
    """What each category adds to the squared distance from record i, and the most that the
    categories of each bit add."""
    for a in range(codes.shape[1]):
        # the most even for the bit of its own category, since others may share it
        terms[a, :] = apart[a]
        most[a, :] = apart[a]
        terms[a, codes[i, a]] = 0.0


@kernel
def _mdav(space: Space, counts: Any, k: int, over_all: bool, beat: Any) -> Any:
    numeric, codes, scale = space.numeric, space.codes, space.scale
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    labels = np.full(n, -1, np.int64)
    sums = np.zeros(d)
    for i in range(n):
        for a in range(d):
            sums[a] += numeric[i, a]
    terms, most = np.zeros(counts.shape), np.zeros((c, min(64, counts.shape[1])))
    pool = plant(space, np.arange(n))
    found, gaps = np.empty(k, np.int64), np.empty(k)
    ranking = Ranking(np.empty(0, np.int64), np.empty(0))
    ranked_by = Centroid(np.zeros(d), np.zeros(counts.shape))
    # as if so many had been looked at: the first round makes the first ranking
    made, m, next_place, looked = 0, n, 0, n * WORTH
    while m >= 2 * k and beat[STOP] == 0:
        centroid = Centroid(sums / (float(n) if over_all else float(m)), counts / m)
        _terms_of_centroid(scale, counts, m, terms)
        if looked >= m * WORTH:
            ranking = _rank_by_distance(space, terms, centroid.center, list_left(labels))
            ranked_by = centroid
            next_place = looked = 0
        while labels[ranking.order[next_place]] >= 0:
            next_place += 1
        moved = _distance_moved(scale, centroid, ranked_by)
        origin, more = _furthest_from_centroid(
            space, terms, centroid.center, moved, labels, ranking, next_place
        )
        looked += more
        for side in range(2 if m >= 3 * k else 1):
            first = origin
            if side == 1:
                # the centroid's terms may go: they were needed for the origin alone
                _terms_of_record(space.apart, codes, origin, terms, most)
                first = find_furthest(space, pool, numeric[origin].copy(), terms, most)
            find_nearest(space, pool, first, NOBODY, found, gaps, k - 1)
            for p in range(k):
                labels[found[p]] = made
                for a in range(d):
                    sums[a] -= numeric[found[p], a]
                for a in range(c):
                    counts[a, codes[found[p], a]] -= 1
            made += 1
            m -= k
            pool = settle(space, pool, labels, found, k)
            beat[DONE] += k
    # fewer than 2k: the last group
    for i in list_left(labels):
        labels[i] = made
    return labels


def mdav(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records, the last one of k to 2k-1.

    While 3k records or more remain, one group is made around the record furthest from their
    centroid, and one around the record furthest from that one (of those then left, which differs
    only where many records tie). The centroid is kept by subtracting each grouped record.

    Source: [D09] as cited in thaeter2021, section 2. Needs len(points) >= k >= 1.
    """
    k = task.k
    space = make_space(points, whole=True)
    labels = _mdav(space, category_counts(space.codes), k, False, watch.beat())
    watch.check()
    return Grouping(labels, {})


def mdav_with_slip(points: Points, k: int) -> Grouping:
    """MDAV as it must have run for thaeter2021's table 1: the remaining records' sum is divided
    by the original n. Kept only to reproduce that table; not offered as a method."""
    space = make_space(points, whole=True)
    counts = category_counts(space.codes)
    return Grouping(_mdav(space, counts, k, True, Watch().beat()), {})
