"""gps_rectangles against the readable reference, against brute force, and du2009, section 3.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.points.points import Floats, Grouping, ItemPoints, Labels
from tests.methods.single_attribute.reference_rectangles import rectangles
from tests.support.partitions import partitions
from tests.support.thoroughness import often

Place = tuple[float, float]


def grouped(
    places: Sequence[Place], sizes: Sequence[int], k: int, watch: Watch | None = None,
    aspect: float = 1.0,
    extent: Any = (),
) -> Grouping:
    points = ItemPoints.of(sizes, np.array(places, np.float64).reshape(-1, 2))
    box = np.array(extent, np.float64).reshape(-1, 2)
    points = replace(points, aspect=aspect, extent=box)
    return task_for("gps_rectangles", k).group(points, watch)


def groups_of_sites(grouping: Grouping, sizes: Sequence[int]) -> Labels:
    """The group of each site; records stand in the order of their sites."""
    groups: Labels = grouping.labels[np.cumsum(sizes) - 1]
    assert np.array_equal(np.repeat(groups, sizes), grouping.labels)
    return groups


def cells_of(grouping: Grouping) -> Floats:
    assert grouping.cells is not None and grouping.cells.dtype == np.float64
    return grouping.cells


def check_cells(cells: Floats, places: Floats, groups: Labels) -> None:
    """Each place is in the cell of its group, as half-open intervals have it, and in no other.

    Only where the box ends at the float after a cut, a cell is a line on the border of the box, and
    the cell below it ends at the same number.
    """
    low, high = cells[:, :, 0], cells[:, :, 1]
    border = high.max(axis=0)
    lines = ((low == high) & (border > low.min(axis=0))).any(axis=1)
    for place, group in zip(places, groups, strict=True):
        inside = (low <= place) & ((place < high) | ((place == high) & (high == border)))
        holding = np.flatnonzero(inside.all(axis=1))
        assert group in holding
        assert len(holding) == 1 or lines[holding].any()


def check_tiling(cells: Floats, box: Any) -> None:
    """Between any two neighbouring borders on either axis there is exactly one cell."""
    low, high = cells[:, :, 0], cells[:, :, 1]
    assert (low <= high).all()
    assert low.min(axis=0).tolist() == [b[0] for b in box]
    assert high.max(axis=0).tolist() == [b[1] for b in box]
    borders = [np.unique(cells[:, axis]) for axis in (0, 1)]
    for left, right in pairwise(borders[0]):
        for bottom, top in pairwise(borders[1]):
            inside = (low <= (left, bottom)).all(axis=1) & (high >= (right, top)).all(axis=1)
            assert inside.sum() == 1


def check_leaf(places: Floats, sizes: Labels, k: int) -> None:
    """The class has k records, and no line leaves k on both sides."""
    assert sizes.sum() >= k
    for column in places.T:
        for border in np.unique(column)[1:]:
            lower = sizes[column < border].sum()
            assert lower < k or sizes.sum() - lower < k


# --- against the reference --------------------------------------------------------------------


@st.composite
def sites(draw: st.DrawFn, most: int = 40) -> tuple[list[Place], list[int]]:
    """Distinct places in canonical order: on a coarse grid, anywhere, in clusters, on a line, or
    neighbouring floats; with sizes that are equal, small, or with some large ones."""
    m = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(("grid", "even", "clusters", "line", "floats", "huge")))
    places: Any
    if kind == "grid":
        places = rng.integers(0, draw(st.integers(1, 8)), (m, 2)).astype(np.float64)
    elif kind == "even":
        places = rng.random((m, 2)) * (draw(st.sampled_from((0.1, 1.0, 10.0))), 1.0)
    elif kind == "clusters":
        places = rng.integers(0, 3, (m, 2)) + 1e-3 * rng.standard_normal((m, 2))
    elif kind == "line":
        places = np.stack([rng.random(m), np.zeros(m)], axis=1)
    elif kind == "floats":
        places = 1.0 + rng.integers(0, 9, (m, 2)) * 2.0**-52
    else:
        places = rng.choice([-1.0, -0.5, 0.0, 5e-324, 0.7, 1.0], (m, 2)) * 1.7e308
    if draw(st.booleans()):
        places = np.ascontiguousarray(places[:, ::-1])
    places = np.unique(places, axis=0)
    sizes = draw(st.sampled_from((np.array([1]), np.arange(1, 4), np.array([1, 1, 1, 9]))))
    return [(x, y) for x, y in places.tolist()], rng.choice(sizes, len(places)).tolist()


@st.composite
def cases(draw: st.DrawFn, most: int = 40) -> tuple[list[Place], list[int], int]:
    places, sizes = draw(sites(most))
    total = sum(sizes)
    return places, sizes, draw(st.integers(1, min(total, 12)) | st.integers(1, min(total, 90)))


@often(400)
@given(case=cases(), aspect=st.sampled_from((1.0, 0.5, 3.0, 0.017)))
def test_equal_to_the_reference(
    case: tuple[list[Place], list[int], int], aspect: float
) -> None:
    """Groups, their numbers, and cells are those of the reference."""
    places, sizes, k = case
    found = grouped(places, sizes, k, aspect=aspect)
    expected = rectangles(places, sizes, k, aspect)
    groups = groups_of_sites(found, sizes)
    assert [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)] == [
        leaf.sites for leaf in expected
    ]
    assert cells_of(found).tolist() == [[list(side) for side in leaf.cell] for leaf in expected]


@pytest.mark.sample(4)
@pytest.mark.parametrize("k", (5, 20, 64))
@pytest.mark.parametrize("seed", (7, 8, 9, 16))
def test_equal_to_the_reference_with_many_trees(seed: int, k: int) -> None:
    """Enough records for trees to differ, and one large site, so that the largest class does not
    decide between them."""
    rng = np.random.default_rng(seed)
    places = [(x, y) for x, y in np.unique(rng.integers(0, 60, (130, 2)), axis=0).tolist()]
    sizes = rng.integers(1, 10, len(places)).tolist()
    sizes[len(sizes) // 2] = 300 * (seed % 2) + 1
    groups = groups_of_sites(grouped(places, sizes, k), sizes)
    assert [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)] == [
        leaf.sites for leaf in rectangles(places, sizes, k)
    ]


@often(200)
@given(case=cases(25))
def test_cells_tile_the_box_and_hold_their_records(
    case: tuple[list[Place], list[int], int]
) -> None:
    """Every place is in exactly the cell of its group; no class can be cut once more."""
    places, sizes, k = case
    found = grouped(places, sizes, k)
    at, weights = np.array(places), np.array(sizes)
    groups, cells = groups_of_sites(found, sizes), cells_of(found)
    check_tiling(cells, np.stack([at.min(axis=0), at.max(axis=0)], axis=1))
    check_cells(cells, at, groups)
    for g in range(len(cells)):
        check_leaf(at[groups == g], weights[groups == g], k)


# --- the paper --------------------------------------------------------------------------------


def apart(places: Floats, groups: list[list[int]]) -> bool:
    """No two bounding boxes of the groups share a point."""
    boxes = [(places[group].min(axis=0), places[group].max(axis=0)) for group in groups]
    return all(
        bool((low > other_high).any() or (other_low > high).any())
        for i, (low, high) in enumerate(boxes)
        for other_low, other_high in boxes[:i]
    )


@often(150)
@given(case=cases(7))
def test_bounds_hold_against_all_rectangles(case: tuple[list[Place], list[int], int]) -> None:
    """theorem 4 and the facts, against the least possible largest class by exhaustive search.

    Classes in rectangles that tile the plane have bounding boxes that are apart; so the least over
    all these is no more than what the theorem speaks of.
    """
    places, sizes, k = case
    at, weights = np.array(places), np.array(sizes)
    best = min(
        max(weights[group].sum() for group in groups)
        for groups in partitions(len(places), 1)
        if min(weights[group].sum() for group in groups) >= k and apart(at, groups)
    )
    found = grouped(places, sizes, k)
    largest = np.bincount(found.labels).max()
    ratio = found.facts["guaranteed_ratio"]
    assert found.facts["lower_bound"] <= best
    assert largest <= ratio * found.facts["lower_bound"] * (1 + 1e-15)
    assert ratio >= 1 and k * ratio <= 5 * k - 4 + 1e-9


@pytest.mark.parametrize("k", (1, 2, 3, 10))
def test_worst_case_of_the_paper(k: int) -> None:
    """Four places of k-1 records N, S, E and W of one of k: no cut is possible; 5k-4 records.

    With one record more on either side of the middle there is one.
    """
    places = [(-1.0, 0.0), (0.0, -1.0), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    sizes = [k - 1, k - 1, k, k - 1, k - 1]
    if k == 1:
        places, sizes = places[2:3], sizes[2:3]
    found = grouped(places, sizes, k)
    assert np.bincount(found.labels).tolist() == [5 * k - 4]
    if k > 1:
        sizes[0] = k
        assert np.bincount(grouped(places, sizes, k).labels).tolist() == [k, 4 * k - 3]


def test_facts_of_an_example() -> None:
    """18 records with k = 4 make 4 classes at most, so one has 5 or more."""
    found = grouped([(float(i), 0.0) for i in range(18)], [1] * 18, 4)
    assert found.facts == {"lower_bound": 5.0, "guaranteed_ratio": 13 / 5}
    assert sorted(np.bincount(found.labels).tolist()) == [4, 4, 5, 5]


# --- the rule ---------------------------------------------------------------------------------


def test_as_many_classes_as_there_can_be_of_single_records() -> None:
    """Records at distinct coordinates make n // k classes, near n / (n // k) each, for any n."""
    rng = np.random.default_rng(3)
    for n in (10, 19, 29, 30, 59, 100, 333):
        places = [(x, y) for x, y in np.unique(rng.random((n, 2)), axis=0).tolist()]
        for k in (1, 3, 7, 10):
            sizes = np.bincount(grouped(places, [1] * n, k).labels)
            assert len(sizes) == n // k
            assert sizes.min() >= k and sizes.max() <= -(-n // (n // k)) + 1


def test_more_classes_come_before_the_wider_axis() -> None:
    """Along the wide axis 0 only 3 + 5 records are possible, along axis 1 4 + 4; k is 4, then 3."""
    places, sizes = [(0.0, 0.0), (0.0, 1.0), (9.0, 0.0), (9.0, 1.0)], [2, 1, 2, 3]
    assert grouped(places, sizes, 4).labels.tolist() == [0, 0, 1, 0, 0, 1, 1, 1]
    assert grouped(places, sizes, 3).labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_the_aspect_decides_which_axis_is_wider() -> None:
    """A square is cut along axis 0; a unit of axis 0 that counts less makes axis 1 the wider."""
    places, sizes = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)], [1] * 4
    assert grouped(places, sizes, 2).labels.tolist() == [0, 0, 1, 1]
    assert grouped(places, sizes, 2, aspect=0.9).labels.tolist() == [0, 1, 0, 1]
    assert grouped(places, sizes, 2, aspect=1.1).labels.tolist() == [0, 0, 1, 1]


