"""Connected regions: against the literal reference, the optimum, and theorem 3 of du2009.

The trees and links that they are made from are tested in test_nested_regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.encode.delaunay import delaunay_links
from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.single_attribute.regions import cut_again, cut_forest
from kanon_sql.methods.single_attribute.spanning_forest import low_degree_forest
from kanon_sql.methods.single_attribute.zip_regions import zip_regions
from kanon_sql.points.points import Grouping, ItemPoints
from tests.methods.single_attribute import reference_regions as reference
from tests.methods.single_attribute.reference_regions import Link
from tests.support.partitions import partitions
from tests.support.thoroughness import often


def nobody() -> Any:
    return np.zeros(2, np.int64)


def array(links: Sequence[Link]) -> Any:
    return np.array(links, np.int64).reshape(-1, 2)


def pairs(links: Any) -> list[Link]:
    return [(int(a), int(b)) for a, b in links]


@st.composite
def trees(draw: Any, most: int = 14) -> tuple[list[int], list[Link]]:
    """Sizes, often zero and often equal, and a forest of any shape, its nodes in any order."""
    count = draw(st.integers(1, most))
    size = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 9]), min_size=count, max_size=count))
    order = draw(st.permutations(range(count)))
    reach = draw(st.sampled_from([1, 2, count]))
    tree = []
    for i in range(1, count):
        up = draw(st.integers(max(i - reach, 0), i - 1))
        if draw(st.integers(0, 11)):
            tree.append((min(order[i], order[up]), max(order[i], order[up])))
    return size, sorted(tree)


@st.composite
def graphs(draw: Any, most: int = 7) -> tuple[list[int], list[Link]]:
    """Sizes and links of a forest and of any other pairs."""
    size, tree = draw(trees(most))
    any_pair = st.tuples(*[st.integers(0, len(size) - 1)] * 2)
    more = draw(st.lists(any_pair, max_size=2 * len(size)))
    return size, sorted({(min(e), max(e)) for e in more if e[0] != e[1]} | set(tree))


def regions_of(labels: Any) -> list[list[int]]:
    """The items of each region, by lowest item; labels of -1 are left out."""
    return sorted(np.flatnonzero(labels == g).tolist() for g in np.unique(labels[labels >= 0]))


def grouped(points: ItemPoints, k: int, islands: str | None = None) -> Grouping:
    return task_for("zip_regions", k, islands=islands).group(points)


def sizes_of(found: Grouping) -> list[int]:
    return np.bincount(found.labels[found.labels >= 0]).tolist()  # type: ignore[no-any-return]


def label_of_items(points: ItemPoints, found: Grouping) -> dict[int, int]:
    """The group of each item that has records; all of its records are in it."""
    pairs_found = {(int(i), int(g)) for i, g in zip(points.item, found.labels, strict=True)}
    assert len(pairs_found) == len(set(points.item.tolist()))
    return dict(pairs_found)


# --- cutting a tree -----------------------------------------------------------------------------


@often(400)
@given(trees(), st.integers(1, 12))
def test_cutting_equals_the_paper(case: tuple[list[int], list[Link]], k: int) -> None:
    size, tree = case
    labels = cut_forest(np.array(size), array(tree), k, nobody())
    assert regions_of(labels) == reference.cut_forest(size, tree, k)
    assert all(labels[region[0]] == region[0] for region in regions_of(labels))


@pytest.mark.parametrize("seed", range(6))
def test_cutting_equals_the_paper_on_larger_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, k = 50, [1, 2, 5, 9, 20, 60][seed]
    size = rng.geometric(0.3, count) - 1
    reach = [1, 3, 50][seed % 3]
    tree = [(int(rng.integers(max(i - reach, 0), i)), i) for i in range(1, count)]
    found = regions_of(cut_forest(size, array(tree), k, nobody()))
    assert found == reference.cut_forest(size.tolist(), tree, k)


@often(200)
@given(trees(), st.integers(1, 12))
def test_lemmas_1_and_2(case: tuple[list[int], list[Link]], k: int) -> None:
    """What is cut off has at most kappa + (d-1)(k-1), what is left kappa + d(k-1)."""
    size, tree = case
    kappa = max(k, *size)
    regions = set(map(tuple, regions_of(cut_forest(np.array(size), array(tree), k, nobody()))))
    for part in reference.components(len(size), tree):
        own = [e for e in tree if e[0] in part]
        d = max(sum(v in e for e in own) for v in part)
        *cut_off, last = reference.cut(size, part, own, k)
        assert {tuple(last), *map(tuple, cut_off)} <= regions
        assert sum(size[v] for v in last) <= kappa + d * (k - 1)
        assert all(sum(size[v] for v in one) <= kappa + (d - 1) * (k - 1) for one in cut_off)


def test_the_smaller_side_may_hold_the_root_of_any_sweep() -> None:
    """A path is cut from whichever end is lighter: 3 | 4 | 5 | 6."""
    size = np.array([3, 2, 2, 6, 5])
    labels = cut_forest(size, array([(0, 1), (1, 2), (2, 3), (3, 4)]), 3, nobody())
    assert labels.tolist() == [0, 1, 1, 3, 4]


def test_ties_go_to_fewer_nodes_and_then_to_the_lowest() -> None:
    """Without the zero beside it; and nodes 0 and 1 rather than the last two."""
    path = array([(0, 1), (1, 2), (2, 3), (3, 4)])
    assert cut_forest(np.array([2, 0, 2, 0, 2]), path, 2, nobody()).tolist() == [0, 1, 1, 1, 4]
    assert cut_forest(np.array([1, 1, 1, 1, 0]), path, 2, nobody()).tolist() == [0, 0, 2, 2, 2]
    assert cut_forest(np.array([0, 1, 1, 1, 1]), path, 2, nobody()).tolist() == [0, 0, 0, 3, 3]


def test_a_tie_goes_to_the_lowest_of_all_nodes_of_the_tree() -> None:
    """Of 0 4 | 3 | 2 1, that with node 0 goes first, so that 3 stays with 2 and 1."""
    path = array([(0, 4), (3, 4), (2, 3), (1, 2)])
    assert cut_forest(np.ones(5, np.int64), path, 2, nobody()).tolist() == [0, 1, 1, 1, 0]


# --- the method ---------------------------------------------------------------------------------


def check_regions(points: ItemPoints, found: Grouping, k: int) -> None:
    """Each region has k records or more, and is connected by the items without records."""
    assert found.labels.dtype == np.int64
    assert min(sizes_of(found)) >= k
    label, empty = label_of_items(points, found), np.flatnonzero(points.size == 0).tolist()
    for g in range(len(sizes_of(found))):
        region = [i for i in sorted(label) if label[i] == g]
        assert region
        around = reference.reached([*region, *empty], pairs(points.links), region[0])
        assert set(region) <= around


@often(250)
@given(graphs(7), st.integers(1, 6))
def test_regions_and_bounds_against_the_optimum(case: tuple[Any, list[Link]], k: int) -> None:
    """Theorem 3 holds for every component of k or more; those with fewer are left out."""
    size, links = case
    parts = reference.components(len(size), links)
    weight = {tuple(part): sum(size[v] for v in part) for part in parts}
    heavy = [list(part) for part in weight if weight[part] >= k]
    light = [part for part in weight if 0 < weight[part] < k]
    assume(heavy)
    points = ItemPoints.of(size, None, links)
    found = grouped(points, k, "suppress")
    check_regions(points, found, k)
    best = max(reference.optimum(size, part, links, k) for part in heavy)
    largest, facts = max(sizes_of(found)), found.facts
    assert facts["lower_bound"] <= best <= largest
    assert largest <= facts["guaranteed_ratio"] * best * (1 + 1e-12)
    kappa, d = max(k, *size), facts["spanning_degree"]
    assert largest <= kappa + d * (k - 1)
    assert facts["guaranteed_ratio"] == (kappa + d * (k - 1)) / kappa
    assert facts["islands"] == len(light)
    assert facts["island_rows"] == sum(weight[part] for part in light)
    left_out = {int(i) for i in points.item[found.labels < 0]}
    assert left_out == {v for part in light for v in part if size[v]}
    if light:
        with pytest.raises(DataError, match=f"hold {len(left_out)} code"):
            grouped(points, k)
    else:
        assert grouped(points, k).labels.tolist() == found.labels.tolist()


@often(120)
@given(graphs(40), st.integers(1, 12))
def test_regions_are_what_is_cut_from_the_tree_or_parts_of_it(
    case: tuple[Any, list[Link]], k: int
) -> None:
    """Other trees only cut regions of 2k or more again: so nothing becomes larger."""
    size, links = case
    weight = np.array(size)
    tree = low_degree_forest(array(links), len(size), nobody())
    first = cut_forest(weight, tree, k, nobody())
    second = cut_again(weight, array(links), first, k, nobody())
    for region in regions_of(second):
        assert second[region[0]] == region[0]
        assert len(set(first[region].tolist())) == 1
        assert reference.is_connected(region, links)
    for region in regions_of(first):
        parts = sorted(set(second[region].tolist()))
        assert len(parts) == 1 or all(weight[second == g].sum() >= k for g in parts)


def test_another_tree_cuts_what_the_first_could_not() -> None:
    """A wheel given by spokes first: from its star nothing can be cut, from its rim a lot."""
    rim = [(i, i + 1) for i in range(1, 12)]
    links = array(sorted([(0, i) for i in range(1, 13)] + rim))
    size, star = np.ones(13, np.int64), np.zeros(13, np.int64)
    assert cut_forest(size, array([(0, i) for i in range(1, 13)]), 3, nobody()).tolist() == [0] * 13
    for k in (3, 6):
        found = regions_of(cut_again(size, links, star, k, nobody()))
        assert len(found) > 1 and min(map(len, found)) >= k


def test_the_method_cuts_again() -> None:
    """Its regions are those of the first tree, some of them cut by others."""
    rng = np.random.default_rng(3)
    links = delaunay_links(rng.random((1500, 2)))
    points = ItemPoints.of(np.floor(rng.pareto(0.8, 1500)), None, links)
    tree = low_degree_forest(links, 1500, nobody())
    first = cut_forest(points.size, tree, 40, nobody())
    second = cut_again(points.size, links, first, 40, nobody())
    assert len(np.unique(second)) > len(np.unique(first))
    assert grouped(points, 40).labels.tolist() == points.grouping(second, {}).labels.tolist()


@pytest.mark.parametrize("k", (1, 2, 3, 4, 7, 8))
def test_a_path_is_cut_into_k_each(k: int) -> None:
    """A path of 16 ones is the best case: 16 // k regions, all of k but the last."""
    found = grouped(ItemPoints.of([1] * 16, None, [(i, i + 1) for i in range(15)]), k)
    assert len(sizes_of(found)) == 16 // k and max(sizes_of(found)) == k + 16 % k


