"""Sorts of whole numbers against numpy's own."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.points.by_label import counted, distinct, label_order, places_of, renumbered


@pytest.mark.parametrize("seed", range(20))
def test_records_stand_label_by_label_in_their_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # labels too large to be packed with a place are sorted, too
    labels = rng.integers(0, rng.choice([1, 5, 1000, 2**62]), rng.integers(0, 300))
    assert label_order(labels).tolist() == np.argsort(labels, kind="stable").tolist()


@pytest.mark.parametrize("seed", range(20))
def test_numbers_stand_once_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3, rng.choice([1, 50, 2**62]), rng.integers(0, 300))
    assert distinct(numbers).tolist() == sorted(set(numbers.tolist()))


@given(st.lists(st.integers(0, 12) | st.integers(0, 2**62)))
def test_numbers_are_counted_as_numpy_does(some: list[int]) -> None:
    numbers = np.array(some, np.int64)
    for ours, theirs in zip(
        counted(numbers), np.unique(numbers, return_counts=True), strict=True
    ):
        assert ours.tolist() == theirs.tolist()


@given(st.lists(st.integers(-3, 12) | st.integers(-(2**62), 2**62)))
def test_numbers_are_renumbered_as_numpy_does(some: list[int]) -> None:
    numbers = np.array(some, np.int64)
    known, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    for ours, theirs in zip(
        renumbered(numbers), (known, places.reshape(-1), first), strict=True
    ):
        assert ours.tolist() == theirs.tolist()


@given(st.sets(st.integers(0, 12) | st.integers(0, 2**62), min_size=1), st.randoms())
def test_numbers_are_found_where_they_stand(some: set[int], rng: Random) -> None:
    known = list(some)
    rng.shuffle(known)
    numbers = [rng.choice([-1, *known]) for _ in range(rng.randrange(20))]
    found = places_of(np.array(numbers, np.int64), np.array(known, np.int64)).tolist()
    for number, place in zip(numbers, found, strict=True):
        assert place >= 0
        assert number == -1 or known[place] == number
