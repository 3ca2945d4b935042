"""The forest method against the readable reference and what aggarwal2005, section 4, states."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.cell_generalization.cells import (
    edge_points,
    edge_weights,
    neighbour_bound,
)
from kanon_sql.methods.cell_generalization.decompose import decompose
from kanon_sql.methods.cell_generalization.forest import forest, grow_forest
from kanon_sql.points.losses import generalized_cells as cost
from kanon_sql.points.points import Labels, LossPoints
from kanon_sql.search.nearest_lists import nearest_lists
from tests.methods.cell_generalization import reference_forest as reference
from tests.methods.cell_generalization.reference_forest import Cells
from tests.support.thoroughness import often

SLACK = 1 + 1e-12
"""What rounding may add to a sum."""


def most(k: int) -> int:
    """The size of the largest class, and the ratio (theorem 5)."""
    return max(2 * k - 1, 3 * k - 5)


def points_of(codes: Any, scale: Any = None) -> LossPoints:
    """Points without numeric columns, in the order given; scales of 1 unless given."""
    codes = np.asarray(codes)
    return LossPoints.of(
        np.zeros((len(codes), 0)), codes, np.ones(codes.shape[1]) if scale is None else scale
    )


def cells_of(points: LossPoints) -> Cells:
    return Cells(points.codes.tolist(), points.scale.tolist())


def classes_of(labels: Labels) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


def nobody() -> Any:
    return np.zeros(2, np.int64)


def grown(points: LossPoints, k: int) -> Labels:
    return grow_forest(points, nearest_lists(edge_points(points), k - 1), k, nobody())


def weight_of(points: LossPoints, out: Labels) -> float:
    ends = np.flatnonzero(out >= 0)
    return float(edge_weights(points, ends, out[ends]).sum())


def sorted_points(codes: Any, scale: Any) -> LossPoints:
    """The records in canonical order."""
    return points_of(codes[np.lexsort([*codes.T[::-1], np.zeros(len(codes))])], scale)


@st.composite
def tables(draw: Any, most: int = 30, least: int = 1) -> LossPoints:
    """Few categories or many, columns of any weight, equal records, and levels of hierarchies:
    columns that follow from the one before."""
    n, seed = draw(st.integers(least, most)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    columns: list[Any] = []
    scale: list[float] = []
    for _ in range(draw(st.integers(0, 4))):
        height = draw(st.integers(1, 3))
        weight = draw(st.sampled_from([1.0, 1.0, 1.0, 0.3, 7.0, 0.0]))
        column = rng.integers(0, draw(st.sampled_from([2, 3, 5, 100])), n)
        for _ in range(height):
            columns.append(column)
            scale.append(weight / height)
            column = rng.integers(0, 4, 100)[column] if rng.random() < 0.7 else column
    codes = np.array(columns, np.int64).reshape(len(scale), n).T
    if draw(st.booleans()):
        codes = codes[rng.integers(0, max(1, n // 3), n)]
    return sorted_points(codes, scale)


# --- the method ---------------------------------------------------------------------------------


@often(150)
@given(tables(), st.integers(1, 9))
def test_equals_reference(points: LossPoints, k: int) -> None:
    found = task_for("forest", k).group(points)
    assert found.labels.dtype == np.int64 and found.centers is None
    assert found.labels.tolist() == reference.forest(cells_of(points), k)
    assert found.facts == {
        "lower_bound": math.fsum(reference.bound(cells_of(points), min(k, len(points)))),
        "guaranteed_ratio": 1.0 if k == 1 else float(most(k)),
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_equals_reference_on_larger_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 160, [2, 3, 4, 6, 9, 15][seed]
    codes = np.column_stack([rng.integers(0, m, n) for m in (2, 4, 9, 200)])
    codes = codes if seed % 2 else np.minimum(codes, rng.geometric(0.4, codes.shape))
    points = sorted_points(codes, [1.0, 0.5, 1.0, 1.0])
    found = task_for("forest", k).group(points).labels.tolist()
    assert found == reference.forest(cells_of(points), k)


@often(60)
@given(tables(most=9), st.integers(1, 4))
def test_costs_at_most_the_ratio_times_the_optimum(points: LossPoints, k: int) -> None:
    """Theorem 5; and the FOREST step on its own: lemma 3."""
    assume(len(points) >= k)
    found, optimum = task_for("forest", k).group(points), reference.optimum(cells_of(points), k)
    lower, ratio = found.facts["lower_bound"], found.facts["guaranteed_ratio"]
    assert lower <= optimum * SLACK
    assert optimum <= cost(points, found.labels) * SLACK
    assert cost(points, found.labels) <= ratio * optimum * SLACK
    if k > 1:
        assert weight_of(points, grown(points, k)) <= optimum * SLACK


@often(60)
@given(tables(most=8), st.integers(2, 4))
def test_the_ratio_holds_where_rows_may_be_deleted(points: LossPoints, k: int) -> None:
    """Section 4.2, at the end."""
    assume(len(points) >= k)
    found = task_for("forest", k).group(points)
    optimum = reference.optimum_with_deletion(cells_of(points), k)
    assert optimum <= reference.optimum(cells_of(points), k) * SLACK
    assert found.facts["lower_bound"] <= optimum * SLACK
    assert cost(points, found.labels) <= found.facts["guaranteed_ratio"] * optimum * SLACK


def test_deletion_pays_where_a_record_is_unlike_all_others() -> None:
    """So that the test before is about something."""
    points = points_of([[0, 0]] * 3 + [[1, 1]])
    assert reference.optimum(cells_of(points), 2) == 4.0
    assert reference.optimum_with_deletion(cells_of(points), 2) == 2.0
    assert neighbour_bound(points, 2) == 2.0
    assert cost(points, np.array([0, 0, 0, -1])) == 2.0


def test_small_cases() -> None:
    def labels(points: LossPoints, k: int) -> Any:
        return task_for("forest", k).group(points).labels.tolist()

    line = points_of([[0], [1], [2], [3], [4]])
    assert labels(line, 1) == [0, 1, 2, 3, 4]
    assert labels(line, 5) == labels(line, 7) == [0] * 5  # at most k records are one class
    assert labels(points_of([[3]]), 4) == [0]
    assert labels(points_of(np.zeros((0, 2))), 2) == []
    assert sorted(np.bincount(labels(points_of(np.zeros((7, 0))), 3))) == [3, 4]
    assert sorted(np.bincount(labels(points_of(np.zeros((7, 2))), 2))) == [2, 2, 3]


def test_equal_records_are_classes_and_nothing_is_lost() -> None:
    points = points_of(np.repeat(np.arange(6), 4)[:, None] * [1, 1])
    found = task_for("forest", 4).group(points)
    assert found.labels.tolist() == np.repeat(np.arange(6), 4).tolist()
    assert found.facts["lower_bound"] == cost(points, found.labels) == 0.0


def test_stops_when_told() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        forest(points_of(np.arange(50)[:, None]), task_for("forest", 3), watch)


def test_tells_how_far_it_is() -> None:
    watch = Watch()
    forest(points_of(np.arange(403)[:, None] // 5), task_for("forest", 4), watch)
    assert watch.done == 403


def test_thousands_of_records_keep_the_bounds() -> None:
    """Each class costs at most its size times the weight of its tree, and all trees together
    weigh at most the lower bound."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.geometric(0.3, 6000), rng.integers(0, 60, (6000, 3))])
    points = sorted_points(codes, np.ones(4))
    for k in (2, 3, 10):
        found = task_for("forest", k).group(points)
        sizes, lower = np.bincount(found.labels), found.facts["lower_bound"]
        assert k <= sizes.min() and sizes.max() <= most(k)
        assert weight_of(points, grown(points, k)) <= lower <= cost(points, found.labels)
        assert cost(points, found.labels) <= most(k) * lower


