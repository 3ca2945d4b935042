"""Quasi-identifiers as orders, for methods that cut records at a value.

Numbers stand in their order (missing ones last), the categories of a flat taxonomy by frequency in
the whole table, the leaves of a hierarchy depth-first. So a record is one rank per attribute, the
extent of a set of records is its least and greatest ranks, and whatever those two have in common
in a hierarchy, all between them have too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inlined, kernel
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.points.points import Floats, Labels, LossPoints


@dataclass(frozen=True)
class Order:
    """One attribute of n records as an order.

    Attributes:
        ranks: int32, shape (n,); the place of each record's value among the m distinct ones.
        places: float64, shape (m,); where each value lies, so that records are as wide apart as the
            unit times the difference, at most the cap. Unused in a hierarchy.
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


class RankTable(NamedTuple):
    """The orders of all attributes as the kernels read them, in two arrays, since each one passed
    to a function costs as much as cutting a record. Which part is whose: see Layout.

    Attributes:
        numbers: float64; unit and cap of each attribute in turn, then costs and places of each.
        tree: int64; the Layout of each attribute in turn, less unit and cap, then begin and end of
            the nodes of each.
    """

    numbers: Floats
    tree: Labels


class Layout(NamedTuple):
    """Where an attribute's order stands in a table.

    Attributes:
        unit, cap: their places in ``numbers``, which follow from the attribute's number and are
            not stored.
        levels: how many; 0 where there is no hierarchy.
        values: how many.
        costs, places: where they start in ``numbers``.
        nodes: where they start in ``tree``: ``begin``, level by level, then ``end``.
    """

    unit: int
    cap: int
    levels: int
    values: int
    costs: int
    places: int
    nodes: int


@kernel
def _sort(values: Any, keys: Any, order: Any, places: Any) -> bool:
    """Writes order and sorted values; not where too many values have the same leading bits.

    Args:
        keys: sorted words of the leading bits of a value and its record, which follows from order.
    """
    # the lower bits of a key are the record, as many as the records need
    mask, shifts = np.int64(1), 0
    while mask < len(keys):
        mask *= 2
    for i in range(len(keys)):
        record = keys[i] & (mask - 1)
        # insertion: keys are sorted already but for values that differ in their last bits alone
        value, j = values[record], i
        while j > 0 and places[j - 1] > value:
            order[j], places[j] = order[j - 1], places[j - 1]
            j -= 1
        order[j], places[j] = record, value
        shifts += i - j
        if shifts > len(keys):
            return False
    return True


@kernel
def _rank(order: Any, places: Any, ranks: Any) -> int:
    """Writes the ranks and leaves the distinct of the sorted values in places; returns how many."""
    rank, last = -1, 0.0
    for i in range(len(order)):
        value = places[i]
        if rank < 0 or value != last:
            rank += 1
            places[rank] = last = value
        ranks[order[i]] = rank
    return rank + 1


def _number(column: Any, cap: float) -> Order:
    """Sorting bits and record in one word is much faster than sorting records by value."""
    values = np.ascontiguousarray(column) + 0.0
    n, order, places = len(values), np.arange(len(values)), values
    if bool(np.any(values[1:] < values[:-1])):
        bits, places = values.view(np.int64), np.empty(n)
        # as whole numbers the bits of floats have their order, that of negative ones reversed
        keys = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
        keys &= np.int64(-(1 << (n - 1).bit_length()))
        keys |= order
        keys.sort()
        if not _sort(values, keys, order, places):  # many values within a few bits: sort them
            order = np.argsort(values)
            places = values[order]
    ranks = np.empty(n, np.int32)
    distinct = _rank(order, places, ranks)
    nodes = np.zeros((0, distinct), np.int32)
    return Order(ranks, places[:distinct], 1.0, cap, nodes, nodes, np.zeros(0))


def _taxonomy(codes: Any, scale: float, limit: int) -> Order:
    """A flat taxonomy: frequent categories first, ties by code.

    As wide as the ranks lie apart, the whole table as wide as it loses by it: as for numbers, that
    is the part of the order that is left to cut, and its ends are all that has to be known.
    """
    counts = np.bincount(codes)
    listed = np.argsort(-counts, kind="stable").astype(np.int32)
    rank_of = np.empty(len(counts), np.int32)
    rank_of[listed] = np.arange(len(counts), dtype=np.int32)
    distinct = int(np.count_nonzero(counts))
    # ranks of the whole table span what it loses, so that attributes compare by their losses
    unit = scale * min(distinct - 1, limit) / max(distinct - 1, 1)
    none = np.zeros((0, distinct), np.int32)
    places = np.arange(distinct, dtype=np.float64)
    return Order(rank_of[codes], places, unit, np.inf, none, none, np.zeros(0))


def _hierarchy(codes: Any, scale: Any) -> Order:
    """A tree; codes: int32, shape (n, levels), the leaf first."""
    leaves = codes[:, 0]
    # one record of each leaf tells the nodes above it; codes are numbered depth-first
    holder = np.zeros(int(leaves.max()) + 1, np.int64)
    present = np.zeros(len(holder), np.bool_)
    holder[leaves], present[leaves] = np.arange(len(leaves)), True
    nodes = codes[holder[present]].T
    new = np.concatenate([np.ones((len(nodes), 1), np.bool_), nodes[:, 1:] != nodes[:, :-1]], 1)
    last = np.concatenate([new[:, 1:], np.ones((len(nodes), 1), np.bool_)], 1)
    m = nodes.shape[1]
    positions = np.arange(m, dtype=np.int32)
    begin = np.maximum.accumulate(np.where(new, positions, 0), axis=1)
    end = np.minimum.accumulate(np.where(last, positions, m)[:, ::-1], axis=1)[:, ::-1]
    ranks = (np.cumsum(present) - 1).astype(np.int32)[leaves]
    return Order(
        ranks, np.zeros(m), 0.0, np.inf, np.ascontiguousarray(begin, np.int32),
        np.ascontiguousarray(end, np.int32), np.ascontiguousarray(scale),
    )


def attribute_orders(points: LossPoints) -> list[Order]:
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


def table_of(orders: list[Order]) -> RankTable:
    """The orders as the kernels read them."""
    numbers: list[Any] = [np.zeros(0), *([order.unit, order.cap] for order in orders)]
    layouts: list[Any] = [np.zeros(0, np.int64)]
    nodes: list[Any] = []
    at, nodes_at = 2 * len(orders), _STORED * len(orders)
    for order in orders:
        levels, m = order.begin.shape
        layouts.append([levels, m, at, at + levels, nodes_at])
        numbers += [order.costs, order.places]
        nodes += [order.begin.reshape(-1), order.end.reshape(-1)]
        at += levels + m
        nodes_at += 2 * levels * m
    return RankTable(np.concatenate(numbers), np.concatenate([*layouts, *nodes], dtype=np.int64))


_STORED = len(Layout._fields) - 2
"""Words of a layout in a table."""


@inlined
def layout_of(tree: Any, a: int) -> Layout:
    """The layout of attribute a."""
    at = _STORED * a
    return Layout(
        2 * a, 2 * a + 1, tree[at], tree[at + 1], tree[at + 2], tree[at + 3], tree[at + 4]
    )