@often(100)
@given(seed=st.integers(0, 2**32), m=st.integers(1, 60), k=st.integers(1, 9))
def test_axes_may_be_swapped(seed: int, m: int, k: int) -> None:
    """Without equal spreads the axes have no order: swapped places make the swapped cells."""
    at = np.random.default_rng(seed).random((max(m, k), 2))
    at = at[np.argsort(at[:, 0])]
    one = grouped(at, [1] * len(at), k, aspect=2.0)  # type: ignore[arg-type]
    two = grouped(at[:, ::-1], [1] * len(at), k, aspect=0.5)  # type: ignore[arg-type]
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(cells_of(one), cells_of(two)[:, ::-1])


def test_the_order_of_the_records_does_not_matter() -> None:
    """A record's group follows from its item, wherever the record stands."""
    item = np.random.default_rng(1).integers(0, 50, 400)
    item[:50] = np.arange(50)
    place = np.stack(np.divmod(np.arange(50.0), 7), axis=1)
    found = task_for("gps_rectangles", 9).group(ItemPoints.of(np.bincount(item), place, (), item))
    whole = grouped([(x, y) for x, y in place.tolist()], np.bincount(item).tolist(), 9)
    groups = groups_of_sites(whole, np.bincount(item).tolist())
    assert np.array_equal(found.labels, groups[item])


