"""ordered against plain dynamic programming, and against all runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import OptionError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.points.points import Grouping, ItemPoints, Labels
from tests.methods.single_attribute import reference_ordered as reference
from tests.support.partitions import partitions
from tests.support.thoroughness import often

OBJECTIVES = ("largest", "quadratic")


def grouped(
    sizes: Sequence[int], k: int, objective: str = "largest", watch: Watch | None = None
) -> Grouping:
    return task_for("ordered", k, objective=objective).group(ItemPoints.of(sizes), watch)


def runs_of(grouping: Grouping, sizes: Sequence[int]) -> list[int]:
    """How many items each group has; records stand in the order of their items."""
    groups: Labels = grouping.labels[np.cumsum(sizes) - 1]
    assert np.array_equal(np.repeat(groups, sizes), grouping.labels)
    assert groups[0] == 0 and set(np.diff(groups).tolist()) <= {0, 1}
    runs: list[int] = np.bincount(groups).tolist()
    return runs


def penalty(classes: Sequence[int], k: int) -> int:
    return sum(size * (size - k) for size in classes)


@st.composite
def cases(draw: st.DrawFn, most: int = 60) -> tuple[list[int], int]:
    """Sizes that are equal, small, of many orders of magnitude, or multiples of something."""
    m, seed = draw(st.integers(1, most)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    kind = draw(st.sampled_from(("ones", "small", "wide", "multiples")))
    if kind == "ones":
        sizes = np.ones(m, np.int64)
    elif kind == "small":
        sizes = rng.integers(1, draw(st.integers(2, 20)), m)
    elif kind == "wide":
        sizes = np.exp(rng.uniform(0, 6, m)).astype(np.int64)
    else:
        sizes = 3 * rng.integers(1, 4, m)
    total = int(sizes.sum())
    k = draw(st.integers(1, min(total, 40)) | st.integers(1, total))
    return sizes.tolist(), k


@pytest.mark.parametrize("objective", OBJECTIVES)
@often(500)
@given(case=cases())
def test_equal_to_the_reference(objective: str, case: tuple[list[int], int]) -> None:
    """The cost and the runs, ties included, are those of the plain dynamic programming."""
    sizes, k = case
    found = grouped(sizes, k, objective)
    cost, runs = reference.ordered(sizes, k, objective)
    assert runs_of(found, sizes) == runs
    assert found.facts == {"lower_bound": float(cost), "guaranteed_ratio": 1.0}


@often(300)
@given(case=cases(10))
def test_no_runs_at_all_are_better(case: tuple[list[int], int]) -> None:
    """Of all ways to cut the items into runs none has a smaller largest class, nor, with such a
    class, a smaller penalty; and none has a smaller penalty than the objective 'quadratic'."""
    sizes, k = case
    feasible = []
    for runs in reference.compositions(len(sizes)):
        ends = list(accumulate(runs))
        classes = [sum(sizes[b - a : b]) for a, b in zip(runs, ends, strict=True)]
        if min(classes) >= k:
            feasible.append((max(classes), penalty(classes, k)))
    largest = np.bincount(grouped(sizes, k).labels).tolist()
    assert (max(largest), penalty(largest, k)) == min(feasible)
    quadratic = np.bincount(grouped(sizes, k, "quadratic").labels).tolist()
    assert penalty(quadratic, k) == min(lost for _, lost in feasible)


def test_number_of_compositions() -> None:
    """The brute force leaves nothing out."""
    assert [sum(1 for _ in reference.compositions(m)) for m in range(1, 8)] == [
        1, 2, 4, 8, 16, 32, 64,
    ]


@often(60)
@given(case=cases(7))
def test_with_equal_sizes_no_partition_is_better(case: tuple[list[int], int]) -> None:
    """Where all items are as large, an order costs nothing: the optimum of all partitions."""
    m, k = len(case[0]), case[1]
    sizes = [3] * m
    k = min(k, 3 * m)
    best = min(
        max(3 * len(group) for group in groups) for groups in partitions(m, -(-k // 3))
    )
    assert np.bincount(grouped(sizes, k).labels).max() == best


def test_a_large_value_does_not_spoil_the_others() -> None:
    """One value has 100 records, so the largest class does, too; the others are small anyway."""
    sizes = [1] * 12 + [100] + [1] * 7
    assert runs_of(grouped(sizes, 4), sizes) == [4, 4, 4, 1, 7]
    sizes = [1] * 12 + [100] + [1] * 3
    assert grouped(sizes, 4).facts["lower_bound"] == 103.0
    assert runs_of(grouped(sizes, 4), sizes) == [4, 4, 4, 4]


def test_the_two_objectives_differ() -> None:
    """k = 6: 10 + 10 + 6 records have the penalty 40 + 40 + 0, and 8 + 7 + 11 only 16 + 7 + 55."""
    sizes = [8, 2, 5, 5, 6]
    largest, quadratic = (grouped(sizes, 6, objective) for objective in OBJECTIVES)
    assert runs_of(largest, sizes) == [2, 2, 1] and largest.facts["lower_bound"] == 10.0
    assert runs_of(quadratic, sizes) == [1, 2, 2] and quadratic.facts["lower_bound"] == 78.0


def test_ties_go_to_the_earlier_start() -> None:
    """2 + 3 and 3 + 2 records are as good: the last run starts at the earlier item."""
    for objective in OBJECTIVES:
        assert runs_of(grouped([1] * 5, 2, objective), [1] * 5) == [2, 3]
        assert runs_of(grouped([1] * 8, 3, objective), [1] * 8) == [4, 4]
        assert runs_of(grouped([1] * 7, 2, objective), [1] * 7) == [2, 2, 3]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_single_cases(objective: str) -> None:
    """One item, total = k, total < 2k, items of k or more, and k = 1."""
    assert grouped([5], 3, objective).labels.tolist() == [0] * 5
    assert grouped([1, 2, 3], 6, objective).labels.tolist() == [0] * 6
    assert grouped([1, 2, 3], 4, objective).labels.tolist() == [0] * 6
    assert runs_of(grouped([4, 3, 9, 3], 3, objective), [4, 3, 9, 3]) == [1, 1, 1, 1]
    assert runs_of(grouped([2, 1, 1, 7], 1, objective), [2, 1, 1, 7]) == [1, 1, 1, 1]


def test_the_order_of_the_records_does_not_matter() -> None:
    """A record's group follows from its item, wherever the record stands."""
    item = np.append(np.arange(50), np.random.default_rng(1).integers(0, 50, 350))
    sizes = np.bincount(item).tolist()
    found = task_for("ordered", 9).group(ItemPoints.of(sizes, item=item))
    runs = runs_of(grouped(sizes, 9), sizes)
    groups = np.repeat(np.arange(len(runs)), runs)
    assert found.labels.tolist() == groups[item].tolist()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("m", (1, 2, 40, 150))
