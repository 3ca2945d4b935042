"""Where those go who were never released: to a class that is there, or to new ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Codes, Floats, Labels, Points

NOWHERE = -1
"""Stands for a class that nobody can join."""


@dataclass(frozen=True)
class Frozen:
    """What the classes of a ledger published, which stays as it is, in the geometry of squared
    distances.

    Attributes:
        numbers: int64, shape (c,); the number of each class, ascending.
        numeric: float64, shape (c, d); as Points has it.
        codes: int32, shape (c, m); as Points has it, -1 for a value that no record has.
    """

    numbers: Labels
    numeric: Floats
    codes: Codes

    def part(self, chosen: Labels) -> Frozen:
        """Some of the classes, by their places."""
        return Frozen(self.numbers[chosen], self.numeric[chosen], self.codes[chosen])


def nearest_class(points: Points, frozen: Frozen) -> tuple[Labels, Floats]:
    """For each record the place of the class whose published values cost it least, the first of
    those that tie, and what they cost; int64 and float64, shape (n,). Without classes nowhere, at
    infinite costs."""
    from kanon_sql.ledger.nearest import Spots, nearest_points  # here: it loads the compiler

    count, classes = len(points), len(frozen.numbers)
    nearest, costs = np.full(count, NOWHERE, np.int64), np.full(count, np.inf)
    if classes == 0 or count == 0:
        return nearest, costs
    order, axis = np.arange(classes), -1
    if frozen.numeric.shape[1]:
        axis = int(np.argmax(frozen.numeric.var(axis=0)))
        order = np.argsort(frozen.numeric[:, axis], kind="stable")
    records = Spots(np.ascontiguousarray(points.numeric), np.ascontiguousarray(points.codes))
    places = Spots(
        np.ascontiguousarray(frozen.numeric[order]),
        np.ascontiguousarray(frozen.codes[order].astype(np.int32)),
    )
    nearest_points(records, places, points.scale, order, axis, nearest, costs)
    return nearest, costs


def own_costs(points: Points, labels: Labels) -> Floats:
    """What groups of records cost that publish the mean of each number and the most frequent of
    each category: float64, shape (groups,).

    Labels: int64, shape (n,), 0 .. groups-1.
    """
    groups = int(labels.max()) + 1 if len(labels) else 0
    sizes = np.bincount(labels, minlength=groups)
    total = np.zeros(groups)
    for column in points.numeric.T:
        means = np.bincount(labels, weights=column, minlength=groups) / sizes
        total += np.bincount(labels, weights=(column - means[labels]) ** 2, minlength=groups)
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        width = int(codes.max()) + 1 if len(codes) else 1
        pairs, counts = np.unique(labels * width + codes, return_counts=True)
        most = np.zeros(groups, np.int64)
        np.maximum.at(most, pairs // width, counts)
        total += 2.0 * scale * (sizes - most)
    return total


def groups_to_make(own: Floats, labels: Labels, joining: Floats) -> npt.NDArray[np.bool_]:
    """Which groups of newcomers become classes: those that cost less than their records would if
    each joined the class that costs it least; all others dissolve. bool, shape (groups,).

    Args:
        own: float64, shape (groups,); what each costs.
        labels: int64, shape (n,), 0 .. groups-1; -1 where the method left one out.
        joining: float64, shape (n,); what it costs each to join.
    """
    grouped = np.flatnonzero(labels >= 0)
    joined = np.bincount(labels[grouped], weights=joining[grouped], minlength=len(own))
    return np.asarray(own < joined, dtype=np.bool_)


@dataclass(frozen=True)
class Covers:
    """What the classes of a ledger published, where these are sets of values: ranges, lists and
    labels.

    Attributes:
        numbers: int64, shape (c,); the number of each class, ascending.
        costs: float64, shape (c,); what each costs a row, in cells.
        texts: int64, shape (c, columns); which of the different texts of each column it published.
        covered: of each column, bool, shape (texts, values + 1): whether a text stands for a value,
            NULL last.
    """

    numbers: Labels
    costs: Floats
    texts: Labels
    covered: tuple[npt.NDArray[np.bool_], ...]

    def part(self, chosen: Labels) -> Covers:
        """Some of the classes, by their places."""
        return Covers(self.numbers[chosen], self.costs[chosen], self.texts[chosen], self.covered)


def cheapest_cover(values: Labels, covers: Covers) -> tuple[Labels, Floats]:
    """For each record the place of the class that costs it least, among those whose published
    values stand for all of its own, the first of those that tie; and what it costs. Nowhere, at
    infinite costs, where there is none.

    Args:
        values: int64, shape (n, columns); the place of each value among those of its column.
        covers: the classes.
    """
    from kanon_sql.ledger.nearest import first_covers  # here: it loads the compiler

    cheapest, costs = np.full(len(values), NOWHERE, np.int64), np.full(len(values), np.inf)
    if len(covers.numbers) == 0 or len(values) == 0:
        return cheapest, costs
    order = np.argsort(covers.costs, kind="stable")
    sizes = [each.size for each in covers.covered]
    first_covers(
        np.ascontiguousarray(values), np.ascontiguousarray(covers.texts[order]),
        np.concatenate([each.ravel() for each in covers.covered]),
        np.cumsum([0, *sizes[:-1]]), np.array([each.shape[1] for each in covers.covered]), cheapest,
    )
    covering = cheapest >= 0
    cheapest[covering] = order[cheapest[covering]]
    costs[covering] = covers.costs[cheapest[covering]]
    return cheapest, costs
