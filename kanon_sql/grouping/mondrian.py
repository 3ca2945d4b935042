"""Mondrian: multidimensional median partitioning (LeFevre, DeWitt and Ramakrishnan 2006).

The records are cut in two along one attribute, at the median, and the parts likewise, until no
part can be cut (LeFevre et al., ICDE 2006, section 4; [19] in byun2006, section 6.1). Strict
partitioning cuts between two values only; relaxed partitioning cuts exactly in the middle and may
part equal values.

Every attribute is an order here. Numbers stand in theirs (missing ones last), the categories of a
flat taxonomy by frequency in the whole table, the leaves of a hierarchy depth-first. So a record is
one rank per attribute, the extent of a part is its least and greatest ranks, and whatever they
have in common in a hierarchy, all records between them have too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.parallel import in_parallel
from kanon_sql.grouping.points import Grouping, LossPoints
from kanon_sql.grouping.watch import DONE, STOP, Watch

PARTS = 16
"""Parts that the records are cut into before each is cut on its own, on all cores."""
ALONE = 20_000
"""Records up to which one core does all."""
_SAMPLE = 1024
_WHOLE = 4096
"""Ranks up to which a median is searched for in all of them."""


@dataclass(frozen=True)
class _Order:
    """One attribute as an order.

    Attributes:
        ranks: int32, shape (n,); the place of each record's value among the m distinct ones.
        places: float64, shape (m,); where each value lies, so that a part is as wide as the unit
            times the difference, at most the cap. Unused in a hierarchy.
        begin: int32, shape (levels, m); the least rank below the same node, at each level below
            the root. No levels: no hierarchy.
        end: the greatest ranks, likewise.
        costs: float64, shape (levels,); what each level costs unless all records agree in it.
    """

    ranks: Any
    places: Any
    unit: float
    cap: float
    begin: Any
    end: Any
    costs: Any


@njit(cache=True, nogil=True)
def _rank(values: Any, order: Any, ranks: Any, places: Any) -> int:
    """Writes the rank of each value and the distinct values; returns how many those are."""
    rank = -1
    for i in range(len(order)):
        value = values[order[i]]
        if rank < 0 or value != places[rank]:
            rank += 1
            places[rank] = value
        ranks[order[i]] = rank
    return rank + 1


def _number(values: Any, cap: float) -> _Order:
    values = np.ascontiguousarray(values)
    ranks, places = np.empty(len(values), np.int32), np.empty(len(values))
    distinct = _rank(values, np.argsort(values), ranks, places)
    none = np.zeros((0, distinct), np.int32)
    return _Order(ranks, places[:distinct], 1.0, cap, none, none, np.zeros(0))


def _taxonomy(codes: Any, scale: float, limit: int) -> _Order:
    """A flat taxonomy: frequent categories first, ties by code. As wide as the ranks lie apart,
    so that the whole table is as wide as it loses: the width of the part of the order that a
    generalization would span, as for numbers, and one that no category inside can change."""
    counts = np.bincount(codes)
    listed = np.argsort(-counts, kind="stable").astype(np.int32)
    rank_of = np.empty(len(counts), np.int32)
    rank_of[listed] = np.arange(len(counts), dtype=np.int32)
    distinct = int(np.count_nonzero(counts))
    unit = scale * min(distinct - 1, limit) / max(distinct - 1, 1)
    none = np.zeros((0, distinct), np.int32)
    places = np.arange(distinct, dtype=np.float64)
    return _Order(rank_of[codes], places, unit, np.inf, none, none, np.zeros(0))


def _hierarchy(codes: Any, scale: Any) -> _Order:
    """A tree; codes: int32, shape (n, levels), the leaf first."""
    leaves = codes[:, 0]
    holder = np.zeros(int(leaves.max()) + 1, np.int64)
    present = np.zeros(len(holder), np.bool_)
    holder[leaves], present[leaves] = np.arange(len(leaves)), True
    nodes = codes[holder[present]].T
    new = np.concatenate([np.ones((len(nodes), 1), np.bool_), nodes[:, 1:] != nodes[:, :-1]], 1)
    last = np.concatenate([new[:, 1:], np.ones((len(nodes), 1), np.bool_)], 1)
    m = nodes.shape[1]
    here = np.arange(m, dtype=np.int32)
    begin = np.maximum.accumulate(np.where(new, here, 0), axis=1)
    end = np.minimum.accumulate(np.where(last, here, m)[:, ::-1], axis=1)[:, ::-1]
    ranks = (np.cumsum(present) - 1).astype(np.int32)[leaves]
    return _Order(
        ranks, np.zeros(m), 0.0, np.inf, np.ascontiguousarray(begin, np.int32),
        np.ascontiguousarray(end, np.int32), np.ascontiguousarray(scale),
    )


def _orders(points: LossPoints) -> list[_Order]:
    """All attributes, numbers first, on all cores."""
    pieces: list[Any] = [
        partial(_number, column, float(cap))
        for column, cap in zip(points.numeric.T, points.cap, strict=True)
    ]
    starts = [*np.unique(points.first).tolist(), points.codes.shape[1]]
    for a, b in pairwise(starts):
        if b - a > 1:
            pieces.append(partial(_hierarchy, points.codes[:, a:b], points.scale[a:b]))
        else:
            scale, limit = float(points.scale[a]), int(points.limit[a])
            pieces.append(partial(_taxonomy, points.codes[:, a], scale, limit))
    return in_parallel(pieces)


def _table(orders: list[_Order]) -> Any:
    """The orders as the kernels read them, one after another: places, where each attribute's
    start, units, caps, begin, end, where each attribute's levels start, costs."""

    def joined(arrays: list[Any], kind: Any) -> Any:
        return np.concatenate([np.zeros(0, kind), *[array.reshape(-1) for array in arrays]])

    def starts(arrays: list[Any]) -> Any:
        return np.cumsum([0, *[array.size for array in arrays]], dtype=np.int64)

    return (
        joined([order.places for order in orders], np.float64),
        starts([order.places for order in orders]),
        np.array([order.unit for order in orders], np.float64),
        np.array([order.cap for order in orders], np.float64),
        joined([order.begin for order in orders], np.int32),
        joined([order.end for order in orders], np.int32),
        starts([order.begin for order in orders]),
        joined([order.costs for order in orders], np.float64),
        starts([order.costs for order in orders]),
    )


