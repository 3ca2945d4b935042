"""Classes of rows counted by hashing: keys of 63 bits, in tables small enough for the cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner, kernel

PART_ROWS = 8192
"""About how many rows one hash table takes, so that it stays in the cache."""


@kernel
def extend_keys(
    keys: Any, leaves: Any, used: Any, nodes: Any, starts: Any, widths: Any
) -> None:
    """Appends nodes of the attributes in ``used`` to the rows' keys, in mixed radix."""
    for i in range(leaves.shape[0]):
        key = keys[i]
        for u in range(len(used)):
            key = key * widths[u] + nodes[starts[u] + leaves[i, used[u]]]
        keys[i] = key


@inner
def _hash(key: int) -> Any:
    """64 bits of a key, of which the first are as good as random: two multiplications, since keys
    in mixed radix differ in a few places only."""
    bits = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return (bits ^ (bits >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)


@inner
def _scatter(keys: Any, counts: Any, bits: int) -> Any:
    """The rows by the first bits of their keys' hashes: where each part starts (int64, shape
    (parts + 1,)), keys, counts and row numbers (shape (n,), int64, int32 and int32)."""
    n, past = len(keys), np.uint64(64 - bits)
    starts = np.zeros((1 << bits) + 1, np.int64)
    # hashes are computed twice: to keep them would take as much memory as all else here
    for i in range(n):
        starts[np.int64(_hash(keys[i]) >> past) + 1] += 1
    for p in range(1 << bits):
        starts[p + 1] += starts[p]
    end = starts.copy()
    by_key, by_count, row = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        p = np.int64(_hash(keys[i]) >> past)
        at = end[p]
        end[p] = at + 1
        by_key[at], by_count[at], row[at] = keys[i], counts[i], i
    return starts, by_key, by_count, row


@kernel
def count_classes(
    keys: Any, counts: Any, width: int, k: int, out: int,
    owner: Any, first: Any, sizes: Any,
) -> Any:
    """Counts classes, rows of equal keys below ``width``, by hashing: how many there are, and the
    records in classes of fewer than k.

    Where owner has a place per row, it gets each row's class, first and sizes get each class's
    first row and records. Else the count may stop as soon as it is above ``out``.
    """
    n, bits = len(keys), 0
    # equal keys have equal hashes, so no class is in two parts
    while (min(n, width) >> bits) > 2 * PART_ROWS and bits < 10:
        bits += 1
    starts, row = np.array([0, n]), np.empty(0, np.int32)
    if bits > 0:
        starts, keys, counts, row = _scatter(keys, counts, bits)
    listed, classes, small = len(owner) > 0, 0, 0
    slot_key, slot_class = np.empty(0, np.int64), np.empty(0, np.int32)
    slot_count = np.empty(0, np.int64)
    for p in range(len(starts) - 1):
        size_bits = 3
        while (1 << size_bits) < 2 * min(starts[p + 1] - starts[p], width):
            size_bits += 1
        size = 1 << size_bits
        if len(slot_key) < size:  # a table is used again; only its counts have to be cleared
            slot_key, slot_class = np.empty(size, np.int64), np.empty(size, np.int32)
            slot_count = np.empty(size, np.int64)
        slot_count[:size] = 0
        # the first bits are those of the part, the same for all its rows: the next ones count
        before, past = np.uint64(bits), np.uint64(64 - size_bits)
        for i in range(starts[p], starts[p + 1]):
            key = keys[i]
            s = np.int64((_hash(key) << before) >> past)
            # on to the next slot: the table is at most half full
            while slot_count[s] > 0 and slot_key[s] != key:
                s = (s + 1) & (size - 1)
            if listed:
                r = row[i] if bits > 0 else i
                if slot_count[s] == 0:
                    slot_class[s] = classes
                    first[classes], sizes[classes] = r, 0
                    classes += 1
                owner[r] = slot_class[s]
                sizes[slot_class[s]] += counts[i]
            slot_key[s] = key
            slot_count[s] += counts[i]
        for s in range(size):
            if 0 < slot_count[s] < k:
                small += slot_count[s]
        if not listed and small > out:
            break
    return classes, small
