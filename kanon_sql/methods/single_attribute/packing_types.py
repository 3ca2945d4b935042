"""The types of packings that bin_cover tries: how many there are, and the best of them.

See bin_cover.py for what a type is, and why some are left out. A configuration is what one bin may
hold of each class. A type is a list of configurations that use up all large items, and a number of
bins without one. It is enumerated once: each configuration holds an item of the first class (of the
largest sizes) that is left, and their numbers don't decrease from one bin to the next.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.heap import sift_down
from kanon_sql.kernel.jit import ZERO, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP
from kanon_sql.points.points import Labels

MOST_TYPES = 2_000_000
MOST_STEPS = 500_000_000
"""About how many steps all types together may take: for each, its items and configurations."""
MOST_CELLS = 10_000_000
"""How many numbers the count of types may take."""


class Instance(NamedTuple):
    """What the types follow from.

    Attributes:
        sizes: int64, shape (m,), from the largest down: large items class by class, then small.
        k: the least level of a bin.
        starts: int64, shape (classes + 1,); where each class begins, then the small items.
        ways: int64, shape (c, classes); configurations, in descending lexicographic order: so those
            that hold an item of the first class come first, and one item by itself comes last
            among those that begin with its class.
        lacks: int64, shape (c,); what the largest items of each configuration's classes lack to k.
        leads: int64, shape (c,); the first class of each configuration.
        fewest, most: how many bins an optimal packing has.
        empty: how many numbers of bins without a large item there may be for the same others.
        tried: how many types may be tried.
    """

    sizes: Labels
    k: int
    starts: Labels
    ways: Labels
    lacks: Labels
    leads: Labels
    fewest: int
    most: int
    empty: int
    tried: int

    @staticmethod
    def of(sizes: Labels, k: int, epsilon: Fraction, below: int, most: int) -> Instance | None:
        """The instance for an optimum below ``below``, of so many bins at most.

        None if there are more configurations, hence more types, than may be tried.
        """
        starts = class_starts(sizes, k, epsilon)
        ways = configurations(sizes, starts, k, below)
        if ways is None:
            return None
        fewest = -(-int(sizes.sum()) // (below - 1))
        return Instance(
            sizes, k, starts, ways,
            lacks=np.maximum(k - ways @ sizes[starts[:-1]], 0),
            leads=np.argmax(ways > 0, axis=1) if len(ways) else np.zeros(0, np.int64),
            fewest=fewest, most=most,
            empty=1 + min(int(sizes[starts[-1] :].sum()) // k, most - fewest),
            tried=most_types(len(sizes), len(starts) - 1, len(ways)),
        )


def most_types(items: int, classes: int, ways: int) -> int:
    """How many types may be tried, so that it takes some seconds."""
    return min(MOST_TYPES, MOST_STEPS // (items + classes * ways))


def class_starts(sizes: Labels, k: int, epsilon: Fraction) -> Labels:
    """Where each class of large items begins, then the small items: int64, shape (classes + 1,).

    Args:
        sizes: int64, shape (m,), from the largest down.
        k: the least level of a bin.
        epsilon: no size of a class is above 1 + epsilon times another; see bin_cover.py.
    """
    unit, more = epsilon.denominator, epsilon.numerator
    ends, anchor, negative = [], 0, -sizes
    distinct = np.unique(sizes)
    for size in distinct[distinct >= -(-more * k // unit)].tolist():
        if anchor == 0 or size * unit > anchor * (unit + more) or anchor < k <= size:
            ends.append(int(np.searchsorted(negative, -size, side="right")))
            anchor = size
    return np.array([0, *reversed(ends)], np.int64)


def configurations(sizes: Labels, starts: Labels, k: int, below: int) -> Labels | None:
    """What one bin may hold of each class: int64, shape (c, classes); see bin_cover.py.

    None if there are more than types may be tried; each is part of a type.
    """
    classes = len(starts) - 1
    size, count = sizes[starts[1:] - 1].tolist(), np.diff(starts).tolist()
    # the classes of a bin's items, ascending; its first items up to k or more; all others
    contents: list[tuple[int, ...]] = []
    last: list[tuple[tuple[int, ...], int, int]] = [((), 0, 0)]
    while last:
        longer = []
        for items, front, rest in last:
            for j in range(items[-1] if items else 0, classes):
                more = (front, rest + size[j]) if front >= k else (front + size[j], rest)
                if sum(more) < below and more[1] < k and items.count(j) < count[j]:
                    longer.append(((*items, j), *more))
            ways_so_far = len(contents) + len(longer)
            if ways_so_far > most_types(len(sizes), classes, ways_so_far):
                return None
        contents += [items for items, _, _ in longer]
        last = longer
    ways = np.zeros((len(contents), classes), np.int64)
    for way, items in zip(ways, contents, strict=True):
        np.add.at(way, list(items), 1)
    return ways[np.lexsort(-ways.T[::-1])] if classes else ways


def count_types(instance: Instance) -> int | None:
    """How many types there are, at most; None if there are too many to count.

    Bins of two items or more determine the others, which hold one item each.
    """
    counts = np.diff(instance.starts)
    joined = instance.ways[instance.ways.sum(axis=1) > 1]
    shape = (counts + 1).tolist()
    if prod(shape) * (len(joined) + 1) > MOST_CELLS:
        uses = [1 + int((counts[way > 0] // way[way > 0]).min()) for way in joined]
        types = prod(uses) * instance.empty
        return types if types <= instance.tried else None
    list_counts = np.zeros(shape)
    list_counts.reshape(-1)[0] = 1.0
    # list_counts[used] is how many lists of the configurations so far use so many items of each
    # class; it is filled ascending, so that a configuration may be used again
    for way in joined.tolist():
        lead = next(j for j, held in enumerate(way) if held)
        before = (slice(None),) * lead
        after = tuple(slice(held, None) for held in way[lead + 1 :])
        less = tuple(slice(n + 1 - held) for n, held in zip(counts, way, strict=True))[lead + 1 :]
        for i in range(way[lead], shape[lead]):
            list_counts[before + (i,) + after] += list_counts[before + (i - way[lead],) + less]  # noqa: RUF005
    return int(min(list_counts.sum(), 1e300)) * instance.empty


@inner
def _fits(way: Any, left: Any) -> Any:
    """Whether no class has fewer items left than the configuration holds."""
    missing = 0
    for j in range(len(way)):
        missing += way[j] > left[j]
    return missing == 0


class PackingTrial(NamedTuple):
    """One type while it is filled: bins with large items come first, then those without one.

    Attributes:
        choice: int64, shape (most,); the configuration of each bin with large items.
        bins: int64, shape (m,); the bin of each item.
        levels: int64, shape (most,).
        heap: int64, shape (most,); the bins by (level, number).
        into: int64, shape (most,); the bin that each bin has become part of, itself if none.
        next_item: int64, shape (classes,); the least item of each class that is in no bin yet.
    """

    choice: Any
    bins: Any
    levels: Any
    heap: Any
    into: Any
    next_item: Any


@inner
def _place(instance: Instance, trial: PackingTrial, depth: int) -> Any:
    """Fills the classes of a type with items, from the smallest up, as fuller bins come first.

    Depth: how many bins have large items. The greatest level.
    """
    sizes, starts, ways = instance.sizes, instance.starts, instance.ways
    choice, bins, levels, _, _, next_item = trial
    for j in range(len(next_item)):
        next_item[j] = starts[j + 1] - 1
    greatest = np.int64(0)
    for b in range(depth):
        levels[b] = 0
        for j in range(ways.shape[1]):
            for _ in range(ways[choice[b], j]):
                item = next_item[j]
                bins[item] = b
                levels[b] += sizes[item]
                next_item[j] -= 1
        greatest = max(greatest, levels[b])
    return greatest


@inner
def _complete(instance: Instance, trial: PackingTrial, count: int) -> Any:
    """Puts small items where the level is least, and merges bins until none is below k.

    Count: how many bins there are. In the end a bin b is part of the bin into[b], if that is not b
    itself. The greatest level.
    """
    sizes, k, starts = instance.sizes, instance.k, instance.starts
    _, bins, levels, heap, into, _ = trial
    for b in range(count):
        heap[b], into[b] = b, b
    for b in range(count // 2 - 1, -1, -1):
        sift_down(heap, count, np.int64(b), levels)
    for i in range(starts[-1], len(sizes)):
        least = heap[0]
        bins[i] = least
        levels[least] += sizes[i]
        sift_down(heap, count, ZERO, levels)
    while levels[heap[0]] < k:
        least = heap[0]
        count -= 1
        heap[0] = heap[count]
        sift_down(heap, count, ZERO, levels)
        # the least of the others is on top now: it takes in the one that was less still
        into[least] = heap[0]
        levels[heap[0]] += levels[least]
        sift_down(heap, count, ZERO, levels)
    greatest = np.int64(0)
    for place in range(count):
        greatest = max(greatest, levels[heap[place]])
    return greatest


@inner
def _keep(trial: PackingTrial, best: Any) -> None:
    """Writes the bin of each item, merged ones followed, to best: int64, shape (m,)."""
    bins, into = trial.bins, trial.into
    for item in range(len(bins)):
        b = bins[item]
        while into[b] != b:
            b = into[b]
        best[item] = b


@kernel
def _search(instance: Instance, below: int, least: int, types: int, total: int, beat: Any) -> Any:
    """The bins of the first type that costs least, and its cost: int64, shape (m,).

    The cost is ``below`` if no type costs less. The arguments are those of search_types.
    """
    sizes, k, starts, ways, lacks, leads, fewest, most, _, _ = instance
    classes = len(starts) - 1
    left, spare = np.diff(starts), np.sum(sizes[starts[classes] :])
    best = np.empty(len(sizes), np.int64)
    trial = PackingTrial(
        np.empty(most, np.int64), np.empty(len(sizes), np.int64), np.empty(most, np.int64),
        np.empty(most, np.int64), np.empty(most, np.int64), np.empty(classes, np.int64),
    )
    choice, levels = trial.choice, trial.levels
    # a walk through all lists of configurations: choice[:depth] is the list, i what may come next
    depth, i, tried = 0, 0, 0
    while beat[STOP] == 0 and below > least:
        lead = 0
        while lead < classes and left[lead] == 0:
            lead += 1
        if lead == classes:  # a type
            high = min(most - depth, spare // k)
            for empty in range(max(fewest - depth, 0), high + 1):
                tried += 1
                beat[DONE] = total * min(tried / types, 1.0)
                count = depth + empty
                # placed anew each time, since merging has changed the levels
                greatest = _place(instance, trial, depth)
                if greatest >= below or beat[STOP] == 1:
                    break
                for b in range(depth, count):
                    levels[b] = 0
                greatest = _complete(instance, trial, count)
                if greatest < below:
                    below = greatest
                    _keep(trial, best)
            i = len(ways)
        elif depth == most:
            i = len(ways)
        # what the bins lack in any case must not exceed what small items can make up for
        while i < len(ways) and leads[i] <= lead:
            if lacks[i] <= spare and _fits(ways[i], left):
                break
            i += 1
        if i < len(ways) and leads[i] == lead:
            choice[depth] = i
            spare -= lacks[i]
            for j in range(classes):
                left[j] -= ways[i, j]
            # i stays: the next bin may have the same configuration, but none that comes earlier
            depth += 1
        elif depth == 0:
            break
        else:
            depth -= 1
            i = choice[depth]
            spare += lacks[i]
            for j in range(classes):
                left[j] += ways[i, j]
            i += 1
    if beat[STOP] == 0:
        beat[DONE] = total
    return best, below


def search_types(
    instance: Instance, below: int, least: int, types: int, total: int, beat: Any
) -> Labels | None:
    """The bins of the best type if it costs less than ``below``, else None: int64, shape (m,).

    Args:
        instance: what the types follow from.
        below: a cost.
        least: a lower bound, at which the search ends.
        types: how many types there are, at most.
        total: units of work for all of them.
        beat: gets the work done.
    """
    best, cost = _search(instance, below, least, types, total, beat)
    return best if cost < below else None
