"""What a release leaves open of a cell's value, in bits.

Records are in canonical order, labels int64, shape (n,), 0 .. groups-1. 0 is where nothing was
lost; lower is better. Records that are not released are no part of the points: their number is
``suppressed``.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from kanon_sql.points.by_class import ByClass, Numbers
from kanon_sql.points.points import Floats, Labels, LossPoints, is_missing


def entropy_loss(
    points: LossPoints, labels: Labels | ByClass, suppressed: int = 0,
    trees: Collection[int] = ()
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
    view = ByClass.of(labels)
    rows = len(view.labels) + suppressed
    if attributes == 0 or view.groups == 0:
        return 0.0
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


def _bits(view: ByClass, counts: Numbers, published: Numbers, suppressed: int) -> float:
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


def _published_numbers(view: ByClass, column: Floats, cap: float) -> tuple[Numbers, Numbers]:
    """As _bits needs them."""
    missing = is_missing(column, cap)
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    place, up_to = place.reshape(-1), np.append(0, np.cumsum(counts))
    first, last = view.span(place)
    if not missing.any():
        return counts[place], up_to[last + 1] - up_to[first]
    _, last = view.span(np.where(missing, -1, place))
    within = np.maximum(up_to[last + 1] - up_to[first], 0)  # 0 where all are missing
    published = within + np.where(view.any(missing), np.count_nonzero(missing), 0)
    return counts[place], published


def _published_codes(view: ByClass, levels: Numbers) -> tuple[Numbers, Numbers]:
    """As _bits needs them, of categories without a hierarchy: shape (n, 1)."""
    codes = levels[:, 0]
    counts = np.bincount(codes)
    owner, code = view.distinct(codes)
    published = np.bincount(owner, weights=counts[code], minlength=view.groups)
    return counts[codes], published


def _published_node(view: ByClass, levels: Numbers) -> tuple[Numbers, Numbers]:
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
