"""Minimal sample uniques and subsets of columns, against their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import factorial

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.measure import uniques
from kanon_sql.measure.uniques import Uniques, find_uniques

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


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("dense", [0, uniques.DENSE])
def test_they_are_those_of_the_definition(
    seed: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uniques, "DENSE", dense)
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    width = len(rows[0])
    most, told = int(rng.integers(0, width + 2)), int(rng.integers(0, width + 2))
    distinct, found = search(rows, most, told, rng)
    expected = minimal(rows, min(most, width))
    assert found.counts == Counter(columns for _, columns in expected)
    assert found.total == len(expected)
    assert found.least == min((len(columns) for _, columns in expected), default=None)
    assert {row for row, has in zip(distinct, found.rows, strict=True) if has} == {
        row for row, _ in expected
    }
    for row, score in zip(distinct, found.scores.tolist(), strict=True):
        assert score == sum(
            factorial(width - len(columns)) for own, columns in expected if own == row
        )
    for column, share in enumerate(found.shares(width)):
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
    assert found.counts == {} and list(found.shares(3)) == [None, None, None]
    assert len(found.scores) == 0
    assert [s.classes for s in found.subsets] == [0] * 6


def test_what_would_take_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.arange(40, dtype=np.int64).reshape(8, 5)
    monkeypatch.setattr(uniques, "MOST_BYTES", 30)
    assert find_uniques(codes, np.ones(8, np.int64), 4, 0).total == 40
    with pytest.raises(DataError, match=r"31 sets of fewer than 5 of 5 .* smaller msu_columns"):
        find_uniques(codes, np.ones(8, np.int64), 5, 0)
    # rows that are not unique need none
    assert find_uniques(codes, np.full(8, 2), 5, 0).total == 0
