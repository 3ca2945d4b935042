"""Classes that break a privacy model are merged until none does.

Merging always repairs: the models are kept by the union of two classes that keep them. Of the
classes near to one that breaks a model, it is merged with the one that costs least for each row of
violation that the merger removes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.geometry import Mergers
from kanon_sql.methods.local_search.large_classes import NO_COUNTS, LargeClasses
from kanon_sql.methods.local_search.merger_costs import MergerCosts
from kanon_sql.methods.local_search.refine import loss_of
from kanon_sql.points.by_label import distinct, label_order
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Floats, ItemPoints, Labels, Points
from kanon_sql.privacy.demands import Demands
from kanon_sql.privacy.kernels import NOBODY, count_codes, violation_of, violations

INFEASIBLE = (
    "All rows together break a privacy model, so no release of them keeps it. Ask for less, or "
    "release nothing."
)

AROUND = 64
"""How many of the nearest classes are looked at where none nearby removes any violation."""


Near = Callable[[Labels, int, Labels], Labels]


@kernel
def _unions(
    demands: Demands, table: Any, slot: Any, sizes: Any, members: Any, start: Any, violation: Any
) -> None:
    """The violation of a class with each of some others.

    Args:
        demands: what is demanded.
        table: int32; how often each code is in each large class.
        slot: int64, shape (1 + others,); the rows of it of the class and of each of the others, or
            NO_COUNTS.
        sizes: int64, shape (1 + others,); how many records each has.
        members: the records of those that aren't large, one class after another.
        start: int64, shape (2 + others,); where those of each begin.
        violation: float64, shape (others,); what is found.
    """
    own, kept = np.zeros(demands.width, np.int32), np.zeros(demands.width, np.int32)
    gathered = (demands.kept_at < 0).any()  # of columns of many values the codes are sorted
    both = np.empty(len(members), np.int64)
    for p in range(start[1]):
        both[p] = members[p]
    if slot[0] >= 0:
        own[:] = table[slot[0]]
    else:
        count_codes(demands.codes, demands.kept_at, members, start[1], own)
    for o in range(1, len(slot)):
        for code in range(len(kept)):
            kept[code] = own[code] + table[slot[o], code] if slot[o] >= 0 else own[code]
        some = members[start[o] : start[o + 1]]
        count_codes(demands.codes, demands.kept_at, some, len(some), kept)
        if gathered:
            both[start[1] : start[1] + len(some)] = some
        violation[o - 1] = violation_of(demands, kept, both, sizes[0] + sizes[o], NOBODY, NOBODY)


def together(sizes: Floats) -> float:
    """What classes of one attribute lose more as one: that is known by their sizes alone."""
    return float(sizes.sum() ** 2 - (sizes * sizes).sum())


class Merging:
    """Classes under mergers.

    Attributes:
        labels: int64, shape (n,); as they are now.
        held: float64, shape (groups,); the violation of each.
    """

    def __init__(self, points: Points, labels: Labels, demands: Demands) -> None:
        """Labels: int64, shape (n,), 0 .. groups-1."""
        self.labels: Labels = labels.copy()
        self._demands = demands
        self._costs = MergerCosts(points, labels)
        self._order = label_order(labels)
        self._start = np.cumsum(np.append(0, np.bincount(labels)))
        self._unions: dict[int, Labels] = {}
        counted = 0 if (demands.kept_at < 0).any() else demands.width
        self._large = LargeClasses(demands.codes, demands.kept_at, counted, labels)
        self.held = violations(demands, labels)
        self._live, self._classes = np.ones(len(self.held), np.bool_), len(self.held)
        breaking = np.flatnonzero(self.held > 0.0)
        # by size; what is here twice has another size by now, or doesn't break a model any more
        self._waiting: list[tuple[float, int]] = list(
            zip(self.sizes[breaking].tolist(), breaking.tolist(), strict=True)
        )
        heapify(self._waiting)

    def members(self, group: int) -> Labels:
        """The records of a class: int64."""
        union = self._unions.get(group)
        return self._order[self._start[group] : self._start[group + 1]] if union is None else union

    def chosen(self, group: int, choices: Sequence[Labels]) -> Labels:
        """Of several sets of classes the one that costs least, together with a class, for each row
        of violation that goes; the one that costs least where none goes. The first of equals."""
        sizes = np.array([self.sizes[group], *(self.sizes[some].sum() for some in choices)])
        slot = np.full(len(sizes), NO_COUNTS)
        violation = self._violation(sizes, slot, np.concatenate([[group], *choices]))
        held = np.array([float(self.held[some].sum()) for some in choices])
        removed = self.held[group] + held - violation
        growth = np.array([
            together(self.sizes[np.append(some, group)]) for some in choices
        ])
        if (removed > 0.0).any():
            rate = np.full(len(choices), np.inf)
            np.divide(growth, removed, out=rate, where=removed > 0.0)
            return choices[int(np.argmin(rate))]
        return choices[int(np.argmin(growth))]

    def _with_each(self, group: int, others: Labels) -> Floats:
        """The violation of a class and each of the others as one: float64, shape (others,)."""
        every = np.append(group, others)
        slot = self._large.counts.slot[every]
        return self._violation(self.sizes[every], slot, every[slot == NO_COUNTS])

    def _violation(self, sizes: Floats, slot: Labels, classes: Labels) -> Floats:
        """The violation of a class with each of some others, or sets of others: float64, shape
        (others,).

        Args:
            sizes: float64, shape (1 + others,); how many records each has.
            slot: int64, shape (1 + others,); see _unions.
            classes: int64; those whose records are looked at.
        """
        start = np.cumsum(np.append(0.0, np.where(slot == NO_COUNTS, sizes, 0.0)))
        found = np.empty(len(sizes) - 1)
        _unions(
            self._demands, self._large.counts.table, slot, sizes.astype(np.int64),
            self._costs.records(classes), start.astype(np.int64), found,
        )
        return found

    def nearest(self, group: int) -> int:
        """The class with which one loses least as one, whatever becomes of the violation."""
        return int(self._costs.least(group, self._others(group), 1, self.labels)[0])

    def _others(self, group: int) -> Labels:
        """The classes beside that one."""
        others = np.flatnonzero(self._live)
        return np.asarray(others[others != group])

    def partner(self, group: int, near: Labels) -> tuple[int, float | None]:
        """The class that one is merged with: one of those nearby, or any where none helps; and the
        violation of both as one, where it was counted."""
        near = near[self._live[near] & (near != group)]
        best = self._best(group, near)
        if best is None:
            others = self._others(group)
            nearest = self._costs.least(group, others, AROUND, self.labels)
            best = self._best(group, nearest)
            if best is None and len(nearest) < len(others):
                ranked = self._costs.least(group, others, len(others), self.labels)
                best = self._best(group, ranked)
            return (int(nearest[0]), None) if best is None else best
        return best

    def _best(self, group: int, others: Labels) -> tuple[int, float] | None:
        """The class for which least is paid for each row of violation that goes, and the violation
        of both as one; None where none goes."""
        if len(others) == 0:
            return None
        violation = self._with_each(group, others)
        removed = self.held[group] + self.held[others] - violation
        useful = np.flatnonzero(removed > 0.0)
        if len(useful) == 0:
            return None
        growth = np.maximum(self._costs.growth(group, others[useful]), 0.0)
        best = useful[np.argmin(growth / removed[useful])]
        return int(others[best]), float(violation[best])

    def merge(self, group: int, into: int, violation: float | None = None) -> None:
        """One class becomes part of the other. ``violation``: of both as one, if it is known."""
        costs, large = self._costs, self._large
        size = int(self.sizes[group] + self.sizes[into])
        both = np.concatenate([self.members(into), self.members(group)])
        self.labels[self.members(group)] = into
        self._unions[into], self._unions[group] = both, both[:0]
        large.merge(group, into, size, costs.records)
        costs.merge(group, into)
        self._live[group], self.held[group] = False, 0.0
        self._classes -= 1
        if violation is None:
            slot = np.array([large.counts.slot[into], NO_COUNTS])
            classes = np.array([into] if slot[0] == NO_COUNTS else [], np.int64)
            violation = float(self._violation(np.array([size, 0.0]), slot, classes)[0])
        self.held[into] = violation
        if violation > 0.0:
            heappush(self._waiting, (float(self.sizes[into]), into))

    @property
    def sizes(self) -> Floats:
        """The records of each class: float64, shape (groups,)."""
        return self._costs.sizes

    @property
    def classes(self) -> int:
        """How many there are."""
        return self._classes

    def smallest(self) -> int | None:
        """The smallest class that breaks a model, of equals the first; None where none does.

        Raises:
            DataError: it is the only class.
        """
        while self._waiting:
            size, group = self._waiting[0]
            if self.held[group] > 0.0 and self.sizes[group] == size:
                if self.classes == 1:
                    raise DataError(INFEASIBLE)
                return group
            heappop(self._waiting)
        return None


def merge_rest(
    points: Points, labels: Labels, demands: Demands, near: Near | None, watch: Watch
) -> Labels:
    """The grouping in which every class keeps the models: int64, shape (n,), with the numbers of
    the classes that took the others in.

    The smallest of the classes that break one is merged first, of equals the first.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1.
        demands: what is demanded.
        near: from labels, a class and its records to the classes near to it; None: no class is.
        watch: its stop raises StoppedError.

    Raises:
        DataError: all records together break a model.
    """
    if not (violations(demands, labels) > 0.0).any():
        return np.array(labels)
    merging, nobody = Merging(points, labels, demands), np.zeros(0, np.int64)
    while (group := merging.smallest()) is not None:
        watch.check()
        around = nobody if near is None else near(merging.labels, group, merging.members(group))
        merging.merge(group, *merging.partner(group, distinct(around)))
    return merging.labels


def cheapest_merge(
    points: Points, labels: Labels, demands: Demands, watch: Watch
) -> Labels:
    """The better of two groupings that mergers make, as in ``merge_rest``: of each class that
    breaks a model with the one that costs least, and with the one that costs least for each row of
    violation that goes. Arguments as there."""
    nearest = Merging(points, labels, demands)
    while (group := nearest.smallest()) is not None:
        watch.check()
        nearest.merge(group, nearest.nearest(group))
    useful = merge_rest(points, labels, demands, None, watch)
    both = [number_by_first(_numbered(grouping)) for grouping in (useful, nearest.labels)]
    return min(both, key=lambda grouping: loss_of(points, grouping))


def _numbered(labels: Labels) -> Labels:
    """The same classes, 0 .. groups-1."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def merge_allowed(
    points: ItemPoints, labels: Labels, demands: Demands, mergers: Mergers, watch: Watch
) -> Labels:
    """The same of classes of which only some may become one.

    Where a class is left out since it may be merged with no other, its records get -1 and all else
    stays as it was: the models are asked anew of what is left.

    Args:
        points: n records of one attribute.
        labels, demands, watch: as above.
        mergers: which sets of classes may become one.
    """
    merging = Merging(points, labels, demands)
    while (group := merging.smallest()) is not None:
        watch.check()
        choices = mergers.choices(group)
        if not choices:
            rest: Labels = labels.copy()
            rest[merging.members(group)] = -1
            return rest
        together = np.sort(np.append(merging.chosen(group, choices), group)).tolist()
        for other in together[1:]:
            merging.merge(other, together[0])
            mergers.merged(other, together[0])
    return merging.labels