@pytest.mark.sample(1)
@pytest.mark.parametrize("k", (1, 2, 5))
def test_a_star_can_only_be_cut_at_heavy_leaves(k: int) -> None:
    """Lemma 1 is tight: leaves of k - 1 around a center of k stay one region."""
    links = [(0, i) for i in range(1, 7)]
    found = grouped(ItemPoints.of([k] + [k - 1] * 6, None, links), k)
    assert sizes_of(found) == [k + 6 * (k - 1)]
    assert found.facts["guaranteed_ratio"] * k == (k + 6 * (k - 1) if k > 1 else k)


def test_single_items_and_small_totals() -> None:
    """One item; exactly k; fewer than 2k; an item larger than k; k = 1."""
    assert sizes_of(grouped(ItemPoints.of([5]), 3)) == [5]
    assert sizes_of(grouped(ItemPoints.of([1, 2], None, [(0, 1)]), 3)) == [3]
    assert sizes_of(grouped(ItemPoints.of([2, 2, 1], None, [(0, 1), (1, 2)]), 3)) == [5]
    assert sizes_of(grouped(ItemPoints.of([9, 1, 2], None, [(0, 1), (1, 2)]), 3)) == [9, 3]
    assert sizes_of(grouped(ItemPoints.of([2, 1, 3], None, [(0, 1)]), 1)) == [2, 1, 3]
    found = grouped(ItemPoints.of([7, 1]), 1)
    assert found.facts["guaranteed_ratio"] == 1.0 and found.facts["lower_bound"] == 7.0


