"""Lowers the sum of records times radii of given classes; it never raises it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.centers.medoids import best_centers
from kanon_sql.methods.centers.records import MetricRecords, records_of
from kanon_sql.points.distances import distance_of, distances_between, squared_distance
from kanon_sql.points.points import Floats, Labels, MetricPoints

ROUNDS = 4
"""How often classes are halved, and records moved, at most."""

CUTS = 4
"""The ways to halve a class that are tried."""


class LinkedClasses(NamedTuple):
    """Classes between which records move, each a list whose members are linked.

    Attributes:
        labels: int64, shape (n,); the class of each record, -1 for none.
        centers: int64, shape (groups,); records.
        sizes: int64, shape (groups,).
        radii: float64, shape (groups,).
        head: int64, shape (groups,); the first member of each class.
        after: int64, shape (n,); the next member of the same class, -1 after the last.
    """

    labels: Any
    centers: Any
    sizes: Any
    radii: Any
    head: Any
    after: Any


@kernel
def _widths(records: MetricRecords, members: Any, starts: Any, widths: Any, beat: Any) -> None:
    """The largest distance of two members of each class."""
    numeric, codes, scale, form = records
    for g in range(len(starts) - 1):
        worst = 0.0
        for p in range(starts[g], starts[g + 1]):
            if beat[STOP] != 0:
                return
            for q in range(starts[g], p):
                worst = max(worst, squared_distance(numeric, codes, scale, members[p], members[q]))
        # keys and distances have the same order: one root a class, not one a pair
        widths[g] = distance_of(worst, form)


@inner
def _linked(records: MetricRecords, labels: Any, centers: Any) -> LinkedClasses:
    """The classes as linked lists; the labels are kept, and change with them."""
    numeric, codes, scale, form = records
    groups, n = len(centers), len(labels)
    head, after = np.full(groups, -1, np.int64), np.full(n, -1, np.int64)
    sizes, radii = np.zeros(groups, np.int64), np.zeros(groups)
    for i in range(n):
        g = labels[i]
        if g >= 0:
            # at the front: a list needs no tail for that
            after[i], head[g] = head[g], i
            sizes[g] += 1
            away = distance_of(squared_distance(numeric, codes, scale, i, centers[g]), form)
            radii[g] = max(radii[g], away)
    return LinkedClasses(labels, centers, sizes, radii, head, after)


@inner
def _farthest(records: MetricRecords, classes: LinkedClasses, g: int) -> Any:
    """The member of a class that is farthest from its center, the first on ties; the member before
    it in the list (-1: none); how far it is, and how far the next one."""
    numeric, codes, scale, form = records
    center, after = classes.centers[g], classes.after
    far, before, last, i = -1, -1, -1, classes.head[g]
    worst, second = -1.0, 0.0
    while i >= 0:
        away = distance_of(squared_distance(numeric, codes, scale, i, center), form)
        if away > worst or (away == worst and i < far):
            second = max(second, worst)
            worst, far, before = away, i, last
        else:
            second = max(second, away)
        # who comes before the farthest is needed to take it out of the list
        last, i = i, after[i]
    return far, before, worst, second


@inner
def _cheapest_class(
    records: MetricRecords, classes: LinkedClasses, near: Any, far: int, spared: float, wide: float
) -> int:
    """The class of a record near to ``far`` that it costs least to put it into, less than what is
    spared; -1 for none. Ties go to the first class."""
    numeric, codes, scale, form = records
    labels, centers, sizes, radii, head, after = classes
    g, best, cost = labels[far], -1, np.inf
    for q in range(near.shape[1]):
        c = labels[near[far, q]]
        # several near records may be in the same class: it is looked at once in a row
        if c < 0 or c in (g, best):
            continue
        away = distance_of(squared_distance(numeric, codes, scale, far, centers[c]), form)
        more = (sizes[c] + 1) * max(radii[c], away) - sizes[c] * radii[c]
        if more < spared and (more < cost or (more == cost and c < best)):
            # last, as it takes longest: is the record close enough to all members?
            i = head[c] if wide < np.inf else -1
            while i >= 0 and distance_of(
                squared_distance(numeric, codes, scale, far, i), form
            ) <= wide:
                i = after[i]
            if i < 0:
                best, cost = c, more
    return best


@kernel
def _move(
    records: MetricRecords, near: Any, k: int, wide: float, labels: Any, centers: Any, beat: Any
) -> int:
    """Moves the record farthest from the center of a class of more than k to the class of one of
    the records near it, as long as that lowers the cost; returns how many were moved.

    No class becomes wider than ``wide`` by that.
    """
    numeric, codes, scale, form = records
    classes, moved = _linked(records, labels, centers), 0
    _, _, sizes, radii, head, after = classes
    for g in range(len(centers)):
        while sizes[g] > k and beat[STOP] == 0:
            far, before, worst, second = _farthest(records, classes, g)
            # a hair less, so that rounding can't make a move there and back seem to pay
            spared = (sizes[g] * worst - (sizes[g] - 1) * second) * (1.0 - 1e-12)
            best = _cheapest_class(records, classes, near, far, spared, wide)
            if best < 0:
                break
            if before < 0:
                head[g] = after[far]
            else:
                after[before] = after[far]
            after[far], head[best] = head[best], far
            away = distance_of(squared_distance(numeric, codes, scale, far, centers[best]), form)
            # no class is measured anew: the farthest is gone, and the next one was known
            radii[g], radii[best] = second, max(radii[best], away)
            sizes[g] -= 1
            sizes[best] += 1
            labels[far] = best
            moved += 1
    return moved


def listed(labels: Labels, groups: int) -> tuple[Labels, Labels]:
    """The members of each class behind each other, ascending, and where each class begins:
    int64, shapes (rows in classes,) and (groups + 1,)."""
    members = np.argsort(labels, kind="stable")[int(np.sum(labels < 0)) :]
    return members, np.searchsorted(labels[members], np.arange(groups + 1)).astype(np.int64)


def diameters(points: MetricPoints, labels: Labels, watch: Watch) -> Floats:
    """The largest distance of two members of each class: float64, shape (groups,)."""
    groups = int(labels.max(initial=-1)) + 1
    members, starts = listed(labels, groups)
    widths = np.zeros(groups)
    _widths(records_of(points), members, starts, widths, watch.beat())
    watch.check()
    return widths


def costs(points: MetricPoints, labels: Labels, centers: Labels) -> Floats:
    """Size times radius of each class: float64, shape (groups,)."""
    placed = np.flatnonzero(labels >= 0)
    radii = np.zeros(len(centers))
    away = distances_between(points, placed, centers[labels[placed]])
    np.maximum.at(radii, labels[placed], away)
    return np.bincount(labels[placed], minlength=len(centers)) * radii


def _sides(points: MetricPoints, own: Labels, center: int, k: int) -> Any:
    """Four ways to halve a class of 2k or more: bool, shape (CUTS, members).

    One end of the class is the member farthest from the center, the other the one farthest from
    that. Members go to the end that they are nearer to; or k to one, and k to the other, by how
    much nearer they are; or the k nearest to the first are a half.
    """
    size = len(own)
    one = own[np.argmax(distances_between(points, center, own))]
    away = distances_between(points, one, own)
    gap = away - distances_between(points, own[np.argmax(away)], own)
    by_gap, by_end = np.argsort(gap, kind="stable"), np.argsort(away, kind="stable")
    sides = np.zeros((CUTS, size), np.bool_)
    sides[0, by_gap[: min(max(int(np.sum(gap <= 0.0)), k), size - k)]] = True
    sides[1, by_gap[:k]] = True
    sides[2, by_gap[: size - k]] = True
    sides[3, by_end[:k]] = True
    return sides


def halve(
    points: MetricPoints, k: int, labels: Labels, centers: Labels, wide: float, watch: Watch
) -> tuple[Labels, Labels]:
    """Halves classes of 2k or more, again and again, where both halves together cost no more.

    Args:
        points: n records.
        k: the least size of a half.
        labels, centers: the classes; they get other centers where these are better.
        wide: classes with a larger diameter are halved whatever it costs.
        watch: its stop raises StoppedError.

    Returns:
        Labels and centers; new classes come last.
    """
    labels, centers = labels.copy(), best_centers(points, labels, centers, watch)
    waiting = np.arange(len(centers))
    while len(waiting) > 0:
        groups = len(centers)
        members, starts = listed(labels, groups)
        waiting = waiting[starts[waiting + 1] - starts[waiting] >= 2 * k]
        # all classes are halved at once, by each way: half 2q + 1 or 2q of the q-th that waits
        halves = np.full((CUTS, len(labels)), -1, np.int64)
        for q, g in enumerate(waiting):
            watch.check()
            own = members[starts[g] : starts[g + 1]]
            halves[:, own] = 2 * q + 1 - _sides(points, own, int(centers[g]), k)
        both = np.repeat(centers[waiting], 2)
        tried = np.array([best_centers(points, cut, both, watch) for cut in halves])
        spent = np.array([
            costs(points, cut, chosen).reshape(-1, 2).sum(axis=1)
            for cut, chosen in zip(halves, tried, strict=True)
        ])
        cut = np.argmin(spent, axis=0)
        now = costs(points, labels, centers)[waiting]
        # on a tie too, as smaller classes say more about their records; but equal ones stay
        # together
        better = (np.min(spent, axis=0) <= now) & (now > 0.0)
        if wide < np.inf:
            large = np.where(halves[0] >= 0, labels, -1)
            better |= diameters(points, large, watch)[waiting] > wide
        split = np.flatnonzero(better)
        fresh = groups + np.arange(len(split))
        for p, q in enumerate(split.tolist()):
            own = members[starts[waiting[q]] : starts[waiting[q] + 1]]
            labels[own[halves[cut[q], own] == 2 * q + 1]] = fresh[p]
        centers[waiting[split]] = tried[cut[split], 2 * split]
        centers = np.concatenate([centers, tried[cut[split], 2 * split + 1]])
        # what was not worth halving is not tried again; halves may be halved in turn
        waiting = np.concatenate([waiting[split], fresh])
    return labels, centers


def cheapen(
    points: MetricPoints, k: int, near: Any, labels: Labels, centers: Labels, wide: float,
    watch: Watch,
) -> tuple[Labels, Labels]:
    """Halves classes and moves records between them, round after round, at a lower cost each time.

    Args:
        points: n records.
        k: the least size of a class.
        near: some records near each one, int32, shape (n, any): to their classes it may move.
        labels, centers: the classes.
        wide: no diameter becomes larger than that.
        watch: its stop raises StoppedError.
    """
    for _ in range(ROUNDS):
        labels, centers = halve(points, k, labels, centers, wide, watch)
        moved = _move(records_of(points), near, k, wide, labels, centers, watch.beat())
        watch.check()
        # centers and halves were the best before, and nothing has changed since
        if moved == 0:
            return labels, centers
    return labels, best_centers(points, labels, centers, watch)
