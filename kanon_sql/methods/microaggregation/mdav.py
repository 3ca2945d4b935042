"""MDAV (Domingo-Ferrer; [D09] in thaeter2021): two groups a round, at opposite ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.microaggregation.centroids import category_counts
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, Labels, Points
from kanon_sql.search.axes import make_space
from kanon_sql.search.build_pool import new_pool, replant
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import Pool, find_furthest, find_nearest, take_away

WORTH = 8
"""A new order is worth it when as many records were looked at as this many times those left."""


OVER, RENEW, RANK = range(3)
"""Why rounds end: all groups are made, the pool's tree is to be renewed, or a new ranking pays."""

MADE, REST, PLACE, LOOKED = range(4)
"""Places in numbers: groups made, records left, the place in the ranking before which none of them
is, and records looked at since it was made."""


class Ranking(NamedTuple):
    """Records by their distance from a centroid in the embedding, the furthest first.

    Attributes:
        order: the records; int64, shape (m,).
        far: their distances, not squared; float64, shape (m,).
        center: the mean of their numeric attributes; float64, shape (d,).
        shares: of each category; float64, shape (c, widest domain).
    """

    order: Labels
    far: Floats
    center: Floats
    shares: Floats


class MdavGroups(NamedTuple):
    """The groups made so far, and the records left.

    Attributes:
        labels: int64, shape (n,); -1 for an unassigned record.
        sums: of the numeric attributes of those left; float64, shape (d,).
        counts: of their categories; int64, shape (c, widest domain).
        terms: room for what each category adds to a squared distance; float64, likewise.
        most: room for the most that the categories of one bit add; float64, shape (c, 64) or less.
        numbers: indexed by MADE .. LOOKED; int64, shape (4,).
    """

    labels: Labels
    sums: Floats
    counts: Labels
    terms: Floats
    most: Floats
    numbers: Labels


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
def _distance_moved(scale: Any, center: Any, counts: Any, m: int, ranking: Ranking) -> float:
    """How far the centroid of m records with these category counts is from the ranking's, in the
    embedding."""
    old_center, old_shares = ranking.center, ranking.shares
    total = 0.0
    for a in range(len(center)):
        gap = center[a] - old_center[a]
        total += gap * gap
    for a in range(counts.shape[0]):
        for v in range(counts.shape[1]):
            gap = counts[a, v] / m - old_shares[a, v]
            total += scale[a] * (gap * gap)
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
        for v in range(terms.shape[1]):
            terms[a, v] = apart[a]
        for bit in range(most.shape[1]):
            most[a, bit] = apart[a]
        terms[a, codes[i, a]] = 0.0


@kernel
def _rounds(
    space: Space, pool: Pool, ranking: Ranking, groups: MdavGroups, k: int, over_all: bool,
    beat: Any
) -> int:
    """Makes groups until OVER, RENEW or RANK, which it returns, or until the beat says stop. With
    ``over_all`` see mdav_with_slip."""
    numeric, codes, scale = space.numeric, space.codes, space.scale
    labels, sums, counts, terms, most, numbers = groups
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    center, members, gaps = np.empty(d), np.empty(k, np.int64), np.empty(k)
    renew = False
    while numbers[REST] >= 2 * k and beat[STOP] == 0:
        m = numbers[REST]
        if renew:
            return RENEW
        if numbers[LOOKED] >= m * WORTH:
            return RANK
        for a in range(d):
            center[a] = sums[a] / (n if over_all else m)
        _terms_of_centroid(scale, counts, m, terms)
        while labels[ranking.order[numbers[PLACE]]] >= 0:
            numbers[PLACE] += 1
        moved = _distance_moved(scale, center, counts, m, ranking)
        origin, more = _furthest_from_centroid(
            space, terms, center, moved, labels, ranking, numbers[PLACE]
        )
        numbers[LOOKED] += more
        for side in range(2 if m >= 3 * k else 1):
            first = origin
            if side == 1:
                # the centroid's terms may go: they were needed for the origin alone
                _terms_of_record(space.apart, codes, origin, terms, most)
                first = find_furthest(space, pool, numeric[origin], terms, most)
            find_nearest(space, pool, first, NOBODY, members, gaps, k - 1)
            for p in range(k):
                labels[members[p]] = numbers[MADE]
                for a in range(d):
                    sums[a] -= numeric[members[p], a]
                for a in range(c):
                    counts[a, codes[members[p], a]] -= 1
            numbers[MADE] += 1
            numbers[REST] -= k
            renew = take_away(pool, members, k)
            beat[DONE] += k
    return OVER


def _rank_by_distance(space: Space, center: Floats, counts: Any, m: int, left: Any) -> Ranking:
    """The records left, the furthest from a centroid first: of m records with these category
    counts."""
    gaps = np.zeros(len(left))
    # as _gap has them, to the bit
    for column, middle in zip(space.numeric.T, center, strict=True):
        gaps += (column[left] - middle) ** 2
    for a in range(len(counts)):
        squares = np.sum(counts[a] * counts[a])
        terms = space.scale[a] * ((squares - 2 * m * counts[a] + m * m) / (m * m))
        gaps += terms[space.codes[left, a]]
    far = np.sqrt(gaps)
    # stable: of equal ones the first in canonical order is looked at first, and wins
    order = np.argsort(-far, kind="stable")
    return Ranking(left[order], far[order], center, counts / m)


def _grouped(points: Points, k: int, over_all: bool, watch: Watch) -> Labels:
    """The labels, int64, shape (n,)."""
    space, n = make_space(points, whole=True), len(points)
    counts = category_counts(space.codes)
    # one by one in canonical order, from 0.0 on
    sums = np.cumsum(space.numeric, axis=0)[-1] + 0.0
    groups = MdavGroups(
        np.full(n, -1, np.int64), sums, counts, np.zeros(counts.shape),
        np.zeros((len(counts), min(64, counts.shape[1]))), np.array([0, n, 0, 0]),
    )
    pool, beat, why = new_pool(space, np.arange(n)), watch.beat(), RANK
    while why != OVER:
        if why == RANK:
            m = int(groups.numbers[REST])
            left, center = np.flatnonzero(groups.labels < 0), sums / (n if over_all else m)
            ranking = _rank_by_distance(space, center, counts, m, left)
            groups.numbers[PLACE] = groups.numbers[LOOKED] = 0
        else:
            pool = replant(space, pool, groups.labels)
        why = _rounds(space, pool, ranking, groups, k, over_all, beat)
        watch.check()
    # fewer than 2k: the last group
    groups.labels[groups.labels < 0] = groups.numbers[MADE]
    return groups.labels


def mdav(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records, the last one of k to 2k-1.

    While 3k records or more remain, one group is made around the record furthest from their
    centroid, and one around the record furthest from that one (of those then left, which differs
    only where many records tie). The centroid is kept by subtracting each grouped record.

    Source: [D09] as cited in thaeter2021, section 2. Needs len(points) >= k >= 1.
    """
    return Grouping(_grouped(points, task.k, False, watch), {})


def mdav_with_slip(points: Points, k: int) -> Grouping:
    """MDAV as it must have run for thaeter2021's table 1: the remaining records' sum is divided
    by the original n. Kept only to reproduce that table; not offered as a method."""
    return Grouping(_grouped(points, k, True, Watch()), {})
