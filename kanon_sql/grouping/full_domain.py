"""Full-domain generalization."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

MOST_NODES = 50_000_000
UNIT = 2**30
SHUT = 255
SPAN = 254


@njit(cache=True, nogil=True)
def _climb(codes: Any, low: int, high: int, parent: Any) -> bool:
    """Fills in the parent at column ``high`` of every code of column ``low``; False where a code
    has two parents."""
    for i in range(codes.shape[0]):
        code, above = codes[i, low], codes[i, high]
        if parent[code] < 0:
            parent[code] = above
        elif parent[code] != above:
            return False
    return True


@njit(cache=True, nogil=True)
def _pack(codes: Any, columns: Any, word: Any, shift: Any, words: int) -> Any:
    """The leaves of every record, packed into words of 64 bits: uint64, shape (n, words)."""
    packed = np.zeros((codes.shape[0], words), np.uint64)
    for i in range(codes.shape[0]):
        for a in range(len(columns)):
            packed[i, word[a]] |= np.uint64(codes[i, columns[a]]) << shift[a]
    return packed


@njit(cache=True, nogil=True)
def _slot(slots: Any, keys: Any, key: Any) -> int:
    """Where in an open-addressing table a key is, or would go."""
    bits = np.uint64(0)
    for w in range(len(key)):
        bits = (bits ^ key[w]) * np.uint64(0x9E3779B97F4A7C15)
        bits ^= bits >> np.uint64(32)
    last = len(slots) - 1
    place = np.int64(bits & np.uint64(last))
    while slots[place] >= 0:
        same = True
        for w in range(len(key)):
            same = same and keys[slots[place], w] == key[w]
        if same:
            break
        place = (place + 1) & last
    return place


@njit(cache=True, nogil=True)
def _roll_up(
    leaves: Any, counts: Any, nodes: Any, starts: Any, word: Any, shift: Any, mask: Any, most: int
) -> Any:
    """Classes of the rows."""
    rows, words = leaves.shape
    keys, key = np.empty((rows, words + 1), np.uint64), np.empty(words, np.uint64)
    first, owner = np.empty(rows, np.int32), np.empty(rows, np.int32)
    slots = np.full(1024, -1, np.int32)
    classes = 0
    for i in range(rows):
        key[:] = np.uint64(0)
        for a in range(len(starts)):
            leaf = (leaves[i, word[a]] >> shift[a]) & mask[a]
            key[word[a]] |= nodes[starts[a] + np.int64(leaf)]
        place = _slot(slots, keys, key)
        if slots[place] < 0:
            if classes == most:
                classes += 1
                break
            if 2 * classes >= len(slots):
                slots = np.full(4 * len(slots), -1, np.int32)
                for c in range(classes):
                    slots[_slot(slots, keys, keys[c, :words])] = c
                place = _slot(slots, keys, key)
            slots[place] = classes
            keys[classes, :words] = key
            keys[classes, words] = np.uint64(0)
            first[classes] = i
            classes += 1
        owner[i] = slots[place]
        keys[owner[i], words] += np.uint64(counts[i])
    return leaves[first[:classes]], keys[:classes, words].astype(np.int64), owner


@njit(cache=True, nogil=True)
def _sweep(
    tags: Any, here: int, levels: Any, floor: Any, top: Any, stride: Any, rise: Any, sums: Any,
    order: Any, unit: float, n: int, full: int, out: int, best: Any, beat: Any,
) -> int:
    last = len(levels) - 1
    while here > 0:
        here -= 1
        a = last
        while levels[a] == floor[a]:
            levels[a] = top[a]
            a -= 1
        levels[a] -= 1
        for b in range(a, last + 1):
            sums[b + 1] = sums[b] + rise[b, levels[b]]
        tag = tags[here]
        for b in range(last + 1):
            if levels[b] < top[b]:
                tag = max(tag, tags[here + stride[b]])
        tags[here] = tag
        if tag == 255:
            continue
        lost = (tag * out + 253) // 254
        charge = np.int64(np.rint(sums[last + 1] * unit))
        loss = (n - lost) * charge + lost * full
        if loss > best[0]:
            continue
        if loss == best[0]:
            if lost > best[1]:
                continue
            if lost == best[1]:
                above = False
                for b in order:
                    if levels[b] != best[2 + b]:
                        above = levels[b] > best[2 + b]
                        break
                if above:
                    continue
        return here
    return -1


@njit(cache=True, nogil=True)
def _meet(
    tags: Any, start: int, levels: Any, fixed: int, floor: Any, top: Any, stride: Any, rise: Any,
    sums: Any, unit: float, n: int, full: int, out: int, most: int,
) -> Any:
    """The most general node below all nodes that may still be checked, of those that share the
    first ``fixed`` levels."""
    last = len(levels) - 1
    here = start
    meet = top.copy()
    meet[:fixed] = levels[:fixed]
    levels[fixed:] = top[fixed:]
    for b in range(last + 1):
        sums[b + 1] = sums[b] + rise[b, levels[b]]
    while True:
        tag = tags[here]
        for b in range(last + 1):
            if levels[b] < top[b]:
                tag = max(tag, tags[here + stride[b]])
        tags[here] = tag
        if tag != 255:
            lost = (tag * out + 253) // 254
            charge = np.int64(np.rint(sums[last + 1] * unit))
            if (n - lost) * charge + lost * full <= most:
                for b in range(fixed, last + 1):
                    meet[b] = min(meet[b], levels[b])
        here -= 1
        a = last
        while a >= fixed and levels[a] == floor[a]:
            levels[a] = top[a]
            a -= 1
        if a < fixed:
            return meet
        levels[a] -= 1
        for b in range(a, last + 1):
            sums[b + 1] = sums[b] + rise[b, levels[b]]