def test_items_without_records_connect_others() -> None:
    """Without the node in the middle, both ends would be islands."""
    assert sizes_of(grouped(ItemPoints.of([1, 0, 2], None, [(0, 1), (1, 2)]), 3)) == [3]
    with pytest.raises(DataError, match="no region at all"):
        grouped(ItemPoints.of([1, 0, 2], None, [(0, 1)]), 3, "suppress")


def test_records_are_labeled_by_their_items() -> None:
    """Records may come in any order."""
    points = ItemPoints.of([2, 1, 2], None, [(0, 1), (1, 2)], item=[2, 0, 1, 0, 2])
    assert grouped(points, 2).labels.tolist() == [1, 0, 1, 0, 1]


# --- islands ------------------------------------------------------------------------------------


@pytest.mark.slow
@often(75)
@given(graphs(8), st.integers(2, 6), st.data())
def test_islands_join_the_nearest_region(
    case: tuple[Any, list[Link]], k: int, data: st.DataObject
) -> None:
    """The places lie on a small grid, so that ties and coincidences abound; some are unknown."""
    size, links = case
    spot = st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.just((math.nan, 0))
    place = data.draw(st.lists(spot, min_size=len(size), max_size=len(size)))
    parts = reference.components(len(size), links)
    weight = {tuple(part): sum(size[v] for v in part) for part in parts}
    inside = [v for part in weight if weight[part] >= k for v in part]
    light = [part for part in weight if 0 < weight[part] < k]
    assume(inside and light)
    points = ItemPoints.of(size, place, links)
    known = [not math.isnan(place[v][0]) for v in range(len(size))]
    if not any(known[v] for v in inside) or not all(any(known[v] for v in p) for p in light):
        with pytest.raises(DataError, match="no place of a code"):
            grouped(points, k, "nearest")
        return
    plain, found = grouped(points, k, "suppress"), grouped(points, k, "nearest")
    assert "guaranteed_ratio" not in found.facts
    kept = ("islands", "island_rows", "spanning_degree")
    assert {f: found.facts[f] for f in kept} == {f: plain.facts[f] for f in kept}
    assert min(found.labels) >= 0 and min(sizes_of(found)) >= k
    both = plain.labels >= 0
    assert len(set(zip(plain.labels[both], found.labels[both], strict=True))) == len(
        set(found.labels.tolist())
    )
    # the nearest item may have no records: then its region is that of the cut
    tree = low_degree_forest(array(links), len(size), nobody())
    items = cut_again(
        np.array(size), array(links), cut_forest(np.array(size), tree, k, nobody()), k, nobody()
    )
    label = label_of_items(points, found)
    for part in light:
        region = items[reference.nearest(part, inside, place)]
        others = {label[v] for v in inside if items[v] == region and size[v]}
        assert {label[v] for v in part if size[v]} == others
    # any grouping of all records, connected or not
    if len(size) < 7:
        largest = [
            max(sums)
            for classes in partitions(len(size), 1)
            if min(sums := [sum(size[v] for v in members) for members in classes]) >= k
        ]
        assert found.facts["lower_bound"] <= min(largest)


