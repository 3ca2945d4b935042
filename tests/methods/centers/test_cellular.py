"""The primal-dual kernel and cellular against the readable reference, and what section 3 proves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.centers.cellular import cellular
from kanon_sql.methods.centers.primal_dual import grow
from kanon_sql.points import distances as of_points
from kanon_sql.points.distances import FORMS, distances_between
from kanon_sql.points.points import Grouping, MetricPoints
from kanon_sql.search import axes
from tests.methods.centers import reference_cellular as reference
from tests.support.kernels import from_python
from tests.support.partitions import partitions
from tests.support.thoroughness import often

distance_of, key_within = map(from_python, (of_points.distance_of, of_points.key_within))

KINDS = ("normal", "tails", "grid", "line", "hamming", "column_weights", "few", "sphere")


def metric_points(kind: str, n: int, seed: int) -> MetricPoints:
    """Records: numbers with few ties or many, codes, many equal ones ('few'), places."""
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return MetricPoints.of(rng.normal(size=(n, 2)), rng.integers(0, 2, (n, 1)), [0.1])
    if kind == "tails":
        return MetricPoints.of(rng.standard_t(2, size=(n, 3)))
    if kind == "grid":
        return MetricPoints.of(rng.integers(0, 4, (n, 2)))
    if kind == "line":
        return MetricPoints.of(rng.integers(0, 2 * n, (n, 1)))
    if kind in ("hamming", "column_weights"):
        codes = rng.integers(0, 3, (n, 4))
        scale = [0.5] * 4 if kind == "hamming" else [0.5, 0.1, 0.3, 0.0]
        return MetricPoints.of(np.zeros((n, 0)), codes, scale, "plain")
    if kind == "few":
        some = max(1, n // 5)
        return MetricPoints.of(rng.normal(size=(some, 2))[rng.integers(0, some, n)])
    lat, lon = rng.uniform(-1.5, 1.5, n), rng.uniform(-3.1, 3.1, n)
    places = [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
    return MetricPoints.of(np.column_stack(places), form="arc")


def facilities(points: MetricPoints, seed: int) -> MetricPoints:
    """The points with facility costs: all equal, different, some or all zero."""
    rng, n = np.random.default_rng(seed), len(points)
    size = float(np.mean(distances_between(points, 0, np.arange(n)))) * rng.choice([0.1, 1.0])
    choices = ([1.0], [0.0], [0.0, 0.3, 1.0, 2.0], rng.random(n))
    return replace(points, facility=size * rng.choice(choices[rng.integers(0, 4)], n))


@st.composite
def tables(draw: Any, most: int = 24, least: int = 1) -> MetricPoints:
    seed = draw(st.integers(0, 2**32))
    n = draw(st.integers(least, most))
    return facilities(metric_points(draw(st.sampled_from(KINDS)), n, seed), seed)


def run(points: MetricPoints, centers: str = "rows") -> Grouping:
    return task_for("cellular", 2, centers=centers).group(points)


def dual(points: MetricPoints) -> float:
    """The sum of the dual variables of procedure 1."""
    n = len(points)
    return math.fsum(
        grow(points, np.zeros(n), points.facility, 0.0, math.inf, 0, True, Watch()).alpha
    )


def cost(points: MetricPoints, found: Grouping) -> float:
    """Facility costs, and records times radii."""
    assert found.centers is not None
    total = math.fsum(points.facility[found.centers])
    for g, center in enumerate(found.centers):
        members = np.flatnonzero(found.labels == g)
        total += len(members) * float(distances_between(points, center, members).max())
    return total


@often(150)
@given(tables())
def test_equals_reference(points: MetricPoints) -> None:
    away = reference.distances(points)
    n = len(points)
    alpha, cluster, opened = reference.grow(
        away, reference.orders(away), [0.0] * n, points.facility.tolist(), 0.0, math.inf, 0, True
    )
    more, _, _ = reference.grow(
        away, reference.orders(away), [0.0] * n, points.facility.tolist(), 0.0, math.inf, 0, False
    )
    for centers in ("rows", "anywhere", "means"):
        found = run(points, centers)
        assert found.centers is not None
        assert found.labels.tolist() == cluster
        assert found.centers.tolist() == [v for v, _ in opened]
        assert found.facts["facility"] == math.fsum(float(points.facility[v]) for v, _ in opened)
        if centers == "rows":
            assert found.facts["lower_bound"] == max(math.fsum(alpha), math.fsum(more))
        alike = len(set(points.facility.tolist())) == 1 or centers == "rows"
        assert found.facts.get("guaranteed_ratio") == (
            {"rows": 4.0, "anywhere": 8.0, "means": 14.0}[centers] if alike else None
        )


@often(150)
@given(tables(), st.integers(1, 6), st.integers(0, 9), st.booleans(), st.randoms())
def test_growth_equals_reference(
    points: MetricPoints, k: int, rate: int, sweep: bool, chance: Any
) -> None:
    """With least and largest radii, costs that grow with the radius, records left unassigned."""
    away, n = reference.distances(points), len(points)
    least = [sorted(row)[min(k, n) - 1] for row in away]
    most = chance.choice([math.inf, chance.choice(chance.choice(away)), max(least)])
    spare = chance.choice([0, 0, n // 4])
    alpha, cluster, opened = reference.grow(
        away, reference.orders(away), least, points.facility.tolist(), rate, most, spare, sweep
    )
    growth = grow(
        points, np.array(least), points.facility, float(rate), most, spare, sweep, Watch()
    )
    assert growth.alpha.tolist() == alpha
    assert growth.cluster.tolist() == cluster
    assert list(zip(growth.centers.tolist(), growth.radii.tolist(), strict=True)) == opened
    assert growth.left == cluster.count(-1)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("normal", 600), ("tails", 200), ("hamming", 600)])
def test_growth_equals_reference_on_hundreds_of_records(
    kind: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fill several nodes of the tree, and more than one tree of those unassigned."""
    monkeypatch.setattr(reference, "shut_down", SHUT_DOWN)
    points = metric_points(kind, n, 3)
    away = np.array([distances_between(points, i, np.arange(n)) for i in range(n)])
    order = np.argsort(away, axis=1, kind="stable")
    sorted_away = np.sort(away, axis=1)
    for least, base, rate, sweep in (
        (np.zeros(n), np.full(n, sorted_away[:, 5].mean()), 0.0, True),
        (sorted_away[:, 4].copy(), np.zeros(n), 5.0, False),
    ):
        alpha, cluster, opened = GROW(away, order, least, base, rate, math.inf, 0, sweep)
        growth = grow(points, least, base, rate, math.inf, 0, sweep, Watch())
        assert growth.alpha.tolist() == list(alpha)
        assert growth.cluster.tolist() == list(cluster)
        assert list(zip(growth.centers.tolist(), growth.radii.tolist(), strict=True)) == opened


