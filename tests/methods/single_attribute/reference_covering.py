"""Min-max bin covering once more (du2009, sections 4 and 5): slow, in plain Python, by the paper.

A packing is a list of bins, and a bin a list of items, which are numbered from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

import numpy as np

from kanon_sql.methods.single_attribute.bin_covering import lower_bound, most_bins
from tests.support.partitions import partitions

Packing = list[list[int]]
Type = tuple[tuple[tuple[int, ...], ...], int]
"""The configurations of the bins with large items, and how many bins have none."""


def level(sizes: Sequence[int], items: Sequence[int]) -> int:
    return sum(sizes[i] for i in items)


def cost(sizes: Sequence[int], packing: Packing) -> int:
    return max(level(sizes, items) for items in packing)


def labels_of(packing: Packing, m: int) -> list[int]:
    """The bin of each item, bins numbered by their least item."""
    ordered = sorted(packing, key=min)
    return [next(b for b, items in enumerate(ordered) if i in items) for i in range(m)]


def optimum(sizes: Sequence[int], k: int) -> int:
    """The least cost of all partitions into bins of k or more; for up to nine items."""
    return min(
        cost(sizes, packing)
        for packing in partitions(len(sizes), 1)
        if all(level(sizes, items) >= k for items in packing)
    )


def quick_optimum(sizes: Sequence[int], k: int) -> int:
    """The same by sets of items: the bin of the least item that is left, over and over."""
    sums = [0]
    for size in sizes:
        sums += [before + size for before in sums]

    @cache
    def least(left: int) -> int:
        first = left & -left
        rest = left ^ first
        found, part = sums[-1] + 1, rest
        while True:
            if sums[part | first] >= k:
                others = least(rest ^ part) if part != rest else 0
                found = min(found, max(sums[part | first], others))
            if part == 0:
                return found
            part = (part - 1) & rest

    return least(len(sums) - 1)


def scattered(number: int) -> int:
    """The finalizer of splitmix64."""
    word = (1 << 64) - 1
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & word
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & word
    return number ^ (number >> 31)


def item_order(sizes: Sequence[int], k: int, sequence: str, seed: int) -> list[int]:
    """Oversize items first; 'sorted' from the largest down, or by a hash of seed and index."""
    golden, word = 0x9E3779B97F4A7C15, (1 << 64) - 1
    start = scattered((seed * golden + 0x94D049BB133111EB) & word)

    def key(i: int) -> tuple[bool, int, int]:
        first = -sizes[i] if sequence == "sorted" else scattered((start + i * golden) & word)
        return sizes[i] < k, first, i

    return sorted(range(len(sizes)), key=key)


def next_fit(sizes: Sequence[int], k: int, order: Sequence[int]) -> tuple[Packing, list[int]]:
    """Filled bins, and the items of the last, unfilled one."""
    filled: Packing = []
    current: list[int] = []
    for i in order:
        current.append(i)
        if level(sizes, current) >= k:
            filled.append(current)
            current = []
    return filled, current


def from_the_least(sizes: Sequence[int], packing: Packing) -> list[list[int]]:
    """The bins from the least level up, ties in the order they were made."""
    return sorted(packing, key=lambda items: level(sizes, items))


def fold(sizes: Sequence[int], k: int, sequence: str, seed: int) -> Packing:
    """Theorem 7."""
    filled, left = next_fit(sizes, k, item_order(sizes, k, sequence, seed))
    from_the_least(sizes, filled)[0].extend(left)
    return filled


def spread(sizes: Sequence[int], k: int, sequence: str, seed: int) -> Packing:
    """Section 5."""
    filled, left = next_fit(sizes, k, item_order(sizes, k, sequence, seed))
    greatest = cost(sizes, filled)
    waiting = []
    for i in left:
        least = from_the_least(sizes, filled)[0]
        if level(sizes, least) + sizes[i] <= greatest:
            least.append(i)
        else:
            waiting.append(i)
    turns = from_the_least(sizes, filled)
    for turn, i in enumerate(waiting):
        turns[turn % len(turns)].append(i)
    return filled


def three_parts(sizes: Sequence[int], k: int, items: Sequence[int]) -> list[list[int]]:
    """Lemma 8: items of k / 2 at most, k in all at most, in three parts of k / 2 at most."""
    first: list[int] = []
    for place, i in enumerate(items):
        if 2 * (level(sizes, first) + sizes[i]) > k:
            return [first, [i], list(items[place + 1 :])]
        first.append(i)
    return [first, [], []]


def by_case(sizes: Sequence[int], k: int) -> tuple[str, Packing]:
    """Theorem 9: the case, and its packing."""
    filled, left = next_fit(sizes, k, item_order(sizes, k, "sorted", 0))
    plain = fold(sizes, k, "sorted", 0)
    if not left:
        return "nothing left", plain
    if max(sizes) >= k:
        return "oversize", plain
    if len(filled) <= 2:
        return "three bins", plain
    f, small = left[0], left[1:]
    if 2 * sizes[f] <= k:
        parts = three_parts(sizes, k, left)
        parts.sort(key=lambda items: -level(sizes, items))
        for items, part in zip(from_the_least(sizes, filled)[:3], parts, strict=True):
            items.extend(part)
        return "case 1", filled
    x = filled[0][0]
    if level(sizes, [x, *small]) >= k:
        return "case 2.1", [[f, *filled[0][1:]], *filled[1:], [x, *small]]
    return "case 2.2", plain


def theorem_9(sizes: Sequence[int], k: int) -> Packing:
    """The cheaper one of the case's packing and fold's."""
    plain, other = fold(sizes, k, "sorted", 0), by_case(sizes, k)[1]
    return other if cost(sizes, other) < cost(sizes, plain) else plain


def exchange(
    sizes: Sequence[int], high: Sequence[int], low: Sequence[int]
) -> tuple[int, int | None] | None:
    """What brings two levels closest: an item of the higher bin, and one of the lower, or none.

    Both bins are from the largest item down. None if the levels get no closer.
    """
    gap = level(sizes, high) - level(sizes, low)
    ways = {}
    for x in high:
        for y in (*low, None):
            change = sizes[x] - (0 if y is None else sizes[y])
            if 0 < change < gap:
                ways[x, y] = abs(gap - 2 * change)
    return min(ways, key=lambda way: ways[way]) if ways else None  # the first on a tie


def even(sizes: Sequence[int], k: int, count: int) -> Packing:
    """So many bins of about the same level; some may be below k."""
    order = item_order(sizes, k, "sorted", 0)
    bins: Packing = [[] for _ in range(count)]
    for i in order:
        from_the_least(sizes, bins)[0].append(i)
    while True:
        ranked = from_the_least(sizes, bins)
        if level(sizes, ranked[0]) < k:
            pairs = [(high, ranked[0]) for high in ranked[:0:-1]]
        else:
            pairs = [(ranked[-1], low) for low in ranked[:-1]]
        for high, low in pairs:
            found = exchange(sizes, high, low)
            if found:
                break
        else:
            return bins
        for item, source, target in ((found[0], high, low), (found[1], low, high)):
            if item is not None:
                source.remove(item)
                target.append(item)
                target.sort(key=order.index)


def value(sizes: Sequence[int], k: int, packing: Packing) -> tuple[int, int]:
    """The cost, and what decides on a tie."""
    found = [level(sizes, items) for items in packing]
    return max(found), sum(size * (size - k) for size in found)


def five_halves(sizes: Sequence[int], k: int, close: int = 32) -> Packing:
    """The cheapest of theorem 9's packing, spread's and even ones; see even_bins.py."""
    paper, other = theorem_9(sizes, k), spread(sizes, k, "sorted", 0)
    best = other if value(sizes, k, other) < value(sizes, k, paper) else paper
    least, most = lower_bound(np.array(sizes), k), most_bins(np.array(sizes), k)
    fewest, count = ceil(Fraction(sum(sizes), cost(sizes, best))), most
    while fewest <= most:
        packing = even(sizes, k, count)
        feasible = min(level(sizes, items) for items in packing) >= k
        if feasible and value(sizes, k, packing) < value(sizes, k, best):
            best = packing
            below = max(cost(sizes, best) - 1, 1)
            fewest = max(fewest, ceil(Fraction(sum(sizes), below)))
        if feasible and count < most:
            fewest = max(fewest, count + 1)
        elif feasible and cost(sizes, packing) == least:
            break
        else:
            most = count - 1
        count = most if most - fewest < close else (fewest + most) // 2
    return best


class Types:
    """Theorem 10: the types of packings, and the packing that each leads to.

    Attributes:
        classes: the large items, from the class of the largest sizes down, each from the largest
            size down.
        small: the other items, from the largest size down.
    """

    def __init__(self, sizes: Sequence[int], k: int, epsilon: float, below: int) -> None:
        self.sizes, self.k, self.below = sizes, k, below
        order = item_order(sizes, k, "sorted", 0)
        exact = Fraction(epsilon)
        self.small = [i for i in order if sizes[i] < exact * k]
        self.classes: list[list[int]] = []
        anchor = 0
        for i in reversed(order[: len(order) - len(self.small)]):
            wide = sizes[i] > (1 + exact) * anchor
            if not self.classes or wide or anchor < k <= sizes[i]:
                self.classes.insert(0, [])
                anchor = sizes[i]
            self.classes[0].insert(0, i)

    def rounded(self, configuration: Sequence[int]) -> list[int]:
        """The rounded sizes of a configuration, from the largest down."""
        return [
            self.sizes[self.classes[j][-1]] for j, held in enumerate(configuration)
            for _ in range(held)
        ]

    def may_be(self, configuration: Sequence[int]) -> bool:
        """Not empty, rounded to a level below ``below``, and not seen to be two bins."""
        items = self.rounded(configuration)
        front = 0
        while items and front < self.k:
            front += items.pop(0)
        return 0 < front + sum(items) < self.below and sum(items) < self.k

    def lack(self, configuration: Sequence[int]) -> int:
        most = sum(
            self.sizes[self.classes[j][0]] * held for j, held in enumerate(configuration)
        )
        return max(self.k - most, 0)

    def configurations(self) -> list[tuple[int, ...]]:
        """In descending lexicographic order."""
        counts = [len(items) for items in self.classes]
        return [w for w in product(*(range(n, -1, -1) for n in counts)) if self.may_be(w)]

    def all(self, most: int) -> Iterator[Type]:
        """Every type of ``most`` bins at most, in the order in which they are tried."""
        counts = [len(items) for items in self.classes]
        ways = self.configurations()
        spare, total = level(self.sizes, self.small), sum(self.sizes)

        def extended(
            taken: list[tuple[int, ...]], start: int, left: Sequence[int]
        ) -> Iterator[Type]:
            if not any(left):
                for empty in range(most - len(taken) + 1):
                    bins = len(taken) + empty
                    needed = sum(map(self.lack, taken)) + self.k * empty
                    if needed <= spare and total <= bins * (self.below - 1):
                        yield tuple(taken), empty
                return
            lead = next(j for j, n in enumerate(left) if n)
            for place in range(start, len(ways)):
                way = ways[place]
                if way[lead] and all(held <= n for held, n in zip(way, left, strict=True)):
                    rest = [n - held for held, n in zip(way, left, strict=True)]
                    yield from extended([*taken, way], place, rest)

        yield from extended([], 0, counts)

    def packing(self, chosen: Type) -> Packing:
        """Steps 1 to 3."""
        waiting = [list(items) for items in self.classes]
        packing: Packing = []
        for way in chosen[0]:
            packing.append([waiting[j].pop() for j, held in enumerate(way) for _ in range(held)])
        packing += [[] for _ in range(chosen[1])]
        for i in self.small:
            from_the_least(self.sizes, packing)[0].append(i)
        while True:
            least, second = [*from_the_least(self.sizes, packing), []][:2]
            if level(self.sizes, least) >= self.k:
                return packing
            second.extend(least)
            packing = [items for items in packing if items is not least]

    def type_of(self, packing: Packing) -> tuple[Counter[tuple[int, ...]], int]:
        """The type of a packing, bins in no order."""
        found = [
            tuple(sum(i in items for i in members) for members in self.classes)
            for items in packing
        ]
        with_large = Counter(way for way in found if any(way))
        return with_large, len(found) - sum(with_large.values())


def best_type(
    sizes: Sequence[int], k: int, epsilon: float, below: int, most: int
) -> Packing | None:
    """The packing of the first type that costs least, if that is below ``below``."""
    types = Types(sizes, k, epsilon, below)
    best = None
    for chosen in types.all(most):
        packing = types.packing(chosen)
        if cost(sizes, packing) < (below if best is None else cost(sizes, best)):
            best = packing
    return best