def test_what_is_said_of_islands() -> None:
    """Counts, and ways out, but no code."""
    points = ItemPoints.of([3, 1, 0, 1, 1, 0, 3], None, [(0, 6), (1, 2), (2, 3)])
    with pytest.raises(DataError, match=r"than k = 3 rows hold 3 codes with 3 rows\.") as told:
        grouped(points, 3)
    assert "islands='suppress'" in str(told.value)
    assert "islands='nearest'" in str(told.value)
    with pytest.raises(DataError, match=r"needs to know where codes lie\. Add places="):
        grouped(points, 3, "nearest")
    found = grouped(points, 3, "suppress")
    assert found.labels.tolist() == [0, 0, 0, -1, -1, -1, 1, 1, 1]
    assert found.facts["islands"] == 2.0


@pytest.mark.parametrize("islands", ("error", "suppress", "nearest"))
def test_nothing_but_islands(islands: str) -> None:
    points = ItemPoints.of([1, 1, 1], [(0, 0), (1, 0), (2, 0)], [(0, 1)])
    with pytest.raises(DataError, match="there is no region at all"):
        grouped(points, 3, islands)


def test_nearest_without_islands_is_guaranteed() -> None:
    """Parts of the graph without records need no place, and 'nearest' none where it isn't used."""
    found = grouped(ItemPoints.of([2, 2, 0], None, [(0, 1)]), 2, "nearest")
    assert found.facts["guaranteed_ratio"] == 1.5 and sizes_of(found) == [2, 2]


