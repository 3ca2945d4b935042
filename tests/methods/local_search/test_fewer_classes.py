"""Classes are merged, the smallest first, until few enough are left: by a slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.local_search.fewer_classes import merge_smallest, merge_smallest_allowed
from kanon_sql.methods.single_attribute.neighbours import Boxes, Linked
from kanon_sql.points.points import ItemPoints, LossPoints, Points
from tests.methods.local_search.reference_merging import Classes, loss
from tests.support.held import as_sets
from tests.support.thoroughness import often


def records(n: int, seed: int, by_loss: bool) -> Any:
    """Numbers and a category."""
    rng = np.random.default_rng(seed)
    plain: Any = LossPoints if by_loss else Points
    return plain.of(rng.random((n, 2)), rng.integers(0, 3, (n, 1)).astype(np.int32), [0.3])


def grouped(labels: Any) -> Classes:
    """The records of each class."""
    return {int(g): np.flatnonzero(labels == g).tolist() for g in np.unique(labels)}


def expected(points: Any, labels: Any, most: int) -> Classes:
    """The classes, everything found anew at each step."""
    now = grouped(labels)
    while len(now) > most:
        group = min(now, key=lambda g: (len(now[g]), g))
        rows = now.pop(group)
        growth = {
            g: loss(points, rows + now[g]) - loss(points, rows) - loss(points, now[g]) for g in now
        }
        into = min(growth, key=lambda g: (growth[g], g))
        now[into] = now[into] + rows
    return now


@pytest.mark.parametrize("by_loss", [False, True])
@often(30)
@given(
    groups=st.integers(1, 14), seed=st.integers(0, 10**6), most=st.integers(1, 14),
)
def test_the_smallest_joins_the_one_with_which_it_loses_least(
    by_loss: bool, groups: int, seed: int, most: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(groups), rng.integers(0, groups, 3 * groups))
    points = records(len(labels), seed, by_loss)
    found = merge_smallest(points, labels, most, Watch())
    wanted = expected(points, labels, most)
    assert len(np.unique(found)) == min(groups, most)
    assert grouped(found) == {g: sorted(rows) for g, rows in wanted.items()}


@often(30)
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=12), most=st.integers(1, 12))
def test_neighbours_on_a_line_are_merged(sizes: list[int], most: int) -> None:
    n = len(sizes)
    links = np.array([[i, i + 1] for i in range(n - 1)], np.int64).reshape(-1, 2)
    points = ItemPoints.of(np.array(sizes), links=links)
    found = merge_smallest_allowed(
        points, points.item, most, Linked(points, points.item, links), "it", Watch()
    )
    now = [[i] for i in range(n)]
    rows = [[size] for size in sizes]
    while len(now) > most:
        at = min(range(len(now)), key=lambda g: (sum(rows[g]), now[g][0]))
        near = [g for g in (at - 1, at + 1) if 0 <= g < len(now)]
        other = min(near, key=lambda g: (sum(rows[g]), g))
        first, last = min(at, other), max(at, other)
        now[first] += now.pop(last)
        rows[first] += rows.pop(last)
    assert {frozenset(found[np.isin(points.item, items)]) for items in now} == {
        frozenset([min(items)]) for items in now
    }


def test_rectangles_stay_rectangles() -> None:
    cells = np.array([[[i, i + 1], [j, j + 1]] for i in range(4) for j in range(4)], np.float64)
    points = ItemPoints.of(np.arange(1, 17))
    boxes = Boxes(cells)
    found = merge_smallest_allowed(points, points.item, 5, boxes, "it", Watch())
    classes = np.unique(found)
    assert 1 <= len(classes) <= 5
    areas = (boxes.cells[classes, :, 1] - boxes.cells[classes, :, 0]).prod(axis=1)
    assert areas.sum() == 16.0
    for g, area in zip(classes, areas, strict=True):
        assert len(np.unique(points.item[found == g])) == area


def test_regions_without_neighbours_are_passed_over_and_refused_last() -> None:
    sizes, links = np.array([1, 2, 3, 4]), np.array([[1, 2], [2, 3]])
    points = ItemPoints.of(sizes, links=links)
    found = merge_smallest_allowed(
        points, points.item, 2, Linked(points, points.item, links), "it", Watch()
    )
    assert as_sets(found) == {frozenset({0}), frozenset(range(1, 10))}
    with pytest.raises(DataError, match="there are 2, and it allows 1"):
        merge_smallest_allowed(
            points, points.item, 1, Linked(points, points.item, links), "it", Watch()
        )


def test_it_can_be_stopped() -> None:
    watch = Watch()
    watch.stop()
    points = records(20, 1, False)
    with pytest.raises(StoppedError):
        merge_smallest(points, np.arange(20), 1, watch)
