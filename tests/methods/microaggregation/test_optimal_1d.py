"""optimal_1d against exact arithmetic: no grouping of one numeric attribute loses less."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import DONE, Beat, StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.microaggregation.optimal_1d import STRIDE, optimal_1d
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Points
from tests.methods.microaggregation.reference_1d import (
    error_of,
    least_error,
    optimal_runs,
    partitions,
)

CLOSE = Fraction(1, 10**12)
"""By how much, relative to the least error, a grouping of floats may lose more."""


def labels_of(values: Sequence[float], k: int) -> list[int]:
    """The groups that the kernel makes of values in any order."""
    points = Points.of(np.array(values, np.float64).reshape(-1, 1))
    labels: list[int] = task_for("optimal_1d", k).group(points).labels.tolist()
    return labels


def check_runs(values: Sequence[float], labels: Sequence[int], k: int) -> None:
    """Groups are numbered from the least value on, and have k to 2k-1 members each."""
    sizes = Counter(labels)
    assert sorted(sizes) == list(range(len(sizes)))
    assert k <= min(sizes.values()) and max(sizes.values()) <= 2 * k - 1
    by_value = sorted(range(len(values)), key=lambda i: (values[i], i))
    in_order = [labels[i] for i in by_value]
    assert in_order == sorted(in_order)


def check_optimal(values: Sequence[float], k: int) -> None:
    """The grouping of the values is made of runs and loses no more than it has to."""
    labels = labels_of(values, k)
    check_runs(values, labels, k)
    least, _ = optimal_runs(values, k)
    assert error_of(values, labels) <= least * (1 + CLOSE)


# --- the paper --------------------------------------------------------------------------------


@st.composite
def few_values(draw: st.DrawFn) -> tuple[list[float], int]:
    """Up to eight values, often with ties, and a k that fits them."""
    some = st.floats(-100, 100, allow_subnormal=False) | st.integers(-4, 4).map(float)
    values = draw(st.lists(some, min_size=1, max_size=8))
    return values, draw(st.integers(1, min(len(values), 4)))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(case=few_values())
def test_no_partition_at_all_loses_less(case: tuple[list[float], int]) -> None:
    """The best of all partitions is made of runs of k to 2k-1, and the kernel finds it."""
    values, k = case
    least = least_error(values, k)
    assert optimal_runs(values, k)[0] == least
    labels = labels_of(values, k)
    check_runs(values, labels, k)
    assert error_of(values, labels) <= least * (1 + CLOSE)


def test_number_of_partitions() -> None:
    """The brute force leaves nothing out: Bell numbers, and the pairs of six."""
    assert [sum(1 for _ in partitions(n, 1)) for n in range(1, 9)] == [
        1, 2, 5, 15, 52, 203, 877, 4140,
    ]
    assert sum(1 for groups in partitions(6, 2) if len(groups) == 3) == 15


def test_example_of_the_mdav_paper() -> None:
    """thaeter2021, section 3: eleven numbers, k = 3: as good as MDAV*, 21.2."""
    values = [1.0, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100]
    assert labels_of(values, 3) == [0] * 5 + [1] * 3 + [2] * 3
    assert error_of(values, labels_of(values, 3)) == Fraction(106, 5)


# --- against the reference --------------------------------------------------------------------


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], int]:
    """Up to 60 values and a k: even, clustered, on a grid, or over many orders of magnitude."""
    k = draw(st.integers(1, 12))
    n = draw(st.integers(k, 60))
    dice = random.Random(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(("even", "grid", "clusters", "magnitudes", "tiny steps")))
    if kind == "even":
        return [dice.uniform(-3, 3) for _ in range(n)], k
    if kind == "grid":
        return [float(dice.randrange(n)) for _ in range(n)], k
    if kind == "clusters":
        return [dice.choice((-1.0, 0.0, 0.5, 7.0)) + dice.gauss(0, 1e-7) for _ in range(n)], k
    if kind == "magnitudes":
        return [dice.choice((-1, 1)) * 10 ** dice.uniform(-12, 12) for _ in range(n)], k
    return [1.0 + dice.randrange(40) * 2.0**-52 for _ in range(n)], k


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(case=cases())
def test_optimal_by_exact_arithmetic(case: tuple[list[float], int]) -> None:
    """The kernel's grouping loses no more than the shortest path, computed with fractions."""
    check_optimal(*case)


@pytest.mark.sample(5)
@pytest.mark.parametrize("k", (2, 3, 7, 10, 64, 150))
@pytest.mark.parametrize("spread", (1.0, 1e-3))
def test_large_values_with_small_differences(k: int, spread: float) -> None:
    """Around 1e8 squares have no digits left for the differences; the grouping is optimal."""
    dice = random.Random(k)
    check_optimal([1e8 + dice.gauss(0, spread) for _ in range(400)], k)


@pytest.mark.parametrize("k", (2, 5, 40))
def test_far_records_cost_no_digits(k: int) -> None:
    """Small differences beside a record 1e9 times as far away are told apart, too.

    The error of the far ones hides that of the others, so the others are judged alone.
    """
    dice = random.Random(k)
    near = [dice.gauss(0, 1e-3) for _ in range(6 * k + 1)]
    labels = labels_of([-1e9] * (2 * k) + near + [1e9] * (2 * k), k)[2 * k : -2 * k]
    assert len(set(labels)) == len(set(labels_of(near, k)))
    assert error_of(near, labels) <= optimal_runs(near, k)[0] * (1 + CLOSE)


