"""Bins filled one after the other; the last, unfilled one joins another (du2009, theorem 7).

What is left over is at most k - 1, and joins the bin with the least level (ties: the lower number).
A bin of items below k has a level of 2k - 2 at most. So the cost is at most

- max(largest size, 2k - 2) where nothing is left over;
- max(largest size, 2k - 2, least oversize item + k - 1) where an item is oversize, which is less
  than 2 times the optimum;
- 3k - 3 otherwise.

All three are within theorem 7's max(k - 1 + largest size, 3k - 3).
"""

from __future__ import annotations

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.single_attribute import PackingOptions
from kanon_sql.methods.single_attribute.bin_covering import (
    Packing,
    bins_by_item,
    check_total,
    item_order,
    lower_bound,
    next_fit,
    packed,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Labels, Points


def folded(bins: Labels, levels: Labels) -> Labels:
    """The bins of next fit, what is left over with the bin of least level: int64, shape (m,)."""
    return np.where(bins < len(levels), bins, np.argmin(levels))


def fold_bound(sizes: Labels, k: int, left_over: bool) -> int:
    """What the cost of fold does not exceed; see the module."""
    bound = max(int(sizes.max()), 2 * k - 2)
    if not left_over:
        return bound
    over = sizes[sizes >= k]
    return max(bound, k - 1 + (int(over.min()) if len(over) else 2 * k - 2))


def pack_folded(sizes: Labels, order: Labels, k: int, watch: Watch) -> Packing:
    """The bins of fold.

    Args:
        sizes: int64, shape (m,); k or more in all.
        order: int64, shape (m,); the order of packing, see item_order.
        k: the least level of a bin.
        watch: gets records done; its stop raises StoppedError.
    """
    bins, levels = next_fit(sizes[order], k, watch.beat())
    watch.check()
    bound = fold_bound(sizes, k, bool(bins[-1] == len(levels)))
    return Packing(bins_by_item(order, folded(bins, levels)), bound)


def fold(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups labels by filling one class after the other; the last, unfilled one joins another.

    Args:
        points: ItemPoints; sizes of 1 or more, k records or more in all.
        task: k; ``sequence``, 'sorted' or 'random' (by ``seed``).
        watch: gets records done.

    Returns:
        Groups numbered by their first label. Facts: ``lower_bound``, no grouping has a smaller
        largest class; ``guaranteed_ratio``, what the module says about the largest class over that.

    Source: du2009, theorem 7. O(m log m).

    Raises:
        DataError: there are fewer than k records.
        StoppedError: the watch was told to stop.
    """
    own = task.own
    assert isinstance(own, PackingOptions)
    k = task.k
    assert isinstance(points, ItemPoints)
    sizes = points.size
    check_total(sizes, k)
    order = item_order(sizes, k, own.sequence, task.seed)
    packing = pack_folded(sizes, order, k, watch)
    return packed(points, packing.labels, lower_bound(sizes, k), packing.bound)