def test_islands_join_the_region_of_the_lowest_of_places_as_near() -> None:
    """Item 1 lies half way between 0 and 2; item 3 nearer to 4, at the place of 5."""
    place = [(0, 0), (1, 0), (2, 0), (9, 9), (9, 8), (9, 8)]
    points = ItemPoints.of([2, 1, 2, 1, 2, 2], place, [(0, 2), (2, 4), (4, 5)])
    found = grouped(points, 2, "nearest")
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]


# --- large maps, and the watch ------------------------------------------------------------------


def large_map(count: int) -> ItemPoints:
    rng = np.random.default_rng(count)
    place = rng.random((count, 2))
    place[::50] = place[0]
    return ItemPoints.of(rng.geometric(0.2, count) - 1, place, delaunay_links(place))


@pytest.mark.sample(1)
@pytest.mark.parametrize("k", (2, 30, 4000))
def test_a_large_map(k: int) -> None:
    """20,000 codes, a fiftieth of them at one place: for any k, and degree 3."""
    points = large_map(20_000)
    grouped(ItemPoints.of([1, 1], None, [(0, 1)]), 1)
    found = grouped(points, k)
    assert found.facts["spanning_degree"] <= 3.0
    assert k <= min(sizes_of(found))
    assert max(sizes_of(found)) <= max(k, points.size.max()) + 3 * (k - 1)


@pytest.mark.parametrize("reach", (1, 2, 30_000))
def test_trees_of_extreme_shapes_are_cut(reach: int) -> None:
    """A path, a path with branches, a bush: the ways from leaf to leaf are long."""
    below = np.arange(1, 30_000)
    above = np.random.default_rng(reach).integers(np.maximum(below - reach, 0), below)
    tree, size = np.column_stack([above, below]), np.ones(30_000, np.int64)
    labels = cut_forest(size, tree, 2, nobody())
    sizes = np.bincount(labels)
    assert min(sizes[sizes > 0]) == 2 and len(np.unique(labels)) > 5_000


def test_the_watch_sees_all_records_done() -> None:
    watch, points = Watch(), large_map(300)
    watch.begin("grouping", len(points))
    zip_regions(points, task_for("zip_regions", 5), watch)
    assert watch.done == len(points)


def test_a_stopped_watch_ends_the_work() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        zip_regions(large_map(300), task_for("zip_regions", 5), watch)
