"""Records in chunks of close ones, and the search for the record that adds the least loss.

A chunk knows the box of its records: the range of each numeric column, a set of 64 bits for each
column of codes. What the box adds to a class at least is a bound for all its records, and what was
once measured in a chunk bounds all later steps, since a class that grows loses no less. A search
measures only the chunks whose bounds leave it a chance. Which records share a chunk: see
chunk_orders.py.

Bounds are summed over the columns in the same order as losses, by operations that are monotone
also where they round. So a bound is never above the loss that is computed for a record, and a
search returns what a scan of all records would, ties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner
from kanon_sql.points.points import Codes, Floats, LossPoints

WIDE = 64
"""Records in a chunk."""

FEW = 8
"""Codes of a class up to which each is compared; more are looked up in a table."""

NOBODY = 2**62
"""No record."""

Index = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


class Columns(NamedTuple):
    """What losses depend on, of n records with d numbers and c codes.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: float64, shape (c,).
        cap: float64, shape (d,).
        limit: int32, shape (c,); all these as in LossPoints.
        bits: uint64, shape (n, c); the bit that stands for each code in the sets of the chunks.
        exact: uint64, shape (c,); all bits where a column has a bit for each code, else none.
        start: int64, shape (c + 1,); where the codes of each column begin in a table of all.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    cap: Floats
    limit: Codes
    bits: Bits
    exact: Bits
    start: Index


class Chunks(NamedTuple):
    """Records in m chunks of WIDE places, those of each chunk in canonical order.

    Attributes:
        numeric: float64, shape (m, d, WIDE); the places last, so that they fill vectors.
        codes: int32, shape (m, c, WIDE).
        gone: float64, shape (m, WIDE); inf where there is no record any more, else 0.0.
        records: int64, shape (m, WIDE).
        label: int32, shape (m, WIDE); their class labels.
        sensitive: int32, shape (m, WIDE); their sensitive values.
        low, high: float64, shape (d, m); the range of each chunk, of the records it began with.
        sets: uint64, shape (c, m); the bits of the codes that it began with.
        empty: float64, shape (m,); inf where no record is left, else 0.0.
        lowest: int64, shape (m,); the first record left of each.
        left: int64, shape (m,); how many are left.
        place: int64, shape (n,); the place of each of all records, -1 for one that is in no chunk.
    """

    numeric: Floats
    codes: Codes
    gone: Floats
    records: Index
    label: Codes
    sensitive: Codes
    low: Floats
    high: Floats
    sets: Bits
    empty: Floats
    lowest: Index
    left: Index
    place: Index


class LossClass(NamedTuple):
    """A class that grows to k records, and what it loses.

    Attributes:
        low, high: float64, shape (d,).
        codes: int32, shape (c, k); the first ``counts`` of each row are its codes.
        counts: int64, shape (c,).
        sets: uint64, shape (c,); the bits of its codes.
        inside, outside: float64, shape (c,); what D has of each column together with a record
            whose code the class has, and whose code it has not.
        table: uint8, shape (codes of all columns,); 1 for those it has.
    """

    low: Floats
    high: Floats
    codes: Codes
    counts: Index
    sets: Bits
    inside: Floats
    outside: Floats
    table: npt.NDArray[np.uint8]


class Scratch(NamedTuple):
    """What a search among m chunks writes to. Losses are 0 or more, so they have the order of
    their bits.

    Attributes:
        losses: float64, shape (WIDE,); of a chunk's records.
        loss_bits: int64; the same memory as whole numbers.
        values: float64, shape (WIDE,); the losses, weighed and with penalties.
        hits: int32, shape (WIDE,); whether the class has a record's code.
        bounds: float64, shape (m,); of the losses in each chunk.
        bound_bits: int64; the same memory.
    """

    losses: Floats
    loss_bits: Index
    values: Floats
    hits: Codes
    bounds: Floats
    bound_bits: Index


class Dues(NamedTuple):
    """Penalties, in cells; empty where there are none.

    Attributes:
        by_label: float64, shape (labels,); for a record with that class label.
        by_sensitive: float64, shape (sensitive values,); for one with that sensitive value.
    """

    by_label: Floats
    by_sensitive: Floats


