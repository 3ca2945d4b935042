"""Nested connected regions, and what regions are made from: spanning trees, and links of places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.encode.delaunay import delaunay_links, flat_map
from kanon_sql.methods.single_attribute import spanning_forest as spanning
from kanon_sql.methods.single_attribute.regions import nested_regions, quotient
from kanon_sql.methods.single_attribute.spanning_forest import components, low_degree_forest
from kanon_sql.points.points import Labels
from tests.methods.single_attribute import reference_regions as reference
from tests.methods.single_attribute.reference_regions import Link
from tests.methods.single_attribute.test_zip_regions import (
    array,
    graphs,
    nobody,
    often,
    pairs,
    regions_of,
)


def least_of(total: int, level: int, levels: int) -> int:
    """ceil(total ** (level / (levels + 1))), by counting."""
    found = 0
    while found ** (levels + 1) < total**level:
        found += 1
    return found


def check_levels(size: Any, links: list[Link], found: list[Labels]) -> None:
    """Everything that is promised of nested regions."""
    total, below = int(np.sum(size)), [[v] for v in range(len(size))]
    parts = reference.components(len(size), links)
    for level, labels in enumerate(found, 1):
        assert labels.dtype == np.int64
        regions = regions_of(labels)
        assert [labels[region[0]] for region in regions] == list(range(len(regions)))
        assert sum(map(len, regions)) == len(size)
        assert all(len({int(labels[v]) for v in region}) == 1 for region in below)
        least = least_of(total, level, len(found))
        for region in regions:
            assert reference.is_connected(region, links)
            assert sum(size[v] for v in region) >= least or region in parts
        below = regions


@often(250)
@given(graphs(14), st.integers(0, 4))
def test_levels_nest_and_are_connected(case: tuple[list[int], list[Link]], levels: int) -> None:
    size, links = case
    found = nested_regions(np.array(size), np.array(links, np.int64).reshape(-1, 2), levels)
    assert len(found) == levels
    check_levels(size, links, found)


@pytest.mark.parametrize("levels", (1, 2, 5))
def test_levels_of_a_map(levels: int) -> None:
    rng = np.random.default_rng(levels)
    place = rng.random((150, 2))
    links = delaunay_links(place)
    size = rng.geometric(0.1, 150) - 1
    found = nested_regions(size, links, levels)
    check_levels(size.tolist(), pairs(links), found)
    counts = [int(labels.max()) + 1 for labels in found]
    assert counts == sorted(counts, reverse=True) and counts[-1] > 1 and counts[0] < 150


def test_thresholds_are_exact() -> None:
    """125 ** (1 / 3) is below 5 as a float, and 5 is what a level needs."""
    path = np.column_stack([np.arange(124), np.arange(1, 125)])
    one, two = nested_regions(np.ones(125, np.int64), path, 2)
    assert set(np.bincount(one)) == {5} and set(np.bincount(two)) == {25}


def test_islands_stay_alone() -> None:
    """A component with too few records is a region on every level; so are lone items."""
    links = np.array([[0, 1], [1, 2], [4, 5]])
    found = nested_regions(np.array([50, 50, 50, 1, 0, 0, 2]), links, 2)
    assert [labels.tolist() for labels in found] == [[0, 1, 2, 3, 4, 4, 5], [0, 1, 2, 3, 4, 4, 5]]


def test_no_items_and_no_records() -> None:
    empty = np.zeros((0, 2), np.int64)
    assert [len(labels) for labels in nested_regions(np.zeros(0, np.int64), empty, 2)] == [0, 0]
    found = nested_regions(np.zeros(3, np.int64), np.array([[0, 2]]), 2)
    assert [labels.tolist() for labels in found] == [[0, 1, 0]] * 2


# --- spanning trees -----------------------------------------------------------------------------


@often(300)
@given(graphs(7))
def test_the_forest_spans_with_a_degree_near_the_least(case: tuple[Any, list[Link]]) -> None:
    """Fürer and Raghavachari: at most one above; here in every component, or 3."""
    size, links = case
    tree = pairs(low_degree_forest(array(links), len(size), nobody()))
    assert tree == sorted(set(tree)) and set(tree) <= set(links)
    parts = reference.components(len(size), links)
    assert reference.components(len(size), tree) == parts
    assert len(tree) == len(size) - len(parts)
    for part in parts:
        assume(len(part) < 7 or len(links) < 16)
        local = [(part.index(a), part.index(b)) for a, b in links if a in part]
        reached = max(sum(v in e for e in tree) for v in part)
        assert reached <= max(3, reference.least_degree(len(part), local) + 1)


@often(60)
@given(
    st.integers(0, 10**6), st.sampled_from([12, 30, 100]), st.sampled_from([1.1, 1.3, 1.5, 2.0]),
    st.sampled_from([8, 100, 100]),
)
def test_each_round_lowers_one_degree(seed: int, count: int, density: float, hubs: int) -> None:
    """From a tree that is shallow, or has hubs: fewer vertices have the largest degree d, none has
    a larger one. In the end there is a witness that d is at most one above the least."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(count)
    above = [order[min(int(rng.integers(0, i)), hubs)] for i in range(1, count)]
    start = np.unique(np.sort(np.column_stack([above, order[1:]]), axis=1), axis=0)
    more = np.sort(rng.integers(0, count, (int(count * (density - 1)), 2)), axis=1)
    links = np.unique(np.concatenate([start, more[more[:, 0] < more[:, 1]]]), axis=0)
    while True:
        tree = forest_from(start, links, count, effort=1)
        assert len(tree) == count - 1 and components(tree, count).max() == 0
        before, after = np.bincount(start.ravel()), np.bincount(tree.ravel())
        d = int(before.max())
        if (tree == start).all():
            break
        assert after.max() <= d > 3
        assert (after == d).sum() < (before == d).sum()
        start = tree
    assert set(pairs(tree)) <= set(pairs(links))
    assert d <= 3 or witness(links, pairs(tree), count, d)


