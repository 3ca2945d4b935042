"""r_cellular against the readable reference, the true optimum, and aggarwal2006, section 3.1."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.centers import r_cellular as module
from kanon_sql.methods.centers.disjoint_clusters import Disjoint
from kanon_sql.methods.centers.improve import costs, diameters
from kanon_sql.methods.centers.primal_dual import grow
from kanon_sql.methods.centers.r_cellular import RATIO, WITH_EPSILON, r_cellular
from kanon_sql.methods.centers.shared_clusters import SharedClusters, share
from kanon_sql.points.distances import distances_between
from kanon_sql.points.points import Grouping, Labels, MetricPoints
from kanon_sql.search.nearest_lists import nearest_lists
from tests.methods.centers import reference_cellular as reference
from tests.methods.centers.test_cellular import KINDS, metric_points, often
from tests.support.partitions import partitions

SHARES = (0.0, 0.0, 0.15, 0.4, 0.7)
ROUNDED = 1.0 + 1e-9


@st.composite
def tables(draw: Any, most: int = 24) -> tuple[MetricPoints, int]:
    """Records, and a k that they are enough for."""
    n = draw(st.integers(1, most))
    points = metric_points(draw(st.sampled_from(KINDS)), n, draw(st.integers(0, 2**32)))
    return points, draw(st.integers(1, min(n, 6)))


def run(points: MetricPoints, k: int, options: Mapping[str, Any] | None = None) -> Grouping:
    """With rows as centers: of others see test_lower_bounds.py."""
    return task_for("r_cellular", k, **{"centers": "rows", **(options or {})}).group(points)


def cost(points: MetricPoints, found: Grouping) -> float:
    assert found.centers is not None
    return math.fsum(costs(points, found.labels, found.centers))


def optimum(points: MetricPoints, k: int, out: int = 0, wide: float = math.inf) -> float:
    """The least cost of all partitions of all subsets, with records as centers."""
    away, n, best = np.array(reference.distances(points)), len(points), math.inf

    @cache
    def price(own: tuple[int, ...]) -> float:
        rows = list(own)
        narrow = away[np.ix_(rows, rows)].max() <= wide
        return len(rows) * float(away[:, rows].max(axis=1).min()) if narrow else math.inf

    for left in range(out + 1):
        for kept in itertools.combinations(range(n), n - left):
            for classes in partitions(len(kept), k):
                best = min(best, sum(price(tuple(kept[i] for i in own)) for own in classes))
    return best


def assert_classes(points: MetricPoints, k: int, out: int, found: Grouping) -> None:
    """Classes of k or more, all numbers in use, at most ``out`` records left out."""
    assert found.centers is not None
    assert found.labels.shape == (len(points),)
    assert int(np.sum(found.labels < 0)) <= out
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=len(found.centers))
    assert len(sizes) == len(found.centers)
    assert sizes.min() >= k


# --- the reference ------------------------------------------------------------------------------


@often(150)
@given(tables(), st.sampled_from(SHARES))
def test_equals_reference(table: tuple[MetricPoints, int], epsilon: float) -> None:
    points, k = table
    out = int(epsilon * len(points))
    found = run(points, k, {"epsilon": epsilon})
    classes, bound = reference.r_cellular(points, k, out)
    assert found.centers is not None
    assert found.centers.tolist() == [center for center, _ in classes]
    for g, (_, members) in enumerate(classes):
        assert np.flatnonzero(found.labels == g).tolist() == members
    assert int(np.sum(found.labels < 0)) == len(points) - sum(len(m) for _, m in classes)
    assert found.facts["lower_bound"] >= bound


@pytest.mark.parametrize("kind", KINDS)
def test_equals_reference_on_more_records(kind: str) -> None:
    points = metric_points(kind, 90, 5)
    found, (classes, _) = run(points, 3), reference.r_cellular(points, 3, 0)
    assert found.centers is not None
    assert found.centers.tolist() == [center for center, _ in classes]
    assert [np.flatnonzero(found.labels == g).tolist() for g in range(len(classes))] == [
        members for _, members in classes
    ]


# --- what is proved -------------------------------------------------------------------------------


@often(60)
@given(tables(most=9))
def test_cost_and_bound_against_the_optimum(table: tuple[MetricPoints, int]) -> None:
    points, k = table
    best, found = optimum(points, k), run(points, k)
    assert found.facts["lower_bound"] <= best * ROUNDED
    assert best <= cost(points, found) * ROUNDED
    assert cost(points, found) <= found.facts["guaranteed_ratio"] * best * ROUNDED


@often(50)
@given(tables(most=7), st.sampled_from(SHARES[2:]), st.booleans())
def test_cost_and_bound_with_records_left_out(
    table: tuple[MetricPoints, int], epsilon: float, all_runs: bool
) -> None:
    """Also where no bound ends the search for the largest radius."""
    points, k = table
    out = int(epsilon * len(points))
    best = optimum(points, k, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WITH_EPSILON", -1.0 if all_runs else WITH_EPSILON)
        found = run(points, k, {"epsilon": epsilon})
    assert_classes(points, k, out, found)
    assert found.facts["lower_bound"] <= best * ROUNDED
    assert best <= cost(points, found) * ROUNDED
    assert cost(points, found) <= WITH_EPSILON * best * ROUNDED
    if not all_runs:
        assert found.facts["guaranteed_ratio"] == (WITH_EPSILON if out else RATIO)


def shared_of(points: MetricPoints, k: int, most: float, out: int) -> tuple[SharedClusters | None,
                                                                            Any]:
    n = len(points)
    lists = nearest_lists(points, k - 1)
    least = distances_between(points, np.arange(n), lists[:, -1]) if k > 1 else np.zeros(n)
    return share(points, k, lists, least, most, out, Watch()), np.sort(least)


@often(150)
@given(tables(most=40), st.sampled_from(SHARES), st.booleans())
def test_shared_and_disjoint_clusters_cost_what_is_proved(
    table: tuple[MetricPoints, int], epsilon: float, limited: bool
) -> None:
    """Three times the dual value and 3 unpaid; ten times that; radii at most 3 d."""
    points, k = table
    out = int(epsilon * len(points))
    _, least = shared_of(points, k, math.inf, out)
    shared, _ = shared_of(points, k, float(least[-1]) if limited else math.inf, out)
    assert shared is not None  # the largest distance needed is enough for all
    held = Disjoint(points, k, shared.centers, shared.members)
    spent = sum(len(own) * d for own, d in zip(held.members, held.radii, strict=True))
    assert spent <= 3.0 * (2.0 * shared.bound + shared.unpaid) * ROUNDED
    assert held.radii.max() <= 3.0 * shared.widest * ROUNDED
    assert all(len(own) >= k for own in shared.members)
    centers, classes = held.classes()
    rows = np.concatenate(classes)
    assert sorted(rows.tolist()) == np.unique(np.concatenate(shared.members)).tolist()
    assert min(len(own) for own in classes) >= k
    total = sum(
        len(own) * distances_between(points, center, own).max()
        for center, own in zip(centers, classes, strict=True)
    )
    assert total <= 10.0 * spent * ROUNDED


def test_sharing_after_procedure_1_has_no_constant_bound() -> None:
    """What the paper does: a record joins a cluster of cost near 2 r, and makes it one of r^2."""
    r = 200
    line = np.concatenate([np.zeros(r), [1.0, r + 1.0], np.full(r, r + 2.01)])[:, None]
    points, best = MetricPoints.of(line), 2.01 * (r + 1)
    away = distances_between(points, np.repeat(np.arange(2 * r + 2), 2 * r + 2),
                             np.tile(np.arange(2 * r + 2), 2 * r + 2)).reshape(2 * r + 2, -1)
    least = np.sort(away, axis=1)[:, r - 1].copy()
    growth = grow(points, least, np.zeros(len(line)), float(r), math.inf, 0, True, Watch())
    assert growth.cluster[r] == growth.cluster[r + 1]
    center = growth.centers[growth.cluster[r]]
    assert r * away[center, r + 1] > 90.0 * best
    assert cost(points, run(points, r)) == pytest.approx(best)


def test_a_last_cluster_too_dear_is_tried_without() -> None:
    """2500 records at 100 from a dense spot open one large cluster before a record at 0.6 from
    another spot can pay: cheap where all are kept, but one of them is enough."""
    k, far = 250, 2500
    codes = np.zeros((2 * k + 1 + far, 3), np.int64)
    codes[k : 2 * k + far, 0] = 1  # two spots, 1000 apart
    codes[2 * k : 2 * k + far, 1] = 1 + np.arange(far)  # each at 100 from the second
    codes[-1, 2] = 1  # at 0.6 from the first
    points = MetricPoints.of(np.zeros((len(codes), 0)), codes, [500.0, 50.0, 0.3], "plain")
    found = run(points, k, {"epsilon": (far + 0.5) / len(codes)})
    assert cost(points, found) == pytest.approx(0.6 * (k + 1))
    assert found.facts["lower_bound"] <= 0.6 * (k + 1)
    assert found.labels[-1] >= 0
    assert int(np.sum(found.labels < 0)) == far


# --- the paper's examples -------------------------------------------------------------------------


def test_figure_1() -> None:
    """Alpha, alpha + 2 and gamma - 3, gamma, gamma + 3; the first cluster's center is between its
    records in the paper, here it is one of them."""
    points = MetricPoints.of([[0.0, 0.0], [2.0, 0.0], [50.0, 47.0], [50.0, 50.0], [50.0, 53.0]])
    found = run(points, 2)
    assert found.labels.tolist() == [0, 0, 1, 1, 1]
    assert found.centers is not None
    assert found.centers.tolist()[1] == 3
    assert cost(points, found) == found.facts["lower_bound"] == 2 * 2.0 + 3 * 3.0


def test_figure_3() -> None:
    codes = [[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    points = MetricPoints.of(np.zeros((5, 0)), codes, [0.5] * 4, "plain")
    found = run(points, 5)
    assert found.labels.tolist() == [0] * 5
    assert found.centers is not None
    assert found.centers.tolist() == [0]
    assert cost(points, found) == found.facts["lower_bound"] == 5.0


# --- a largest diameter ---------------------------------------------------------------------------


def widest(points: MetricPoints, labels: Labels) -> float:
    return float(diameters(points, labels, Watch()).max(initial=0.0))


@often(150)
@given(tables(most=40), st.sampled_from(SHARES), st.floats(0.05, 1.2))
def test_no_class_is_wider_than_asked_for(
    table: tuple[MetricPoints, int], epsilon: float, share_of_all: float
) -> None:
    """Or it is refused; and what the error says there is will be found."""
    points, k = table
    out = int(epsilon * len(points))
    wide = share_of_all * widest(points, np.zeros(len(points), np.int64)) + 1e-3
    options = {"epsilon": epsilon, "max_diameter": wide}
    try:
        found = run(points, k, options)
    except DataError as error:
        advice = re.search(r"with (\S+) there are some", str(error))
        if advice is None:
            assert int(np.sum(shared_of(points, k, math.inf, out)[1] > wide)) > out
            return
        options["max_diameter"] = wide = float(advice[1])
        found = run(points, k, options)
    assert_classes(points, k, out, found)
    away = np.array(reference.distances(points))
    for g in range(found.labels.max() + 1):
        own = np.flatnonzero(found.labels == g)
        assert away[np.ix_(own, own)].max() <= wide
    assert set(found.facts) == {"lower_bound"}
    assert found.facts["lower_bound"] <= cost(points, found) * ROUNDED


@often(30)
@given(tables(most=8), st.floats(0.2, 1.0))
def test_impossible_diameters_are_refused(
    table: tuple[MetricPoints, int], share_of_all: float
) -> None:
    points, k = table
    wide = share_of_all * widest(points, np.zeros(len(points), np.int64)) + 1e-3
    best = optimum(points, k, 0, wide)
    try:
        found = run(points, k, {"max_diameter": wide})
    except DataError:
        return
    assert math.isfinite(best)
    assert found.facts["lower_bound"] <= best * ROUNDED


def test_records_without_neighbours_are_counted_in_the_refusal() -> None:
    points = MetricPoints.of([[0.0], [1.0], [2.0], [50.0], [90.0]])
    with pytest.raises(DataError, match=r"^2 rows have fewer than k-1 others within"):
        run(points, 2, {"max_diameter": 5.0})
    with pytest.raises(DataError, match=r"^2 rows .* 1 may be left out\."):
        run(points, 2, {"max_diameter": 5.0, "epsilon": 0.2})
    found = run(points, 2, {"max_diameter": 5.0, "epsilon": 0.4})
    assert found.labels.tolist() == [0, 0, 0, -1, -1]


def test_wide_classes_are_narrowed() -> None:
    """Where classes of the least cost are too wide, others are found that cost hardly more."""
    points = metric_points("normal", 300, 5)
    free = run(points, 5)
    wide = 1.1 * float(shared_of(points, 5, math.inf, 0)[1][-1])
    assert widest(points, free.labels) > 1.5 * wide
    found = run(points, 5, {"max_diameter": wide})
    assert widest(points, found.labels) <= wide
    assert cost(points, found) <= 1.1 * cost(points, free)


# --- what holds for all ---------------------------------------------------------------------------


@often(80)
@given(tables(most=80), st.sampled_from(SHARES))
def test_classes_have_k_or_more(table: tuple[MetricPoints, int], epsilon: float) -> None:
    points, k = table
    found = run(points, k, {"epsilon": epsilon})
    assert_classes(points, k, int(epsilon * len(points)), found)
    assert found.facts["lower_bound"] <= cost(points, found) * ROUNDED
    again = run(points, k, {"epsilon": epsilon})
    assert (again.labels == found.labels).all()


def test_small_cases() -> None:
    none = run(MetricPoints.of(np.zeros((0, 2))), 3)
    assert none.labels.tolist() == []
    one = run(MetricPoints.of([[0.5]]), 1)
    assert one.labels.tolist() == [0]
    bare = run(MetricPoints.of(np.zeros((7, 0))), 3)
    assert_classes(MetricPoints.of(np.zeros((7, 0))), 3, 0, bare)
    alone = MetricPoints.of([[0.0], [4.0], [9.0]])
    assert cost(alone, run(alone, 1)) == run(alone, 1).facts["lower_bound"] == 0.0
    assert cost(alone, run(alone, 3)) == run(alone, 3).facts["lower_bound"] == 15.0


def test_heaps_are_found() -> None:
    """Heaps of k equal records are classes, and nothing is lost."""
    points = MetricPoints.of(np.repeat([[0.0], [1.0], [5.0], [5.5]], 4, axis=0))
    found = run(points, 4)
    assert sorted(np.bincount(found.labels).tolist()) == [4, 4, 4, 4]
    assert cost(points, found) == 0.0


@pytest.mark.parametrize("scale", [1e-160, 1e-3, 1e150])
def test_size_does_not_matter(scale: float) -> None:
    points = metric_points("grid", 60, 1)
    scaled = MetricPoints.of(points.numeric * scale)
    assert_classes(scaled, 4, 0, run(scaled, 4))
    assert cost(scaled, run(scaled, 4)) == pytest.approx(scale * cost(points, run(points, 4)))


def test_stops_when_told() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        r_cellular(metric_points("normal", 400, 1), task_for("r_cellular", 5), watch)


def test_tells_how_far_it_is() -> None:
    watch = Watch()
    watch.begin("grouping", 400)
    r_cellular(metric_points("normal", 400, 1), task_for("r_cellular", 5, max_diameter=30.0), watch)
    assert watch.done == watch.total > 400
