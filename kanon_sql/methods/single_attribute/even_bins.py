"""Bins of about the same level: a candidate of five_halves that du2009 does not have.

For a number of bins, given beforehand:

1. Items go, from the largest down, to the bin with the least level (ties: the lower number): the
   rule of R. L. Graham, Bounds on multiprocessing timing anomalies (1969), for jobs on machines.
2. Two bins exchange an item of the higher one for a smaller item of the lower one, or for none, so
   that their levels come as close as they can (ties: the first such item of the higher bin, then of
   the lower one, in the order of step 1). While a bin is below k, the lower one is the least of
   all, and the other the highest that has such an exchange. Then the higher one is the highest of
   all, and the other the least that has one. It ends when there is none.

After an exchange both levels lie strictly between those before. So the sum of the squares of all
levels decreases, and step 2 ends; and once no bin is below k, none gets there again. An oversize
item by itself has nothing to exchange: no cost is below its size.

The bins are a packing if none is below k. Nothing is proved of their cost, and nothing needs to be:
five_halves takes them if they are cheaper than bins with a proof.

Which numbers of bins are tried: ``most_bins`` at most, and no fewer than leave the average level
at the least cost so far, or below it once that cost is of even bins. The most come first. While
more than ``CLOSE`` are left, the middle one is next: if it leads to a packing, only more are tried
from there on, otherwise only fewer. The others are tried from the most down, until the cost is the
lower bound. All ends when the work that is allowed for is done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import STOP
from kanon_sql.methods.single_attribute.bin_covering import lower_bound, most_bins
from kanon_sql.methods.single_attribute.spread import fill_up
from kanon_sql.points.points import Labels

CLOSE = 32
"""How many numbers of bins are tried one by one."""
WORK = 20_000_000
"""How often items and levels are looked at in all; the last try may exceed it by its step 1."""
REPAIR = WORK // 16
"""How often items and levels are looked at in step 2 of one try."""


class LinkedBins(NamedTuple):
    """Bins between which items move.

    Attributes:
        sizes: int64, shape (m,), from the largest down.
        bins: int64, shape (m,); the bin of each item.
        levels: int64, shape (bins,).
        following: int64, shape (m + bins,); the next item of the same bin, from the largest down,
            -1 after the last; the first item of bin b is at m + b.
    """

    sizes: Any
    bins: Any
    levels: Any
    following: Any


@inner
def _exchange(linked: LinkedBins, high: int, low: int, gap: int) -> Any:
    """The items that two bins exchange, and how many pairs were looked at.

    The items of both are walked along at once: where a pair brings the levels past each other, all
    later items of the lower bin do so even more with the same item of the higher one; otherwise
    all later items of the higher one do so less.

    high, low: the bins; gap: how far apart their levels are. The second item is -1 for none; the
    first is -1 if there is no exchange.
    """
    sizes, _, _, following = linked
    m = len(sizes)
    x, y, looks, nothing = following[m + high], following[m + low], 0, np.int64(0)
    from_high, from_low, best = np.int64(-1), np.int64(-1), gap
    while x >= 0:
        # 0 where both levels would become the same, negative where too little would change
        off = 2 * (sizes[x] - (sizes[y] if y >= 0 else nothing)) - gap
        looks += 1
        # strictly less, so that the first pair wins a tie, and every exchange brings the levels
        # closer
        if abs(off) < best:
            from_high, from_low, best = x, y, abs(off)
        if off > 0:
            x = following[x]
        elif y >= 0:
            y = following[y]
        else:
            break
    return from_high, from_low, looks


@inner
def _move(linked: LinkedBins, item: int, source: int, target: int) -> None:
    """Moves an item from one bin to another."""
    sizes, bins, levels, following = linked
    bins[item] = target
    levels[source] -= sizes[item]
    levels[target] += sizes[item]
    place = len(sizes) + source
    # lists are short, so that who comes before an item is looked for, not kept
    while following[place] != item:
        place = following[place]
    following[place] = following[item]
    # items are numbered from the largest down: by number, a list stays in the order of sizes
    place = len(sizes) + target
    while 0 <= following[place] < item:
        place = following[place]
    following[item] = following[place]
    following[place] = item


@inner
def _sort(order: Any, levels: Any) -> None:
    """Sorts bins by (level, number); quick where few are out of place."""
    for place in range(1, len(order)):
        b, to = order[place], place
        while to > 0 and (levels[b], b) < (levels[order[to - 1]], order[to - 1]):
            order[to] = order[to - 1]
            to -= 1
        order[to] = b


@kernel
def repair(
    sizes: Any, k: int, bins: Any, levels: Any, order: Any, work: int, beat: Any
) -> Any:
    """Step 2, on bins: int64, shape (m,), and levels: int64, shape (bins,). The work it did.

    sizes: int64, shape (m,), from the largest down; order: int64, shape (bins,); the bins by
    (level, number); work: how much may be done.
    """
    m, count = len(sizes), len(levels)
    following = np.full(m + count, -1, np.int64)
    linked = LinkedBins(sizes, bins, levels, following)
    for i in range(m - 1, -1, -1):
        following[i] = following[m + bins[i]]
        following[m + bins[i]] = i
    done, from_high = 0, np.int64(0)
    while from_high >= 0 and done < work and beat[STOP] == 0:
        # an exchange puts two bins out of place: to sort by insertion is near linear then
        _sort(order, levels)
        done += count
        low, high, from_high = order[0], order[count - 1], np.int64(-1)
        # a bin below k is no class: it is filled before anything is evened out
        lacking = levels[low] < k
        for turn in range(count - 1):
            if lacking:
                high = order[count - 1 - turn]
            else:
                low = order[turn]
            gap = levels[high] - levels[low]
            # bins come by their level: if these two can't come closer, no later ones can
            if gap <= 1 or done >= work:
                break
            from_high, from_low, looks = _exchange(linked, high, low, gap)
            done += looks
            if from_high >= 0:
                _move(linked, from_high, high, low)
                if from_low >= 0:
                    _move(linked, from_low, low, high)
                break
    return done


def level_bins(
    sizes: Labels, k: int, count: int, work: int, beat: Any
) -> tuple[Labels, Labels, int]:
    """Steps 1 and 2 for so many bins; the levels may be below k.

    Args:
        sizes: int64, shape (m,), from the largest down.
        k: the least level of a bin.
        count: how many bins.
        work: how much of it step 2 may do.
        beat: where to look for a stop.

    Returns:
        The bin of each item: int64, shape (m,). The levels: int64, shape (count,). How much work
        step 2 did.
    """
    levels = np.zeros(count, np.int64)
    bins = fill_up(sizes, levels, np.arange(count), sizes.sum(), beat)
    order = np.argsort(levels, kind="stable")
    return bins, levels, repair(sizes, k, bins, levels, order, work, beat)


def cheaper(levels: Labels, others: Labels) -> bool:
    """Whether the greatest level is less, or on a tie the sum of level (level - k).

    Both are levels of the same items, so that the sums of squares compare the same way.

    Args:
        levels: int64, shape (bins,).
        others: int64, shape (bins,), not necessarily as many.
    """
    if levels.max() != others.max():
        return bool(levels.max() < others.max())
    squares, other = (sum(v * v for v in values.tolist()) for values in (levels, others))
    return bool(squares < other)


def even_bins(sizes: Labels, k: int, levels: Labels, beat: Any) -> Labels | None:
    """Even bins if they are cheaper than others, else None: int64, shape (m,).

    Args:
        sizes: int64, shape (m,), from the largest down.
        k: the least level of a bin.
        levels: int64, shape (bins,); the levels of the others.
        beat: where to look for a stop.
    """
    total, least, most = int(sizes.sum()), lower_bound(sizes, k), most_bins(sizes, k)
    best, count, fewest, work = None, most, -(-total // int(levels.max())), WORK
    while fewest <= most and work > 0 and beat[STOP] == 0:
        bins, new_levels, done = level_bins(sizes, k, count, min(REPAIR, work), beat)
        work -= len(sizes) + done
        feasible = new_levels.min() >= k
        if feasible and cheaper(new_levels, levels):
            best, levels = bins, new_levels
            fewest = max(fewest, -(-total // max(int(new_levels.max()) - 1, 1)))
        # halfway: since this many can be filled, only more of them are tried from here on
        if feasible and count < most:
            fewest = max(fewest, count + 1)
        elif feasible and new_levels.max() == least:
            break
        else:
            most = count - 1
        count = most if most - fewest < CLOSE else (fewest + most) // 2
    return best
