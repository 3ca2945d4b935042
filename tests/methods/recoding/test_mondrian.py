"""Median partitioning: the kernel against the readable reference, and what holds for its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.data import adult
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.recoding import mondrian as module
from kanon_sql.methods.recoding.mondrian import mondrian
from kanon_sql.methods.recoding.ranks import attribute_orders
from kanon_sql.points.points import Labels, LossPoints
from tests.methods.recoding import reference_mondrian as reference
from tests.support.kernels import from_python
from tests.support.thoroughness import often

MODES = ("strict", "relaxed")


def labels_by(mode: str, points: LossPoints, k: int) -> Labels:
    """The labels that the kernel gives."""
    return task_for("mondrian", k, partitioning=mode).group(points).labels


def random_tree(rng: Any, n: int, levels: int, leaves: int) -> Any:
    """Codes of n records on each level of a random tree, the leaf first: int32, (n, levels)."""
    nodes = [np.arange(leaves)]
    for _ in range(levels - 1):
        # each node on a level joins its left neighbour's parent or begins a new one
        below = int(nodes[-1].max()) + 1
        opens = rng.random(below) < rng.choice([0.2, 0.5, 1.0])
        opens[0] = True
        nodes.append((np.cumsum(opens) - 1)[nodes[-1]])
    leaf = rng.integers(0, leaves, n)
    if rng.random() < 0.3:
        leaf = np.minimum(leaf, rng.integers(0, leaves, n))
    return np.column_stack([level[leaf] for level in nodes]).astype(np.int32)


def random_numbers(rng: Any, n: int, kind: str) -> Any:
    """Numbers within 0 .. 1, some of them missing."""
    values = {
        "floats": rng.random(n),
        "skewed": rng.random(n) ** 9,
        "grid": rng.integers(0, 6, n) / 5,
        "pile": np.maximum(rng.integers(-9, 6, n), 0) / 5,
        "one": np.full(n, 0.3),
    }[kind]
    if rng.random() < 0.3:
        values = np.where(rng.random(n) < 0.2, 4.0, values)
    return values * rng.choice([1.0, 0.5])


def random_points(n: int, d: int, flat: int, trees: int, distinct: int, seed: int) -> LossPoints:
    """Records in canonical order, at most ``distinct`` of them different."""
    rng = np.random.default_rng(seed)
    kinds = ("floats", "skewed", "grid", "pile", "one")
    numeric = np.zeros((n, 0))
    for _ in range(d):
        numeric = np.column_stack([numeric, random_numbers(rng, n, str(rng.choice(kinds)))])
    cap = rng.choice([1.0, 0.5, 0.3], d)
    columns = [np.zeros((n, 0), np.int32)]
    scale: list[float] = []
    limit: list[int] = []
    first: list[int] = []
    for is_tree in rng.permutation([0] * flat + [1] * trees):
        levels, leaves = (int(rng.integers(2, 5)) if is_tree else 1), int(rng.integers(1, 14))
        first += [len(first)] * levels
        scale += rng.choice([1 / levels, 1 / levels, 0.25, 0.0], levels).tolist()
        limit += [1 if is_tree else int(rng.choice([1, leaves]))] * levels
        columns.append(random_tree(rng, n, levels, leaves))
    codes = np.concatenate(columns, axis=1)
    drawn = rng.integers(0, min(distinct, n), n) if distinct < n else np.arange(n)
    numeric, codes = numeric[drawn], codes[drawn]
    if rng.random() < 0.8 and d + codes.shape[1]:
        order = np.lexsort([*codes.T[::-1], *numeric.T[::-1]])
        numeric, codes = numeric[order], codes[order]
    return LossPoints.of(numeric, codes, scale, cap, limit, first)


@st.composite
def cases(draw: Callable[[st.SearchStrategy[Any]], Any], most: int = 90) -> tuple[LossPoints, int]:
    """Points and a k that fits them: one row, fewer than 2k rows, many ties and duplicates.

    Only the shape is drawn by Hypothesis; the values follow from a seed.
    """
    k = draw(st.sampled_from((2, 3, 5, 1)))
    n = draw(st.one_of(st.integers(2 * k, most), st.integers(k, most), st.just(k)))
    d, flat, trees = (draw(st.integers(0, 2)) for _ in range(3))
    distinct = draw(st.sampled_from((n, n, 12, 3)))
    return random_points(n, d, flat, trees, distinct, draw(st.integers(0, 10**6))), k


def hold(points: LossPoints, labels: Labels, k: int, mode: str) -> None:
    """Checks sizes, numbering, and that no class can be cut any further."""
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    parts = reference.attributes(points)
    for number, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(labels == number).tolist()
        widths = [attribute.width(members) for attribute in parts]
        if mode == "relaxed":
            assert size < 2 * k or not any(widths)
            continue
        for attribute, width in zip(parts, widths, strict=True):
            assert width == 0 or reference.strict_cut(attribute, members, k) is None


@pytest.mark.parametrize("mode", MODES)
@often(400)
@given(case=cases())
def test_kernel_gives_the_labels_of_the_reference(mode: str, case: tuple[LossPoints, int]) -> None:
    points, k = case
    expected = reference.mondrian(points, k, mode == "strict")
    assert labels_by(mode, points, k).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
@often(80)
@given(case=cases())
def test_no_class_can_be_cut_any_further(mode: str, case: tuple[LossPoints, int]) -> None:
    points, k = case
    hold(points, labels_by(mode, points, k), k, mode)


@often(60)
@given(case=cases(most=300))
def test_strict_cuts_never_part_equal_records(case: tuple[LossPoints, int]) -> None:
    """Strict cuts part values, so equal records share a class, however many they are."""
    points, k = case
    labels = labels_by("strict", points, k)
    parts = reference.attributes(points)
    seen: dict[tuple[float, ...], int] = {}
    for i in range(len(points)):
        key = tuple(attribute.position(i) for attribute in parts)
        assert seen.setdefault(key, int(labels[i])) == labels[i]


@lru_cache
def many(kind: str) -> LossPoints:
    """Records enough for sampled medians, and for several cores."""
    if kind == "ties":
        return random_points(25_000, 2, 2, 2, 25_000, 3)
    rng = np.random.default_rng(8)
    matrix = rng.random((25_000, 2)) ** (1 if kind == "floats" else 12)
    if kind == "outliers":
        matrix[rng.random(25_000) < 0.3, 0] = 0.0
    return LossPoints.of(matrix[np.lexsort(matrix.T[::-1])])


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ("floats", "outliers", "ties"))
@pytest.mark.parametrize("mode", MODES)
def test_kernel_and_reference_agree_on_many_records(mode: str, kind: str) -> None:
    points = many(kind)
    expected = reference.mondrian(points, 7, mode == "strict")
    assert labels_by(mode, points, 7).tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_cores_do_not_matter(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = many("ties")
    found = []
    ways = ((1, 10, 16), (3, 10, 16), (2, 10, 2), (2, 10**9, 16), (2, 10, 10**4))
    for cores, alone, parts in ways:
        monkeypatch.setattr("kanon_sql.kernel.parallel.cores", lambda cores=cores: cores)
        monkeypatch.setattr(module, "ALONE", alone)
        monkeypatch.setattr(module, "PARTS", parts)
        found.append(labels_by(mode, points, 5).tolist())
    assert all(labels == found[0] for labels in found)


@pytest.mark.parametrize("kind", ("signs", "few close", "close", "whole", "sorted"))
def test_ranks_of_numbers(kind: str) -> None:
    """Also of numbers that agree in all leading bits, of which there may be many or few."""
    rng = np.random.default_rng(2)
    column = {
        "signs": np.concatenate([rng.normal(size=3000), [0.0, -0.0, 1e300, -1e300, 5e-324]]),
        "few close": np.append(rng.random(3000), 1 + rng.permutation(9) * 2.0**-50),
        "close": 1 + rng.permutation(4000) * 2.0**-50,
        "whole": rng.integers(-5, 5, 3000).astype(float),
        "sorted": np.sort(rng.integers(-5, 5, 3000)).astype(float),
    }[kind]
    order = attribute_orders(LossPoints.of(np.column_stack([np.zeros(len(column)), column])))[1]
    values, ranks = np.unique(column, return_inverse=True)
    assert (order.places == values).all() and (order.ranks == ranks).all()


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ("ranks", "sorted", "two", "heap", "waves"))
def test_median_of_very_many(kind: str) -> None:
    """So many that the sample is drawn more than once; or in vain, where it misleads."""
    rng = np.random.default_rng(6)
    n = 200_001
    ranks = {
        "ranks": rng.permutation(n),
        "sorted": np.arange(n),
        "two": rng.integers(0, 2, n) * 100_000,
        "heap": np.where(rng.random(n) < 0.49, 7, rng.permutation(n)),
        "waves": np.where(np.arange(n) % 195 == 0, 0, rng.permutation(n)),
    }[kind].astype(np.int32)
    room = np.zeros(2 * n, np.int32)
    least, most = int(ranks.min()), int(ranks.max())
    found = from_python(module._median)(ranks, np.uint64(0), np.uint64(n), least, most, room)
    assert found == np.sort(ranks)[n // 2]


@lru_cache
def people() -> LossPoints:
    """3,000 records of Adult: age as a number, education in a tree of two levels."""
    table = pl.read_parquet(adult()).head(3000)
    names = ("sex", "race", "marital-status", "native-country", "workclass", "occupation")
    age = table["age"].cast(pl.Float64).to_numpy()
    columns = [table[name].cast(pl.Categorical).to_physical().to_numpy() for name in names]
    degree = table["education"].rank("dense").to_numpy() - 1
    codes = np.column_stack([*columns, degree, degree // 4])
    order = np.lexsort([*codes.T[::-1], age])
    return LossPoints.of(
        (age[order, None] - age.min()) / (age.max() - age.min()), codes[order],
        [1.0] * 6 + [0.5] * 2, first=[0, 1, 2, 3, 4, 5, 6, 6],
    )


@pytest.mark.parametrize("k", (2, 5, 50))
@pytest.mark.parametrize("mode", MODES)
def test_adult(mode: str, k: int) -> None:
    labels = labels_by(mode, people(), k)
    assert labels.tolist() == reference.mondrian(people(), k, mode == "strict")
    hold(people(), labels, k, mode)


def test_numbers_by_hand() -> None:
    """1 2 2 2 3: the boundaries after the first and the fourth are equally far from the middle, so
    the lower one is cut; relaxed, the middle is between two equal values."""
    points = LossPoints.of([[0.1], [0.2], [0.2], [0.2], [0.3]])
    assert labels_by("strict", points, 1).tolist() == [0, 1, 1, 1, 2]
    assert labels_by("strict", points, 2).tolist() == [0, 0, 0, 0, 0]
    assert labels_by("relaxed", points, 2).tolist() == [0, 0, 1, 1, 1]
    assert labels_by("relaxed", points, 1).tolist() == [0, 1, 2, 3, 4]
    points = LossPoints.of([[0.1], [0.2], [0.2], [0.2], [0.2]])
    assert labels_by("relaxed", points, 1).tolist() == [0, 1, 2, 2, 2]


def test_frequent_categories_come_first() -> None:
    """Code 1 is the most frequent one; 0 and 2 follow, by code."""
    points = LossPoints.of(np.zeros((8, 0)), [[0], [0], [1], [1], [1], [1], [2], [2]], [1.0])
    assert labels_by("strict", points, 2).tolist() == [1, 1, 0, 0, 0, 0, 2, 2]


def test_hierarchy_is_cut_below_the_lowest_common_ancestor() -> None:
    """Leaves 0 1 | 2 3 below two nodes: cut between the nodes first, though the median is not."""
    leaves = np.array([0, 1, 2, 2, 3, 3, 3, 3])
    codes = np.column_stack([leaves, leaves // 2])
    points = LossPoints.of(np.zeros((8, 0)), codes, [0.5, 0.5], first=[0, 0])
    assert labels_by("strict", points, 2).tolist() == [0, 0, 1, 1, 2, 2, 2, 2]
    assert labels_by("strict", points, 3).tolist() == [0] * 8
    assert labels_by("relaxed", points, 4).tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize("mode", MODES)
def test_one_record_and_none_to_tell_apart(mode: str) -> None:
    assert labels_by(mode, LossPoints.of([[0.5]]), 1).tolist() == [0]
    assert labels_by(mode, LossPoints.of(np.zeros((5, 0))), 2).tolist() == [0] * 5
    assert labels_by(mode, LossPoints.of(np.full((9, 2), 0.5)), 2).tolist() == [0] * 9


def test_stops_when_asked_to_and_says_how_far_it_is() -> None:
    points, watch = many("floats"), Watch()
    watch.begin("grouping", len(points))
    mondrian(points, task_for("mondrian", 5), watch)
    assert watch.done == len(points)
    watch.stop()
    with pytest.raises(StoppedError):
        mondrian(points, task_for("mondrian", 5), watch)
