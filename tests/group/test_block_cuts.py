"""Where tables are cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.group.block_cuts import BlockCuts, cut_blocks
from kanon_sql.group.run import group_points
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search.refine import loss_of
from kanon_sql.points.points import LossPoints, Points


def drawn(
    seed: int, n: int, numbers: list[int], kinds: list[int], linear: bool = False
) -> Points:
    """Records with so many different values in each column, some of them far more frequent."""
    draw = np.random.default_rng(seed)
    length = 1.0 if linear else 3.0
    values = [np.floor(draw.uniform(size=n) ** 2 * m) * length / m for m in numbers]
    codes = [(draw.uniform(size=n) ** 2 * m).astype(np.int32) for m in kinds]
    matrix = np.column_stack(values) if values else np.zeros((n, 0))
    table = np.column_stack(codes) if codes else np.zeros((n, 0), np.int32)
    of = LossPoints.of if linear else Points.of
    return of(matrix, table, [1.0] * len(kinds))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 400), size=st.integers(1, 90),
    numbers=st.lists(st.sampled_from((1, 3, 1000)), max_size=3),
    kinds=st.lists(st.integers(1, 9), max_size=3), linear=st.booleans(),
)
def test_blocks_share_all_records_out_evenly(
    seed: int, n: int, size: int, numbers: list[int], kinds: list[int], linear: bool
) -> None:
    points = drawn(seed, n, numbers, kinds, linear)
    blocks = cut_blocks(points, size, 3)
    assert sorted(np.concatenate(blocks.members).tolist()) == list(range(n))
    assert len(blocks.members) == -(-n // size)
    assert max(map(len, blocks.members)) <= size
    assert max(map(len, blocks.members)) - min(map(len, blocks.members)) <= 1
    assert all((np.diff(rows) > 0).all() for rows in blocks.members)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 300), at=st.integers(1, 299),
    numbers=st.lists(st.sampled_from((1, 3, 1000)), max_size=2),
    kinds=st.lists(st.integers(1, 9), max_size=3),
)
def test_a_cut_divides_one_value_at_most_in_each_column_that_it_goes_along(
    seed: int, n: int, at: int, numbers: list[int], kinds: list[int]
) -> None:
    points, at = drawn(seed, n, numbers, kinds), min(at, n - 1)
    cuts = BlockCuts(points, 3)
    below = cuts.cut(np.arange(n), at)
    assert np.count_nonzero(below) == at
    for seam in cuts.seams:
        low, high = seam.rows[below[seam.rows]], seam.rows[~below[seam.rows]]
        if seam.column < 0:
            for column in range(len(numbers) + len(kinds)):
                assert len(np.unique(cuts.values(seam.rows, column))) == 1
            continue
        assert (cuts.values(low, seam.column) <= seam.value).all()
        assert (cuts.values(high, seam.column) >= seam.value).all()
    # the next seam is through the records that the one before would have divided
    for outer, inner in zip(cuts.seams, cuts.seams[1:], strict=False):
        assert (cuts.values(inner.rows, outer.column) == outer.value).all()
        assert inner.column != outer.column


def test_a_sample_that_is_alike_does_not_make_all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.group.block_cuts.SAMPLE", 10)
    values = np.zeros((100, 2))
    values[1::10, 1] = 1.0
    assert BlockCuts(Points.of(values), 2).harmless(np.arange(100)) == 1


def test_of_few_records_none_is_left_out_of_the_sample() -> None:
    """A cut costs least along the first column, in which every other record is alike."""
    values = np.column_stack([np.arange(8) % 2 * np.arange(8) * 10.0, np.arange(8) * 0.1])
    assert BlockCuts(Points.of(values), 2).harmless(np.arange(8)) == 0


def test_of_columns_that_cost_about_the_same_the_one_of_more_values_is_cut() -> None:
    """The costs are .1583 and .1579; 5 records have the same number in the first column, and 6 in
    the other."""
    draw = np.random.default_rng(241)
    values = draw.integers(0, 6, (20, 2)).astype(np.float64)
    values[:, 1] *= draw.uniform(0.9, 1.1)
    assert [np.unique(each, return_counts=True)[1].max() for each in values.T] == [5, 6]
    assert BlockCuts(Points.of(values), 2).harmless(np.arange(20)) == 0


def test_records_that_are_all_alike_are_cut_anywhere() -> None:
    cuts = BlockCuts(Points.of(np.ones((6, 2))), 2)
    assert cuts.cut(np.arange(6), 2).tolist() == [True, True, *[False] * 4]
    (seam,) = cuts.seams
    assert (seam.rows.tolist(), seam.column, seam.value) == (list(range(6)), -1, 0.0)


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["mdav_star", "mdav_plus", "k_member"])
def test_blocks_of_a_mixed_table_lose_no_more(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes that agree in their categories and are long in the numbers: 40,000 rows in four
    blocks. A cut along a number would cost 4 percent and more."""
    points = drawn(3, 40_000, [10**6, 10**6], [40, 5], linear=method == "k_member")
    one = loss_of(points, group_points(points, task_for(method, 5)).labels)
    asked = task_for(method, 5, block_rows=10_000)
    four = group_points(points, asked)
    assert four.facts["blocks"] == 4
    assert loss_of(points, four.labels) < 1.01 * one
    with monkeypatch.context() as patched:
        patched.setattr(BlockCuts, "harmless", lambda self, rows: 0)
        patched.setattr("kanon_sql.group.blocks.MENDING", 0)
        along_a_number = group_points(points, asked)
    assert loss_of(points, along_a_number.labels) > 1.04 * one


@pytest.mark.parametrize("method", ["mdav_star", "k_member"])
def test_where_no_class_has_both_sides_none_is_mended(method: str) -> None:
    """Two categories of two hundred rows each, in blocks of two hundred."""
    draw = np.random.default_rng(1)
    of = LossPoints.of if method == "k_member" else Points.of
    points = of(draw.uniform(size=(400, 1)), np.repeat([0, 1], 200)[:, None], [1.0])
    found = group_points(points, task_for(method, 3, block_rows=200))
    assert found.facts["blocks"] == 2
    assert np.bincount(found.labels).min() >= 3
    assert all(len(set(points.codes[found.labels == label, 0])) == 1
               for label in range(int(found.labels.max()) + 1))