def fill_chunks(points: LossPoints, bins: Index, order: Index) -> Chunks:
    """The records of an order in chunks."""
    count = len(order)
    m = -(-count // WIDE)
    # free places repeat the last record, so that they widen no box
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
    return Chunks(
        numeric, codes, gone, held, points.label[held], points.sensitive_value[held],
        np.ascontiguousarray(numeric.min(axis=2).T), np.ascontiguousarray(numeric.max(axis=2).T),
        np.ascontiguousarray(np.bitwise_or.reduce(bits, axis=2).T),
        np.zeros(m), held.min(axis=1), np.sum(gone == 0.0, axis=1), place,
    )


def columns_of(points: LossPoints, bins: Index) -> Columns:
    """What losses depend on; ``bins`` of bins_of."""
    sizes = points.codes.max(axis=0, initial=0).astype(np.int64) + 1
    exact = np.where(sizes <= 64, np.uint64(2**64 - 1), np.uint64(0))
    return Columns(
        points.numeric, points.codes, points.scale, points.cap, points.limit,
        np.uint64(1) << bins.astype(np.uint64), exact, np.append(0, np.cumsum(sizes)),
    )


def new_class(columns: Columns, k: int) -> LossClass:
    """Room for a class of k records."""
    d, c = columns.numeric.shape[1], columns.codes.shape[1]
    return LossClass(
        np.zeros(d), np.zeros(d), np.zeros((c, k), np.int32), np.zeros(c, np.int64),
        np.zeros(c, np.uint64), np.zeros(c), np.zeros(c), np.zeros(columns.start[-1], np.uint8),
    )


def new_scratch(chunks: int) -> Scratch:
    """Room for a search among so many chunks."""
    losses, bounds = np.zeros(WIDE), np.zeros(chunks)
    return Scratch(
        losses, losses.view(np.int64), np.zeros(WIDE), np.zeros(WIDE, np.int32),
        bounds, bounds.view(np.int64),
    )


@inner
def join_class(columns: Columns, group: LossClass, i: int, fresh: bool) -> None:
    """Record i joins the class; a fresh class has no other."""
    numeric, codes, scale, _, limit, bits, _, start = columns
    low, high, kinds, counts, sets, inside, outside, table = group
    for a in range(numeric.shape[1]):
        x = numeric[i, a]
        low[a] = x if fresh or x < low[a] else low[a]
        high[a] = x if fresh or x > high[a] else high[a]
    for a in range(codes.shape[1]):
        if fresh:
            # only the codes of the class before are set: the whole table may be long
            for q in range(counts[a]):
                table[start[a] + kinds[a, q]] = 0
            counts[a] = 0
            sets[a] = bits[i, a]
        v = codes[i, a]
        if table[start[a] + v] == 0:
            table[start[a] + v] = 1
            q = counts[a]
            kinds[a, q] = v
            counts[a] = q + 1
            sets[a] |= bits[i, a]
            inside[a] = scale[a] * (q if q < limit[a] else limit[a])
            outside[a] = scale[a] * (q + 1 if q + 1 < limit[a] else limit[a])


@inner
def measure_chunk(
    columns: Columns, chunks: Chunks, group: LossClass, chunk: int, sign: float, scratch: Scratch
) -> None:
    """D of the class with each record of a chunk; inf, by the sign, where there is none. Repeats
    points.losses.class_losses, for the class and one record more."""
    numeric, codes, gone = chunks.numeric, chunks.codes, chunks.gone
    low, high, kinds, counts, _, inside, outside, table = group
    losses, hits = scratch.losses, scratch.hits
    # loops over the places of a chunk are innermost and without branches: vector instructions
    for p in range(WIDE):
        losses[p] = gone[chunk, p] * sign
    for a in range(numeric.shape[1]):
        least, most, cap = low[a], high[a], columns.cap[a]
        for p in range(WIDE):
            x = numeric[chunk, a, p]
            span = (x if x > most else most) - (x if x < least else least)
            losses[p] += span if span < cap else cap
    for a in range(codes.shape[1]):
        known, new, count = inside[a], outside[a], counts[a]
        if known == new:  # the limit is reached, or the column costs nothing
            for p in range(WIDE):
                losses[p] += known
        elif count <= FEW:
            for p in range(WIDE):
                hits[p] = 0
            for q in range(count):
                v = kinds[a, q]
                for p in range(WIDE):
                    hits[p] |= codes[chunk, a, p] == v
            for p in range(WIDE):
                losses[p] += known if hits[p] != 0 else new
        else:
            start = columns.start[a]
            for p in range(WIDE):
                losses[p] += known if table[start + codes[chunk, a, p]] != 0 else new


@inner
def _bound(columns: Columns, chunks: Chunks, group: LossClass, far: bool, bounds: Any) -> None:
    """D of the class with a record of each chunk: at least that much, or with far at most."""
    low, high, sets, empty = chunks.low, chunks.high, chunks.sets, chunks.empty
    m = len(bounds)
    near_side, far_side, sign = low, high, 1.0
    if far:
        near_side, far_side, sign = high, low, -1.0
    for q in range(m):
        bounds[q] = empty[q] * sign
    for a in range(low.shape[0]):
        least, most, cap = group.low[a], group.high[a], columns.cap[a]
        for q in range(m):
            x, y = near_side[a, q], far_side[a, q]
            span = (x if x > most else most) - (y if y < least else least)
            bounds[q] += span if span < cap else cap
    for a in range(sets.shape[0]):
        known, new, mask = group.inside[a], group.outside[a], group.sets[a]
        if far:  # all of a chunk's codes are known only where it has no other
            known, new, mask = new, known, ~(mask & columns.exact[a])
        for q in range(m):
            bounds[q] += known if sets[a, q] & mask != 0 else new


@inner
def find_record(
    columns: Columns, chunks: Chunks, group: LossClass, more: float, fresh: bool, start: int,
    dues: Dues, scratch: Scratch,
) -> int:
    """The record left with the least more * D(class and it) + dues, ties to the lowest.

    Args:
        more: the weight of D; -1.0 finds the record furthest from a class of one.
        fresh: whether the class is another one than that of the search before; if not, it is the
            same or has grown.
        start: the chunk to begin with; -1: that with the best bound.
        dues: penalties, charged where D counts for more than 0.0.
    """
    gone, records, lowest = chunks.gone, chunks.records, chunks.lowest
    losses, loss_bits, values, _, bounds, bound_bits = scratch
    by_label, by_sensitive = dues
    m, sign = len(bounds), 1.0 if more > 0.0 else -1.0
    # a class that has only grown loses no less: the bounds of the search before still hold
    if fresh:
        _bound(columns, chunks, group, more < 0.0, bounds)
    if start < 0:
        start = 0
        for q in range(m):
            if bounds[q] * sign < bounds[start] * sign:
                start = q
    best, best_value = NOBODY, np.inf
    # the promising chunk first, then all others in their order: after it few are worth a look
    for step in range(m + 1):
        q = step - 1 if step > 0 else start
        # penalties only add, so the weighed bound holds with them too
        hope = bounds[q] * more
        if hope > best_value or (step > 0 and q == start):
            continue
        if hope == best_value and lowest[q] > best:
            continue
        measure_chunk(columns, chunks, group, q, sign, scratch)
        if more > 0.0:
            # as whole numbers: a minimum of floats, one of which might be NaN, is not vectorized
            least = loss_bits[0]
            for p in range(WIDE):
                least = loss_bits[p] if loss_bits[p] < least else least
            bound_bits[q] = least
        for p in range(WIDE):
            values[p] = losses[p] * more
        if len(by_label) > 0 and more > 0.0:
            for p in range(WIDE):
                values[p] += by_label[chunks.label[q, p]]
        if len(by_sensitive) > 0 and more > 0.0:
            for p in range(WIDE):
                values[p] += by_sensitive[chunks.sensitive[q, p]]
        # most chunks have nothing better: a count tells so without a branch for each record
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
def take_out(chunks: Chunks, i: int) -> int:
    """Record i is no longer there. Returns the chunk in which it was."""
    # all named before the branches: small enough then to become part of its caller
    gone, records, empty = chunks.gone, chunks.records, chunks.empty
    lowest, left = chunks.lowest, chunks.left
    q, p = chunks.place[i] // WIDE, chunks.place[i] % WIDE
    gone[q, p] = np.inf
    left[q] -= 1
    if left[q] == 0:
        empty[q] = np.inf
    elif records[q, p] == lowest[q]:
        # those of a chunk stand in canonical order: the next that is left is the lowest
        while gone[q, p] != 0.0:
            p += 1
        lowest[q] = records[q, p]
    return int(q)
