"""pairs and triples against brute force, and the instances of aggarwal2005."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError, OptionError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.cell_generalization import factor_classes
from kanon_sql.methods.cell_generalization.cycle_cuts import cheapest_cut, components
from kanon_sql.methods.cell_generalization.integer_weights import is_binary, whole_weights
from kanon_sql.methods.cell_generalization.lightest_factor import lightest_factor
from kanon_sql.methods.cell_generalization.pairs import pairs
from kanon_sql.methods.cell_generalization.triples import triples
from kanon_sql.points.losses import generalized_cells as cost
from kanon_sql.points.points import LossPoints
from tests.methods.cell_generalization.reference_factors import (
    one_or_two_factor,
    two_factor,
    weights,
)
from tests.support.partitions import partitions
from tests.support.thoroughness import often

METHODS: dict[int, Callable[..., Any]] = {2: pairs, 3: triples}


@st.composite
def tables(draw: st.DrawFn, least: int, most: int) -> LossPoints:
    """Records with flat columns, weighted ones, and a hierarchy of height 2 or 3."""
    n, letters = draw(st.integers(least, most)), draw(st.integers(2, 4))
    width, height = draw(st.integers(0, 3)), draw(st.sampled_from((0, 2, 3)))
    if width + height == 0:
        width = 1
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    flat = rng.integers(0, letters, (n, width))
    leaf = rng.integers(0, 2**height, n)
    levels = [leaf >> level for level in range(height)]
    weights = [draw(st.sampled_from((0.0, 0.5, 1.0, 2.0))) for _ in range(width)]
    scale = [*weights, *(1.0 / height for _ in range(height))]
    first = [*range(width), *[width] * height]
    return LossPoints.of(np.zeros((n, 0)), np.column_stack([flat, *levels]), scale, first=first)


def rows(*texts: str) -> LossPoints:
    """Records of one letter per column."""
    codes = np.array([list(map(int, text)) for text in texts])
    return LossPoints.of(np.zeros((len(texts), 0)), codes, np.ones(codes.shape[1]))


def optimum(points: LossPoints, k: int) -> float:
    """The least cost of all partitions into classes of k or more."""
    n, best = len(points), np.inf
    price: dict[tuple[int, ...], float] = {}
    for size in range(k, n + 1):
        for members in combinations(range(n), size):
            differs = (points.codes[list(members)] != points.codes[members[0]]).any(axis=0)
            price[members] = size * float(points.scale[differs].sum())
    for classes in partitions(n, k):
        best = min(best, sum(price[tuple(members)] for members in classes))
    return best


@pytest.mark.parametrize("k", METHODS)
@often(40)
@given(data=st.data())
def test_no_bound_is_broken(k: int, data: st.DataObject) -> None:
    points = data.draw(tables(k, 8 if k == 2 else 9))
    found = task_for(METHODS[k].__name__, k).group(points)
    sizes, best = np.bincount(found.labels), optimum(points, k)
    paid = cost(points, found.labels)
    assert sizes.min() >= k and sizes.max() <= 2 * k - 1
    ratios = {2: (1.5, 2.0), 3: (2.0, 3.0)}[k]
    assert found.facts["guaranteed_ratio"] == ratios[0 if is_binary(points) else 1]
    assert found.facts["lower_bound"] <= best + 1e-9
    assert paid <= found.facts["guaranteed_ratio"] * best + 1e-9


@often(40)
@given(points=tables(3, 6))
def test_the_factors_are_the_lightest(points: LossPoints) -> None:
    """Also those of matching, which larger ones are held against."""
    whole, n = whole_weights(points).points, len(points)
    costs = weights(whole)
    ends, least = list(costs), {1: np.inf, 2: np.inf}
    for mask in range(1 << len(ends)):
        chosen = [e for e in range(len(ends)) if mask >> e & 1]
        degrees = np.bincount(np.array([ends[e] for e in chosen], np.int64).ravel(), minlength=n)
        if degrees.max() <= 2:
            for low in (1, 2):
                if degrees.min() >= low:
                    least[low] = min(least[low], sum(costs[ends[e]] for e in chosen))
    for low, match in ((1, one_or_two_factor), (2, two_factor)):
        assert sum(costs[edge] for edge in match(n, costs)) == least[low]
        factor = lightest_factor(whole, low == 1, Watch())
        assert factor.weight == factor.bound == least[low]


@often(60)
@given(points=tables(3, 14), data=st.data())
def test_a_cut_costs_3_times_its_way_at_most(points: LossPoints, data: st.DataObject) -> None:
    """Lemmas 8 and 11, on any alphabet, for any cycle."""
    way = data.draw(st.permutations(range(len(points))))
    classes = cheapest_cut(points, way, True, (3, 4, 5))
    assert sorted(i for members in classes for i in members) == list(range(len(points)))
    assert all(3 <= len(members) <= 5 for members in classes)
    labels = np.empty(len(points), np.int64)
    for g, members in enumerate(classes):
        labels[members] = g
    around = [points.codes[a] != points.codes[b] for a, b in zip(way, [*way[1:], way[0]],
                                                                strict=True)]
    assert cost(points, labels) <= 3.0 * sum(float(points.scale[d].sum()) for d in around) + 1e-9


def test_the_tight_instance_of_section_6() -> None:
    points = rows("0000", "0001", "0011", "0111", "1111", "1110", "1100", "1000")
    assert len(components(8, [(i, (i + 1) % 8) for i in range(8)])) == 1
    classes = cheapest_cut(points, range(8), True, (3, 4, 5))
    labels = np.empty(8, np.int64)
    for g, members in enumerate(classes):
        labels[members] = g
    assert cost(points, labels) == 24.0  # 3 times the cycle's weight, 8
    found = task_for("triples", 3).group(points)
    assert cost(points, found.labels) == optimum(points, 3) == 24.0
    assert found.facts == {"lower_bound": 12.0, "guaranteed_ratio": 2.0}


@pytest.mark.parametrize("k", METHODS)
def test_equal_graphs_of_different_cost(k: int) -> None:
    """Section 4: all edges weigh 2 l, but one instance costs k^2 l, the other less than 4 k l."""
    length = 2 ** (k - 2)
    apart = rows(*("".join("1" if b == i else "0" for b in range(k) for _ in range(length))
                   for i in range(k)))
    halves = rows(*("".join("1" if p * 2**i // 2**k % 2 == 0 else "0" for p in range(2**k))
                    for i in range(1, k + 1)))
    for points, price in ((apart, k * k * length), (halves, k * (2**k - 2))):
        assert set(weights(points).values()) == {2 * length}
        labels = task_for(METHODS[k].__name__, k).group(points).labels
        assert labels.tolist() == [0] * k and cost(points, labels) == price


@pytest.mark.parametrize("k", METHODS)
def test_equal_records_share_classes_that_cost_nothing(k: int) -> None:
    for n in (k, 2 * k - 1, 2 * k, 11):
        points = LossPoints.of(np.zeros((n, 0)), np.zeros((n, 2)), [1.0, 1.0])
        found = task_for(METHODS[k].__name__, k).group(points)
        sizes = np.bincount(found.labels)
        assert sizes.min() >= k and sizes.max() <= 2 * k - 1
        assert found.facts["lower_bound"] == 0.0


@pytest.mark.parametrize("k", METHODS)
def test_too_many_records_are_refused_before_they_take_time(k: int) -> None:
    n = 10_001
    points = LossPoints.of(np.zeros((n, 0)), np.arange(n)[:, None], [1.0])
    with pytest.raises(DataError, match=r"takes 10000 rows at most, and there are 10001. Use fore"):
        task_for(METHODS[k].__name__, k).group(points)
    with pytest.raises(OptionError, match=f"for k = {k} only, and k is 4"):
        task_for(METHODS[k].__name__, 4).group(points)


@pytest.mark.parametrize("k", METHODS)
@pytest.mark.parametrize("n", [120, pytest.param(3_000, marks=pytest.mark.slow)])
def test_rows_of_which_none_is_nearer_than_another(k: int, n: int) -> None:
    """All edges weigh the same, and so do ever so many factors."""
    points = LossPoints.of(np.zeros((n, 0)), np.arange(n)[:, None].repeat(3, axis=1), np.ones(3))
    found = task_for(METHODS[k].__name__, k).group(points)
    assert np.bincount(found.labels).min() >= k
    assert found.facts == {"lower_bound": 3.0 * n, "guaranteed_ratio": float(k)}


@pytest.mark.slow
@pytest.mark.parametrize("k", METHODS)
def test_thousands_of_records_of_skewed_columns(k: int) -> None:
    rng = np.random.default_rng(k)
    codes = np.column_stack([
        np.minimum(rng.geometric(p, 4_000), 60) for p in (0.05, 0.1, 0.3, 0.5, 0.6, 0.8)
    ])
    points = LossPoints.of(np.zeros((4_000, 0)), codes[np.lexsort(codes.T[::-1])], np.ones(6))
    task = task_for(METHODS[k].__name__, k)
    found, forest = task.group(points), task_for("forest", k).group(points)
    sizes = np.bincount(found.labels)
    assert sizes.min() >= k and sizes.max() <= 2 * k - 1
    ratio, bound = found.facts["guaranteed_ratio"], found.facts["lower_bound"]
    assert k <= ratio <= 1.01 * k
    assert bound <= cost(points, found.labels) <= ratio * bound * (1 + 1e-12)
    assert bound >= forest.facts["lower_bound"]
    assert cost(points, found.labels) < 0.95 * cost(points, forest.labels)


@pytest.mark.parametrize("k", METHODS)
def test_a_factor_without_proof_guarantees_by_as_much_less(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    points = LossPoints.of(np.zeros((8, 0)), rng.integers(0, 4, (8, 5)), np.ones(5))
    task, real = task_for(METHODS[k].__name__, k), factor_classes.lightest_factor
    proven = task.group(points).facts
    weight = real(points, k == 2, Watch()).weight
    for bound, ratio in ((weight - 3, k * weight / (weight - 3)), (0, None)):
        monkeypatch.setattr(
            factor_classes, "lightest_factor",
            lambda *asked, bound=bound: real(*asked)._replace(bound=bound),
        )
        facts = task.group(points).facts
        assert facts.get("guaranteed_ratio") == (ratio and pytest.approx(ratio, rel=1e-15))
        assert facts["lower_bound"] <= proven["lower_bound"] <= optimum(points, k)


@pytest.mark.parametrize("k", METHODS)
def test_a_long_search_can_be_stopped(k: int) -> None:
    rng = np.random.default_rng(3)
    points = LossPoints.of(np.zeros((4000, 0)), rng.integers(0, 9, (4000, 6)), np.ones(6))
    watch = Watch()
    threading.Timer(0.5, watch.stop).start()
    begun = time.perf_counter()
    with pytest.raises(StoppedError):
        METHODS[k](points, task_for(METHODS[k].__name__, k), watch)
    assert time.perf_counter() - begun < 60.0


@pytest.mark.parametrize("k", METHODS)
def test_nothing_is_guaranteed_where_a_record_may_be_left_out(k: int) -> None:
    """A lone record that is left out costs its cells, but makes no factor dearer."""
    codes = np.append(np.repeat(np.arange(9 // k), k), 99)[:, None].repeat(2, axis=1)
    points = LossPoints.of(np.zeros((len(codes), 0)), codes, [1.0, 1.0])
    found = task_for(METHODS[k].__name__, k, suppress=0.2).group(points)
    assert found.facts == {"lower_bound": 2.0}  # of the lone one to any other


@pytest.mark.parametrize("k", METHODS)
def test_rounded_weights_guarantee_less(k: int) -> None:
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, 3, (7, 5)), np.zeros(7)])
    for least in (1.0, 1e-9):
        points = LossPoints.of(
            np.zeros((7, 0)), codes, [1.0, *least * np.array([1.1, 1.3, 1.7, 1.9]), 1.0]
        )
        whole = whole_weights(points)
        assert whole.points.scale[5] == 0.0  # constant
        found = task_for(METHODS[k].__name__, k).group(points)
        assert (found.facts["guaranteed_ratio"] == k) == (whole.low == whole.high) == (least == 1.0)
        assert found.facts["lower_bound"] <= optimum(points, k) * (1 + 1e-12)


def test_thirds_are_exact() -> None:
    points = LossPoints.of(
        np.zeros((4, 0)), np.arange(12).reshape(4, 3) % 5, [1 / 3] * 3, first=[0, 0, 0]
    )
    whole = whole_weights(points)
    assert whole.points.scale.tolist() == [1.0, 1.0, 1.0] and whole.low * 3 == 1
