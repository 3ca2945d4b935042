"""How good a grouping is: metrics of information loss, beside Total-IL itself in losses.py.

All take the n records in canonical order and their labels, int64, shape (n,), 0 .. groups-1, and
say 0 where nothing was lost; lower is better. Records that are not released are no part of the
points: their number is ``suppressed``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.watch import Watch
from kanon_sql.points.losses import total_il
from kanon_sql.points.points import Floats, Labels, LossPoints

Numbers = npt.NDArray[Any]
"""Codes, counts or values, one per record or class."""

MOST_COMPARED = 1_000_000_000
"""The intra-cluster distance is left out where the squared class sizes add up to more, since it
compares all records of a class, pair by pair. Equal records count once. Some seconds at most."""


def attribute_weights(points: LossPoints) -> list[float]:
    """The most that a cell of each attribute loses: numeric columns first, then the attributes
    of codes, whose columns (the levels of a hierarchy) add up."""
    shares = points.scale * points.limit
    owners = np.unique(points.first)
    return [*points.cap.tolist(), *(float(np.sum(shares[points.first == a])) for a in owners)]


def attribute_ncp(points: LossPoints, labels: Labels, suppressed: int = 0) -> list[float]:
    """The normalized certainty penalty of each attribute: its share of Total-IL per row, over the
    attribute's weight, so 0 (all values kept) .. 1 (all lost).

    Attributes stand as in attribute_weights; one without weight has 0. A suppressed row counts 1.

    Source: Xu et al. 2006 (NCP); byun2006, definition 7, attribute by attribute.
    """
    rows = len(labels) + suppressed
    if len(labels) == 0:
        return [float(rows > 0 and weight > 0.0) for weight in attribute_weights(points)]
    view = _Classes(labels)
    losses = [
        _rows_times(view.sizes, np.minimum(high - low, cap))
        for (low, high), cap in zip(map(view.span, points.numeric.T), points.cap, strict=True)
    ]
    of_codes = dict.fromkeys(np.unique(points.first).tolist(), 0.0)
    for a, codes in enumerate(points.codes.T):
        owner, _ = view.distinct(codes)
        more = np.minimum(np.bincount(owner, minlength=view.groups) - 1, points.limit[a])
        of_codes[int(points.first[a])] += float(points.scale[a]) * _rows_times(view.sizes, more)
    return [
        (lost / weight + suppressed) / rows if weight > 0.0 else 0.0
        for lost, weight in zip(
            [*losses, *of_codes.values()], attribute_weights(points), strict=True
        )
    ]


def ncp(points: LossPoints, labels: Labels, suppressed: int = 0) -> float:
    """Total-IL per cell: over the rows and the sum of the weights, 0 .. 1.

    That is the mean of attribute_ncp, each with its weight. A suppressed row loses every cell.

    Source: byun2006, definition 8; Xu et al. 2006 (NCP).
    """
    weights = sum(attribute_weights(points))
    rows = len(labels) + suppressed
    if rows == 0 or weights <= 0.0:
        return 0.0
    return (total_il(points, labels) / weights + suppressed) / rows


def entropy_loss(
    points: LossPoints, labels: Labels, suppressed: int = 0, trees: Collection[int] = ()
) -> float:
    """Non-uniform entropy in bits per cell: the mean of -log2 P(value | published set).

    What one cell doesn't tell who knows how frequent the values are among the records. The
    published set is

    - of numbers, the values of all records within the range of the class; missing ones are in it
      where the class has one;
    - of a hierarchy, the values below the lowest common ancestor;
    - of other categories, the values that the class has.

    A hierarchy is known by its several columns; ``trees`` holds the first column of those of
    height 1. A suppressed row counts the entropy of each column, which it has on average. Weights
    don't count: every attribute is one cell of a row.

    Source: Gionis and Tassa 2009, IEEE TKDE 21(2); de Waal and Willenborg 1999.
    """
    owners = np.unique(points.first)
    attributes = points.numeric.shape[1] + len(owners)
    rows = len(labels) + suppressed
    if attributes == 0 or len(labels) == 0:
        return 0.0
    view = _Classes(labels)
    bits = 0.0
    for column, cap in zip(points.numeric.T, points.cap, strict=True):
        counts, published = _published_numbers(view, column, float(cap))
        bits += _bits(view, counts, published, suppressed)
    for a in owners:
        levels = points.codes[:, points.first == a]
        in_tree = levels.shape[1] > 1 or int(a) in trees
        of_set = _published_node if in_tree else _published_codes
        counts, published = of_set(view, levels)
        bits += _bits(view, counts, published, suppressed)
    return float(bits / (rows * attributes))


def intra_cluster_distance(
    points: LossPoints, labels: Labels, watch: Watch | None = None
) -> float | None:
    """The sum over the classes of their size times the largest distance of two of their records.

    In cells, as Total-IL, which it never exceeds. None where the classes are too large to compare
    all their records: where the squared numbers of distinct records add up to more than
    MOST_COMPARED.

    Source: byun2006, definition 3, item 4. Raises StoppedError when the watch was asked to stop.
    """
    from kanon_sql.measure.diameter import diameters, distinct_members  # loads the compiler

    *_, starts = distinct_members(points, labels)
    if float(np.sum(np.diff(starts).astype(np.float64) ** 2)) > MOST_COMPARED:
        return None
    return _rows_times(np.bincount(labels), diameters(points, labels, watch or Watch()))


def _rows_times(sizes: Numbers, losses: Numbers) -> float:
    """The sum of |e| times a number of each class e, the same in whatever order they stand."""
    return float(np.sum(np.sort(sizes * losses)))


class _Classes:
    """The classes of a grouping, and what their members have in a column."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.groups = int(labels.max()) + 1 if len(labels) else 0
        self.sizes = np.bincount(labels, minlength=self.groups)
        self._order = np.argsort(labels, kind="stable")
        self._starts = np.cumsum(self.sizes) - self.sizes

    def span(self, column: Numbers) -> tuple[Numbers, Numbers]:
        """The least and the largest value of each class; shape (groups,)."""
        values = column[self._order]
        return (
            np.minimum.reduceat(values, self._starts), np.maximum.reduceat(values, self._starts)
        )

    def distinct(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """The distinct pairs of a class and a code of one of its members."""
        width = int(codes.max()) + 1
        pairs = self.labels * width + codes
        if self.groups * width <= 4 * len(pairs):
            found = np.flatnonzero(np.bincount(pairs))
        else:
            found = np.unique(pairs)
        return found // width, found % width

    def any(self, mask: Numbers) -> Numbers:
        """Whether each class has a record in the mask."""
        return np.asarray(np.bincount(self.labels[mask], minlength=self.groups) > 0)


def _bits(view: _Classes, counts: Numbers, published: Numbers, suppressed: int) -> float:
    """What a column loses in all rows, in bits.

    -log2 P is log2 of the records with a published value less log2 of those with this value.

    Args:
        view: the classes.
        counts: how many records have each record's value; shape (n,).
        published: how many have a value that its class publishes; shape (groups,).
        suppressed: rows not released.
    """
    own, n = np.log2(counts), len(counts)
    lost = float(np.sum(np.log2(published)[view.labels] - own))
    return lost + suppressed / n * float(np.sum(np.log2(n) - own))


def _published_numbers(view: _Classes, column: Floats, cap: float) -> tuple[Numbers, Numbers]:
    """As _bits needs them. Missing values lie 3 weights above the others, which span one."""
    missing = column > 2.0 * cap if cap > 0.0 else np.zeros(len(column), np.bool_)
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    up_to = np.append(0, np.cumsum(counts))
    known = np.where(missing, -np.inf, column)
    low, _ = view.span(column)
    _, high = view.span(known)
    within = up_to[np.searchsorted(values, high, "right")] - up_to[np.searchsorted(values, low)]
    within = np.maximum(within, 0)  # of a class in which all are missing
    published = within + np.where(view.any(missing), np.count_nonzero(missing), 0)
    return counts[place.reshape(-1)], published


def _published_codes(view: _Classes, levels: Numbers) -> tuple[Numbers, Numbers]:
    """As _bits needs them, of categories without a hierarchy: shape (n, 1)."""
    codes = levels[:, 0]
    counts = np.bincount(codes)
    owner, code = view.distinct(codes)
    published = np.bincount(owner, weights=counts[code], minlength=view.groups)
    return counts[codes], published


def _published_node(view: _Classes, levels: Numbers) -> tuple[Numbers, Numbers]:
    """As _bits needs them, of a hierarchy: shape (n, height), the levels in any order.

    Nodes contain one another, so the smallest of those that a class lies in is the lowest, and
    the smallest of those that a record lies in is its value.
    """
    n = len(view.labels)
    own, published = np.full(n, n), np.full(view.groups, n)
    for codes in levels.T:
        counts = np.bincount(codes)
        low, high = view.span(codes)
        shared = low == high
        published[shared] = np.minimum(published[shared], counts[low[shared]])
        own = np.minimum(own, counts[codes])
    return own, published