def test_two_billion_records_do_not_overflow(objective: str, m: int) -> None:
    """Costs up to 4e18 are exact. One record of each item stands for all of them."""
    shares = np.random.default_rng(m).dirichlet(np.ones(m))
    sizes = np.maximum((shares * 2e9).astype(np.int64), 1)
    total = int(sizes.sum())
    assert total > 19 * 10**8
    for k in (1, 10**7, 10**8, total // 2, total):
        points = ItemPoints.of(sizes, item=np.arange(m))
        found = task_for("ordered", k, objective=objective).group(points)
        cost, runs = reference.ordered(sizes.tolist(), k, objective)
        assert np.bincount(found.labels).tolist() == runs
        assert found.facts["lower_bound"] == float(cost)


def test_an_unknown_objective_is_refused() -> None:
    with pytest.raises(OptionError, match="The objective 'least' is not known"):
        grouped([1, 2, 3], 2, "least")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_watch_sees_all_records_done(objective: str) -> None:
    watch = Watch()
    watch.begin("grouping", 600)
    grouped([3] * 200, 4, objective, watch)
    assert watch.done == 600


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_stopped_watch_ends_the_work(objective: str) -> None:
    class Impatient(Watch):
        def beat(self) -> Any:
            beat = super().beat()
            self.stop()
            beats.append(beat)
            return beat

    beats: list[Any] = []
    with pytest.raises(StoppedError):
        grouped([1] * 5000, 4, objective, Impatient())
    assert beats[0].tolist() == [0, 1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_200_000_values_with_any_k(objective: str) -> None:
    """A large one among them; classes as few as 2 and as many as there can be."""
    sizes = np.ones(200_000, np.int64)
    sizes[70_000] = 1_000_000
    points = ItemPoints.of(sizes)
    for k in (1, 2, 50, 5000, 600_000):
        found = task_for("ordered", k, objective=objective).group(points)
        assert np.bincount(found.labels).min() >= k
