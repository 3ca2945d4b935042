"""The canonical order of rows: by their encoded columns, then by seeded hashes of each row: of all
but its sensitive values, and where that leaves rows equal of the whole row.

Columns are packed into keys of 64 bits, as many as fit: codes and whole numbers of a small range
take few. All rows are sorted by the first key, and only those that are equal so far by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.points.content_order import mixed

Indices = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SIGN = np.uint64(1 << 63)
WHOLE = 2.0**52
"""Whole numbers of a smaller range than this are packed by their distance from the least."""


def _bits(column: npt.NDArray[Any]) -> tuple[Hashes, int]:
    """A column as unsigned numbers in the same order, NaN last; and the bits that they take."""
    if column.dtype.kind == "i":
        lowest = int(column.min(initial=0))
        bits = (int(column.max(initial=0)) - lowest).bit_length()
        return (column - lowest).astype(np.uint64), bits
    least, most = (float(f.reduce(column, initial=np.nan)) for f in (np.fmin, np.fmax))
    if np.isnan(least):  # there is no value
        least = most = 0.0
    span = most - least
    missing = np.isnan(column)
    lacks = bool(missing.any())
    if span < WHOLE and _whole(column[~missing] if lacks else column):
        whole = column - least
        if lacks:
            whole[missing] = span + 1.0
        return whole.astype(np.uint64), int(span + 1.0).bit_length()
    # the bits of doubles stand in their order where the sign is turned, and all bits of negatives
    turned = (np.where(missing, np.nan, column) if lacks else column).view(np.int64)
    return turned.view(np.uint64) ^ ((turned >> 63).view(np.uint64) | _SIGN), 64


def _whole(values: npt.NDArray[Any]) -> bool:
    """Whether all values are whole numbers; the first ones tell of most columns that they aren't.
    """
    return all(bool((np.floor(some) == some).all()) for some in (values[:1000], values))


def _keys(columns: Sequence[npt.NDArray[Any]]) -> Iterator[Hashes]:
    """The columns as keys, the first that counts first: uint64, shape (n,) each."""
    key: Hashes | None = None
    used = 0
    for column in columns:
        values, bits = _bits(column)
        if key is not None and used + bits <= 64:
            key, used = (key << np.uint64(bits)) | values if bits < 64 else values, used + bits
        else:
            if key is not None:
                yield key
            key, used = values, bits
        if used == 64:  # at once: where all rows differ, nobody asks for another
            yield key
            key, used = None, 0
    if key is not None:
        yield key


def canonical_order(
    columns: Sequence[npt.NDArray[Any]], hashes: Sequence[Hashes], rows: int
) -> Indices:
    """The places of rows in the input, in canonical order: int64, shape (n,).

    Rows that are equal in all columns of the relation have equal hashes. Left so, equal sensitive
    values would lie side by side and end in one class; so the i-th copy of a row gets a hash of
    (hash, i).

    Args:
        columns: float64 or int32, shape (n,) each; NaN comes last.
        hashes: uint64, shape (n,) each, the one that counts first first; the last is of all that a
            row has. Without any, rows that are equal in the columns stay as they came.
        rows: their number n.
    """
    order: Indices = np.arange(rows)
    # those that are equal to a neighbour so far: their places in the order, and their block
    tied, block = np.arange(rows), np.zeros(rows, np.int64)
    for key in _keys(columns):
        order, tied, block = _sorted(order, tied, block, key, not hashes)
        if len(tied) == 0:
            return order
    for hashed in hashes[:-1]:
        order, tied, block = _sorted(order, tied, block, hashed, False)
    if not hashes or len(tied) == 0:
        return order
    order, same, copies = _sorted(order, tied, block, hashes[-1], False)
    if len(same) == 0:
        return order
    order[same] = order[same][_turn(order[same], copies, False)]  # as they came
    ordered = hashes[-1][order[tied]]
    fresh = np.append(True, (ordered[1:] != ordered[:-1]) | (block[1:] != block[:-1]))
    starts = np.flatnonzero(fresh)
    copy = np.arange(len(tied)) - np.repeat(starts, np.diff(np.append(starts, len(tied))))
    salted = mixed(ordered + copy.astype(np.uint64) * _GOLDEN)
    order[tied] = order[tied][np.lexsort((salted, block))]
    return order


def _turn(values: npt.NDArray[Any], block: npt.NDArray[np.int64], stable: bool) -> Indices:
    """The places of values, sorted within each block; the numbers of blocks ascend."""
    turn = np.argsort(values, kind="stable" if stable else None)
    # then by block, 16 bits at a time: such numbers numpy sorts in linear time
    for shift in range(0, int(block[-1]).bit_length() if len(block) else 0, 16):
        turn = turn[np.argsort((block[turn] >> shift).astype(np.uint16), kind="stable")]
    return turn


def _sorted(
    order: Indices, tied: Indices, block: Indices, key: Hashes, stable: bool
) -> tuple[Indices, Indices, Indices]:
    """The order in which each block is sorted by a key too, and what is tied still; ``stable``:
    whether that stays in its order."""
    members = order[tied]
    values = key[members]
    turn = _turn(values, block, stable)
    order[tied] = members[turn]
    values, block = values[turn], block[turn]
    equal = (values[1:] == values[:-1]) & (block[1:] == block[:-1])
    among = np.append(equal, False) | np.append(False, equal)
    number = np.cumsum(~np.append(False, equal))[: len(tied)]
    among = among[: len(tied)]
    return order, tied[among], number[among]
