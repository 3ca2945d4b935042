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
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.parallel import in_parallel
from kanon_sql.grouping.points import LossPoints


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


@njit(cache=True, nogil=True)
def _rank(values: Any, keys: Any, order: Any, ranks: Any, places: Any) -> int:
    """Writes the rank of each value and the distinct values; returns how many those are.

    Args:
        keys: nonempty if the order is yet to be made. Sorted; leading bits of the values, in the
            others the records. Values with the same leading bits are sorted here.

    Returns -1 where those are too many.
    """
    n = len(values)
    shifts, mask = 0, np.int64(1)
    while mask < n:
        mask *= 2
    for i in range(len(keys)):
        record = keys[i] & (mask - 1)
        value, j = values[record], i
        while j > 0 and values[order[j - 1]] > value:
            order[j] = order[j - 1]
            j -= 1
        order[j] = record
        shifts += i - j
        if shifts > n:
            return -1
    rank = -1
    for i in range(n):
        value = values[order[i]]
        if rank < 0 or value != places[rank]:
            rank += 1
            places[rank] = value
        ranks[order[i]] = rank
    return rank + 1


def _number(column: Any, cap: float) -> Order:
    """Sorting bits and record in one word is much faster than sorting records by value."""
    values = np.ascontiguousarray(column) + 0.0
    n = len(values)
    ranks, places = np.empty(n, np.int32), np.empty(n)
    order, none, distinct = np.arange(n), np.zeros(0, np.int64), -1
    if bool(np.all(values[1:] >= values[:-1])):
        distinct = _rank(values, none, order, ranks, places)
    else:
        bits = values.view(np.int64)
        keys = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
        keys &= np.int64(-(1 << (n - 1).bit_length()))
        keys |= order
        keys.sort()
        distinct = _rank(values, keys, order, ranks, places)
    if distinct < 0:
        distinct = _rank(values, none, np.argsort(values), ranks, places)
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
    unit = scale * min(distinct - 1, limit) / max(distinct - 1, 1)
    none = np.zeros((0, distinct), np.int32)
    places = np.arange(distinct, dtype=np.float64)
    return Order(rank_of[codes], places, unit, np.inf, none, none, np.zeros(0))


def _hierarchy(codes: Any, scale: Any) -> Order:
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