# --- algorithm FOREST, section 4.1 --------------------------------------------------------------


def trees_of(out: Labels) -> list[list[int]]:
    """The components, by following edges until nothing changes; fails where there is a cycle."""
    label = np.arange(len(out))
    for _ in range(len(out)):
        for u in np.flatnonzero(out >= 0):
            label[u] = label[out[u]] = min(label[u], label[out[u]])
    assert np.count_nonzero(out < 0) == len(np.unique(label))
    return [np.flatnonzero(label == g).tolist() for g in np.unique(label)]


@often(100)
@given(tables(most=25), st.integers(2, 8))
def test_trees_have_k_vertices_and_edges_to_near_records_only(points: LossPoints, k: int) -> None:
    assume(len(points) >= k)
    out, cells = grown(points, k), cells_of(points)
    assert min(map(len, trees_of(out))) >= k
    for u, v in enumerate(out.tolist()):
        assert v == -1 or v in cells.nearest(u, k - 1)
    assert weight_of(points, out) <= math.fsum(reference.bound(cells, k)) * SLACK


# --- algorithm DECOMPOSE-COMPONENT, section 4.2 -------------------------------------------------


@st.composite
def trees(draw: Any) -> tuple[LossPoints, Labels]:
    """A path, star, caterpillar, broom or random tree with edges of random weight; the edges lead
    to a random vertex, and the vertices are in random order."""
    n, seed = draw(st.integers(1, 60)), draw(st.integers(0, 2**32))
    shape = draw(st.sampled_from(["path", "star", "caterpillar", "broom", "random", "legs"]))
    rng, width = np.random.default_rng(seed), draw(st.integers(1, 9))
    above: dict[str, Callable[[int], Any]] = {
        "path": lambda i: i - 1,
        "star": lambda i: 0,
        "caterpillar": lambda i: (i - 1) // width * width,
        "broom": lambda i: min(i - 1, n // 2),
        "random": lambda i: rng.integers(max(0, i - 3 * width), i),
        "legs": lambda i: 0 if i % width == 1 or width == 1 else i - 1,
    }
    name = rng.permutation(n)
    ways: list[list[int]] = [[] for _ in range(n)]
    for i in range(1, n):
        j = int(above[shape](i))
        ways[name[i]].append(int(name[j]))
        ways[name[j]].append(int(name[i]))
    codes = rng.integers(0, draw(st.sampled_from([1, 2, 5])), (n, 3))
    return points_of(codes, [1.0, 0.5, 1.0]), towards(ways, int(rng.integers(n)))


def towards(ways: list[list[int]], root: int) -> Labels:
    """Each vertex's next one on the way to the root, which has -1."""
    out, waiting = np.full(len(ways), -2, np.int64), [root]
    out[root] = -1
    while waiting:
        v = waiting.pop()
        for u in ways[v]:
            if out[u] == -2:
                out[u] = v
                waiting.append(u)
    return out


def assert_decomposed(points: LossPoints, out: Labels, labels: Labels, k: int) -> None:
    """Sizes are k to max(2k-1, 3k-5), and no edge is needed to connect two of the classes: so the
    trees weigh no more than before. Members are connected by way of any vertices of the tree,
    which are Steiner vertices where they are of another class."""
    sizes = np.bincount(labels)
    assert sizes.min() >= k and sizes.max() <= most(k)
    beyond = np.zeros((len(out), len(sizes)), np.int64)  # members of each class beyond each edge
    beyond[np.arange(len(out)), labels] = 1
    depth = np.zeros(len(out), np.int64)
    for u in range(len(out)):
        v = u
        while (v := out[v]) >= 0:
            depth[u] += 1
    for u in np.argsort(-depth, kind="stable"):
        if out[u] >= 0:
            beyond[out[u]] += beyond[u]
    crossing = (beyond > 0) & (beyond < sizes)
    assert (crossing[out >= 0].sum(axis=1) <= 1).all()
    heavy = edge_weights(points, np.arange(len(out)), out) @ crossing
    for members, weight in zip(classes_of(labels), heavy, strict=True):
        assert cells_of(points).charge(members) <= weight * SLACK


@often(300)
@given(trees(), st.integers(2, 9))
def test_trees_are_cut_into_classes_by_edges_of_their_own(
    tree: tuple[LossPoints, Labels], k: int
) -> None:
    points, out = tree
    labels = decompose(points, out, k, nobody())
    assert labels.tolist() == reference.decompose(cells_of(points), out.tolist(), k)
    if len(points) >= k:
        assert_decomposed(points, out, labels, k)
    else:
        assert labels.tolist() == [0] * len(points)


def branch_sizes(total: int, largest: int) -> Iterator[list[int]]:
    """Every way to write a number as a sum of numbers up to the largest, in descending order."""
    if total == 0:
        yield []
    for first in range(min(total, largest), 0, -1):
        for rest in branch_sizes(total - first, first):
            yield [first, *rest]


@pytest.mark.sample(2)
@pytest.mark.parametrize("k", range(2, 7))
def test_all_branch_sizes_around_a_center_are_shared_out(k: int) -> None:
    """Cases C and D, each with the branches in three orders; among them three or more branches of
    k-1, where a Steiner vertex in the place of the center could not be split again."""
    rng = np.random.default_rng(k)
    for total in range(2 * k - 1, 4 * k):
        for sizes in branch_sizes(total, k - 1):
            for order in (sizes, sizes[::-1], rng.permutation(sizes).tolist()):
                starts = np.cumsum([1, *order[:-1]])
                out = np.arange(-1, total)
                out[starts] = 0
                points = points_of(np.zeros((total + 1, 0)))
                labels = decompose(points, out, k, nobody())
                groups = np.bincount(labels)
                assert groups.min() >= k and groups.max() <= most(k)
                assert (labels[1:] == np.repeat(labels[starts], order)).all()
                if total in (3 * k - 5, 3 * k - 6):
                    expected = reference.decompose(cells_of(points), out.tolist(), k)
                    assert labels.tolist() == expected


def test_the_heaviest_edge_with_k_on_both_sides_is_cut() -> None:
    """A path of weights 1 1 1 2 1 1 1 falls apart where it weighs 2."""
    codes = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [4, 1], [5, 1], [6, 1], [7, 1]])
    out = np.array([1, 2, 3, 4, 5, 6, 7, -1])
    labels = decompose(points_of(codes), out, 3, nobody())
    assert labels.tolist() == [0] * 4 + [1] * 4
    flat = decompose(points_of(codes[:, :1]), out, 3, nobody())  # ties: the first edge
    assert flat.tolist() == [0] * 3 + [1] * 5


