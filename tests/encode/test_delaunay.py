"""Neighbours by Voronoi cells, against the empty circles that define them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.encode.delaunay import delaunay_links, flat_map

Spot = tuple[int, int]
SPOTS = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=8, unique=True
)


def inside(a: Spot, b: Spot, c: Spot, d: Spot) -> int:
    """Above 0 where d is inside of the circle of a, b and c, 0 on it, and where they are on a
    line."""
    rows = [(x - d[0], y - d[1], (x - d[0]) ** 2 + (y - d[1]) ** 2) for x, y in (a, b, c)]
    (p, q, r), (s, t, u), (v, w, z) = rows
    found = p * (t * z - u * w) - q * (s * z - u * v) + r * (s * w - t * v)
    turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return found * ((turn > 0) - (turn < 0))


@given(spots=SPOTS)
def test_neighbours_are_the_sides_of_triangles_with_an_empty_circle(spots: list[Spot]) -> None:
    expected = set()
    for triple in combinations(range(len(spots)), 3):
        a, b, c = (spots[i] for i in triple)
        turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        assume(turn != 0)
        sides = [inside(a, b, c, spots[i]) for i in range(len(spots)) if i not in triple]
        assume(all(sides))  # four on a circle have two triangulations
        if max(sides, default=-1) < 0:
            expected |= set(combinations(triple, 2))
    assert links(spots) == sorted(expected)


def links(spots: Any) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in delaunay_links(spots)]


@pytest.mark.parametrize("step", [
    (0.0, 1.0), (1.0, 0.0), (1.0, 2.0), (1.0, -0.25), (1.0, 1.0)
])
def test_on_a_line_the_next_ones_are_neighbours(step: tuple[float, float]) -> None:
    turns = [4, 0, 3, 1, 2, 7]
    spots = np.array(turns)[:, None] * np.array(step) + 5.0
    by_place = [turns.index(turn) for turn in sorted(turns)]
    expected = sorted((min(pair), max(pair)) for pair in pairwise(by_place))
    assert links(spots) == expected
    assert links(spots[:2]) == [(0, 1)]
    assert links(spots[:1]) == []


def test_a_steep_line_is_followed_though_its_places_are_rounded() -> None:
    east = np.nextafter(1.0, 2.0)
    spots = [(1.0, 0.0), (east, 1.0), (1.0, 2.0), (east, 3.0)]
    assert links(spots) == [(0, 1), (1, 2), (2, 3)]


def test_items_without_a_place_have_no_links() -> None:
    nan = np.nan
    assert links([(nan, nan), (0.0, 0.0), (nan, 1.0), (0.0, 9.0), (9.0, nan)]) == [(1, 3)]
    assert delaunay_links([(nan, 1.0)]).shape == (0, 2)
    assert delaunay_links(np.zeros((0, 2))).shape == (0, 2)


def test_items_at_one_place_hang_on_its_first_and_on_each_other() -> None:
    """-0.0 and 0.0 are one place."""
    spots = [(0.0, 0.0), (3.0, 0.0), (-0.0, 0.0), (0.0, 0.0), (0.0, -0.0), (3.0, 0.0)]
    assert links(spots) == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 3), (3, 4)]


def test_three_places_that_are_no_line_are_all_neighbours() -> None:
    assert links([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]) == [(0, 1), (0, 2), (1, 2)]


def test_a_place_too_near_to_another_for_a_triangle_is_linked_to_it() -> None:
    spots = [(0.0, 0.0), (1e-300, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.1)]
    found = links(spots)
    assert (0, 1) in found
    assert {i for link in found for i in link} == set(range(5))
    assert len(set(found)) == len(found) == len([link for link in found if link[0] < link[1]])


@pytest.mark.parametrize(("scale", "away"), [(1e-4, 48.0), (1e-200, 0.0), (1e200, 0.0)])
def test_a_map_of_any_size_and_far_from_the_origin_has_the_same_links(
    scale: float, away: float
) -> None:
    spots = np.random.default_rng(3).random((30, 2))
    assert links(spots) == links(spots * scale + np.array([away, -away]))


def test_a_map_is_cut_where_the_longitudes_have_their_widest_gap() -> None:
    """On both sides of 180 degrees; east and west of it aren't parted."""
    plane = flat_map([60.0, 60.0, 60.0, 60.0], [179.0, -179.0, 170.0, 179.0])
    assert plane[:, 0] == pytest.approx([4.5, 5.5, 0.0, 4.5])
    assert plane[:, 1].tolist() == [60.0] * 4
    plane = flat_map([0.0, 0.0, 0.0], [-10.0, 20.0, 5.0])
    assert plane[:, 0] == pytest.approx([0.0, 30.0, 15.0])
    assert flat_map([45.0], [-100.0]).tolist() == [[0.0, 45.0]]


def test_a_map_shrinks_by_the_mean_latitude_of_the_places_that_are_known() -> None:
    nan = np.nan
    plane = flat_map([50.0, 70.0, nan, 0.0, nan], [1.0, 3.0, 100.0, nan, nan])
    assert plane[:2] == pytest.approx(np.array([[0.0, 50.0], [1.0, 70.0]]))
    assert np.isnan(plane[2:]).all()
    assert flat_map([nan], [1.0]).shape == (1, 2)


@given(st.lists(st.integers(-180, 179), min_size=1, max_size=8), st.integers(-180, 179))
def test_a_turn_of_the_earth_turns_no_map(longitudes: list[int], turn: int) -> None:
    """Distances from east to west stay, but where two gaps are the widest."""
    around = sorted({longitude % 360 for longitude in longitudes})
    gaps = [Fraction(b - a) for a, b in pairwise([*around, around[0] + 360])]
    assume(gaps.count(max(gaps)) == 1)
    zeros = np.zeros(len(longitudes))
    one, other = (flat_map(zeros, np.array(longitudes) + by) for by in (0, turn))
    assert one == pytest.approx(other)
    assert float(np.ptp(one[:, 0])) == pytest.approx(float(360 - max(gaps)))
    assert one[:, 0].min() == pytest.approx(0.0)
