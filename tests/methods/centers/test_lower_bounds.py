"""What no clustering costs less than, around rows and around any points, and centroids' radii."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.methods import task_for
from kanon_sql.methods.centers.geometry import CELLULAR, RADIUS, WIDENED, facility_costs
from kanon_sql.methods.centers.lower_bounds import (
    cheapest_classes,
    neighbour_bound,
    radii_around,
)
from kanon_sql.points.points import Floats, MetricPoints
from tests.methods.centers import reference_cellular as reference
from tests.methods.centers.test_cellular import metric_points
from tests.support.partitions import partitions
from tests.support.thoroughness import often

ROUNDED = 1.0 + 1e-9


# --- around any points, on a line, where the best of them is half way -----------------------------


@st.composite
def lines(draw: Any, most: int = 8) -> tuple[MetricPoints, int, int]:
    """Records on a line, a k that they are enough for, n, n - 1 and n / 2 among them, and how many
    may be left out."""
    n = draw(st.integers(1, most))
    k = draw(st.sampled_from(sorted({1, min(2, n), max(n // 2, 1), max(n - 1, 1), n})))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    places = draw(st.sampled_from([
        rng.integers(0, 2, n).astype(float), rng.integers(0, 3 * n, n).astype(float),
        rng.normal(size=n), rng.standard_t(1, n),
    ]))
    return MetricPoints.of(np.sort(places)[:, None]), k, draw(st.sampled_from([0, 0, n // 4]))


def half_way(points: MetricPoints, members: list[int]) -> float:
    places = points.numeric[members, 0]
    return float(places.max() - places.min()) / 2.0


def clusterings(n: int, k: int, out: int) -> Any:
    """All clusterings of all but ``out`` records or fewer."""
    for left in range(out + 1):
        for kept in itertools.combinations(range(n), n - left):
            for classes in partitions(len(kept), k):
                if classes:
                    yield [[kept[i] for i in members] for members in classes]


def least(points: MetricPoints, k: int, out: int) -> tuple[float, float]:
    """The least of the largest radii, and the least cellular cost, around any points."""
    found = [
        [(len(own), half_way(points, own)) for own in classes]
        for classes in clusterings(len(points), k, out)
    ]
    return (
        min(max(radius for _, radius in each) for each in found),
        min(math.fsum(size * radius for size, radius in each) for each in found),
    )


def mean_cost(points: MetricPoints, labels: Any, objective: str) -> float:
    """What the centroids of the classes cost."""
    sizes = np.bincount(labels[labels >= 0])
    radii = [
        float(np.abs(points.numeric[labels == g, 0] - points.numeric[labels == g, 0].mean()).max())
        for g in range(len(sizes))
    ]
    return max(radii) if objective == "radius" else math.fsum(sizes * radii)


@often(150)
@given(lines(), st.sampled_from(["r_gather", "r_cellular"]))
def test_bounds_and_ratios_hold_for_centers_anywhere(
    table: tuple[MetricPoints, int, int], method: str
) -> None:
    points, k, out = table
    objective = "radius" if method == "r_gather" else "cellular"
    best = dict(zip(("radius", "cellular"), least(points, k, out), strict=True))[objective]
    epsilon = (out + 0.5) / len(points) if out else 0.0
    for publishes in ("anywhere", "means"):
        found = task_for(method, k, epsilon=epsilon, centers=publishes).group(points)
        assert found.centers is not None
        bound, ratio = found.facts["lower_bound"], found.facts["guaranteed_ratio"]
        assert bound <= best * ROUNDED
        radii = radii_around(points, found.labels, found.centers)
        sizes = np.bincount(found.labels[found.labels >= 0])
        own = radii.max() if objective == "radius" else math.fsum(sizes * radii)
        means = mean_cost(points, found.labels, objective)
        spent = means if publishes == "means" else min(means, own)
        assert bound <= spent * ROUNDED
        assert spent <= ratio * best * ROUNDED
        assert means <= WIDENED * own * ROUNDED


@often(60)
@given(lines(most=7), st.sampled_from([0.0, 0.3, 2.0, 50.0]))
def test_cellular_bounds_and_ratios_hold_for_centers_anywhere(
    table: tuple[MetricPoints, int, int], price: float
) -> None:
    points, _, _ = table
    points = facility_costs(points, price)
    best = min(
        math.fsum(price + len(own) * half_way(points, own) for own in classes)
        for classes in clusterings(len(points), 1, 0)
    )
    for publishes in ("anywhere", "means"):
        found = task_for("cellular", 2, centers=publishes).group(points)
        assert found.facts["lower_bound"] <= best * ROUNDED
        spent = found.facts["facility"] + mean_cost(points, found.labels, "cellular")
        assert found.facts["lower_bound"] <= spent * ROUNDED
        if publishes == "means":
            assert spent <= found.facts["guaranteed_ratio"] * best * ROUNDED


def test_facilities_far_away_void_the_guarantee_of_centers_anywhere() -> None:
    """Ten rows in one place that is dear open the cheap facility beside them. Their centroid then
    costs less than any row could."""
    points = facility_costs(
        MetricPoints.of([[0.0], *[[1.0]] * 10]), np.array([0.1, *[1000.0] * 10])
    )
    rows = task_for("cellular", 2, centers="rows").group(points)
    assert rows.facts["guaranteed_ratio"] == 4.0
    assert rows.facts["lower_bound"] > 1.0
    for publishes in ("anywhere", "means"):
        found = task_for("cellular", 2, centers=publishes).group(points)
        assert "guaranteed_ratio" not in found.facts
        assert found.labels.tolist() == [0] + [1] * 10
        assert found.facts["facility"] == 0.2
        assert 0.0 < found.facts["lower_bound"] <= 0.2 * ROUNDED


@pytest.mark.parametrize("k", [20, 19, 10])
def test_twenty_rows_in_two_places(k: int) -> None:
    """One class for k = 20 and 19, of radius 1 around the point half way, 2 around rows."""
    points = MetricPoints.of(np.repeat([[-1.0], [1.0]], 10, axis=0))
    halves = {"anywhere": 20.0, "means": 20.0, "rows": 40.0}
    for publishes, cost in halves.items():
        found = task_for("r_cellular", k, centers=publishes).group(points)
        if k > 10:
            assert found.labels.tolist() == [0] * 20
            assert found.facts["lower_bound"] == cost
        else:
            assert found.facts["lower_bound"] == 0.0
        found = task_for("r_gather", k, centers=publishes).group(points)
        assert found.facts["lower_bound"] == (cost / 20.0 if k > 10 else 0.0)


# --- around rows ----------------------------------------------------------------------------------


@often(60)
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from(["normal", "hamming", "grid"]),
       st.data())
def test_bounds_hold_around_rows(seed: int, n: int, kind: str, data: Any) -> None:
    """And are no lower than half of a bound around any points."""
    points, k = metric_points(kind, n, seed), data.draw(st.integers(1, n))
    away = np.array(reference.distances(points))
    found = [
        [(len(own), float(away[:, own].max(axis=1).min())) for own in classes]
        for classes in clusterings(n, k, 0)
    ]
    best = {
        "r_gather": min(max(radius for _, radius in each) for each in found),
        "r_cellular": min(math.fsum(s * radius for s, radius in each) for each in found),
    }
    for method, optimum in best.items():
        rows, free = (
            task_for(method, k, centers=publishes).group(points).facts["lower_bound"]
            for publishes in ("rows", "anywhere")
        )
        assert free <= rows * ROUNDED
        assert rows <= 2.0 * free * ROUNDED or method == "r_gather"
        assert rows <= optimum * ROUNDED
    if k == n:
        assert rows == pytest.approx(best["r_cellular"])


# --- the sum of the largest needs -----------------------------------------------------------------


def plainly(needs: Floats, k: int, out: int) -> float:
    return min(
        math.fsum(len(own) * max(needs[i] for i in own) for own in classes)
        for classes in clusterings(len(needs), k, out)
    )


@often(150)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(1, 8), st.integers(0, 3))
def test_the_cheapest_classes_are_those_of_all_partitions(
    given_needs: list[int], k: int, out: int
) -> None:
    needs = np.sort(np.array(given_needs, float))
    k = min(k, len(needs))
    assert cheapest_classes(needs, k, min(out, len(needs) - 1)) == plainly(
        needs, k, min(out, len(needs) - 1)
    )


def test_fewer_rows_may_cost_more() -> None:
    needs = np.array([0.0, 0.0, 5.0, 5.0])
    assert cheapest_classes(needs[:3], 2) == 15.0
    assert cheapest_classes(needs, 2) == cheapest_classes(needs, 2, 1) == 10.0


@often(40)
@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 30))
def test_the_cheapest_classes_of_many(seed: int, n: int, k: int) -> None:
    """Against the recursion that tries all sizes of the last class."""
    rng = np.random.default_rng(seed)
    needs = np.sort(rng.choice([rng.random(n), rng.standard_t(1, n) ** 2, np.ones(n)], axis=0))
    best = [0.0] + [math.inf] * n
    for m in range(1, n + 1):
        for size in range(k, min(2 * k - 1, m) + 1):
            best[m] = min(best[m], best[m - size] + size * needs[m - 1])
    expected = best[n] if n >= k else 0.0
    assert cheapest_classes(needs, k) == pytest.approx(expected, rel=1e-9)


@often(40)
@given(lines())
def test_the_bound_of_blocks_holds_for_centers_anywhere(
    table: tuple[MetricPoints, int, int]
) -> None:
    points, k, out = table
    radius, cellular = least(points, k, out)
    assert neighbour_bound(points, k, RADIUS.objective, out) <= radius * ROUNDED
    assert neighbour_bound(points, k, CELLULAR.objective, out) <= cellular * ROUNDED


# --- centroids ------------------------------------------------------------------------------------


@often(200)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3))
def test_a_centroid_reaches_at_most_twice_as_far_as_any_point(
    seed: int, n: int, numbers: int, words: int
) -> None:
    """With the mean of numbers, and of categories one of the most frequent."""
    rng = np.random.default_rng(seed)
    numeric = rng.choice([0.0, 1.0, 7.0], (n, numbers)) + rng.choice([0.0, 1.0]) * rng.normal(
        size=(n, numbers)
    )
    codes, scale = rng.integers(0, 3, (n, words)), rng.choice([0.1, 1.0, 4.0], words)
    center = np.array([rng.permutation(np.flatnonzero(
        np.bincount(column) == np.bincount(column).max()
    ))[0] for column in codes.T], dtype=np.int64)

    def reach(place: Floats, word: Any) -> float:
        squares = ((numeric - place) ** 2).sum(axis=1) + ((codes != word) * 2.0 * scale).sum(axis=1)
        return math.sqrt(float(squares.max()))

    own = reach(numeric.mean(axis=0), center)
    points = [(numeric[i], codes[i]) for i in range(n)]
    points += [
        (rng.normal(size=numbers), rng.integers(0, 3, words)),
        ((numeric.min(axis=0) + numeric.max(axis=0)) / 2.0, center),
        ((numeric.min(axis=0) + numeric.max(axis=0)) / 2.0, codes[rng.integers(0, n)]),
    ]
    for place, word in points:
        assert own <= WIDENED * reach(place, word) * ROUNDED
