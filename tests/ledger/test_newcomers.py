"""Where newcomers go, against a search by hand."""

from __future__ import annotations

import numpy as np

from kanon_sql.ledger import newcomers
from kanon_sql.ledger.newcomers import (
    Covers,
    Frozen,
    cheapest_cover,
    groups_to_make,
    nearest_class,
    own_costs,
)
from kanon_sql.points.points import Points


def some(random: np.random.Generator, count: int) -> Points:
    return Points.of(
        random.integers(0, 4, (count, 2)).astype(float), random.integers(0, 3, (count, 2)),
        [0.5, 2.0],
    )


def frozen_of(random: np.random.Generator, count: int) -> Frozen:
    points = some(random, count)
    codes = np.where(random.random(points.codes.shape) < 0.2, -1, points.codes)
    return Frozen(np.arange(count) * 3 + 1, points.numeric, codes)


def cost(points: Points, i: int, frozen: Frozen, c: int) -> float:
    apart = sum((points.numeric[i] - frozen.numeric[c]) ** 2)
    return float(apart + sum(2.0 * points.scale * (points.codes[i] != frozen.codes[c])))


def test_the_nearest_class_is_the_first_of_those_that_cost_least() -> None:
    random = np.random.default_rng(3)
    for width in (2, 1, 0) * 20:
        points, frozen = some(random, 30), frozen_of(random, 9)
        points = Points.of(points.numeric[:, :width], points.codes, points.scale)
        frozen = Frozen(frozen.numbers, frozen.numeric[:, :width], frozen.codes)
        found, costs = nearest_class(points, frozen)
        for i in range(30):
            all_costs = [cost(points, i, frozen, c) for c in range(9)]
            assert found[i] == int(np.argmin(all_costs))
            assert costs[i] == min(all_costs)


def test_without_classes_nobody_can_join() -> None:
    random = np.random.default_rng(4)
    found, costs = nearest_class(some(random, 5), frozen_of(random, 9).part(np.zeros(0, np.int64)))
    assert (found == newcomers.NOWHERE).all()
    assert np.isinf(costs).all()


def test_what_a_group_costs_that_publishes_means_and_most_frequent_values() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        points, labels = some(random, 24), np.sort(random.integers(0, 4, 24))
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        for group, found in enumerate(own_costs(points, labels)):
            members = np.flatnonzero(labels == group)
            part = points.part(members)
            modes = [np.bincount(codes).argmax() for codes in part.codes.T]
            own = Frozen(
                np.array([1]), part.numeric.mean(axis=0)[None], np.array([modes], dtype=np.int32)
            )
            assert np.isclose(found, sum(cost(part, i, own, 0) for i in range(len(members))))


def test_a_group_is_made_only_where_joining_costs_more() -> None:
    own, labels = np.array([2.0, 2.0]), np.array([0, 0, 1, 1, -1])
    joining = np.array([0.5, 1.0, 3.0, 3.0, 0.0])
    assert groups_to_make(own, labels, joining).tolist() == [False, True]
    assert groups_to_make(own, labels, np.full(5, np.inf)).tolist() == [True, True]


def test_the_cheapest_class_that_covers_a_record() -> None:
    random, nowhere = np.random.default_rng(6), 0
    for _ in range(20):
        values = random.integers(0, 4, (40, 2))
        covers = Covers(
            np.arange(6), random.integers(1, 4, 6).astype(float), random.integers(0, 3, (6, 2)),
            (random.random((3, 4)) < 0.6, random.random((3, 4)) < 0.5),
        )
        found, costs = cheapest_cover(values, covers)
        for i, own in enumerate(values):
            first, second = covers.covered
            fitting = [
                c for c, (a, b) in enumerate(covers.texts)
                if first[a, own[0]] and second[b, own[1]]
            ]
            best = min(fitting, key=lambda c: (covers.costs[c], c), default=newcomers.NOWHERE)
            assert found[i] == best
            assert costs[i] == (covers.costs[best] if fitting else np.inf)
        nowhere += int(np.sum(found == newcomers.NOWHERE))
    assert 0 < nowhere < 800
    assert cheapest_cover(values, covers.part(np.zeros(0, np.int64)))[0].max() == newcomers.NOWHERE
