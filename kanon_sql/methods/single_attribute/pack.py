"""Packing labels into classes, for those who have only sizes at hand: an experiment over all k."""

from __future__ import annotations

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.single_attribute.bin_covering import (
    check_total,
    item_order,
    lower_bound,
)
from kanon_sql.methods.single_attribute.five_halves import pack_cheapest
from kanon_sql.methods.single_attribute.fold import pack_folded
from kanon_sql.methods.single_attribute.spread import pack_spread
from kanon_sql.points.points import Labels

__all__ = ["lower_bound", "pack"]

_WAYS = {"fold": pack_folded, "spread": pack_spread, "five_halves": pack_cheapest}


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
    return _WAYS[way](sizes, order, k, Watch()).labels
