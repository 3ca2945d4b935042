"""Chance that depends on nothing but content and seed: an order of the records that looks random.

The papers say "a randomly picked record". Here the records stand in the order of a hash of what
they are, so that the same table gives the same release, in whatever order its rows come in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Labels, Points

Bits = npt.NDArray[np.uint64]

_GOLDEN, _FIRST, _SECOND = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def mixed(bits: Bits) -> Bits:
    """The finalizer of splitmix64: a bijection that scatters neighbouring numbers."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return np.asarray(bits ^ (bits >> np.uint64(31)), dtype=np.uint64)


def content_order(points: Points, seed: int) -> Labels:
    """The seeded content order: int64, shape (n,), the records by a seeded hash of their columns.

    Equal records stand side by side otherwise, so the i-th of them (in canonical order) gets a
    hash of (hash, i).
    """
    n = len(points)
    start = np.array([seed], np.uint64) * _GOLDEN + _SECOND
    hashes: Any = np.broadcast_to(mixed(start), (n,))
    same = np.ones(max(n - 1, 0), np.bool_)
    for column in (*points.numeric.T, *points.codes.T):
        # + 0.0 makes -0.0 and 0.0, which are equal, the same bits
        bits = np.ascontiguousarray(column.astype(np.float64) + 0.0).view(np.uint64)
        hashes = mixed((hashes ^ bits) * _GOLDEN + _SECOND)
        same &= bits[1:] == bits[:-1]
    starts = np.flatnonzero(np.append(True, ~same))[: n if n else 0]
    copy = np.arange(n) - np.repeat(starts, np.diff(np.append(starts, n)))
    salted = mixed(hashes + copy.astype(np.uint64) * _GOLDEN)
    return np.argsort(salted, kind="stable").astype(np.int64)