@pytest.mark.parametrize("k", (3, 8, 20))
def test_tight_clusters_cost_no_digits(k: int) -> None:
    """Within clusters as tight as 1e-9, groups are optimal though mixing clusters costs 1."""
    dice = random.Random(k)
    check_optimal([c + dice.gauss(0, 1e-9) for c in range(10) for _ in range(2 * k + 1)], k)


@pytest.mark.parametrize("power", (-700, 700))
def test_numbers_whose_squares_are_no_floats(power: int) -> None:
    """Values near either end of the range of floats group as the same values near 1."""
    dice = random.Random(2)
    values = [dice.gauss(0, 1) for _ in range(50)]
    assert labels_of([x * 2.0**power for x in values], 3) == labels_of(values, 3)


@pytest.mark.parametrize("k", (3, 17, 100))
def test_any_order_of_the_records(k: int) -> None:
    """A record's group follows from its value, wherever the record stands."""
    dice = random.Random(5)
    values = [dice.lognormvariate(0, 2) for _ in range(500)]
    by_value = dict(zip(sorted(values), labels_of(sorted(values), k), strict=True))
    assert labels_of(values, k) == [by_value[x] for x in values]
    check_optimal(values, k)


# --- ties and small numbers of records --------------------------------------------------------


def test_a_tie_goes_to_the_earlier_start() -> None:
    """0 1 | 2 3 4 and 0 1 2 | 3 4 lose the same: the last group starts at the earlier record."""
    assert labels_of([0.0, 1, 2, 3, 4], 2) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("k", (2, 3, 4, 5, 8))
@pytest.mark.parametrize("n", (8, 9, 20, 41))
def test_ties_among_equal_values(n: int, k: int) -> None:
    """Equal values cost nothing, however they are cut; exact zeros make exact ties."""
    _, sizes = optimal_runs([0.7] * n, k)
    assert labels_of([0.7] * n, k) == [g for g, size in enumerate(sizes) for _ in range(size)]


def test_equal_values_stay_in_canonical_order() -> None:
    """Among equal values the record that comes first is in the group that comes first."""
    assert labels_of([5.0, 1, 5, 1, 5, 1, 5, 1], 2) == [2, 0, 2, 0, 3, 1, 3, 1]


@pytest.mark.parametrize("n", (4, 5, 7))
def test_fewer_than_two_groups_of_records_are_one_group(n: int) -> None:
    """With n < 2k there is one group."""
    assert labels_of(list(range(n)), 4) == [0] * n


def test_k_of_one_leaves_every_record_alone() -> None:
    """With k = 1 a group is a record."""
    assert labels_of([3.0, 1.0, 2.0, 2.0], 1) == [3, 0, 1, 2]
    assert labels_of([3.0], 1) == [0]


@pytest.mark.parametrize("n", (3, 5, 6, 11, 12))
def test_records_without_a_coordinate(n: int) -> None:
    """A constant column has no coordinate; its records make n // k groups."""
    labels = task_for("optimal_1d", 3).group(Points.of(np.zeros((n, 0)))).labels
    assert labels.dtype == np.int64
    check_runs([0.0] * n, labels.tolist(), 3)
    assert len(set(labels.tolist())) == n // 3


# --- refusals, the watch ----------------------------------------------------------------------


def test_a_nominal_attribute_is_refused() -> None:
    """A category has no order."""
    points = Points.of([[0.0], [1.0]], [[0], [1]], [1.0])
    with pytest.raises(DataError, match="there is a nominal one"):
        task_for("optimal_1d", 2).group(points)


def test_a_second_coordinate_is_refused() -> None:
    """A second attribute, or the indicator of NULLs."""
    with pytest.raises(DataError, match=r"there are 2: .* NULLs"):
        task_for("optimal_1d", 2).group(Points.of([[0.0, 1.0], [1.0, 0.0]]))


def test_the_watch_sees_all_records_done() -> None:
    """At the end as many units are done as there are records."""
    watch = Watch()
    watch.begin("grouping", 3 * STRIDE)
    values = np.arange(3.0 * STRIDE)[:, None]
    optimal_1d(Points.of(values), task_for("optimal_1d", 5), watch)
    assert watch.done == 3 * STRIDE


def test_a_stopped_watch_ends_the_work_early() -> None:
    """The kernel returns after a stride, and StoppedError is raised."""

    beats: list[Beat] = []

    class Impatient(Watch):
        def beat(self) -> Beat:
            beats.append(super().beat())
            self.stop()
            return beats[-1]

    with pytest.raises(StoppedError):
        points = Points.of(np.arange(10.0 * STRIDE)[:, None])
        optimal_1d(points, task_for("optimal_1d", 5), Impatient())
    assert 0 < beats[0][DONE] < 2 * STRIDE


def test_200_000_records_with_any_k() -> None:
    """What a search of all pairs would never end, and a larger k loses more."""
    values = np.sort(np.random.default_rng(1).standard_normal(200_000))
    points = Points.of(values[:, None])
    labels_of([0.0, 1.0], 1)
    lost = []
    for k in (2, 10, 1000, 70_000):
        labels = task_for("optimal_1d", k).group(points).labels
        lost.append(sse(points, labels))
    assert lost == sorted(lost)
