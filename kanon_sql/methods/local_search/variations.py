"""Classes that differ from given ones by a record: what column generation looks through.

A class is a row of records in ascending order, -1 behind the last of them: int32, shape
(classes, 2k - 1). Its reduced cost is what it costs less the prices of its records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.methods.local_search.moves import cost, growth, hold_groups, join, leave, relief
from kanon_sql.points.points import Codes, Floats, Labels


class PricedClasses(NamedTuple):
    """Classes and what they cost.

    Attributes:
        rows: int32, shape (m, 2k - 1); their records.
        costs: float64, shape (m,); what each loses.
    """

    rows: Codes
    costs: Floats

    def taken(self, places: Any) -> PricedClasses:
        """Those at these places, or where a mask says so."""
        return PricedClasses(self.rows[places], self.costs[places])

    def joined(self, more: PricedClasses) -> PricedClasses:
        """Both, each class once."""
        rows = np.concatenate([self.rows, more.rows])
        costs = np.concatenate([self.costs, more.costs])
        # a row as one item, so that rows are sorted by their bytes at once
        whole = np.dtype((np.void, rows.itemsize * rows.shape[1]))
        _, first = np.unique(np.ascontiguousarray(rows).view(whole).ravel(), return_index=True)
        return PricedClasses(rows, costs).taken(np.sort(first))

    def reduced(self, prices: Floats) -> Floats:
        """Reduced costs, by the prices of the records: float64, shape (m,)."""
        out: Floats = self.costs - np.append(prices, 0.0)[self.rows].sum(axis=1)
        return out


def cheapest(classes: PricedClasses, reduced: Floats, limit: float, most: int) -> Labels:
    """Of the classes whose reduced cost is below the limit, those that for one of their records
    are among the ``most`` cheapest: int64 places, by reduced cost.

    By the record, since in a dense part of the table all classes cost less than anywhere else.
    """
    order = np.argsort(reduced, kind="stable")
    order = order[reduced[order] < limit]
    rows = classes.rows[order]
    column, place = np.nonzero(rows >= 0)
    members = rows[column, place]
    # columns ascend, and so do those of each record
    by_record = np.argsort(members, kind="stable")
    sizes = np.bincount(members)
    rank = np.arange(len(members)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.zeros(len(order), np.bool_)
    kept[column[by_record[rank < most]]] = True
    places: Labels = order[kept]
    return places


def class_rows(labels: Labels, k: int) -> Codes:
    """The classes of a grouping, of up to 2k - 1 records, as rows."""
    sizes = np.bincount(labels)
    rows = np.full((len(sizes), 2 * k - 1), -1, np.int32)
    order = np.argsort(labels, kind="stable")
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows[labels[order], place] = order
    return rows


@kernel
def class_costs(data: Any, rows: Any, k: int) -> Any:
    """What the classes cost: float64, shape (m,). Data and rows as ``vary`` has them."""
    groups = hold_groups(data, 1, 2 * k)
    costs = np.zeros(rows.shape[0])
    for c in range(rows.shape[0]):
        for p in range(rows.shape[1]):
            if rows[c, p] >= 0:
                join(data, np.int64(rows[c, p]), 0, groups)
        costs[c] = cost(data, 0, groups)
        for p in range(rows.shape[1]):
            if rows[c, p] >= 0:
                leave(data, np.int64(rows[c, p]), groups)
    return costs


@kernel
def vary(
    data: Any, near: Any, prices: Any, rows: Any, k: int, limit: float, classes: Any, reduced: Any
) -> int:
    """Writes the classes of reduced cost below the limit that are given, or that have one record
    more, one less, or another one instead, which is near to one of theirs.

    Args:
        data: n records, SquaredRecords or PackedRecords.
        near: int32, shape (n, count); the nearest records of each.
        prices: float64, shape (n,).
        rows: int32, shape (m, 2k - 1); the classes to start from.
        k: the least size; the largest is 2k - 1.
        limit: see above.
        classes: the Classes to write, as many as there is room for; some come out several times.
        reduced: float64, shape (room,); their reduced costs.

    Returns: how many were written.
    """
    out, costs = classes
    n, width, room = near.shape[0], rows.shape[1], out.shape[0]
    groups = hold_groups(data, 1, 2 * k)
    seen, close = np.full(n, -1, np.int64), np.empty(n, np.int64)
    written = 0
    for c in range(rows.shape[0]):
        size, count = 0, 0
        while size < width and rows[c, size] >= 0:
            i = np.int64(rows[c, size])
            join(data, i, 0, groups)
            seen[i] = c
            size += 1
        for p in range(size):
            for rank in range(near.shape[1]):
                j = np.int64(near[rows[c, p], rank])
                if seen[j] != c:
                    seen[j] = c
                    close[count] = j
                    count += 1
        whole = cost(data, 0, groups)
        value = whole
        for p in range(size):
            value -= prices[rows[c, p]]
        for p in range(-1, size):
            # without record i, or with all
            i, left, rest, worth = np.int64(-1), size, whole, value
            if p >= 0:
                i = np.int64(rows[c, p])
                fall = relief(data, i, groups)
                left, rest, worth = size - 1, whole - fall, value - fall + prices[i]
                leave(data, i, groups)
            for q in range(-1, count if left < width else 0):
                # with record j, or with none
                j, more, now = np.int64(-1), 0.0, left
                if q >= 0:
                    j = close[q]
                    grown = growth(data, j, 0, groups)
                    more, now = grown - prices[j], left + 1
                    if worth + more >= limit:
                        continue
                    costs[written] = rest + grown
                elif worth >= limit:
                    continue
                else:
                    costs[written] = rest
                if now < k:
                    continue
                reduced[written] = worth + more
                place = 0
                for r in range(size):
                    member = np.int64(rows[c, r])
                    if j >= 0 and j < member:
                        out[written, place] = j
                        j = np.int64(-1)
                        place += 1
                    if member != i:
                        out[written, place] = member
                        place += 1
                if j >= 0:
                    out[written, place] = j
                    place += 1
                for r in range(place, width):
                    out[written, r] = -1
                written += 1
                if written == room:
                    return written
            if p >= 0:
                join(data, i, 0, groups)
        for p in range(size):
            leave(data, np.int64(rows[c, p]), groups)
    return written
