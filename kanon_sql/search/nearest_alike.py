"""For each record the records nearest to it, where there are categories only.

A key is then the sum of what the columns add in which two records differ, one of 2^c sums. So sets
of columns are gone through by their sums, the least first: the records that differ from i in such a
set, or in a part of it, are those that share a bucket with i, by the codes of all other columns.
Those of a bucket that differ less have been found before, so that a look at its first few is
enough, and no distance is searched for. Tables of categories are full of ties, which make a search
by bounds slow, and this one fast: most records have their nearest after a few sets.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.points.points import Codes, Floats, Labels, Points

Lists = npt.NDArray[np.int32]

COLUMNS = 12
"""Columns of which all sets are listed."""

SETS, SEARCHES = 8, 64
"""Buckets of all records, to find all pairs of a key, that take as long as a tree of them; and
buckets of one record that take as long as a search of the tree."""


class Lookup(NamedTuple):
    """What is searched, and what has been found.

    Attributes:
        codes: int32, shape (n, c).
        apart: float64, shape (c,); what each column adds where codes differ.
        lists: int32, shape (n, q); the nearest of each record, as many as are held.
        held: int32, shape (n,).
    """

    codes: Codes
    apart: Floats
    lists: Lists
    held: Codes


class Buckets(NamedTuple):
    """Records by their codes in some of the columns.

    Attributes:
        order: int32, shape (n,); the records bucket by bucket, ascending in each.
        start: int32, shape (buckets + 1,); where each bucket begins.
    """

    order: Codes
    start: Codes


@inner
def _same(codes: Any, kept: Any, i: int, j: int) -> bool:
    """Whether two records have the same codes in the columns that are kept."""
    alike = 0
    while alike < len(kept) and codes[i, kept[alike]] == codes[j, kept[alike]]:
        alike += 1
    return alike == len(kept)


@inner
def _bucket(codes: Any, kept: Any) -> Buckets:
    """The buckets by the columns kept: int64, shape (columns,)."""
    n, room = len(codes), 16
    while room < 2 * n:
        room *= 2
    # open addressing: a place holds the first record of a bucket, and the bucket's number
    first, number = np.full(room, -1, np.int32), np.empty(room, np.int32)
    bucket, start = np.empty(n, np.int32), np.zeros(n + 2, np.int32)
    count, last = 0, np.uint64(room - 1)
    for i in range(n):
        mixed = np.uint64(0)
        for a in kept:
            mixed = (mixed ^ np.uint64(codes[i, a])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        spot = np.int64(mixed & last)
        while first[spot] >= 0 and not _same(codes, kept, i, first[spot]):
            spot = (spot + 1) & (room - 1)
        if first[spot] < 0:
            first[spot], number[spot] = i, count
            count += 1
        bucket[i] = number[spot]
        # two places on: sizes become ends, and ends, as the records are placed, starts
        start[bucket[i] + 2] += 1
    for g in range(count):
        start[g + 2] += start[g + 1]
    order = np.empty(n, np.int32)
    for i in range(n):
        order[start[bucket[i] + 1]] = i
        start[bucket[i] + 1] += 1
    return Buckets(order, start[: count + 1])


@inner
def _key(codes: Any, apart: Any, i: int, j: int) -> float:
    """The key of two records, summed in the order of the columns."""
    total = 0.0
    for a in range(len(apart)):
        if codes[i, a] != codes[j, a]:
            total += apart[a]
    return total


@inner
def _take(lookup: Lookup, members: Any, i: int, begun: int, key: float) -> None:
    """Takes into i's list who of its bucket has that key, as long as there is room or an index is
    lower; what was held when the key's turn began is nearer, and stays."""
    codes, apart, lists, held = lookup
    q = lists.shape[1]
    for j in members:
        count = held[i]
        # those that follow have higher indices still
        if count == q and lists[i, q - 1] < j:
            return
        if j == i or _key(codes, apart, i, j) != key:
            continue
        spot = count
        while spot > begun and lists[i, spot - 1] > j:
            spot -= 1
        # two sets that rounding makes equal bring a record twice
        if spot > begun and lists[i, spot - 1] == j:
            continue
        if count < q:
            held[i] += 1
        for place in range(min(count, q - 1), spot, -1):
            lists[i, place] = lists[i, place - 1]
        lists[i, spot] = j