def test_a_little_slack_spares_classes_of_nearly_2k() -> None:
    """Sites of 1 to 9 records, k = 100: without slack later cuts meet no multiple of k."""
    rng = np.random.default_rng(7)
    places = [(x, y) for x, y in np.unique(rng.random((4000, 2)), axis=0).tolist()]
    sizes = rng.integers(1, 10, 4000).tolist()
    classes = np.bincount(grouped(places, sizes, 100).labels)
    assert classes.max() < 120 and len(classes) > 0.9 * (sum(sizes) // 100)


# --- extent, single cases, the watch, time ----------------------------------------------------


def test_cells_reach_to_the_extent() -> None:
    """Only the outer borders change; the extent may touch the places."""
    places, sizes = [(0.0, 0.0), (1.0, 3.0), (4.0, 2.0)], [2, 2, 2]
    found = grouped(places, sizes, 2, extent=[[-10.0, 4.0], [0.0, 20.0]])
    assert cells_of(found).tolist() == [
        [[-10.0, 0.5], [0.0, 20.0]], [[0.5, 2.5], [0.0, 20.0]], [[2.5, 4.0], [0.0, 20.0]],
    ]
    assert np.array_equal(found.labels, grouped(places, sizes, 2).labels)


def test_places_outside_the_extent_are_refused() -> None:
    """The error counts records, on any side, and names no place."""
    places = [(-1.0, 0.0), (0.0, -1.0), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    box = [[-0.5, 0.5], [-0.5, 0.5]]
    with pytest.raises(DataError, match=r"^15 records lie outside the extent\. Make") as caught:
        grouped(places, [1, 2, 100, 4, 8], 2, extent=box)
    assert "0.5" not in str(caught.value)
    with pytest.raises(DataError, match=r"^1 record lies outside"):
        grouped(places[:1], [1], 1, extent=box)


def test_neighbouring_floats_and_the_ends_of_the_range() -> None:
    """Where there is no float midway, the upper place is the border; sums don't overflow."""
    after = float(np.nextafter(1.0, 2.0))
    found = cells_of(grouped([(1.0, 0.0), (after, 0.0)], [1, 1], 1))
    assert found.tolist() == [[[1.0, after], [0.0, 0.0]], [[after, after], [0.0, 0.0]]]
    found = cells_of(grouped([(1.5e308, 0.0), (1.7e308, 0.0)], [1, 1], 1))
    assert found[0, 0, 1] == 1.6e308
    found = cells_of(grouped([(0.0, 0.0), (5e-324, 0.0)], [1, 1], 1))
    assert found[0, 0, 1] == 5e-324


@pytest.mark.parametrize("k", (1, 3, 7))
def test_one_place(k: int) -> None:
    """One place is one group, however many records it has."""
    found = grouped([(2.0, -0.0)], [7], k)
    assert found.labels.tolist() == [0] * 7
    assert cells_of(found).tolist() == [[[2.0, 2.0], [0.0, 0.0]]]
    assert not np.signbit(cells_of(found)).any()
    assert found.facts == {"lower_bound": 7.0, "guaranteed_ratio": 1.0}


def test_small_totals_and_large_places() -> None:
    """total = k and total < 2k are one group; places of k records or more are groups each."""
    places = [(float(i), float(-i)) for i in range(5)]
    assert grouped(places, [1] * 5, 5).labels.tolist() == [0] * 5
    assert grouped(places, [1] * 5, 3).labels.tolist() == [0] * 5
    assert grouped(places, [4, 3, 5, 3, 9], 3).labels.tolist() == np.repeat(
        range(5), [4, 3, 5, 3, 9]
    ).tolist()


def test_the_watch_sees_all_records_done() -> None:
    """Two trees: for k and for k + k // 4."""
    watch = Watch()
    watch.begin("grouping", 600)
    grouped([(float(i), 0.0) for i in range(200)], [3] * 200, 4, watch)
    assert watch.done == watch.total == 1200


def test_a_stopped_watch_ends_the_work() -> None:
    class Impatient(Watch):
        def beat(self) -> Any:
            beat = super().beat()
            self.stop()
            beats.append(beat)
            return beat

    beats: list[Any] = []
    with pytest.raises(StoppedError):
        grouped([(float(i), 0.0) for i in range(200)], [1] * 200, 4, Impatient())
    assert beats[0].tolist() == [0, 1]


def test_200_000_places() -> None:
    """For small k and large."""
    place = np.random.default_rng(1).random((200_000, 2))
    points = ItemPoints.of(np.ones(len(place), np.int64), place)
    for k in (2, 5000):
        found = task_for("gps_rectangles", k).group(points)
        assert len(cells_of(found)) == 200_000 // k
