"""A class that grows to k records, and what it loses with one more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner
from kanon_sql.points.points import Codes, Floats, LossPoints

Index = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

LEAST, MOST, CAP = 0, 1, 2
"""Rows of the ranges of a class."""

FIRST_CODE, LAST_CODE = 0, 1
"""Rows of its codes' ends."""

KNOWN, NEW = 0, 1
"""Rows of its costs."""


class Columns(NamedTuple):
    """What losses depend on, of n records with d numbers and c codes.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: float64, shape (c,).
        limit: int32, shape (c,); all these as in LossPoints.
        start: int64, shape (c + 1,); where the codes of each column begin in a table of all.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    limit: Codes
    start: Index


class LossClass(NamedTuple):
    """A class that grows to k records, of d numbers and c codes.

    Attributes:
        ranges: float64, shape (3, d); the least and the most of each number, and the cap.
        ends: int32, shape (2, c); the first and the last code of each column.
        mask: uint64, shape (c,); the codes as sets, see code_bit.
        costs: float64, shape (2, c); what one more record adds in each column if its code is one
            of the class, and if not.
        kinds: int32, shape (c, k); the first ``counts`` of each row are its codes.
        counts: int64, shape (c,).
        table: uint8, shape (all codes,); whether it has each.
        blurred: int64, shape (1,); in how many columns codes that it doesn't have can't be told by
            their ends and sets.
    """

    ranges: Floats
    ends: Codes
    mask: Bits
    costs: Floats
    kinds: Codes
    counts: Index
    table: Any
    blurred: Index


class Dues(NamedTuple):
    """Penalties, in cells; the last two are empty where there are none.

    Attributes:
        label: int32, shape (n,); the code of the class label of each record.
        sensitive: int32, shape (n,); the code of its sensitive value.
        by_label: float64, shape (labels,); for a record with that class label.
        by_sensitive: float64, shape (sensitive values,); for one with that sensitive value.
    """

    label: Codes
    sensitive: Codes
    by_label: Floats
    by_sensitive: Floats


def columns_of(points: LossPoints) -> Columns:
    """What losses depend on."""
    sizes = points.codes.max(axis=0, initial=0).astype(np.int64) + 1
    return Columns(
        points.numeric, points.codes, points.scale, points.limit, np.append(0, np.cumsum(sizes))
    )


def new_class(points: LossPoints, columns: Columns, k: int) -> LossClass:
    """Room for a class of k records."""
    d, c = points.numeric.shape[1], points.codes.shape[1]
    ranges = np.zeros((3, d))
    ranges[CAP] = points.cap
    return LossClass(
        ranges, np.zeros((2, c), np.int32), np.zeros(c, np.uint64), np.zeros((2, c)),
        np.zeros((c, k), np.int32), np.zeros(c, np.int64), np.zeros(columns.start[-1], np.uint8),
        np.zeros(1, np.int64),
    )


@inner
def code_bit(v: int) -> Any:
    """A code as a set of one bit of 64."""
    return np.uint64(1) << np.uint64(v & 63)


@inner
def join_class(columns: Columns, group: LossClass, i: int, fresh: bool) -> None:
    """Record i joins the class; a fresh class has no other."""
    numeric, codes, scale, limit, start = columns
    ranges, ends, mask, costs, kinds, counts, table, blurred = group
    for a in range(numeric.shape[1]):
        x = numeric[i, a]
        ranges[LEAST, a] = x if fresh or x < ranges[LEAST, a] else ranges[LEAST, a]
        ranges[MOST, a] = x if fresh or x > ranges[MOST, a] else ranges[MOST, a]
    blurred[0] = 0
    for a in range(codes.shape[1]):
        v = codes[i, a]
        if fresh:
            # only the codes of the class before are set: the whole table may be long
            for q in range(counts[a]):
                table[start[a] + kinds[a, q]] = 0
            counts[a] = 0
            mask[a] = code_bit(v)
            ends[FIRST_CODE, a] = ends[LAST_CODE, a] = v
        if table[start[a] + v] == 0:
            table[start[a] + v] = 1
            q = counts[a]
            kinds[a, q] = v
            counts[a] = q + 1
            mask[a] |= code_bit(v)
            ends[FIRST_CODE, a] = min(ends[FIRST_CODE, a], v)
            ends[LAST_CODE, a] = max(ends[LAST_CODE, a], v)
            costs[KNOWN, a] = scale[a] * (q if q < limit[a] else limit[a])
            costs[NEW, a] = scale[a] * (q + 1 if q + 1 < limit[a] else limit[a])
        if counts[a] > 1 and start[a + 1] - start[a] > 64 and costs[KNOWN, a] != costs[NEW, a]:
            blurred[0] += 1


@inner
def loss_with(columns: Columns, group: LossClass, i: int) -> float:
    """D of the class with record i; repeats points.losses.class_losses."""
    numeric, codes, start = columns.numeric, columns.codes, columns.start
    ranges, costs, table = group.ranges, group.costs, group.table
    total = 0.0
    for a in range(numeric.shape[1]):
        x = numeric[i, a]
        total += min(max(ranges[MOST, a], x) - min(ranges[LEAST, a], x), ranges[CAP, a])
    for a in range(codes.shape[1]):
        total += costs[KNOWN if table[start[a] + codes[i, a]] != 0 else NEW, a]
    return total
