"""Binary heaps: the least of many comes first, though keys change while they wait.

Two kinds, because they pay for different things. In the plain heap only the keys near the top ever
grow, so that moving one entry down restores it; nobody asks where an entry stands. In the indexed
heap any entry may change, either way, so that each must know its place, and each step writes one
number more. Ties never depend on the order in which entries came: they go to the lower entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner


@inner
def sift_down(heap: Any, size: int, place: int, keys: Any) -> None:
    """Restores the order of a plain heap, by (key, entry), below an entry whose key may have grown.

    Args:
        heap: int64; its first ``size`` are the entries.
        size: how many there are.
        place: where the entry stands.
        keys: of any dtype, by entry.
    """
    entry = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            if keys[right] < keys[left] or (keys[right] == keys[left] and right < left):
                # the lower of two equal children: ties don't depend on how the heap came about
                child += 1
        below = heap[child]
        if keys[entry] < keys[below] or (keys[entry] == keys[below] and entry < below):
            break
        heap[place] = below
        place = child
    # written once at the end: on the way down it would only be overwritten
    heap[place] = entry


class IndexedHeap(NamedTuple):
    """All numbers 0 .. n-1, of which any may change its key.

    Attributes:
        entries: int64, shape (n,); a heap by (key, second, number).
        place: int64, shape (n,); where each number stands in ``entries``.
        key: float64, shape (n,).
        second: float64, shape (n,); decides between equal keys.
    """

    entries: Any
    place: Any
    key: Any
    second: Any


@inner
def new_indexed_heap(order: Any, key: Any, second: Any) -> IndexedHeap:
    """A heap of the numbers 0 .. n-1.

    Args:
        order: int64, shape (n,); the numbers by (key, second, number). It is copied.
        key, second: float64, shape (n,); kept, and changed by who moves entries.
    """
    entries, place = order.copy(), np.empty(len(order), np.int64)
    for p in range(len(entries)):
        place[entries[p]] = p
    return IndexedHeap(entries, place, key, second)


@inner
def _before(key: Any, second: Any, v: int, w: int) -> bool:
    """Whether v's turn comes before w's."""
    if key[v] != key[w]:
        return bool(key[v] < key[w])
    return bool(second[v] < second[w] or (second[v] == second[w] and v < w))


@inner
def move_entry(heap: IndexedHeap, v: int) -> None:
    """Brings v to its place, after its key or second key has changed."""
    entries, place, key, second = heap
    spot, n = place[v], len(entries)
    while spot > 0 and _before(key, second, v, entries[(spot - 1) // 2]):
        entries[spot] = entries[(spot - 1) // 2]
        place[entries[spot]] = spot
        spot = (spot - 1) // 2
    # what went up comes before all below it, so that this loop then ends at once
    while 2 * spot + 1 < n:
        below = 2 * spot + 1
        if below + 1 < n and _before(key, second, entries[below + 1], entries[below]):
            below += 1
        if not _before(key, second, entries[below], v):
            break
        entries[spot] = entries[below]
        place[entries[spot]] = spot
        spot = below
    entries[spot], place[v] = v, spot
