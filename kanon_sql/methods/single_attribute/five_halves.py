"""Bins filled from the largest item down; 5/2 of the optimum at most (du2009, theorem 9).

The bins are the cheapest of three packings: theorem 9's; spread's, from the largest item down; and
even ones, which the paper doesn't have (see even_bins.py). The cost is the greatest level. Ties go
to the least sum of level (level - k), then to the first of the three. The cheapest costs no more
than theorem 9's, so what is proved of that one, as follows, is true of the cheapest.

Next fit packs the items from the largest down: bins 0 .. q-1 are filled, and what is left over, if
anything, sums up to r < k. An item is oversize if it is k or more, large if more than k / 2 and
below k, small otherwise. Let T be the sum of all, and m the least level of a filled bin. The cost
is that of the case that applies, or fold's where that is lower, fold being what puts all that is
left over into a filled bin with level m. Cost over optimum:

- Nothing is left over: the cost is at most max(largest item, 2k - 2), below 2 Opt.
- There is an oversize item. Let t be the least one, so m <= t. Fold costs at most
  max(largest item, 2k - 2, t + k - 1), below 2 Opt, since t <= Opt and k <= Opt.
  From here on nothing is oversize, so that all filled bins have levels of k to 2k - 2.
- At most three bins were formed, the last included: q <= 2 (the paper omits it). If fold costs no
  more than 2k - 2, that is below 2 Opt. Otherwise it costs m + r.
  q = 1: T = m + r < 3k. An optimum of one bin costs T, too; one of two bins T / 2 or more.
  q = 2: m <= (T - r) / 2, so m + r <= (T + r) / 2 < (T + k) / 2. An optimum of b bins has
  Opt >= T / b and T >= b k, so (T + k) / 2 <= T (1 + 1 / b) / 2 <= Opt (b + 1) / 2. And b <= 4,
  since T < 2 (2k - 2) + k < 5k. So the cost is below 5/2 Opt.
- Case 1: q >= 3, and the first item left over is small, hence all are. Lemma 8 below parts them
  into three sets of k / 2 at most, which join three filled bins: those with the least levels, the
  largest set the least level. The cost is at most 2k - 2 + k / 2, below 5/2 Opt.
- Case 2: q >= 3, and the first item left over, f, is large. So all before it are large, two to a
  bin, since two of them exceed k and one does not reach it. A second large item would fill the bin
  of f. So there are 2q + 1 large items, and the small ones, r' in all, are left over with f.
  (The first large item is in bin 0; the paper's case of it in the last bin has an oversize item.)
  Case 2.1: x + r' >= k, where x is the largest item. x and f change places. Two bins change: x with
  the small ones has k to 2k - 2, and so has f with the other item of bin 0.
  Case 2.2: x + r' < k. No bin with one large item or none is feasible, so all have two or more, and
  as their number is odd, one has three: Opt > 3k / 2. Fold costs at most 3k - 3, below 2 Opt.

The paper assumes Opt >= 6/5 (in units of k), where it must mean Opt <= 6/5: theorem 7's cost of
less than 3 is within 5/2 of anything larger. Here the assumption isn't needed: the paper uses it
for bins with one large item and one oversize item, and oversize items are dealt with before.

Lemma 8 (the paper omits the proof): items of k / 2 at most that sum up to k at most part into three
sets of k / 2 at most. Take items, in any order, as long as their sum is k / 2 at most: the first
set. If an item y follows, it is the second set by itself. The first set and y exceed k / 2, so all
that follow y, the third set, have less than k / 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.single_attribute.bin_covering import (
    Packing,
    bins_by_item,
    check_total,
    cost_of,
    item_order,
    levels_of,
    lower_bound,
    next_fit,
    packed,
)
from kanon_sql.methods.single_attribute.even_bins import cheaper, even_bins
from kanon_sql.methods.single_attribute.fold import fold_bound, folded
from kanon_sql.methods.single_attribute.spread import spread_bins
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Labels, Points

RATIO = 2.5


def three_parts(sizes: Labels, k: int) -> Labels:
    """The part, 0 to 2, of each small item, no part above k / 2 (lemma 8): int64, shape (items,).

    Args:
        sizes: int64, shape (items,); k / 2 at most each, k at most in all.
        k: the least level of a bin.
    """
    first = int(np.searchsorted(2 * np.cumsum(sizes), k, side="right"))
    parts = np.full(len(sizes), 2)
    parts[:first] = 0
    parts[first : first + 1] = 1
    return parts


def _by_case(sizes: Labels, bins: Labels, levels: Labels, k: int) -> tuple[Labels | None, int]:
    """The bins that the case at hand leads to, None where that is fold; and what they cost at most.

    Args:
        sizes: int64, shape (m,), from the largest down.
        bins: int64, shape (m,); of next fit.
        levels: int64, shape (q,); the levels of the filled bins.
        k: the least level of a bin.
    """
    left, filled = int(np.searchsorted(bins, len(levels))), len(levels)
    if left == len(bins) or sizes[0] >= k or filled <= 2:
        return None, fold_bound(sizes, k, left < len(bins))
    bins = bins.copy()
    if 2 * sizes[left] <= k:  # case 1
        parts = three_parts(sizes[left:], k)
        sums = np.bincount(parts, weights=sizes[left:], minlength=3)
        joined = np.empty(3, np.int64)
        joined[np.argsort(-sums, kind="stable")] = np.argsort(levels, kind="stable")[:3]
        bins[left:] = joined[parts]
        return bins, 2 * k - 2 + k // 2
    if sizes[0] + sizes[left + 1 :].sum() >= k:  # case 2.1
        bins[0], bins[left] = bins[left], bins[0]
        return bins, 2 * k - 2
    return None, 3 * k - 3  # case 2.2


def halves_bins(sizes: Labels, bins: Labels, levels: Labels, k: int) -> tuple[Labels, int]:
    """The cheaper of fold's bins (on a tie) and those of the case at hand, and a bound on the cost.

    The arguments are those of next fit: sizes from the largest down, bins, levels of filled ones.
    """
    plain = folded(bins, levels)
    other, bound = _by_case(sizes, bins, levels, k)
    # fold may be cheaper than what the proof uses, and the proof holds for the cheaper one
    if other is None or cost_of(sizes, plain) <= cost_of(sizes, other):
        return plain, bound
    return other, bound


def cheapest_bins(
    sizes: Labels, bins: Labels, levels: Labels, k: int, beat: Any
) -> tuple[Labels, int]:
    """The cheapest of the paper's bins, those of spread and even ones; and a bound on the cost.

    Args:
        sizes: int64, shape (m,), from the largest down.
        bins: int64, shape (m,); of next fit.
        levels: int64, shape (q,); the levels of the filled bins.
        k: the least level of a bin.
        beat: where to look for a stop.
    """
    best, bound = halves_bins(sizes, bins, levels, k)
    reached = levels_of(sizes, best)
    other = spread_bins(sizes, bins, levels, beat)
    if cheaper(levels_of(sizes, other), reached):
        best, reached = other, levels_of(sizes, other)
    even = even_bins(sizes, k, reached, beat)
    return (best if even is None else even), bound


def pack_cheapest(sizes: Labels, order: Labels, k: int, watch: Watch) -> Packing:
    """The bins of five_halves.

    Args:
        sizes: int64, shape (m,); k or more in all.
        order: int64, shape (m,); from the largest down.
        k: the least level of a bin.
        watch: gets records done; its stop raises StoppedError.
    """
    beat = watch.beat()
    bins, levels = next_fit(sizes[order], k, beat)
    watch.check()
    bins, bound = cheapest_bins(sizes[order], bins, levels, k, beat)
    watch.check()
    return Packing(bins_by_item(order, bins), bound)


def five_halves(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups labels so that the largest class has at most 5/2 times the least possible size.

    Args:
        points: ItemPoints; sizes of 1 or more, k records or more in all.
        watch: gets records done.

    Returns:
        Groups numbered by their first label. Facts: ``lower_bound``, no grouping has a smaller
        largest class; ``guaranteed_ratio``, 5/2 or what the module says about the case at hand.

    Source: du2009, theorem 9; see the module for the proof and for what is tried beyond it.
    O(m log m).

    Raises:
        DataError: there are fewer than k records.
        StoppedError: the watch was told to stop.
    """
    k = task.k
    assert isinstance(points, ItemPoints)
    sizes = points.size
    check_total(sizes, k)
    order = item_order(sizes, k, "sorted", 0)
    packing = pack_cheapest(sizes, order, k, watch)
    return packed(points, packing.labels, lower_bound(sizes, k), packing.bound, RATIO)
