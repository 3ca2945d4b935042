"""fold, spread and five_halves against the reference and what du2009, section 4.2, proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import GroupTask, task_for
from kanon_sql.methods.single_attribute.bin_covering import (
    bins_by_item,
    item_order,
    most_bins,
    next_fit,
)
from kanon_sql.methods.single_attribute.five_halves import five_halves, halves_bins
from kanon_sql.methods.single_attribute.fold import fold
from kanon_sql.methods.single_attribute.pack import lower_bound, pack
from kanon_sql.methods.single_attribute.spread import spread
from kanon_sql.points.points import ItemPoints
from tests.methods.single_attribute import reference_covering as reference
from tests.support.partitions import partitions
from tests.support.thoroughness import often

METHODS: dict[str, Any] = {"fold": fold, "spread": spread, "five_halves": five_halves}
REFERENCES: dict[str, Callable[..., reference.Packing]] = {
    "fold": reference.fold,
    "spread": reference.spread,
}
WAYS = tuple(METHODS)


def packed(sizes: Sequence[int], k: int, way: str, sequence: str = "sorted") -> list[int]:
    labels: list[int] = pack(np.array(sizes, np.int64), k, sequence, 0, way).tolist()
    return labels


def by_theorem_9(sizes: Sequence[int], k: int) -> list[int]:
    """The paper's packing, one of the candidates of five_halves."""
    array = np.array(sizes, np.int64)
    order = item_order(array, k, "sorted", 0)
    bins, filled = next_fit(array[order], k, np.zeros(2, np.int64))
    labels: list[int] = bins_by_item(order, halves_bins(array[order], bins, filled, k)[0]).tolist()
    return labels


def levels(sizes: Sequence[int], labels: Sequence[int]) -> Counter[int]:
    found: Counter[int] = Counter()
    for size, label in zip(sizes, labels, strict=True):
        found[label] += size
    return found


def check_packing(sizes: Sequence[int], labels: Sequence[int], k: int) -> int:
    """Each bin has k or more, and bins are numbered by their least item. The cost."""
    found = levels(sizes, labels)
    assert min(found.values()) >= k
    assert list(dict.fromkeys(labels)) == list(range(len(found)))
    return max(found.values())


def theorem_7(sizes: Sequence[int], k: int) -> int:
    return max(k - 1 + max(sizes), 3 * k - 3)


def task_of(method: str, k: int, sequence: str, seed: int = 0) -> GroupTask:
    """The task; five_halves has a sequence of its own."""
    own = {} if method == "five_halves" else {"sequence": sequence}
    return task_for(method, k, seed=seed, **own)


