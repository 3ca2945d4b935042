"""The canonical order against a sort that anyone can read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kanon_sql.encode.order import canonical_order
from kanon_sql.points.content_order import mixed


def by_sorting(columns: list[Any], hashes: Any, rows: int) -> list[int]:
    """The order by tuples of values, NaN last, then by each hash but the last, then by that; where
    any row has a copy, by a hash of the last and the number of the copy."""
    *first, hashes = hashes

    def cells(i: int) -> tuple[Any, ...]:
        values = [float(c[i]) for c in columns]
        return (
            *((value != value, 0.0 if value != value else value) for value in values),
            *(int(each[i]) for each in first),
        )

    order = sorted(range(rows), key=lambda i: (cells(i), int(hashes[i])))
    seen: dict[Any, int] = {}
    salted = {}
    for i in order:
        row = (cells(i), int(hashes[i]))
        copy = seen.setdefault(row, 0)
        seen[row] += 1
        bits = (int(hashes[i]) + copy * 0x9E3779B97F4A7C15) % 2**64
        salted[i] = int(mixed(np.array([bits], np.uint64))[0])
    if max(seen.values()) == 1:
        return order
    return sorted(order, key=lambda i: (cells(i), salted[i]))


def column(kind: int, rng: np.random.Generator, n: int) -> Any:
    """Values of one of several kinds: few and many, whole and not, large, missing."""
    return [
        lambda: rng.integers(0, 3, n).astype(np.int32),
        lambda: rng.integers(-5, 5, n).astype(np.float64),
        lambda: rng.choice([0.5, -0.25, 1e300, -1e300, 3.0], n),
        lambda: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n)),
        lambda: np.full(n, np.nan),
        lambda: rng.integers(0, 2, n) * 2.0**53 + rng.integers(-3, 3, n),
        lambda: rng.standard_normal(n),
        lambda: rng.integers(-5, 3, n).astype(np.int32),
        lambda: np.where(rng.random(n) < 0.3, np.nan, rng.standard_normal(n)),
    ][kind]()


@pytest.mark.parametrize("many", [1, 2, 3])
@pytest.mark.parametrize("most", [2, 10, 2**62])
def test_the_order_is_that_of_a_plain_sort(most: int, many: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(60):
        n = int(rng.integers(1, 40))
        columns = [column(int(k), rng, n) for k in rng.integers(0, 9, rng.integers(1, 5))]
        hashes = [rng.integers(0, most, n).astype(np.uint64) for _ in range(many)]
        found = canonical_order(columns, hashes, n)
        whole = [[str(c[i]) for c in columns] + [[int(h[i]) for h in hashes]] for i in range(n)]
        assert sorted(found.tolist()) == list(range(n))
        assert [whole[i] for i in found] == [whole[i] for i in by_sorting(columns, hashes, n)]
        without = canonical_order(columns, (), n)
        assert [whole[i][:-1] for i in without] == [whole[i][:-1] for i in found]
        for before, after in pairwise(without):
            assert whole[before][:-1] != whole[after][:-1] or before < after


def test_no_rows_have_an_order() -> None:
    for many in range(3):
        assert len(canonical_order([np.zeros(0)], [np.zeros(0, np.uint64)] * many, 0)) == 0
    assert canonical_order([], (), 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("first", range(30, 36))
@pytest.mark.parametrize("second", range(28, 33))
def test_columns_that_just_fill_a_key_of_64_bits_are_all_in_it(first: int, second: int) -> None:
    """Or that just don't: the highest bits of the first count, and the lowest of the second."""
    rng = np.random.default_rng(first)
    high = rng.permutation([0.0, 1.0, 2.0**first - 2, 2.0 ** (first - 1), 2.0 ** (first - 1)])
    low = rng.permutation([0, 1, 2 ** (second - 1) - 1, 2 ** (second - 2), 3]).astype(np.int32)
    columns = [high, low, np.zeros(5, np.int32), np.array([3.0, 1.0, 2.0, 0.5, 9.0])]
    expected = sorted(range(5), key=lambda i: (high[i], low[i]))
    assert canonical_order(columns, (), 5).tolist() == expected
