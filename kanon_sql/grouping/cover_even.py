"""Draft."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.cover_core import STRIDE, sift
from kanon_sql.grouping.inner import inner
from kanon_sql.grouping.watch import STOP


@inner
def _pair(sizes: Any, following: Any, high: int, low: int, gap: int) -> Any:
    size, found, best = np.int64(0), (high, low), gap
    visits = 0
    while high >= 0:
        given = sizes[low] if low >= 0 else size
        off = 2 * (sizes[high] - given) - gap
        if abs(off) < best:
            best, found = abs(off), (high, low)
        visits += 1
        if off > 0:
            high = following[high]
        elif low >= 0:
            low = following[low]
        else:
            break
    return found[0], found[1], best, visits


@inner
def _relist(bins: Any, one: int, other: int, heads: Any, following: Any) -> None:
    # merge both lists in order, then distribute by bins
    i, j = heads[one], heads[other]
    heads[one] = -1
    heads[other] = -1
    last1 = np.int64(-1)
    last2 = np.int64(-1)
    while i >= 0 or j >= 0:
        if j < 0 or (i >= 0 and i < j):
            item = i
            i = following[i]
        else:
            item = j
            j = following[j]
        following[item] = -1
        if bins[item] == one:
            if last1 < 0:
                heads[one] = item
            else:
                following[last1] = item
            last1 = item
        else:
            if last2 < 0:
                heads[other] = item
            else:
                following[last2] = item
            last2 = item


@njit(cache=True, nogil=True)
def even_bins(sizes: Any, k: int, count: int, budget: int, mode: int, beat: Any) -> Any:
    m = len(sizes)
    bins, levels = np.empty(m, np.int64), np.zeros(count, np.int64)
    heap = np.arange(count)
    top = np.int64(0)
    for i in range(m):
        least = heap[0]
        bins[i] = least
        levels[least] += sizes[i]
        sift(heap, count, top, levels)
        if i % STRIDE == 0 and beat[STOP] == 1:
            return bins, levels
    if mode == 0:
        return bins, levels
    heads, following = np.full(count, -1, np.int64), np.empty(m, np.int64)
    for i in range(m - 1, -1, -1):
        following[i] = heads[bins[i]]
        heads[bins[i]] = i
    while budget > 0 and beat[STOP] == 0:
        low = np.argmin(levels)
        high = np.argmax(levels)
        lack = levels[low] < k
        best = np.int64(-1)
        order = np.argsort(-levels if lack else levels)
        budget -= count
        for partner in order:
            l, h = (low, partner) if lack else (partner, high)
            gap = levels[h] - levels[l]
            if gap <= 1:
                break
            x, y, off, visits = _pair(sizes, following, heads[h], heads[l], gap)
            budget -= visits
            if off < gap:
                best = partner
                bins[x] = l
                levels[l] += sizes[x]
                levels[h] -= sizes[x]
                if y >= 0:
                    bins[y] = h
                    levels[l] -= sizes[y]
                    levels[h] += sizes[y]
                _relist(bins, l, h, heads, following)
                break
        if best < 0:
            break
    return bins, levels