@st.composite
def instances(draw: st.DrawFn, most: int = 40) -> tuple[list[int], int]:
    """Sizes and a k that they fill: large, small and mixed sizes, with and without oversize."""
    k = draw(st.integers(1, 30))
    kind = draw(st.sampled_from(("any", "small", "large", "extremes", "nominal")))
    size = {
        "any": st.integers(1, 3 * k + 1),
        "small": st.integers(1, k // 2 + 1),
        "large": st.integers((k + 1) // 2, k),
        "extremes": st.sampled_from((1, max(k - 1, 1), max(k // 2, 1))),
        "nominal": st.integers(1, max(k - 1, 1)),
    }[kind]
    sizes = draw(st.lists(size, min_size=1, max_size=most))
    if sum(sizes) < k:
        sizes.append(k)
    return sizes, k


tiny = instances(most=7)


def multisets(k: int, largest: int, items: int) -> Iterator[tuple[int, ...]]:
    """All multisets of so many sizes up to the largest that fill a bin."""
    for sizes in combinations_with_replacement(range(1, largest + 1), items):
        if sum(sizes) >= k:
            yield sizes


# --- against the reference --------------------------------------------------------------------


@often(300)
@given(case=instances(), sequence=st.sampled_from(("random", "sorted")), seed=st.integers(0, 99))
def test_packings_are_those_of_the_reference(
    case: tuple[list[int], int], sequence: str, seed: int
) -> None:
    sizes, k = case
    for way, method in REFERENCES.items():
        labels = pack(np.array(sizes), k, sequence, seed, way)
        assert labels.dtype == np.int64
        expected = method(sizes, k, sequence, seed)
        assert labels.tolist() == reference.labels_of(expected, len(sizes))
        check_packing(sizes, labels.tolist(), k)
    assert by_theorem_9(sizes, k) == reference.labels_of(
        reference.theorem_9(sizes, k), len(sizes)
    )


@often(100)
@given(case=instances(), sequence=st.sampled_from(("random", "sorted")), seed=st.integers(0, 99))
def test_a_method_groups_the_records_as_their_items_are_packed(
    case: tuple[list[int], int], sequence: str, seed: int
) -> None:
    """Wherever the records stand; groups are numbered by their first item."""
    sizes, k = case
    item = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    points = ItemPoints.of(sizes, item=item)
    for way, method in METHODS.items():
        watch = Watch()
        watch.begin("grouping", len(points))
        grouping = task_of(method.__name__, k, sequence, seed).group(points, watch)
        labels = pack(np.array(sizes), k, sequence, seed, way)
        assert (grouping.labels == labels[item]).all()
        assert watch.done == len(points)
        assert grouping.facts["lower_bound"] == lower_bound(points.size, k)


def test_sequence_and_seed_have_defaults() -> None:
    points = ItemPoints.of(np.arange(1, 40))
    for method in (fold, spread):
        plain = task_for(method.__name__, 50).group(points).labels
        same = task_for(method.__name__, 50, sequence="sorted", seed=1).group(points).labels
        other = task_for(method.__name__, 50, sequence="random").group(points).labels
        assert (plain == same).all()
        assert (plain != other).any()


# --- what is proved ---------------------------------------------------------------------------


@often(300)
@given(case=tiny, sequence=st.sampled_from(("random", "sorted")))
def test_no_packing_costs_less_than_the_bound_or_more_than_guaranteed(
    case: tuple[list[int], int], sequence: str
) -> None:
    """Facts against all partitions, and each theorem's bound."""
    sizes, k = case
    least = reference.quick_optimum(sizes, k)
    points = ItemPoints.of(sizes)
    for way, method in METHODS.items():
        grouping = task_of(method.__name__, k, sequence).group(points)
        cost = int(np.bincount(grouping.labels).max())
        assert cost <= theorem_7(sizes, k)
        assert grouping.facts["lower_bound"] <= least
        ratio = grouping.facts["guaranteed_ratio"]
        assert 1.0 <= ratio <= (2.5 if way == "five_halves" else 3.0)
        assert cost <= ratio * least * (1 + 1e-12)


@often(100)
@given(case=tiny)
def test_no_packing_has_more_bins_or_costs_less(case: tuple[list[int], int]) -> None:
    sizes, k = case
    feasible = [
        packing for packing in partitions(len(sizes), 1)
        if all(reference.level(sizes, items) >= k for items in packing)
    ]
    least = min(reference.cost(sizes, packing) for packing in feasible)
    assert reference.optimum(sizes, k) == reference.quick_optimum(sizes, k) == least
    assert max(map(len, feasible)) <= most_bins(np.array(sizes), k)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("k", "largest", "items"),
    [(2, 5, 5), (3, 7, 5), (4, 3, 9), (4, 7, 5), (5, 4, 8), (6, 5, 7), (7, 8, 5)],
)
def test_bounds_hold_for_all_multisets_of_sizes(k: int, largest: int, items: int) -> None:
    """Theorem 7 for fold and spread, theorem 9 for five_halves, and the lower bound."""
    for sizes in multisets(k, largest, items):
        least = reference.quick_optimum(sizes, k)
        assert lower_bound(np.array(sizes), k) <= least
        for way in ("fold", "spread"):
            for sequence in ("random", "sorted"):
                cost = check_packing(sizes, packed(sizes, k, way, sequence), k)
                assert cost <= theorem_7(sizes, k)
        assert 2 * check_packing(sizes, packed(sizes, k, "five_halves"), k) <= 5 * least


def test_every_case_of_theorem_9_occurs_and_keeps_its_own_bound() -> None:
    """The bounds that the proof in five_halves.py states, over multisets of seven or eight."""
    seen = Counter[str]()
    for k, largest, items in ((5, 5, 7), (6, 6, 7), (5, 4, 8), (6, 5, 8)):
        for sizes in multisets(k, largest, items):
            case, found = reference.by_case(sizes, k)
            seen[case] += 1
            expected = reference.labels_of(reference.theorem_9(sizes, k), items)
            assert by_theorem_9(sizes, k) == expected
            cost = reference.cost(sizes, found)
            if case in ("nothing left", "oversize", "case 2.2"):
                assert cost < 2 * reference.quick_optimum(sizes, k)
            elif case == "three bins":
                assert 2 * cost < 5 * reference.quick_optimum(sizes, k)
            else:
                assert 2 * cost <= (4 * k - 4) + (k if case == "case 1" else 0)
    assert set(seen) == {
        "nothing left", "oversize", "three bins", "case 1", "case 2.1", "case 2.2"
    }


@often(300)
@given(k=st.integers(2, 40), data=st.data())
def test_lemma_8(k: int, data: st.DataObject) -> None:
    """Items of k / 2 at most, k in all at most, make three parts of k / 2 at most."""
    sizes: list[int] = []
    for size in data.draw(st.lists(st.integers(1, k // 2), min_size=1, max_size=12)):
        if sum(sizes) + size <= k:
            sizes.append(size)
    parts = reference.three_parts(sizes, k, range(len(sizes)))
    assert sorted(i for part in parts for i in part) == list(range(len(sizes)))
    assert all(2 * reference.level(sizes, part) <= k for part in parts)


@often(200)
@given(case=instances())
def test_fold_costs_what_its_bound_says(case: tuple[list[int], int]) -> None:
    """Without leftovers max(largest, 2k - 2); with an oversize item t at most t + k - 1."""
    sizes, k = case
    order = reference.item_order(sizes, k, "random", 0)
    _, left = reference.next_fit(sizes, k, order)
    cost = check_packing(sizes, packed(sizes, k, "fold", "random"), k)
    over = [size for size in sizes if size >= k]
    if not left:
        assert cost <= max(*sizes, 2 * k - 2)
    elif over:
        assert cost <= max(*sizes, 2 * k - 2, min(over) + k - 1)
        assert cost < 2 * lower_bound(np.array(sizes), k)
    else:
        assert cost <= 3 * k - 3


# --- examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", (3, 7, 21, 101))
def test_fold_may_cost_nearly_three_times_the_optimum(k: int) -> None:
    """k - 1 items of size k - 1, and as many of size 1: the optimum is k, fold's cost 3k - 3."""
    sizes = [k - 1] * (k - 1) + [1] * (k - 1)
    points = ItemPoints.of(sizes)
    costs = {way: check_packing(sizes, packed(sizes, k, way), k) for way in WAYS}
    paper = check_packing(sizes, by_theorem_9(sizes, k), k)
    assert costs["fold"] == 3 * k - 3
    assert costs["five_halves"] == k
    if k == 3:  # two bins are filled: no case parts what is left over
        assert paper == costs["spread"] == 6
    else:
        assert costs["spread"] <= paper <= 2 * k - 2 + k // 2
    facts = task_for("fold", k, sequence="sorted").group(points).facts
    assert facts == {"lower_bound": k, "guaranteed_ratio": (3 * k - 3) / k}


def test_theorem_9_may_cost_nearly_5_halves_of_the_optimum() -> None:
    """Six of 99 with two of 50: no better without parting pairs of 99. Even bins do so."""
    sizes = [99] * 6 + [49, 49]
    labels = by_theorem_9(sizes, 100)
    assert check_packing(sizes, labels, 100) == 198 + 49
    assert labels == [0, 0, 1, 1, 2, 2, 0, 1]
    assert check_packing(sizes, packed(sizes, 100, "five_halves"), 100) == 198


def test_two_and_two_and_one_large_item_change_places() -> None:
    """Case 2.1: 9 9 | 8 8 | 7 7 | 6 1 becomes 6 9 | 8 8 | 7 7 | 9 1."""
    assert by_theorem_9([9, 9, 8, 8, 7, 7, 6, 1], 10) == [0, 1, 2, 2, 3, 3, 1, 0]


def test_three_large_items_must_share_a_bin() -> None:
    """Case 2.2: seven items of 6, k = 8: the lower bound says 18, so fold is optimal."""
    points = ItemPoints.of([6] * 7)
    grouping = task_for("five_halves", 8).group(points)
    assert grouping.facts == {"lower_bound": 18.0, "guaranteed_ratio": 1.0}


def test_spread_fills_up_before_it_goes_round() -> None:
    """9 | 5 5 | 4 3 filled, 3 2 left, k = 7: 3 joins 4 + 3 and 2 has to exceed 10, first at 9."""
    sizes = [9, 5, 5, 4, 3, 3, 2]
    assert packed(sizes, 7, "spread") == [0, 1, 1, 2, 2, 2, 0]
    assert packed(sizes, 7, "fold") == [0, 1, 1, 2, 2, 2, 2]


def test_spread_fills_an_oversize_bin_that_is_not_the_greatest() -> None:
    """The bin of 10 takes what is left over, as 20 is the maximum anyway."""
    grouping = task_for("spread", 10).group(ItemPoints.of([10, 20, 4, 5]))
    assert np.bincount(grouping.labels).tolist() == [19, 20]
    assert grouping.facts == {"lower_bound": 20.0, "guaranteed_ratio": 1.0}


@pytest.mark.parametrize("way", WAYS)
def test_small_and_degenerate_inputs(way: str) -> None:
    assert packed([5], 5, way) == [0]
    assert packed([7], 5, way) == [0]
    assert packed([1], 1, way) == [0]
    assert packed([3, 1, 2], 1, way) == [0, 1, 2]
    assert packed([2, 3], 5, way) == [0, 0]
    assert packed([2, 3, 4], 5, way) == [0, 0, 0]
    assert packed([5, 5, 5], 5, way) == [0, 1, 2]
    assert packed([1] * 6, 3, way, "sorted") == [0, 0, 0, 1, 1, 1]
    assert packed([4, 6], 6, way) == [0, 0]


@pytest.mark.parametrize("way", WAYS)
def test_too_few_records_are_refused(way: str) -> None:
    with pytest.raises(DataError, match="There are 4 rows to anonymize, fewer than k = 5"):
        packed([3, 1], 5, way)
    with pytest.raises(DataError, match="fewer than k = 5"):
        task_for(METHODS[way].__name__, 5).group(ItemPoints.of([3, 1]))


@pytest.mark.parametrize("way", WAYS)
def test_a_stopped_watch_ends_the_work(way: str) -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        METHODS[way](ItemPoints.of([3, 1, 4, 1, 5]), task_for(METHODS[way].__name__, 5), watch)
    assert watch.done <= 5


def test_200_000_items() -> None:
    sizes = np.random.default_rng(1).zipf(1.6, 200_000).clip(1, 30_000)
    for way in WAYS:
        for k in (5, 20_000):
            labels = pack(sizes, k, "random", 0, way)
            assert np.bincount(labels, weights=sizes).min() >= k
