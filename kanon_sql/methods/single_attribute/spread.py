"""Bins filled one after the other; what is left over is spread (du2009, section 5).

The paper's simplification of theorem 9: "we first add items to classes that have less than the
current maximum until adding an item to any class would increase the maximum. At that point, we then
distribute the remaining items to equivalence classes in a round-robin fashion." Here, precisely:

1. Oversize items get bins of their own; next fit packs the others. M is the greatest level of a
   filled bin.
2. The items of the last, unfilled bin, one by one: each joins the bin with the least level (ties:
   the lower number) if that stays at M or below, and waits otherwise. Levels only grow, so an item
   that waits would never fit later. In the end none of those that wait fits anywhere.
3. Those that wait join the bins in turn, from the least level up (ties: the lower number), in the
   order of packing.

Theorem 7's bound holds: bins have at most M = max(largest size, 2k - 2) after step 2, and all the
items that are left over sum up to k - 1 at most, so no bin gets more than that in step 3. Without
an oversize item M is 2k - 2 at most, and the cost 3k - 3; otherwise it is at most
max(k - 1 + largest size, 3k - 3). (Fold's smaller bound with oversize items does not hold here.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.heap import sift_down
from kanon_sql.kernel.jit import ZERO, kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.single_attribute import PackingOptions
from kanon_sql.methods.single_attribute.bin_covering import (
    STRIDE,
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


@kernel
def fill_up(sizes: Any, levels: Any, heap: Any, most: int, beat: Any) -> Any:
    """Puts each item into the bin with the least level, unless that exceeds ``most``.

    sizes: int64, shape (items,); levels: int64, shape (bins,), is brought up to date; heap: int64,
    the bins by (level, number). The bin of each item, -1 for none: int64, shape (items,).
    """
    bins = np.full(len(sizes), -1, np.int64)
    count = len(heap)
    for i in range(len(sizes)):
        least = heap[0]
        if levels[least] + sizes[i] <= most:
            bins[i] = least
            levels[least] += sizes[i]
            # the least bin is on top, and its level only grows: one way down restores the heap
            sift_down(heap, count, ZERO, levels)
        if i % STRIDE == 0 and beat[STOP] == 1:
            break
    return bins


def spread_bins(sizes: Labels, bins: Labels, levels: Labels, beat: Any) -> Labels:
    """The bins of next fit, what is left over spread as the module says: int64, shape (m,).

    Args:
        sizes: int64, shape (m,), in the order of packing.
        bins: int64, shape (m,); the bin of each.
        levels: int64, shape (filled,); the levels of the filled bins.
        beat: where to look for a stop.
    """
    left = int(np.searchsorted(bins, len(levels)))
    # the last bin is filled, too
    if left == len(bins):
        return bins
    levels = levels.copy()
    heap = np.argsort(levels, kind="stable")
    rest_bins = fill_up(sizes[left:], levels, heap, levels.max(), beat)
    waiting = np.flatnonzero(rest_bins < 0)
    # fill_up has brought the levels up to date
    turns = np.argsort(levels, kind="stable")
    rest_bins[waiting] = turns[np.arange(len(waiting)) % len(turns)]
    return np.concatenate([bins[:left], rest_bins])


def spread_bound(sizes: Labels, k: int, left_over: bool) -> int:
    """What the cost of spread does not exceed; see the module."""
    bound = max(int(sizes.max()), 2 * k - 2)
    return bound + k - 1 if left_over else bound


def pack_spread(sizes: Labels, order: Labels, k: int, watch: Watch) -> Packing:
    """The bins of spread.

    Args:
        sizes: int64, shape (m,); k or more in all.
        order: int64, shape (m,); the order of packing, see item_order.
        k: the least level of a bin.
        watch: gets records done; its stop raises StoppedError.
    """
    beat = watch.beat()
    bins, levels = next_fit(sizes[order], k, beat)
    watch.check()
    left_over = bool(bins[-1] == len(levels))
    bins = spread_bins(sizes[order], bins, levels, beat)
    watch.check()
    return Packing(bins_by_item(order, bins), spread_bound(sizes, k, left_over))


def spread(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups labels by filling one class after the other, and spreads the last, unfilled one.

    Args:
        points: ItemPoints; sizes of 1 or more, k records or more in all.
        task: k; ``sequence``, 'sorted' or 'random' (by ``seed``).
        watch: gets records done.

    Returns:
        Groups numbered by their first label. Facts: ``lower_bound``, no grouping has a smaller
        largest class; ``guaranteed_ratio``, what the module says about the largest class over that.

    Source: du2009, section 5. O(m log m).

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
    packing = pack_spread(sizes, order, k, watch)
    return packed(points, packing.labels, lower_bound(sizes, k), packing.bound)
