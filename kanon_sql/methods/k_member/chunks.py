"""Records in chunks of close ones, and the search for the record that adds the least loss.

A chunk knows the box of its records: the range of each numeric column, a set of 64 bits for each
column of codes. What the box adds to a class at least is a bound for all its records, and what was
once measured in a chunk bounds all later steps, since a class that grows loses no less. A search
measures only the chunks whose bounds leave it a chance. There are two orders to fill chunks by: one
for the records that add the least, one for those that are furthest.

Bounds are summed over the columns in the same order as losses, by operations that are monotone
also where they round. So a bound is never above the loss that is computed for a record, and a
search returns what a scan of all records would, ties included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner
from kanon_sql.points.points import LossPoints

WIDE = 64
"""Records in a chunk."""

FEW = 8
"""Codes of a class up to which each is compared; more are looked up in a table."""

NOBODY = 2**62
"""No record."""

_SPREAD = 1.13
"""Mean distance of two values over their standard deviation, for a normal distribution."""

Index = npt.NDArray[np.int64]


def bins_of(codes: Any) -> Index:
    """The bit that stands for each code in the sets of the chunks, 0 .. 63: int64, shape (n, c).

    A column of 64 codes or fewer has a bit for each; of more, a bit for each run of codes.
    """
    largest = codes.max(axis=0, initial=0).astype(np.int64) + 1
    return np.asarray(codes.astype(np.int64) * 64 // np.maximum(largest, 64), np.int64)


def near_order(points: LossPoints, bins: Index) -> Index:
    """All records in an order in which close ones are neighbours: int64, shape (n,).

    Halves them, again and again, along the column in which two of them differ most on average.
    """
    n, d, c = len(points), points.numeric.shape[1], points.codes.shape[1]
    order, parts = np.arange(n), 1
    while n // parts > WIDE // 2 and c + d > 0:
        part = np.arange(n) * parts // n
        sizes = np.bincount(part, minlength=parts).astype(np.float64)
        apart = np.zeros((d + c, parts))
        for a in range(d):
            values = np.minimum(points.numeric[order, a], 2.0 * points.cap[a])
            mean = np.bincount(part, values, parts) / sizes
            variance = np.bincount(part, values * values, parts) / sizes - mean * mean
            apart[a] = np.minimum(_SPREAD * np.sqrt(np.maximum(variance, 0.0)), points.cap[a])
        for a in range(c):
            counts = np.bincount(part * 64 + bins[order, a], minlength=parts * 64)
            shares = counts.reshape(parts, 64) / sizes[:, None]
            apart[d + a] = points.scale[a] * (1.0 - np.sum(shares * shares, axis=1))
        widest = np.argmax(apart, axis=0)[part]
        key = np.zeros(n)
        for a in range(d + c):
            here = np.flatnonzero(widest == a)
            column = points.numeric[:, a] if a < d else points.codes[:, a - d]
            key[here] = column[order[here]]
        order = order[np.lexsort((key, part))]
        parts *= 2
    return order.astype(np.int64)


def far_order(points: LossPoints, bins: Index) -> Index:
    """All records in an order that keeps rare codes together: int64, shape (n,).

    A record far from others differs from them in all columns, also in those where nearly all
    records are alike. So these columns come first.
    """
    n, d, c = len(points), points.numeric.shape[1], points.codes.shape[1]
    alike = [
        float(np.sum(np.square(np.bincount(bins[:, a], minlength=64) / n))) for a in range(c)
    ]
    columns: list[Any] = [np.zeros(n), *(points.numeric[:, a] for a in range(d))]
    columns += [points.codes[:, a] for a in np.argsort(alike, kind="stable")]
    return np.lexsort(columns).astype(np.int64)


def fill_chunks(points: LossPoints, bins: Index, order: Index) -> Any:
    """The records of an order in chunks, those of each chunk in canonical order.

    Returns (m chunks of WIDE places, n records in all): numeric, shape (m, d, WIDE); codes, shape
    (m, c, WIDE); gone, float64, shape (m, WIDE), inf where there is no record; the records; their
    labels; their secrets, shape (m, WIDE); low, high, shape (d, m); sets, uint64, shape (c, m);
    empty, float64, shape (m,), inf where no record is left; lowest record of each, shape (m,);
    how many are left, shape (m,); place of each record, shape (n,).
    """
    count = len(order)
    m = -(-count // WIDE)
    padded = np.append(order, np.full(m * WIDE - count, order[-1]))
    gone = np.where(np.arange(m * WIDE) < count, 0.0, np.inf).reshape(m, WIDE)
    held = np.sort(padded.reshape(m, WIDE), axis=1)
    held[-1] = np.append(np.sort(order[(m - 1) * WIDE :]), padded[count:])  # free places last
    flat = held.reshape(-1)
    place = np.full(len(points), -1, np.int64)
    place[flat[:count]] = np.arange(count)

    def lanes(columns: Any) -> Any:
        split = columns[flat].reshape(m, WIDE, columns.shape[1])
        return np.ascontiguousarray(split.transpose(0, 2, 1))

    numeric, codes = lanes(points.numeric), lanes(points.codes)
    bits = np.uint64(1) << lanes(bins).astype(np.uint64)
    return (
        numeric, codes, gone, held, points.label[held], points.sensitive_value[held],
        np.ascontiguousarray(numeric.min(axis=2).T), np.ascontiguousarray(numeric.max(axis=2).T),
        np.ascontiguousarray(np.bitwise_or.reduce(bits, axis=2).T),
        np.zeros(m), held.min(axis=1), np.sum(gone == 0.0, axis=1), place,
    )


def new_space(points: LossPoints, bins: Index) -> Any:
    """What costs depend on: numeric, codes, scale, cap, limit, the bit of each code (uint64, shape
    (n, c)), which columns have a bit for each code (all bits, else none: uint64, shape (c,)), and
    where the codes of each column begin in a table of all (int64, shape (c + 1,))."""
    sizes = points.codes.max(axis=0, initial=0).astype(np.int64) + 1
    exact = np.where(sizes <= 64, np.uint64(2**64 - 1), np.uint64(0))
    return (
        points.numeric, points.codes, points.scale, points.cap, points.limit,
        np.uint64(1) << bins.astype(np.uint64), exact, np.append(0, np.cumsum(sizes)),
    )


def new_class(space: Any, k: int) -> Any:
    """Room for a class of k records.

    Returns: low, high, shape (d,); its codes, int32, shape (c, k), and how many, shape (c,); their
    set, uint64, shape (c,); what a record adds to D whose code it has and whose code it has not,
    shape (c,); the table of all codes, uint8, 1 for those it has.
    """
    d, c = space[0].shape[1], space[1].shape[1]
    return (
        np.zeros(d), np.zeros(d), np.zeros((c, k), np.int32), np.zeros(c, np.int64),
        np.zeros(c, np.uint64), np.zeros(c), np.zeros(c), np.zeros(space[7][-1], np.uint8),
    )


def new_scratch(chunks: int) -> Any:
    """What a search writes to: losses of a chunk's records, their bits as whole numbers, values
    (the losses, weighed and with penalties), codes that were hit, bounds of the chunks, and their
    bits. Losses are 0 or more, so they have the order of their bits."""
    sums, bounds = np.zeros(WIDE), np.zeros(chunks)
    return (
        sums, sums.view(np.int64), np.zeros(WIDE), np.zeros(WIDE, np.int32),
        bounds, bounds.view(np.int64),
    )


@inner
def join_class(space: Any, group: Any, i: int, fresh: bool) -> None:
    """Record i joins the class; a fresh class has no other."""
    numeric, codes, scale, _, limit, bits, _, starts = space
    low, high, kinds, counts, have, inside, outside, table = group
    for a in range(numeric.shape[1]):
        x = numeric[i, a]
        low[a] = x if fresh or x < low[a] else low[a]
        high[a] = x if fresh or x > high[a] else high[a]
    for a in range(codes.shape[1]):
        if fresh:
            for q in range(counts[a]):
                table[starts[a] + kinds[a, q]] = 0
            counts[a] = 0
            have[a] = bits[i, a]
        v = codes[i, a]
        if table[starts[a] + v] == 0:
            table[starts[a] + v] = 1
            q = counts[a]
            kinds[a, q] = v
            counts[a] = q + 1
            have[a] |= bits[i, a]
            inside[a] = scale[a] * (q if q < limit[a] else limit[a])
            outside[a] = scale[a] * (q + 1 if q + 1 < limit[a] else limit[a])


@inner
def _measure(space: Any, chunks: Any, group: Any, chunk: int, sign: float, scratch: Any) -> None:
    """D of the class with each record of a chunk; inf, by the sign, where there is none."""
    numeric, codes, gone = chunks[0], chunks[1], chunks[2]
    low, high, kinds, counts, _, inside, outside, table = group
    sums, hits = scratch[0], scratch[3]
    for p in range(WIDE):
        sums[p] = gone[chunk, p] * sign
    for a in range(numeric.shape[1]):
        least, most, cap = low[a], high[a], space[3][a]
        for p in range(WIDE):
            x = numeric[chunk, a, p]
            span = (x if x > most else most) - (x if x < least else least)
            sums[p] += span if span < cap else cap
    for a in range(codes.shape[1]):
        known, new, count = inside[a], outside[a], counts[a]
        if known == new:
            for p in range(WIDE):
                sums[p] += known
        elif count <= FEW:
            for p in range(WIDE):
                hits[p] = 0
            for q in range(count):
                v = kinds[a, q]
                for p in range(WIDE):
                    hits[p] |= codes[chunk, a, p] == v
            for p in range(WIDE):
                sums[p] += known if hits[p] != 0 else new
        else:
            start = space[7][a]
            for p in range(WIDE):
                sums[p] += known if table[start + codes[chunk, a, p]] != 0 else new


@inner
def _bound(space: Any, chunks: Any, group: Any, far: bool, bounds: Any) -> None:
    """D of the class with a record of each chunk: at least that much, or with far at most."""
    low, high, sets, empty = chunks[6], chunks[7], chunks[8], chunks[9]
    have, m = group[4], len(bounds)
    near_side, far_side, sign = low, high, 1.0
    if far:
        near_side, far_side, sign = high, low, -1.0
    for q in range(m):
        bounds[q] = empty[q] * sign
    for a in range(low.shape[0]):
        least, most, cap = group[0][a], group[1][a], space[3][a]
        for q in range(m):
            x, y = near_side[a, q], far_side[a, q]
            span = (x if x > most else most) - (y if y < least else least)
            bounds[q] += span if span < cap else cap
    for a in range(sets.shape[0]):
        known, new, mask = group[5][a], group[6][a], have[a]
        if far:  # all of a chunk's codes are known only where it has no other
            known, new, mask = new, known, ~(mask & space[6][a])
        for q in range(m):
            bounds[q] += known if sets[a, q] & mask != 0 else new


@inner
def find_record(
    space: Any, chunks: Any, group: Any, more: float, fresh: bool, start: int, dues: Any,
    scratch: Any,
) -> int:
    """The record left with the least more * D(class and it) + dues, ties to the lowest.

    Args:
        more: the weight of D; -1.0 finds the record furthest from a class of one.
        fresh: whether the class is another one than that of the search before; if not, it is the
            same or has grown.
        start: the chunk to begin with; -1: that with the best bound.
        dues: penalties by label, float64, and by secret, float64, charged where D counts for more
            than 0.0; empty where there are none.
    """
    gone, records, label, secret, lowest = chunks[2], chunks[3], chunks[4], chunks[5], chunks[10]
    sums, bits, values, _, bounds, bound_bits = scratch
    by_label, by_secret = dues
    m, sign = len(bounds), 1.0 if more > 0.0 else -1.0
    if fresh:
        _bound(space, chunks, group, more < 0.0, bounds)
    if start < 0:
        start = 0
        for q in range(m):
            if bounds[q] * sign < bounds[start] * sign:
                start = q
    best, best_value = NOBODY, np.inf
    for step in range(m + 1):
        q = step - 1 if step > 0 else start
        hope = bounds[q] * more
        if hope > best_value or (step > 0 and q == start):
            continue
        if hope == best_value and lowest[q] > best:
            continue
        _measure(space, chunks, group, q, sign, scratch)
        if more > 0.0:
            least = bits[0]
            for p in range(WIDE):
                least = bits[p] if bits[p] < least else least
            bound_bits[q] = least
        for p in range(WIDE):
            values[p] = sums[p] * more
        if len(by_label) > 0 and more > 0.0:
            for p in range(WIDE):
                values[p] += by_label[label[q, p]]
        if len(by_secret) > 0 and more > 0.0:
            for p in range(WIDE):
                values[p] += by_secret[secret[q, p]]
        hits = 0
        for p in range(WIDE):
            hits += values[p] <= best_value
        if hits == 0:
            continue
        for p in range(WIDE):
            if gone[q, p] == 0.0 and (
                values[p] < best_value or (values[p] == best_value and records[q, p] < best)
            ):
                best, best_value = records[q, p], values[p]
    return best


@inner
def take_out(chunks: Any, i: int) -> int:
    """Record i is no longer there. Returns the chunk in which it was."""
    gone, records, empty, lowest, left = chunks[2], chunks[3], chunks[9], chunks[10], chunks[11]
    q, p = chunks[12][i] // WIDE, chunks[12][i] % WIDE
    gone[q, p] = np.inf
    left[q] -= 1
    if left[q] == 0:
        empty[q] = np.inf
    elif records[q, p] == lowest[q]:
        while gone[q, p] != 0.0:
            p += 1
        lowest[q] = records[q, p]
    return int(q)
