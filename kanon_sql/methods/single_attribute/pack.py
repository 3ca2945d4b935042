"""Packing labels into classes, for those who have only sizes at hand: an experiment over all k."""

from __future__ import annotations

import numpy as np

from kanon_sql.methods.single_attribute.bin_covering import (
    check_total,
    item_order,
    lower_bound,
    next_fit,
    numbered,
)
from kanon_sql.methods.single_attribute.five_halves import cheapest_bins
from kanon_sql.methods.single_attribute.fold import folded
from kanon_sql.methods.single_attribute.spread import spread_bins
from kanon_sql.points.points import Labels

__all__ = ["lower_bound", "pack"]


def pack(sizes: Labels, k: int, sequence: str, seed: int, way: str) -> Labels:
    """The bin of each item, as the method of that name packs: int64, shape (m,).

    Args:
        sizes: int64, shape (m,), 1 or more each.
        k: the least level of a bin.
        sequence: 'random' or 'sorted'; five_halves packs from the largest item down in any case.
        seed: an int of 0 or more, for the random order.
        way: 'fold', 'spread' or 'five_halves'.

    Raises:
        DataError: the sizes sum up to less than k.
    """
    check_total(sizes, k)
    order = item_order(sizes, k, "sorted" if way == "five_halves" else sequence, seed)
    arranged, beat = sizes[order], np.zeros(2, np.int64)
    bins, levels = next_fit(arranged, k, beat)
    if way == "spread":
        bins = spread_bins(arranged, bins, levels, beat)
    elif way == "five_halves":
        bins, _ = cheapest_bins(arranged, bins, levels, k, beat)
    else:
        bins = folded(bins, levels)
    return numbered(order, bins)