@njit(cache=True, nogil=True)
def _count(x: Any, start: Any, stop: Any, most: Any) -> Any:
    """How many of x[start:stop] are at most that."""
    count = 0
    for i in range(start, stop):
        count += x[i] <= most
    return count


@njit(cache=True, nogil=True)
def _value_at(x: Any, start: Any, stop: Any, place: int, low: Any, high: Any) -> Any:
    """The value at that place of x[start:stop] if it were sorted; it is within low and high.

    Halves the interval between them: a count is one vector instruction for many records.
    """
    while low < high:
        middle = low + (high - low) // 2
        count = _count(x, start, stop, middle)
        if count > place:
            high = middle
        elif count < place:
            low = middle + 1
        else:
            value = np.int32(high)
            for i in range(start, stop):
                more = x[i] if x[i] > middle else value
                value = more if more < value else value
            return np.int64(value)
    return low


@njit(cache=True, nogil=True)
def _median(x: Any, start: Any, stop: Any, low: Any, high: Any, room: Any) -> Any:
    """The value at the middle (n // 2, counted from 0) of x[start:stop], within low and high.

    Where there are many, a sample tells between which values it must lie, nearly always.
    """
    n = np.int64(stop - start)
    place = n // 2
    source, first, last, lowest, highest = x, start, stop, low, high
    while n > _WHOLE and low < high:
        zero, size = np.uint64(0), np.uint64(_SAMPLE)
        for i in range(_SAMPLE):
            room[np.uint64(i)] = source[first + np.uint64(i * n // _SAMPLE)]
        middle = place * _SAMPLE // n
        least = _value_at(room, zero, size, max(middle - 50, 0), low, high)
        most = _value_at(room, zero, size, min(middle + 50, _SAMPLE - 1), low, high)
        below, kept = 0, size
        for i in range(first, last):
            value = source[i]
            below += value < least
            room[kept] = value
            kept += np.uint64((value >= least) & (value <= most))
        m = np.int64(kept - size)
        if place < below or place >= below + m or m > n // 2:
            break  # the whole is needed, and room may have held what is left of it
        source, first, last, low, high = room, size, kept, least, most
        n, place = m, place - below
        if n <= _WHOLE or low == high:
            return _value_at(source, first, last, place, low, high)
    return _value_at(x, start, stop, np.int64(stop - start) // 2, lowest, highest)


@njit(cache=True, nogil=True)
def _widths(
    table: Any, cells: Any, row: Any, rows: Any, start: Any, stop: Any, extent: Any, wide: Any
) -> None:
    """Least and greatest rank and the width of a part, per attribute."""
    places, places_at, unit, cap, begin, _, begin_at, costs, costs_at = table
    for a in range(len(unit)):
        base = row + np.uint64(a) * rows
        least = most = cells[base + start]
        for i in range(base + start, base + stop):
            rank = cells[i]
            least = rank if rank < least else least
            most = rank if rank > most else most
        extent[a, 0], extent[a, 1] = least, most
        first = places_at[a]
        wide[a] = min(unit[a] * (places[first + most] - places[first + least]), cap[a])
        for level in range(costs_at[a + 1] - costs_at[a]):
            at = begin_at[a] + level * (places_at[a + 1] - first)
            if begin[at + least] != begin[at + most]:
                wide[a] += costs[costs_at[a] + level]


@njit(cache=True, nogil=True)
def _bounds(table: Any, a: int, least: int, most: int, value: int) -> Any:
    """The ranks that no strict cut may part from that one: its own, or in a hierarchy those below
    the same child of the lowest node above all of the part."""
    _, places_at, _, _, begin, end, begin_at, _, costs_at = table
    m = places_at[a + 1] - places_at[a]
    for level in range(costs_at[a + 1] - costs_at[a] - 1, -1, -1):
        at = begin_at[a] + level * m
        if begin[at + least] != begin[at + most]:
            return np.int64(begin[at + value]), np.int64(end[at + value])
    return value, value


@njit(cache=True, nogil=True)
def _move(
    cells: Any, row: Any, other: Any, rows: Any, columns: int, key: Any, most: Any,
    start: Any, stop: Any, left: Any, right: Any,
) -> Any:
    """Moves records whose key is at most that to the left, others to the right, in their order;
    returns where the next on the left comes."""
    next_left = left
    for b in range(columns):
        source, target, next_left = row + np.uint64(b) * rows, other + np.uint64(b) * rows, left
        for i in range(start, stop):
            smaller = np.uint64(cells[key + i] <= most)
            to = right + (i - start) - (next_left - left)
            cells[target + to + smaller * (next_left - to)] = cells[source + i]
            next_left += smaller
    return next_left


@njit(cache=True, nogil=True)
def _cut(
    table: Any, cells: Any, start: Any, stop: Any, side: Any, k: int, strict: bool, room: Any
) -> Any:
    """Cuts a part: its records move to the other side, still in canonical order in each half.

    Returns where the second half begins; start where the part can't be cut.
    """
    n, attributes = np.int64(stop - start), len(table[2])
    if n < 2 * k:
        return start
    extent, wide, drawn = room
    columns = attributes + 1
    rows = np.uint64(len(cells) // (2 * columns))
    row, other = side * rows * np.uint64(columns), (np.uint64(1) - side) * rows * np.uint64(columns)
    _widths(table, cells, row, rows, start, stop, extent, wide)
    for _ in range(attributes):
        a = 0
        for b in range(attributes):
            a = b if wide[b] > wide[a] else a
        if not wide[a] > 0.0:
            return start
        wide[a] = 0.0
        key = row + np.uint64(a) * rows
        low, high = extent[a, 0], extent[a, 1]
        value = _median(cells, key + start, key + stop, low, high, drawn)
        if strict:
            first, last = _bounds(table, a, low, high, value)
            most = first - 1
            size = _count(cells, key + start, key + stop, most)
            more = _count(cells, key + start, key + stop, last)
            if size < k or (n - more >= k and abs(2 * more - n) < abs(2 * size - n)):
                size, most = more, last
            if size < k or n - size < k:
                continue
            middle = start + np.uint64(size)
            _move(cells, row, other, rows, columns, key, most, start, stop, start, middle)
            return middle
        size = n // 2
        quota = size - _count(cells, key + start, key + stop, value - 1)
        turn = start
        while quota > 0:
            quota -= cells[key + turn] == value
            turn += np.uint64(1)
        middle = start + np.uint64(size)
        left = _move(cells, row, other, rows, columns, key, value, start, turn, start, middle)
        right = middle + (turn - start) - (left - start)
        _move(cells, row, other, rows, columns, key, value - 1, turn, stop, left, right)
        return middle
    return start


@njit(cache=True, nogil=True)
def _room(attributes: int, n: int) -> Any:
    return (
        np.zeros((attributes, 2), np.int64), np.zeros(attributes),
        np.zeros(_SAMPLE + 1 + (n if n > _WHOLE else 0), np.int32),
    )


@njit(cache=True, nogil=True)
def _cut_once(table: Any, cells: Any, part: Any, k: int, strict: bool) -> int:
    """Where the second half of the part (start, stop, side) begins, or its start."""
    start, stop, side = np.uint64(part[0]), np.uint64(part[1]), np.uint64(part[2])
    room = _room(len(table[2]), part[1] - part[0])
    return np.int64(_cut(table, cells, start, stop, side, k, strict, room))


@njit(cache=True, nogil=True)
def _cut_all(
    table: Any, cells: Any, part: Any, k: int, strict: bool, opens: Any, beat: Any
) -> int:
    """Cuts a part (start, stop, side) as long as possible. Marks where classes begin in ``opens``,
    leaves the records on side 0, and returns how many classes there are."""
    room = _room(len(table[2]), part[1] - part[0])
    rows = np.uint64(len(opens))
    records = rows * np.uint64(len(table[2]))
    wait, top, made = np.empty((64, 3), np.uint64), 1, 0
    wait[0, 0], wait[0, 1], wait[0, 2] = part[0], part[1], part[2]
    while top > 0 and beat[STOP] == 0:
        top -= 1
        start, stop, side = wait[top]
        middle = _cut(table, cells, start, stop, side, k, strict, room)
        while middle > start:
            # the larger half waits, so that there are never more than 64
            side = np.uint64(1) - side
            wait[top, 2] = side
            if middle - start > stop - middle:
                wait[top, 0], wait[top, 1], start = start, middle, middle
            else:
                wait[top, 0], wait[top, 1], stop = middle, stop, middle
            top += 1
            middle = _cut(table, cells, start, stop, side, k, strict, room)
        opens[start] = True
        made += 1
        beat[DONE] += np.int64(stop - start)
        if side == 1:
            for i in range(start, stop):
                cells[records + i] = cells[records + records + rows + i]
    return made


@njit(cache=True, nogil=True)
def _label(records: Any, opens: Any, start: int, stop: int, next_class: int, labels: Any) -> None:
    for i in range(start, stop):
        next_class += opens[i]
        labels[records[i]] = next_class - 1


def mondrian(points: LossPoints, k: int, options: Mapping[str, Any], watch: Watch) -> Grouping:
    """Parts of k or more records by median cuts, each along the widest attribute that allows one.

    An attribute is as wide as the part loses by it: a range of numbers, at most the cap; what a
    hierarchy charges; of a flat taxonomy, the share of the categories, by frequency, that lie
    between the part's most and least frequent one. Those of width 0 are never cut.

    Strict: of all boundaries between two values with k records on both sides, the one nearest to
    the middle, the lower of two; in a hierarchy only between children of the lowest common
    ancestor. Relaxed: at n // 2, equal values in canonical order; parts of records that are equal
    in all that has a width stay whole, since cutting them would gain nothing.

    Args:
        points: n >= k records in canonical order.
        options: ``partitioning``, 'strict' (if missing) or 'relaxed'.

    Source: LeFevre, DeWitt and Ramakrishnan 2006, sections 3 and 4, algorithm Anonymize.
    """
    n, strict = len(points), options.get("partitioning", "strict") == "strict"
    orders = _orders(points)
    table = _table(orders)
    both = np.empty((2, len(orders) + 1, n), np.int32)
    for a, order in enumerate(orders):
        both[0, a] = order.ranks
    both[0, -1] = np.arange(n)
    watch.check()
    cells = both.reshape(-1)
    parts = _first_parts(table, cells, n, k, strict)
    watch.check()
    opens = np.zeros(n, np.bool_)
    made = in_parallel(
        [partial(_cut_all, table, cells, part, k, strict, opens, watch.beat()) for part in parts]
    )
    watch.check()
    labels = np.empty(n, np.int64)
    before = np.cumsum([0, *made])
    in_parallel(
        [
            partial(_label, both[0, -1], opens, start, stop, int(count), labels)
            for (start, stop, _), count in zip(parts, before[:-1], strict=True)
        ]
    )
    return Grouping(labels, {})


def _first_parts(
    table: Any, cells: Any, n: int, k: int, strict: bool
) -> list[tuple[int, int, int]]:
    """Parts (start, stop, side of ``cells``) in order, enough to keep all cores busy."""
    parts, size = [(0, n, 0)], 0
    while n > ALONE and size < len(parts) < PARTS:
        size = len(parts)
        middles = in_parallel(
            [partial(_cut_once, table, cells, part, k, strict) for part in parts]
        )
        parts = [
            half
            for (start, stop, side), middle in zip(parts, middles, strict=True)
            for half in (
                [(start, middle, 1 - side), (middle, stop, 1 - side)]
                if middle > start
                else [(start, stop, side)]
            )
        ]
    return parts
