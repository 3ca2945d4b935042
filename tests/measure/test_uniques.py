"""Minimal sample uniques and subsets of columns, against their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from kanon_sql.measure import uniques
from kanon_sql.measure.uniques import Uniques, find_uniques, shares

Rows = list[tuple[int, ...]]


def subsets(width: int, most: int) -> list[tuple[int, ...]]:
    return [c for size in range(1, most + 1) for c in combinations(range(width), size)]


def alone(rows: Rows, columns: tuple[int, ...]) -> set[int]:
    """The rows that no other row equals in these columns."""
    keys = [tuple(row[j] for j in columns) for row in rows]
    counts = Counter(keys)
    return {i for i, key in enumerate(keys) if counts[key] == 1}


def minimal(rows: Rows, most: int) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The minimal sample uniques: values of the row, and columns."""
    width = len(rows[0])
    found = set()
    for columns in subsets(width, most):
        unique = alone(rows, columns)
        for left in combinations(columns, len(columns) - 1):
            unique -= alone(rows, left) if left else (set() if len(rows) > 1 else {0})
        found |= {(rows[i], columns) for i in unique}
    return found


def random_rows(rng: np.random.Generator) -> Rows:
    width, count = int(rng.integers(1, 6)), int(rng.integers(2, 40))
    cards = rng.integers(1, 8, width)
    return [tuple(int(rng.integers(card)) for card in cards) for _ in range(count)]


def search(rows: Rows, most: int, told: int, order: np.random.Generator) -> tuple[Rows, Uniques]:
    """The distinct rows in some order, and what is found of them."""
    counts = Counter(rows)
    distinct = list(counts)
    order.shuffle(distinct)
    codes = np.array(distinct, np.int64).reshape(len(distinct), -1)
    sizes = np.array([counts[row] for row in distinct], np.int64)
    return distinct, find_uniques(codes, sizes, most, told)


def columns_of(mask: int, width: int) -> tuple[int, ...]:
    return tuple(j for j in range(width) if mask >> (width - 1 - j) & 1)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("squeezed", [False, True], ids=["as it is", "by sorting, few held"])
def test_they_are_those_of_the_definition(
    seed: int, squeezed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if squeezed:
        monkeypatch.setattr(uniques, "DENSE", 0)
        monkeypatch.setattr(uniques, "FLUSHED", 3)
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    width = len(rows[0])
    most, told = int(rng.integers(0, width + 2)), int(rng.integers(0, width + 2))
    distinct, found = search(rows, most, told, rng)
    expected = minimal(rows, min(most, width))
    pairs = [
        (distinct[i], columns_of(int(mask), width))
        for i, mask in zip(found.rows.tolist(), found.masks.tolist(), strict=True)
    ]
    assert len(pairs) == len(set(pairs)) and set(pairs) == expected
    for column, share in enumerate(shares(found, width)):
        held = sum(column in columns for _, columns in expected)
        assert share == (held / len(expected) if expected else None)
    assert [s.columns for s in found.subsets] == subsets(width, min(told, width))
    for subset in found.subsets:
        counts = Counter(tuple(row[j] for j in subset.columns) for row in rows)
        assert subset.classes == len(counts)
        assert subset.squares == sum(n * n for n in counts.values())


def test_the_search_can_be_stopped() -> None:
    class StoppedError(Exception):
        pass

    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) > 2:
            raise StoppedError

    codes = np.arange(12, dtype=np.int64).reshape(4, 3) % 5
    with pytest.raises(StoppedError):
        find_uniques(codes, np.ones(4, np.int64), 3, 3, check)


def test_of_no_rows_nothing_is_found() -> None:
    found = find_uniques(np.zeros((0, 3), np.int64), np.zeros(0, np.int64), 3, 2)
    assert len(found.rows) == 0 and list(shares(found, 3)) == [None, None, None]
    assert [s.classes for s in found.subsets] == [0] * 6
