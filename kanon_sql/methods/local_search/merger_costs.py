"""What classes lose, and what two of them would lose as one, while classes are merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.methods.local_search.large_classes import LargeClasses, LargeCounts
from kanon_sql.methods.local_search.outlines import Outlines
from kanon_sql.points.by_label import label_order
from kanon_sql.points.points import Floats, ItemPoints, Labels, LossPoints, Points, rows_at

LOOKED = 256
"""Classes of which the growth is found at once: the others are looked at if theirs may be less."""

ROUNDED = 1e-11
"""How far rounding may move a growth, as a share of what it is the difference of."""


class _Chains(NamedTuple):
    """The records of each class as a chain: ``first[class]``, then ``after[place]`` until -1.

    A record has the place that it had among all by class: so those of a class are side by side in
    memory, but for mergers.

    Attributes:
        order: int64, shape (n,); the record at each place.
        codes: int32, shape (n, c); its codes.
        ends: int64, shape (c + 1,); where the codes of each column begin among those of all.
        first, last: int64, shape (groups,).
        after: int64, shape (n,).
    """

    order: Any
    codes: Any
    ends: Any
    first: Any
    last: Any
    after: Any


class _Marks(NamedTuple):
    """Room for what is known of each code while classes are looked at.

    Attributes:
        counts: int64, one for each code; 0 but while a class is looked at.
        seen: int64, one for each code; the last turn in which it was met.
        turn: int64, shape (1,); which only rises.
    """

    counts: Any
    seen: Any
    turn: Any


@inner
def _count(chains: _Chains, group: int, each: int, counts: Any) -> None:
    """Adds ``each`` for every code of every record of a class."""
    p = chains.first[group]
    while p >= 0:
        for c in range(chains.codes.shape[1]):
            counts[chains.ends[c] + chains.codes[p, c]] += each
        p = chains.after[p]


@inner
def _shared_of_counts(counts: Any, others: Any, ends: Any, distinct: bool, shared: Any) -> None:
    """The same for two classes, from the counts of both."""
    for c in range(len(shared)):
        total = 0
        for at in range(ends[c], ends[c + 1]):
            pairs = counts[at] * others[at]
            total += min(pairs, 1) if distinct else pairs
        shared[c] = total


@kernel
def _shared(
    chains: _Chains, large: LargeCounts, marks: _Marks, group: int, others: Any, distinct: bool,
    shared: Any,
) -> None:
    """What a class has in common with each of some others, by column of codes: how many codes, if
    ``distinct``, or else in how many ways one can pick two records of the same code, one of each.
    """
    _, codes, ends, first, _, after = chains
    slot, table = large
    counts, seen, turn = marks
    own = slot[group]
    if own >= 0:
        counts[:] = table[own]
    else:
        _count(chains, group, 1, counts)
    for o in range(len(others)):
        if slot[others[o]] >= 0:
            _shared_of_counts(counts, table[slot[others[o]]], ends, distinct, shared[o])
            continue
        turn[0] += 1
        p = first[others[o]]
        while p >= 0:
            for c in range(codes.shape[1]):
                at = ends[c] + codes[p, c]
                if not distinct:
                    shared[o, c] += counts[at]
                elif counts[at] > 0 and seen[at] != turn[0]:
                    seen[at] = turn[0]
                    shared[o, c] += 1
            p = after[p]
    if own >= 0:
        counts[:] = 0
    else:
        _count(chains, group, -1, counts)


@kernel
def _records(chains: _Chains, groups: Any, count: int) -> Any:
    """The records of some classes, one class after another, of which there are so many."""
    found, place = np.empty(count, np.int64), 0
    for g in groups:
        p = chains.first[g]
        while p >= 0:
            found[place] = chains.order[p]
            place += 1
            p = chains.after[p]
    return found


def _chained(codes: Any, width: Labels, labels: Labels, groups: int) -> _Chains:
    """The records of each class as a chain, in order; ``width``: how many codes each column has."""
    order = label_order(labels)
    ends = np.cumsum(np.bincount(labels, minlength=groups))
    first, last = np.append(0, ends[:-1]), ends - 1
    after = np.arange(1, len(labels) + 1)
    after[last] = -1
    starts = np.cumsum([0, *width.tolist()]).astype(np.int64)
    return _Chains(order, np.ascontiguousarray(rows_at(codes, order)), starts, first, last, after)


class MergerCosts:
    """What classes lose, and what they would lose together, from what is kept of each.

    Of squared errors that is the sums of numbers, their squares, and how often two records of a
    class are of the same category; of information loss the least and the largest number, and how
    many codes are there. What two classes have in common is counted on their records, or on the
    counts of large classes, so what is kept grows with the records and classes, and not with the
    codes.
    """

    def __init__(self, points: Points, labels: Labels) -> None:
        """Labels: int64, shape (n,), 0 .. groups-1."""
        self._loss = points if isinstance(points, LossPoints) else None
        self._items = isinstance(points, ItemPoints)
        groups = int(labels.max()) + 1
        self.sizes = np.bincount(labels).astype(np.float64)
        self._scale, self._codes = points.scale, points.codes
        width = points.codes.max(axis=0, initial=0).astype(np.int64) + 1
        self._chains = _chained(points.codes, width, labels, groups)
        many = int(width.sum())
        self._marks = _Marks(*(np.zeros(size, np.int64) for size in (many, many, 1)))
        self._large = LargeClasses(points.codes, self._chains.ends[:-1], many, labels)
        self._outlines: Outlines | None = None
        self._inside = np.zeros((groups, points.codes.shape[1]))
        for c in range(points.codes.shape[1]):
            pairs = labels * int(width[c]) + points.codes[:, c]
            keys, often = np.unique(pairs, return_counts=True)
            weights = None if self._loss is not None else often.astype(np.float64) ** 2
            self._inside[:, c] = np.bincount(keys // int(width[c]), weights, minlength=groups)
        d = points.numeric.shape[1]
        self._low, self._high = np.full((groups, d), np.inf), np.full((groups, d), -np.inf)
        for a in range(d):
            column = points.numeric[:, a]
            if self._loss is None:  # sums, and sums of squares
                self._low[:, a] = np.bincount(labels, weights=column)
                self._high[:, a] = np.bincount(labels, weights=column * column)
            else:
                np.minimum.at(self._low[:, a], labels, column)
                np.maximum.at(self._high[:, a], labels, column)
        self._lost = self._of(self.sizes, self._low, self._high, self._inside)

    def _of(self, sizes: Floats, low: Floats, high: Floats, inside: Floats) -> Floats:
        total = np.zeros(len(sizes))
        if self._loss is None:
            total += (high - low * low / sizes[:, None]).sum(axis=1)
            for c, scale in enumerate(self._scale.tolist()):
                total += scale * (sizes - inside[:, c] / sizes)
            return total
        total += np.minimum(high - low, self._loss.cap).sum(axis=1)
        for c, scale in enumerate(self._scale.tolist()):
            total += scale * np.minimum(inside[:, c] - 1, self._loss.limit[c])
        return np.asarray(total * sizes)

    def growth(self, group: int, others: Labels) -> Floats:
        """What a class and each of the others lose more as one: float64, shape (others,)."""
        if self._items:  # nothing is known of them but how many there are
            return np.asarray(2.0 * self.sizes[group] * self.sizes[others])
        *_, lost = self._together(group, others)
        return np.asarray(lost - (self._lost[group] + self._lost[others]))

    def least(self, group: int, others: Labels, count: int, labels: Labels) -> Labels:
        """So many of the others, or all, whose growth with a class is least, in its order; of
        equals the first.

        Args:
            group: a class.
            others: int64, ascending; those that it is compared with.
            count: how many of them are wanted.
            labels: int64, shape (n,); the classes as they are when this is first asked.

        What classes have in common takes a look at their records. Squared errors are bounded by
        what is kept of the classes, so only those are looked at that may be among the least.
        """
        look = max(LOOKED, 2 * count)
        if not self._items and self._loss is None and len(others) > look:
            if self._outlines is None:
                self._outlines = Outlines.of(
                    self._low, self._inside, self.sizes, self._codes, labels
                )
            bounds = self._outlines.bounds(group, self.sizes, self._scale)[others]
            # a growth is the difference of such sums, and rounded in proportion to them
            terms = (self._high.sum(axis=1) + self._scale.sum() * self.sizes)[others]
            bounds -= ROUNDED * (terms + self._high[group].sum() + self.sizes[group])
            first = np.argpartition(bounds, look)[:look]
            most = np.partition(self.growth(group, others[first]), count - 1)[count - 1]
            others = others[bounds <= most]
        order = np.argsort(self.growth(group, others), kind="stable")
        return others[order[:count]]

    def _together(self, group: int, others: Labels) -> tuple[Floats, Floats, Floats, Floats]:
        """What is kept of a class and each of the others as one, and what they lose then."""
        shared = np.zeros((len(others), len(self._scale)), np.int64)
        _shared(
            self._chains, self._large.counts, self._marks, group, others, self._loss is not None,
            shared,
        )
        sizes = self.sizes[group] + self.sizes[others]
        inside = self._inside[group] + self._inside[others]
        if self._loss is None:
            low, high = self._low[group] + self._low[others], self._high[group] + self._high[others]
            inside += 2.0 * shared
        else:
            low = np.minimum(self._low[group], self._low[others])
            high = np.maximum(self._high[group], self._high[others])
            inside -= shared
        return low, high, inside, self._of(sizes, low, high, inside)

    def records(self, groups: Labels) -> Labels:
        """The records of some classes, one class after another: int64."""
        return np.asarray(_records(self._chains, groups, int(self.sizes[groups].sum())))

    def merge(self, group: int, into: int) -> None:
        """One class becomes part of the other."""
        low, high, inside, lost = self._together(group, np.array([into]))
        self._low[into], self._high[into], self._inside[into] = low[0], high[0], inside[0]
        self._lost[into] = lost[0]
        if self._outlines is not None:
            size = self.sizes[into] + self.sizes[group]
            self._outlines.merge(group, into, low[0] / size, np.sqrt(inside[0]) / size)
        self._large.merge(group, into, int(self.sizes[group] + self.sizes[into]), self.records)
        first, last = self._chains.first, self._chains.last
        self._chains.after[last[into]] = first[group]
        last[into], first[group] = last[group], -1
        self.sizes[into] += self.sizes[group]