def forest_from(start: Any, links: Any, count: int, effort: int) -> Any:
    """The forest that rounds make of this one, as long as they look at no more than the effort."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spanning, "joined", lambda links, count: start)
        patch.setattr(spanning, "EFFORT", effort)
        return low_degree_forest(links, count, nobody())


def witness(links: Any, tree: list[Link], count: int, d: int) -> bool:
    """Whether some vertices of degree d and d-1, all those of d among them, leave parts of the tree
    that no link joins (Fürer and Raghavachari, theorem 3.1): then any tree has degree d-1."""
    degree = [sum(v in e for e in tree) for v in range(count)]
    blocking = {v for v in range(count) if degree[v] >= d - 1}
    while True:
        rest = [e for e in tree if not blocking & set(e)]
        part = {v: min(reference.reached(range(count), rest, v)) for v in range(count)}
        crossing = [
            e for e in pairs(links) if not blocking & set(e) and part[e[0]] != part[e[1]]
        ]
        if not crossing:
            return True
        way = path(tree, *crossing[0])
        if any(degree[v] == d for v in way):
            return False
        assert blocking & set(way)
        blocking -= set(way)


def path(tree: list[Link], a: int, b: int) -> list[int]:
    """The vertices from a to b in a tree."""
    def walk(v: int, before: int) -> list[int]:
        if v == b:
            return [v]
        for e in tree:
            if v in e and before not in e:
                rest = walk(e[0] + e[1] - v, v)
                if rest:
                    return [v, *rest]
        return []

    return walk(a, -1)


@pytest.mark.parametrize(
    ("links", "count", "d"),
    [
        ([(i, i + 1) for i in range(8)], 9, 2),
        ([(0, i) for i in range(1, 9)], 9, 8),
        ([(0, i) for i in range(1, 9)] + [(i, i + 1) for i in range(1, 8)], 9, 2),
        ([(i, j) for i in range(3) for j in range(3, 12)], 12, 4),
    ],
    ids=["path", "star", "wheel", "bipartite"],
)
def test_degrees_of_known_graphs(links: list[Link], count: int, d: int) -> None:
    """Of 3 and 9 nodes, edges only between: 11 edges at the three, so one has 4."""
    tree = low_degree_forest(array(sorted(links)), count, nobody())
    assert d <= np.bincount(tree.ravel()).max() <= max(d, 3) + (d == 4)


# --- links from places --------------------------------------------------------------------------


def test_links_of_a_square_a_line_and_a_point() -> None:
    """With a diagonal of the square; a line in its order; one place alone."""
    square = pairs(delaunay_links([(0, 0), (1, 0), (1, 1), (0, 1)]))
    assert {(0, 1), (1, 2), (2, 3), (0, 3)} < set(square) and len(square) == 5
    assert pairs(delaunay_links([(3, 6), (1, 2), (2, 4), (9, 18)])) == [(0, 2), (0, 3), (1, 2)]
    assert pairs(delaunay_links([(5, 3), (5, 1), (5, 2)])) == [(0, 2), (1, 2)]
    assert pairs(delaunay_links([(1, 1)])) == [] and pairs(delaunay_links(np.zeros((0, 2)))) == []
    assert pairs(delaunay_links([(0, 0), (math.nan, 1), (1, 1)])) == [(0, 2)]


def test_links_of_items_at_one_place() -> None:
    """To the first, and each to the one before; other places are linked to the first alone."""
    found = delaunay_links([(0, 0), (1, 1), (0.0, -0.0), (0, 0), (1, 1)])
    assert pairs(found) == [(0, 1), (0, 2), (0, 3), (1, 4), (2, 3)]


def test_links_of_places_that_rounding_makes_one_or_puts_on_a_line() -> None:
    """Each is linked to another all the same; on a line in order, though the line isn't exact."""
    near = [(0, 0), (1, 0), (0, 1), (1, 1), (0.3, 0.4), (0.3, np.nextafter(0.4, 1))]
    assert reference.is_connected(range(6), pairs(delaunay_links(near)))
    tiny = np.nextafter(1, 2)
    upright = [(tiny, 1), (1, 2), (tiny, 3), (1, 4)]
    assert pairs(delaunay_links(upright)) == [(0, 1), (1, 2), (2, 3)]


