"""Even bins, which five_halves tries beyond du2009, against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.methods.single_attribute import even_bins as cover_even
from kanon_sql.methods.single_attribute.bin_covering import most_bins
from kanon_sql.methods.single_attribute.even_bins import even_bins, level_bins
from tests.methods.single_attribute import reference_covering as reference
from tests.methods.single_attribute.test_fold_spread_five_halves import (
    by_theorem_9,
    check_packing,
    instances,
    often,
    packed,
)


@st.composite
def coarse(draw: st.DrawFn) -> tuple[list[int], int]:
    """A few to a bin, so that many numbers of bins are tried, and some items oversize."""
    k = draw(st.integers(50, 300))
    low, high = draw(st.sampled_from(((1, 30), (20, 45), (25, 60), (30, 50), (5, 95))))
    sizes = draw(st.lists(st.integers(k * low // 100, k * high // 100), min_size=3, max_size=22))
    over = draw(st.lists(st.integers(k, 3 * k), min_size=int(sum(sizes) < k), max_size=2))
    return [*(max(size, 1) for size in sizes), *over], k


uneven = st.one_of(coarse(), instances(20))


def level_lists(sizes: Sequence[int], k: int, count: int, work: int) -> reference.Packing:
    """So many bins of about the same level, as lists of items; sizes from the largest down."""
    bins, found, _ = level_bins(np.array(sizes), k, count, work, np.zeros(2, np.int64))
    packing: reference.Packing = [np.flatnonzero(bins == b).tolist() for b in range(count)]
    assert found.tolist() == [reference.level(sizes, items) for items in packing]
    return packing


@often(300)
@given(case=uneven, data=st.data())
def test_even_bins_are_those_of_the_reference(
    case: tuple[list[int], int], data: st.DataObject
) -> None:
    """Any number of them, feasible or not."""
    sizes, k = sorted(case[0], reverse=True), case[1]
    count = data.draw(st.integers(1, min(len(sizes), most_bins(np.array(sizes), k) + 1)))
    assert level_lists(sizes, k, count, 10**6) == reference.even(sizes, k, count)


@often(300)
@given(case=uneven, close=st.sampled_from((0, 1, 3, 32)))
def test_five_halves_is_the_cheapest_packing_of_the_reference(
    case: tuple[list[int], int], close: int
) -> None:
    """Numbers of bins are tried one by one, or the middle one where more than ``close`` are left;
    that is 32 by default, more than a quick reference can try."""
    sizes, k = case
    with mock.patch.object(cover_even, "CLOSE", close):
        found = packed(sizes, k, "five_halves", "random")
    expected = reference.five_halves(sizes, k, close)
    assert found == reference.labels_of(expected, len(sizes))
    check_packing(sizes, found, k)


@often(200)
@given(case=uneven)
def test_an_exchange_can_not_help_any_more(case: tuple[list[int], int]) -> None:
    """Of the highest bin and another, or of the least one while it is below k."""
    sizes, k = sorted(case[0], reverse=True), case[1]
    packing = level_lists(sizes, k, most_bins(np.array(sizes), k), 10**6)
    ranked = reference.from_the_least(sizes, packing)
    least, greatest = ranked[0], ranked[-1]
    lacking = reference.level(sizes, least) < k
    for other in packing:
        high, low = (other, least) if lacking else (greatest, other)
        gap = reference.level(sizes, high) - reference.level(sizes, low)
        for x in high:
            for y in (0, *(sizes[i] for i in low)):
                assert not 0 < sizes[x] - y < gap


@often(200)
@given(case=instances())
def test_five_halves_costs_no_more_than_any_of_its_candidates(
    case: tuple[list[int], int]
) -> None:
    sizes, k = case
    cost = check_packing(sizes, packed(sizes, k, "five_halves"), k)
    for labels in (by_theorem_9(sizes, k), packed(sizes, k, "spread"), packed(sizes, k, "fold")):
        assert cost <= check_packing(sizes, labels, k)


def test_occupations_are_near_the_lower_bound() -> None:
    """Fourteen sizes such as those of occupations: theorem 9 puts all pairs of large ones."""
    sizes = [4038, 4030, 3992, 3721, 3584, 3212, 1966, 1572, 1350, 1030, 989, 912, 644, 143, 9]
    assert check_packing(sizes, by_theorem_9(sizes, 4000), 4000) == 7757
    assert check_packing(sizes, packed(sizes, 4000, "five_halves"), 4000) == 4636


def test_work_is_limited() -> None:
    """Without work for the repair, step 1 alone; without any, no even bins at all."""
    sizes = np.array([9, 9, 8, 8, 7, 7, 6, 1])
    assert level_lists(sizes.tolist(), 10, 4, 0) == [[0, 6], [1, 7], [2, 4], [3, 5]]
    others, beat = np.array([55]), np.zeros(2, np.int64)
    assert even_bins(sizes, 10, others, beat) is not None
    with mock.patch.object(cover_even, "WORK", 0):
        assert even_bins(sizes, 10, others, beat) is None
    tries: list[int] = []

    def counted(*arguments: Any) -> Any:
        tries.append(arguments[2])
        return level_bins(*arguments)

    hard = np.arange(40_200, 40_000, -1)  # three to a bin, where the bound allows five to two
    with mock.patch.object(cover_even, "level_bins", counted):
        even_bins(hard, 100_000, np.array([hard.sum()]), beat)
        assert len(tries) > 3
        many = len(tries)
        with mock.patch.object(cover_even, "WORK", 1):
            even_bins(hard, 100_000, np.array([hard.sum()]), beat)
        assert len(tries) == many + 1


def test_the_middle_number_of_bins_is_next_while_many_are_left() -> None:
    """Of 100 bins at most, 30 can be filled: the cost of 25 asks for 27, that of 30 for 31."""
    tries: list[int] = []

    def level(sizes: Any, k: int, count: int, work: int, beat: Any) -> Any:
        tries.append(count)
        found = np.full(count, 400 // count)
        found[0] += 400 - found.sum() if count > 30 else 400 % count > 0
        found[-1] = 0 if count > 30 else found[-1]
        return np.zeros(400, np.int64), found, 0

    ones, beat = np.ones(400, np.int64), np.zeros(2, np.int64)
    with mock.patch.multiple(cover_even, level_bins=level, CLOSE=8):
        even_bins(ones, 4, np.array([400]), beat)
        assert tries == [100, 50, 25, 38, 32, 31, 30]
        tries.clear()
        even_bins(ones, 4, np.array([15]), beat)  # 27 at least from the start
        assert tries == [100, 63, 44, 35, 34, 33, 32, 31, 30]
