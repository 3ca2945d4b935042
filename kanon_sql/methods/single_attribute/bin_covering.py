"""What the methods for unordered labels share: the order of the items, next fit, and bounds.

du2009, section 4, calls it min-max bin covering: items (labels) with sizes (how many records have
them) go into bins (classes) of k or more, and the largest level of a bin, the cost, is to be small.
An item is oversize if its size is k or more, large if it is more than k / 2 and below k, and small
otherwise. All arithmetic is on integers; nothing is scaled by k.

Lower bounds. Let b be the number of bins in some packing.

- A bin holds k or more of the sum of min(size, k), so b is at most that sum over k.
- Of the bins without an oversize item, let p hold exactly one large item. Small items make up what
  these p lack, which is at least what the p largest large items lack. Every other bin of these
  holds two large items or more, or k or more of small items. So b is at most o + p + (L - p) // 2 +
  (S - lack) // k for some p with lack <= S, where o items are oversize, L are large, and S is what
  the small ones sum up to. ``most_bins`` takes the most over p, and the smaller of both bounds.
- With b bins at most, some bin has the average level or more. And j + 1 of the j b + 1 largest
  items share a bin, for each j, so that no cost is below the sum of the j + 1 least of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import DONE, STOP
from kanon_sql.points.content_order import mixed
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Grouping, ItemPoints, Labels

STRIDE = 65536
"""How many items pass between two looks at the beat."""

_GOLDEN, _SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x94D049BB133111EB)


def item_order(sizes: Labels, k: int, sequence: str, seed: int) -> Labels:
    """The order in which items are packed: int64, shape (m,); oversize items come first.

    Args:
        sizes: int64, shape (m,).
        k: the least level of a bin.
        sequence: 'random', by a hash of seed and index, or 'sorted', from the largest size down,
            ties by index.
        seed: of the hash.
    """
    if sequence == "sorted":
        return np.argsort(-sizes, kind="stable")
    start = mixed(np.array([seed], np.uint64) * _GOLDEN + _SALT)
    order = np.argsort(mixed(start + np.arange(len(sizes), dtype=np.uint64) * _GOLDEN))
    # an oversize item fills a bin by itself, and would make another one's level needlessly high
    over = sizes[order] >= k
    return np.concatenate([order[over], order[~over]]) if over.any() else order


class Packing(NamedTuple):
    """What a method for labels decides.

    Attributes:
        labels: int64, shape (m,); the bin of each item, bins numbered by their first item.
        bound: the cost was sure not to exceed that before the items were packed.
    """

    labels: Labels
    bound: int


@kernel
def next_fit(sizes: Any, k: int, beat: Any) -> Any:
    """Fills one bin after the other, each until its level is k or more.

    sizes: int64, shape (m,), in the order to be packed. The bin of each: int64, shape (m,); the
    levels of the filled bins: int64, shape (bins,). Items of the last bin, if that is not filled,
    have the number ``bins``.
    """
    m = len(sizes)
    bins, levels = np.empty(m, np.int64), np.empty(m, np.int64)
    count, level = 0, 0
    for i in range(m):
        bins[i] = count
        level += sizes[i]
        beat[DONE] += sizes[i]
        if level >= k:
            levels[count] = level
            count, level = count + 1, 0
        if i % STRIDE == 0 and beat[STOP] == 1:
            break
    return bins, levels[:count]


def bins_by_item(order: Labels, bins: Labels) -> Labels:
    """The bin of each item, bins numbered by their first item: int64, shape (m,).

    Args:
        order: int64, shape (m,); items in the order in which they were packed.
        bins: int64, shape (m,); the bin of each of them, in that order; numbers below m.
    """
    labels = np.empty(len(order), np.int64)
    labels[order] = bins
    return number_by_first(labels)


def most_bins(sizes: Labels, k: int) -> int:
    """No packing has more bins than this; see the module."""
    large = sizes[(2 * sizes > k) & (sizes < k)]
    small, over = int(sizes[2 * sizes <= k].sum()), int(np.count_nonzero(sizes >= k))
    # the p largest lack least: no p bins with one large item each need fewer small ones
    lack = np.append(0, np.cumsum(k - np.sort(large)[::-1]))
    single = np.flatnonzero(lack <= small)
    others = (len(large) - single) // 2 + (small - lack[single]) // k
    return min(int(np.minimum(sizes, k).sum()) // k, over + int((single + others).max()))


def lower_bound(sizes: Labels, k: int) -> int:
    """No packing into bins of k or more costs less than this; see the module.

    Args:
        sizes: int64, shape (m,), 1 or more each, k or more in all.
        k: the least level of a bin.
    """
    bins, m = most_bins(sizes, k), len(sizes)
    sums = np.append(0, np.cumsum(np.sort(sizes)[::-1]))
    j = np.arange(1, (m - 1) // bins + 1)
    shared = sums[j * bins + 1] - sums[j * bins - j]
    return max(k, int(sizes.max()), -(-int(sums[-1]) // bins), int(shared.max(initial=0)))


def check_total(sizes: Labels, k: int) -> None:
    """Refuses items that don't fill one bin.

    Raises:
        DataError: there are fewer than k records.
    """
    total = int(sizes.sum())
    if total < k:
        raise DataError(
            f"There are {total} rows to anonymize, fewer than k = {k}. Lower k, or release nothing."
        )


def levels_of(sizes: Labels, bins: Labels) -> Labels:
    """The level of each bin that has items, by number: int64, shape (bins,)."""
    levels = np.bincount(bins, weights=sizes)
    return levels[levels > 0].astype(np.int64)


def cost_of(sizes: Labels, labels: Labels) -> int:
    """The level of the fullest bin."""
    return int(levels_of(sizes, labels).max())


def packed(
    points: ItemPoints, labels: Labels, least: int, bound: float, most: float = np.inf
) -> Grouping:
    """The grouping by these bins, and what is proved of it.

    Args:
        points: the items.
        labels: int64, shape (m,); the bin of each item.
        least: a lower bound.
        bound: what the cost was sure not to exceed before the items were packed.
        most: the cost over the least possible cost, at most, as known beforehand.
    """
    ratio = 1.0 if cost_of(points.size, labels) == least else min(bound / least, most)
    return points.grouping(labels, {"lower_bound": float(least), "guaranteed_ratio": ratio})