@often(60)
@given(
    st.lists(
        st.tuples(*[st.integers(0, 5).map(float) | st.floats(-1e3, 1e3)] * 2)
        | st.just((math.nan,) * 2),
        max_size=25,
    )
)
def test_links_join_all_known_places(place: list[tuple[float, float]]) -> None:
    """Whatever the places are: every known one is linked to every other by some way."""
    found = delaunay_links(np.array(place).reshape(-1, 2))
    assert pairs(found) == sorted({(a, b) for a, b in pairs(found) if a < b})
    known = [i for i, (x, _) in enumerate(place) if not math.isnan(x)]
    assert set(found.ravel().tolist()) <= set(known)
    assert not known or reference.is_connected(known, pairs(found))


def test_the_map_is_cut_where_nothing_lies() -> None:
    """Fiji lies on both sides of the antimeridian, close together."""
    found = flat_map(np.array([-17.0, -17, 40, math.nan]), np.array([178.0, -179, -100, 3]))
    assert found[1, 0] - found[0, 0] == pytest.approx(3 * math.cos(math.radians(2)))
    assert found[2, 0] - found[1, 0] == pytest.approx(79 * math.cos(math.radians(2)))
    assert found[:3, 1].tolist() == [-17, -17, 40] and np.isnan(found[3]).all()
    assert flat_map(np.zeros(0), np.zeros(0)).shape == (0, 2)


@often(60)
@given(st.lists(st.floats(-180, 180), min_size=1, max_size=8), st.floats(-180, 180))
def test_the_map_spans_all_but_the_widest_gap(longitude: list[float], turn: float) -> None:
    """Wherever longitudes are counted from."""
    around = sorted({x % 360.0 for x in longitude})
    gaps = [b - a for a, b in zip(around, [*around[1:], around[0] + 360.0], strict=True)]
    for shift in (0.0, turn):
        found = flat_map(np.zeros(len(longitude)), np.array(longitude) + shift)
        assert np.ptp(found[:, 0]) == pytest.approx(360.0 - max(gaps), abs=1e-9)


@often(100)
@given(graphs(12), st.data())
def test_the_quotient_links_regions_that_touch(case: Any, data: st.DataObject) -> None:
    size, links = case
    numbers = st.integers(0, 3)
    labels = data.draw(st.lists(numbers, min_size=len(size), max_size=len(size)))
    expected = {(min(labels[a], labels[b]), max(labels[a], labels[b])) for a, b in links}
    found = pairs(quotient(np.array(labels), array(links)))
    assert found == sorted(e for e in expected if e[0] < e[1])