SHUT_DOWN, GROW = njit(reference.shut_down), njit(reference.grow)


@often(60)
@given(tables(most=7))
def test_cost_is_at_most_4_times_the_optimum(points: MetricPoints) -> None:
    away, n = np.array(reference.distances(points)), len(points)
    optimum = min(
        sum(
            float(np.min(points.facility + len(members) * away[:, members].max(axis=1)))
            for members in classes
        )
        for classes in partitions(n, 1)
    )
    found = run(points)
    assert found.facts["lower_bound"] <= optimum * (1.0 + 1e-9)
    assert optimum <= cost(points, found) * (1.0 + 1e-9)
    assert cost(points, found) <= 4.0 * optimum * (1.0 + 1e-9)


@often(60)
@given(tables(most=40))
def test_cost_is_at_most_4_times_the_dual_value(points: MetricPoints) -> None:
    """Theorem 3.3, and lemma 3.2 for the facility costs alone; the rest is at most 3 times that."""
    found, value = run(points), dual(points) * (1.0 + 1e-9)
    assert value <= found.facts["lower_bound"] * (1.0 + 1e-9) ** 2
    assert found.facts["facility"] <= value
    assert cost(points, found) - found.facts["facility"] <= 3.0 * value


@often(60)
@given(tables(most=40), st.booleans(), st.integers(0, 6))
def test_dual_variables_are_feasible(points: MetricPoints, sweep: bool, rate: int) -> None:
    """No cluster gets more than its cost."""
    n = len(points)
    growth = grow(points, np.zeros(n), points.facility, rate, math.inf, 0, sweep, Watch())
    for v, row in enumerate(reference.distances(points)):
        for d in row:
            paid = sum(max(growth.alpha[i] - d, 0.0) for i in range(n) if row[i] <= d)
            assert paid <= (points.facility[v] + rate * d) * (1.0 + 1e-9) + 1e-9 * max(row)


