"""Groups around the records of the rarest values first, against the algorithm read slowly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.local_search.far import far_from_all
from kanon_sql.methods.local_search.rarest_first import (
    AROUND,
    WIDER,
    WIDEST,
    Bounds,
    bounds_of,
    least_classes,
    rarest_first,
)
from kanon_sql.points.points import Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy.beta import BetaLikeness
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.frequency import AlphaFrequency
from kanon_sql.privacy.kernels import NEAR, violations
from kanon_sql.privacy.t_closeness import Closeness
from tests.support.gaps import gap
from tests.support.held import as_sets
from tests.support.thoroughness import examples


def allows(bounds: Bounds, records: list[int], size: int) -> bool:
    """Whether a class of so many records, these among them, has no value too often."""
    for codes, first in zip(bounds.codes.T, bounds.first.tolist(), strict=True):
        for code, many in zip(*np.unique(codes[records], return_counts=True), strict=True):
            if many > math.floor(bounds.upper[first + code] * size * (1.0 + NEAR)):
                return False
    return True


def reference(points: Points, bounds: Bounds, least: Any) -> list[int] | None:
    """Around each record in its turn, the nearest that fit; the rest where they fit."""
    n = len(points)
    labels, groups, hopeless = [-1] * n, list[list[int]](), n + 1
    away = far_from_all(points)
    order = sorted(range(n), key=lambda i: (-least[i], -away[i], i))
    for i in order:
        size = int(least[i])
        left = [j for j in range(n) if labels[j] < 0 and j != i]
        if labels[i] >= 0 or len(left) + 1 < size or size >= hopeless:
            continue
        left.sort(key=lambda j: (gap(points, i, j), j))
        for wide in (WIDER, WIDEST):
            chosen = [i]
            for j in left[: size * wide]:
                if len(chosen) < size and allows(bounds, [*chosen, j], size):
                    chosen.append(j)
            if len(chosen) == size:
                for j in chosen:
                    labels[j] = len(groups)
                groups.append(chosen)
                break
            if size * wide >= len(left):
                hopeless = size
                break
    if not groups:
        return None
    placed = [i for i in range(n) if labels[i] >= 0]
    for i in [i for i in order if labels[i] < 0]:
        near = sorted(placed, key=lambda j: (gap(points, i, j), j))[:AROUND]
        fitting = [labels[j] for j in near if not _more(bounds, groups[labels[j]], i)]
        labels[i] = fitting[0] if fitting else labels[near[0]]
        groups[labels[i]].append(i)
    return labels


def _more(bounds: Bounds, group: list[int], i: int) -> bool:
    """Whether a group with record i has one of its values too often."""
    size = len(group) + 1
    for codes, first in zip(bounds.codes.T, bounds.first.tolist(), strict=True):
        many = 1 + sum(codes[j] == codes[i] for j in group)
        if many > math.floor(bounds.upper[first + codes[i]] * size * (1.0 + NEAR)):
            return True
    return False


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(1, 70), k=st.integers(1, 4), columns=st.integers(0, 2),
    steps=st.integers(2, 9), seed=st.integers(0, 10**6),
)
def test_groups_are_those_of_the_algorithm(
    n: int, k: int, columns: int, steps: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # many ties
    points = Points.of(
        rng.integers(0, steps, (n, 2)).astype(float), rng.integers(0, 3, (n, 1)), [0.5]
    )
    values = rng.integers(1, 6, columns)
    codes = np.column_stack([
        np.zeros((n, 0), np.int32), *(np.minimum(rng.geometric(0.5, n) - 1, m) for m in values)
    ]).astype(np.int32)
    first = np.append(0, np.cumsum(values + 1))[:columns].astype(np.int64)
    upper = rng.choice([0.05, 0.1, 0.25, 0.5, 0.8, 1.0], int((values + 1).sum()))
    bounds = Bounds(codes, first, upper)
    least = least_classes(bounds, k)
    found, expected = rarest_first(points, bounds, least, Watch()), reference(points, bounds, least)
    if found is None or expected is None:
        assert found is None and expected is None
    else:
        assert as_sets(found) == as_sets(expected)
        assert found.min() == 0 and np.bincount(found).min() >= k


@settings(max_examples=examples(200), deadline=None)
@given(upper=st.floats(0.002, 1.0), k=st.integers(1, 9))
def test_the_least_class_is_the_first_that_may_have_the_value_once(upper: float, k: int) -> None:
    n = 1_000
    bounds = Bounds(np.zeros((n, 1), np.int32), np.zeros(1, np.int64), np.array([upper]))
    expected = next(
        size for size in range(1, n + 1)
        if size == n or upper >= 1.0 or math.floor(upper * size * (1.0 + NEAR)) >= 1
    )
    assert set(least_classes(bounds, k).tolist()) == {max(k, expected)}


def test_a_value_that_nobody_may_have_asks_for_all_records() -> None:
    codes = np.array([[0], [1], [1]], np.int32)
    bounds = Bounds(codes, np.zeros(1, np.int64), np.array([0.0, 1.0]))
    assert least_classes(bounds, 2).tolist() == [3, 2, 2]


def _points(counts: list[int]) -> Points:
    codes = np.repeat(np.arange(len(counts)), counts).astype(np.int32)[:, None]
    column = SensitiveColumn("illness", tuple(map(str, range(len(counts)))))
    n = len(codes)
    places = np.random.default_rng(7).permutation(n).astype(float)[:, None]
    points = Points.of(places, np.zeros((n, 0), np.int32), [])
    return replace(points, sensitive=codes, sensitive_columns=(column,))


def test_only_models_that_bound_each_value_have_bounds_of_their_own() -> None:
    points = _points([60, 30, 10])
    everybody = np.arange(100)
    near = demands_of(points, (Closeness(column="illness", t=0.2),), everybody)
    assert bounds_of(near).codes.shape == (100, 0)
    assert set(least_classes(bounds_of(near), 5).tolist()) == {5}
    both = (Closeness(column="illness", t=0.2), BetaLikeness(column="illness", beta=1.0))
    bounds = bounds_of(demands_of(points, both, everybody))
    # twice the share of all, and of frequent ones 1 - ln p times it
    assert bounds.upper[:3].tolist() == pytest.approx([0.6 * (1 - math.log(0.6)), 0.6, 0.2])
    assert dict(zip(*np.unique(least_classes(bounds, 3), return_counts=True), strict=True)) == {
        3: 90, 5: 10
    }
    frequent = AlphaFrequency(column="illness", alpha=0.7)
    same = bounds_of(demands_of(points, (frequent,), everybody))
    assert set(least_classes(same, 2).tolist()) == {2}
    named = AlphaFrequency(column="illness", by_value=(("2", 0.1),))
    own = bounds_of(demands_of(points, (named,), everybody))
    assert sorted(least_classes(own, 2).tolist()) == [2] * 90 + [10] * 10
    assert [each.bounds_values for each in (*both, frequent, named)] == [False, True, False, True]


def test_a_rare_value_makes_large_classes_of_its_neighbours_alone() -> None:
    points = _points([400, 400, 8])
    models = (BetaLikeness(column="illness", beta=1.0),)
    demands = demands_of(points, models, np.arange(808))
    bounds = bounds_of(demands)
    labels = rarest_first(points, bounds, least_classes(bounds, 4), Watch())
    assert labels is not None
    sizes = np.bincount(labels)
    # each record of the rare value in one of 51: twice its share of all; all others are small
    assert sorted(sizes.tolist())[-9:] == [4, *[51] * 8] and len(sizes) > 100
    assert (violations(demands, labels) > 0.0).mean() < 0.05


def test_thousands_of_rare_values_end() -> None:
    # half of the records have a value that nobody else has, and the others one that is too frequent
    # for a second class: once no class of that size can be made, it is not tried around each
    n = 40_000
    codes = np.where(np.arange(n) % 2 == 0, 0, np.arange(n)).astype(np.int32)[:, None]
    upper = np.full(n, 2.0 / n)
    upper[0] = 0.2
    bounds = Bounds(codes, np.zeros(1, np.int64), upper)
    places = np.random.default_rng(3).random((n, 2))
    labels = rarest_first(Points.of(places), bounds, least_classes(bounds, 5), Watch())
    assert labels is not None and np.bincount(labels).min() >= 5


def test_a_stop_is_heard() -> None:
    watch = Watch()
    watch.stop()
    bounds = Bounds(np.zeros((9, 1), np.int32), np.zeros(1, np.int64), np.ones(1))
    with pytest.raises(StoppedError):
        rarest_first(Points.of(np.arange(9.0)[:, None]), bounds, np.full(9, 2), watch)
