"""The nearest of records of categories, by buckets, against a sort of all distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.points.points import Points
from kanon_sql.search import nearest_alike as alike
from kanon_sql.search.nearest_lists import nearest_lists
from tests.support.thoroughness import examples

SCALES = (1.0, 0.5, 0.15, 0.1, 0.05, 0.0, 1e-30, 7.0)
"""Some add up to others, up to rounding or to the bit; some are lost beside others."""


def sorted_away(points: Points, count: int) -> list[list[int]]:
    """The nearest of each record, by (key, index), of all that are sorted."""
    lists, n = [], len(points)
    for i in range(n):
        keys = np.zeros(n)
        for codes, scale in zip(points.codes.T, points.scale, strict=True):
            keys += np.where(codes != codes[i], 2.0 * scale, 0.0)
        order = np.argsort(keys, kind="stable")
        lists.append(order[order != i][:count].tolist())
    return lists


@st.composite
def tables(draw: st.DrawFn) -> Points:
    """Few categories or many, equal records, and columns that follow from the one before or
    after."""
    n, width = draw(st.integers(2, 60)), draw(st.integers(0, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns: list[Any] = []
    for _ in range(width):
        if columns and rng.random() < 0.4:
            columns.append(rng.integers(0, 4, 100)[columns[-1]])
        else:
            columns.append(rng.integers(0, rng.choice([1, 2, 5, 100]), n))
    if draw(st.booleans()):
        columns = columns[::-1]
    codes = np.array(columns, np.int64).reshape(width, n).T
    if draw(st.booleans()):
        codes = codes[rng.integers(0, max(1, n // 3), n)]
    return Points.of(np.zeros((n, 0)), codes, rng.choice(SCALES, width))


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(tables(), st.integers(0, 12))
def test_equals_a_sort_of_all(points: Points, count: int) -> None:
    found = nearest_lists(points, count)
    assert found.dtype == np.int32 and found.shape == (len(points), min(count, len(points) - 1))
    assert found.tolist() == sorted_away(points, count)


@pytest.mark.parametrize(("sets", "searches"), [(0, 0), (1, 0), (3, 2), (1000, 0)])
def test_a_tree_finds_the_same_where_buckets_end(
    sets: int, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(sets)
    codes = np.column_stack([rng.geometric(0.3, 500), rng.integers(0, 9, (500, 4))])
    points = Points.of(np.zeros((500, 0)), codes, np.ones(5))
    monkeypatch.setattr(alike, "SETS", sets)
    monkeypatch.setattr(alike, "SEARCHES", searches)
    full = alike.nearest_alike(points, np.zeros((500, 6), np.int32), np.zeros(2, np.int64))
    assert full.all() == (sets == 1000)
    assert nearest_lists(points, 6).tolist() == sorted_away(points, 6)


def test_numbers_and_many_columns_are_left_to_the_tree() -> None:
    lists, beat = np.zeros((9, 3), np.int32), np.zeros(2, np.int64)
    many = np.random.default_rng(0).integers(0, 3, (9, alike.COLUMNS + 1))
    wide = Points.of(np.zeros((9, 0)), many, np.ones(alike.COLUMNS + 1))
    assert not alike.nearest_alike(wide, lists, beat).any()
    assert nearest_lists(wide, 3).tolist() == sorted_away(wide, 3)
    numbers = Points.of(np.arange(9.0)[:, None], many[:, :2], [1.0, 1.0])
    assert not alike.nearest_alike(numbers, lists, beat).any()