def test_a_long_path_and_a_large_star_are_no_matter() -> None:
    n = 200_000
    points = points_of(np.zeros((n, 1)))
    for out in (np.arange(-1, n - 1), np.append(-1, np.zeros(n - 1, np.int64))):
        groups = np.bincount(decompose(points, out, 5, nobody()))
        assert groups.sum() == n and groups.min() == 5 and groups.max() <= 10


# --- weights, costs and the lower bound ---------------------------------------------------------


@often(100)
@given(tables(most=20), st.integers(1, 6), st.integers(0, 2**32))
def test_costs_and_bounds_equal_reference(points: LossPoints, k: int, seed: int) -> None:
    cells, n = cells_of(points), len(points)
    labels = np.random.default_rng(seed).integers(-1, 4, n)
    kept = [c for c in classes_of(np.append(labels, 4)[:-1]) if c] if n else []
    deleted = np.count_nonzero(labels < 0) * sum(cells.scale)
    assert cost(points, labels) == pytest.approx(cells.cost(kept) + deleted, rel=1e-12)
    expected = math.fsum(reference.bound(cells, min(k, n)))
    assert neighbour_bound(points, k) == expected
    lists = nearest_lists(edge_points(points), k + 2)
    assert neighbour_bound(points, k, nobody(), lists) == expected


