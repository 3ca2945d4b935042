"""Heaps give what a sort gives, ties included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kanon_sql.kernel.heap import IndexedHeap, move_entry, new_indexed_heap, sift_down


@njit
def _sift(heap: Any, size: int, place: int, keys: Any) -> None:
    sift_down(heap, size, place, keys)


@njit
def _new(n: int) -> Any:
    return new_indexed_heap(np.arange(n), np.zeros(n), np.zeros(n))


@njit
def _move(heap: IndexedHeap, v: int) -> None:
    move_entry(heap, v)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@settings(max_examples=50, deadline=None)
@given(keys=st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_a_plain_heap_sorts_by_key_and_entry(dtype: Any, keys: list[int]) -> None:
    values, size = np.array(keys, dtype), len(keys)
    heap = np.arange(size)[::-1].copy()
    for place in range(size // 2 - 1, -1, -1):
        _sift(heap, size, place, values)
    taken = []
    while size > 0:
        taken.append(int(heap[0]))
        size -= 1
        heap[0] = heap[size]
        _sift(heap, size, 0, values)
    assert taken == sorted(range(len(keys)), key=lambda v: (keys[v], v))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    n=st.integers(1, 12),
    changes=st.lists(
        st.tuples(st.integers(0, 11), st.integers(-3, 3), st.integers(-2, 2)), max_size=30
    ),
)
def test_an_indexed_heap_has_the_least_on_top_whatever_changes(
    n: int, changes: list[tuple[int, int, int]]
) -> None:
    heap: IndexedHeap = _new(n)
    for v, key, second in changes:
        heap.key[v % n], heap.second[v % n] = key, second
        _move(heap, v % n)
        assert heap.entries[0] == min(range(n), key=lambda w: (heap.key[w], heap.second[w], w))
        assert np.array_equal(heap.entries[heap.place], np.arange(n))