@often(60)
@given(tables(most=60))
def test_clusters_are_a_partition(points: MetricPoints) -> None:
    found = run(points)
    assert found.centers is not None
    sizes = np.bincount(found.labels, minlength=len(found.centers))
    assert found.labels.min() == 0
    assert len(sizes) == len(found.centers)
    assert sizes.min() >= 1


def test_free_facilities_make_clusters_of_equal_records() -> None:
    points = MetricPoints.of([[0.0], [0.0], [1.0], [3.0], [3.0], [3.0]])
    found = run(points)
    assert found.labels.tolist() == [0, 0, 1, 2, 2, 2]
    assert found.facts == {"lower_bound": 0.0, "guaranteed_ratio": 4.0, "facility": 0.0}


def test_dear_facilities_make_one_cluster() -> None:
    points = MetricPoints.of([[0.0], [1.0], [2.0], [3.0], [4.0]], facility=[1e6] * 5)
    found = run(points)
    assert found.labels.tolist() == [0] * 5
    assert found.centers is not None
    assert found.centers.tolist() == [2]
    assert found.facts["lower_bound"] == pytest.approx(1e6 + 10.0)
    assert run(points, "anywhere").facts["lower_bound"] == pytest.approx(1e6 + 5.0)


def test_idle_records_join_what_shut_their_cluster_down() -> None:
    """(0, 1) opens at time 2.5. Record 1 has a tight edge to (1, 2.2), of which record 2 is a
    member: it joins, 3.2 from the center."""
    points = MetricPoints.of([[0.0], [1.0], [3.2]], facility=[3.0, 9.0, 9.0])
    found = run(points)
    assert found.labels.tolist() == [0, 0, 0]
    assert found.centers is not None
    assert found.centers.tolist() == [0]
    assert dual(points) == 7.5
    assert found.facts["lower_bound"] >= 7.5


@pytest.mark.parametrize("scale", [1e-160, 1e-3, 1e150])
def test_size_does_not_matter(scale: float) -> None:
    points = facilities(metric_points("grid", 40, 1), 4)
    scaled = replace(points, numeric=points.numeric * scale, facility=points.facility * scale)
    assert run(scaled).labels.tolist() == run(points).labels.tolist()


def test_axes_of_the_tree_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    numeric = rng.normal(size=(1500, 2)) @ rng.normal(size=(2, 5))
    points = MetricPoints.of(numeric, facility=np.full(1500, 0.5))
    assert not np.array_equal(axes.make_space(points)[4], numeric)
    turned = run(points)
    monkeypatch.setattr(axes, "TURN_FROM", 10_000)
    assert run(points).labels.tolist() == turned.labels.tolist()


def test_small_cases() -> None:
    none = run(MetricPoints.of(np.zeros((0, 2))))
    assert none.labels.tolist() == []
    one = run(MetricPoints.of([[0.5]], facility=[2.0]))
    assert one.labels.tolist() == [0]
    assert one.facts == {"lower_bound": 2.0, "guaranteed_ratio": 4.0, "facility": 2.0}
    bare = run(MetricPoints.of(np.zeros((7, 0)), facility=[3.0] * 7))
    assert bare.labels.tolist() == [0] * 7


def test_stops_when_told() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        cellular(facilities(metric_points("normal", 400, 1), 0), task_for("cellular", 2), watch)


def test_tells_how_far_it_is() -> None:
    watch = Watch()
    watch.begin("grouping", 403)
    cellular(facilities(metric_points("normal", 403, 1), 0), task_for("cellular", 2), watch)
    assert watch.done == watch.total == 806  # once more for the lower bound


@pytest.mark.parametrize("form", ["root", "plain", "arc"])
def test_distances_are_those_of_points(form: Any) -> None:
    rng = np.random.default_rng(1)
    points = MetricPoints.of(rng.random((50, 3)) * 1.2, form=form)
    some, others = rng.integers(0, 50, 200), rng.integers(0, 50, 200)
    keys = np.sum((points.numeric[some] - points.numeric[others]) ** 2, axis=1)
    found = distances_between(points, some, others)
    np.testing.assert_allclose(found, points.distances(keys), rtol=1e-14)
    for distance in found:
        key = key_within(distance, FORMS[form])
        assert distance <= distance_of(key, FORMS[form]) <= distance * (1.0 + 1e-6) + 1e-12
