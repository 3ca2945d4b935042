"""Bins by trying all types of packings of the large items (du2009, theorem 10).

An item is large if its size is epsilon k or more, small otherwise, and oversize if it is k or more.
The type of a packing says how many large items of each class of sizes each bin holds. Each type is
filled: its classes with items, its bins with small items, each of which goes where the level is
least; then, while a bin is below k, the two least bins are merged. The best of all that is left.

The paper's proof of cost <= (1 + epsilon) (Opt + k) needs the type of one optimal packing to be
among those tried. Let it be one that has the most bins among the optimal ones. So types are left
out that can't be that one's:

- U is what five_halves costs. If the optimum is U, that is the answer, so let it be below. Each
  class is rounded down to its least size. A bin of rounded level U or more isn't optimal.
- A bin that could be two has no part in a packing with the most bins. It is tested by one split
  only: items from the largest down until they reach k, and the others, all rounded.
- No type has more bins than ``most_bins``, or so few that their average level is U or more.
- What the bins of a type lack to k, were each large item the largest of its class, must not exceed
  the sum of the small items.

Classes begin at sizes that occur: each at the least size above 1 + epsilon times the least size of
the one before, or at the least oversize item. So within a class no size is more than 1 + epsilon
times another, which is all that the proof asks of the paper's powers of 1 + epsilon; there are
fewer classes, and the comparison is exact.

The paper's reductions. Where five_halves reaches the lower bound it is optimal; that covers an item
of 3k or more beside k or more of others, and oversize items that are k or more apart beside less
than k of others. Where all items below k sum up to less than k, some optimal packing has one
oversize item to a bin. All oversize items are then taken to be smaller by what the least of them
exceeds k by, which lowers the cost of each such packing by as much, and the right side of the bound
by more. No bin here gets two oversize items: no type has two in a bin, and a bin that is merged has
none, as it is below k.

The result is five_halves' where that costs no more. Theorem 11 is not offered: its bins may hold
less than k, and classes of fewer than k records are not k-anonymous.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kanon_sql.errors import DataError, OptionError
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.single_attribute import BinCoverOptions
from kanon_sql.methods.single_attribute.bin_covering import (
    bins_by_item,
    check_total,
    cost_of,
    item_order,
    lower_bound,
    most_bins,
    next_fit,
    packed,
)
from kanon_sql.methods.single_attribute.five_halves import RATIO, cheapest_bins
from kanon_sql.methods.single_attribute.packing_types import Instance, count_types, search_types
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Labels, Points

EPSILON = 0.5


def lowered(sizes: Labels, k: int) -> Labels:
    """Sizes with oversize items made smaller where all others sum up to less than k."""
    over = sizes >= k
    if not over.any() or int(sizes[~over].sum()) >= k:
        return sizes
    lower: Labels = np.where(over, sizes - (sizes[over].min() - k), sizes)
    return lower


def best_type(
    sizes: Labels, k: int, epsilon: float, below: int, least: int, total: int, watch: Watch
) -> Labels | None:
    """The bins of the best type if they cost less than ``below``, else None: int64, shape (m,).

    Args:
        sizes: int64, shape (m,), from the largest down.
        k: the least level of a bin.
        epsilon: how coarse the classes are.
        below: a cost; types with a rounded level that is not below it are left out.
        least: a lower bound, at which the search ends.
        total: units of work for all types.
        watch: gets the work done.

    Raises:
        DataError: there may be more types than can be tried.
        StoppedError: the watch was told to stop.
    """
    instance = Instance.of(sizes, k, Fraction(epsilon), below, most_bins(sizes, k))
    types = None if instance is None else count_types(instance)
    if instance is None or types is None:
        raise DataError(
            "The instance has more types of packings than can be counted. Raise epsilon, or use "
            "five_halves."
        )
    if types > instance.tried:
        about = f"{types:,}" if types < 10**9 else f"1e{len(str(types)) - 1}"
        raise DataError(
            f"The instance has about {about} types of packings, more than {instance.tried:,}. "
            "Raise epsilon, or use five_halves."
        )
    bins = search_types(instance, below, least, types, total, watch.beat())
    watch.check()
    return bins


def bin_cover(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups few labels so that the largest class is near the least possible size, or k above it.

    The largest class is at most (1 + epsilon) (Opt + k), Opt being the least possible size of the
    largest class, and at most that of five_halves. Theorem 11 is not offered, as its classes may
    have fewer than k records.

    Args:
        points: ItemPoints; sizes of 1 or more, k records or more in all.
        task: k; ``epsilon``, above 0 and at most 1.
        watch: gets records done.

    Returns:
        Groups numbered by their first label. Facts: ``lower_bound``, no grouping has a smaller
        largest class; ``guaranteed_ratio``, (1 + epsilon) (1 + k / lower_bound) or what five_halves
        guarantees, if that is less.

    Source: du2009, theorem 10; see the module for what is left out. Exponential in the number of
    large items, in the end.

    Raises:
        OptionError: epsilon is 0, or above 1.
        DataError: there are fewer than k records, or too many types of packings.
        StoppedError: the watch was told to stop.
    """
    own = task.own
    assert isinstance(own, BinCoverOptions)
    k = task.k
    assert isinstance(points, ItemPoints)
    epsilon = own.epsilon
    if not 0.0 < epsilon <= 1.0:
        raise OptionError(
            "The method bin_cover takes an epsilon above 0 and at most 1. Give one in that range, "
            "or leave it out."
        )
    sizes = points.size
    check_total(sizes, k)
    order = item_order(sizes, k, "sorted", 0)
    bins, levels = next_fit(sizes[order], k, np.zeros(2, np.int64))
    watch.check()
    bins, bound = cheapest_bins(sizes[order], bins, levels, k, watch.beat())
    watch.check()
    least = lower_bound(sizes, k)
    # what reaches the bound is optimal: no type need be tried
    if cost_of(sizes[order], bins) > least:
        lower = lowered(sizes[order], k)
        # bounds are of the lowered items: the optimum is as much larger as the largest item was
        cut = int(sizes.max() - lower[0])
        least = max(least, lower_bound(lower, k) + cut)
        better = best_type(
            lower, k, epsilon, cost_of(lower, bins), least - cut, int(sizes.sum()), watch
        )
        bins = bins if better is None else better
    else:
        watch.beat()[DONE] = sizes.sum()
    most = min(RATIO, (1 + epsilon) * (1 + k / least))
    return packed(points, bins_by_item(order, bins), least, bound, most)