@often(60)
@given(tables(most=20, least=2))
def test_keys_are_exactly_weights(points: LossPoints) -> None:
    """Codes that differ add 2 * scale to a key (see nearest_lists.py)."""
    one, other = np.arange(len(points)), np.arange(len(points))[::-1]
    keys = np.zeros(len(points))
    for codes, scale in zip(points.codes.T, edge_points(points).scale, strict=True):
        keys += 2.0 * scale * (codes[one] != codes[other])
    assert (edge_weights(points, one, other) == keys).all()
    cells = cells_of(points)
    assert keys.tolist() == [
        cells.weight(a, b) for a, b in zip(one.tolist(), other.tolist(), strict=True)
    ]


def test_weights_of_hierarchies_are_levels_over_heights() -> None:
    """Figure 1's Quality, two levels above nothing; and a zip code with four, of weight 3."""
    quality = {"A+": 0, "A": 1, "A-": 2, "B+": 3, "B": 4, "B-": 5}
    records = [("A+", "1234"), ("A-", "1235"), ("B", "1234"), ("B-", "1934"), ("A+", "9234")]
    rows = [
        [quality[grade], quality[grade] // 3]
        + [int(zip_code[:digits]) for digits in (4, 3, 2, 1)]
        for grade, zip_code in records
    ]
    points = points_of(rows, [1 / 2] * 2 + [3 / 4] * 4)
    level = {(0, 1): (1, 1), (0, 2): (2, 0), (0, 3): (2, 3), (0, 4): (0, 4), (2, 3): (1, 3)}
    for (a, b), (grades, digits) in level.items():
        weight = edge_weights(points, np.array([a]), np.array([b]))[0]
        assert weight == grades / 2 + 3 * digits / 4
    assert cost(points, np.array([0, 0, 1, 1, -1])) == 2 * (1 / 2 + 3 / 4) + 2 * (
        1 / 2 + 9 / 4
    ) + (1 + 3)


@pytest.mark.parametrize("k", [4, 5, 6])
def test_equal_graphs_of_unequal_costs(k: int) -> None:
    """Section 4, limitations of the graph representation. The second instance costs 4kl in the
    paper; but in its first column all vectors have a one, and in its last a zero."""
    wide = 2 ** (k - 2)
    one = np.repeat(np.eye(k, dtype=int), wide, axis=1)
    places = np.arange(4 * wide)
    other = np.array([(places * 2**i // (4 * wide) + 1) % 2 for i in range(1, k + 1)])
    costs = []
    for codes in (one, other):
        points = points_of(codes)
        u, v = np.triu_indices(k, 1)
        assert (edge_weights(points, u, v) == 2 * wide).all()
        found = task_for("forest", k).group(points)
        assert found.labels.tolist() == [0] * k
        assert found.facts["lower_bound"] == k * 2 * wide
        costs.append(cost(points, found.labels))
    assert costs == [k * k * wide, k * (4 * wide - 2)]
    assert max(costs) <= most(k) * k * 2 * wide