@kernel
def _find(lookup: Lookup, kept: Any, ends: Any, key: float, beat: Any) -> int:
    """Finds all pairs of that key; returns how many records still have fewer than q.

    Args:
        kept: int64; the columns outside of each of the sets that add up to the key, one set after
            another.
        ends: int64, shape (sets,); where the columns of each set end.
    """
    held, q = lookup.held, lookup.lists.shape[1]
    begun, first, left = held.copy(), 0, 0
    for end in ends:
        if beat[STOP] == 1:
            break
        order, start = _bucket(lookup.codes, kept[first:end])
        first = end
        # bucket by bucket: the first few of each are then at hand for all of it
        for g in range(len(start) - 1):
            if start[g + 1] - start[g] > 1:
                members = order[start[g] : start[g + 1]]
                for i in members:
                    if begun[i] < q:
                        _take(lookup, members, i, begun[i], key)
    for i in range(len(held)):
        if held[i] < q:
            left += 1
    return left


def _sets(codes: Codes, apart: Floats) -> list[tuple[float, list[Labels]]]:
    """The sets of columns in which two records may differ, by what they add up to, ascending; of
    each the columns outside of it."""
    c = len(apart)
    masks = np.arange(1 << c)
    keys, possible = np.zeros(1 << c), np.ones(1 << c, np.bool_)
    for a in range(c):
        keys += np.where(masks >> a & 1, apart[a], 0.0)
    beside = list(pairwise(range(c)))
    for a, b in (*beside, *((b, a) for a, b in beside)):
        known = np.zeros(int(codes[:, a].max()) + 1, np.int32)
        known[codes[:, a]] = codes[:, b]
        # levels of a hierarchy: who has the same code in a has the same in b
        if (known[codes[:, a]] == codes[:, b]).all():
            possible &= (masks >> a & 1 == 1) | (masks >> b & 1 == 0)
    order = np.argsort(keys, kind="stable")
    order = order[possible[order]]
    values, starts = np.unique(keys[order], return_index=True)
    return [
        (float(key), [np.flatnonzero(~mask >> np.arange(c) & 1) for mask in part])
        for key, part in zip(values, np.split(order, starts[1:]), strict=True)
    ]


def nearest_alike(points: Points, lists: Lists, beat: Beat) -> npt.NDArray[np.bool_]:
    """Fills the lists of the nearest records, by (key, index), where columns are few and have
    categories only; which lists are full: bool, shape (n,). A tree is the faster for the others.

    Args:
        points: n records, two or more.
        lists: int32, shape (n, q); q is n - 1 at most.
        beat: may say stop; the lists are then no good.
    """
    n, q = lists.shape
    full = np.zeros(n, np.bool_)
    # what adds nothing to any key takes no part
    adds = [
        a for a, column in enumerate(points.codes.T)
        if points.scale[a] > 0.0 and (column != column[0]).any()
    ]
    if points.numeric.shape[1] > 0 or len(adds) > COLUMNS:
        return full
    codes, apart = np.ascontiguousarray(points.codes[:, adds]), 2.0 * points.scale[adds]
    lookup = Lookup(codes, apart, lists, np.zeros(n, np.int32))
    left = n
    for key, sets in _sets(codes, apart):
        if left == 0 or len(sets) * n > SETS * n + SEARCHES * left or beat[STOP] == 1:
            break
        kept, ends = np.concatenate(sets), np.cumsum([len(part) for part in sets])
        left = _find(lookup, kept.astype(np.int64), ends.astype(np.int64), key, beat)
    return np.asarray(lookup.held == q)
