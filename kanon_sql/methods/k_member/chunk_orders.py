"""In which order records fill chunks: one order for the search for records that add the least, one
for those that are furthest (see chunks.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.methods.k_member.chunks import WIDE, Index
from kanon_sql.points.points import LossPoints

_SPREAD = 1.13
"""Mean distance of two values over their standard deviation, for a normal distribution."""


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
            # missing values lie far off but cost no more than the cap: not to look wide for them
            values = np.minimum(points.numeric[order, a], 2.0 * points.cap[a])
            mean = np.bincount(part, values, parts) / sizes
            variance = np.bincount(part, values * values, parts) / sizes - mean * mean
            apart[a] = np.minimum(_SPREAD * np.sqrt(np.maximum(variance, 0.0)), points.cap[a])
        for a in range(c):
            counts = np.bincount(part * 64 + bins[order, a], minlength=parts * 64)
            # two records have the same bit with the probability of the squared shares' sum
            shares = counts.reshape(parts, 64) / sizes[:, None]
            apart[d + a] = points.scale[a] * (1.0 - np.sum(shares * shares, axis=1))
        widest = np.argmax(apart, axis=0)[part]
        # one sort for all parts, each by a column of its own
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
