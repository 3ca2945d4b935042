"""Nested connected regions: each level of whole regions of the level before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.grouping.neighbourhood import delaunay_links
from kanon_sql.grouping.points import Labels
from kanon_sql.grouping.regions import nested_regions
from tests import reference_regions as reference
from tests.reference_regions import Link
from tests.test_zip_regions import graphs, pairs, regions_of
from tests.thoroughness import examples as thorough


def often(examples: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=thorough(examples), deadline=None, suppress_health_check=list(HealthCheck)
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
