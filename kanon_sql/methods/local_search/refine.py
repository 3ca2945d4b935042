"""Groupings made better by search: fewer squared errors or less information loss, groups of k to
2k - 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import Helpers
from kanon_sql.kernel.sort import sort_stably
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.methods.local_search.judging import Judging, helpers_for
from kanon_sql.methods.local_search.layout import layout_of
from kanon_sql.methods.local_search.moves import distance, hold_groups, join, settle
from kanon_sql.methods.local_search.moves_by_information_loss import pack_records
from kanon_sql.methods.local_search.moves_by_squared_error import squared_records
from kanon_sql.methods.local_search.penalty import Free
from kanon_sql.methods.local_search.state import (
    Cycle,
    DistinctPoints,
    LocalSearch,
    Spare,
    no_changes,
)
from kanon_sql.methods.search_steps import DESCENT, FEW, FIRST, LONGER
from kanon_sql.points.by_label import label_order
from kanon_sql.points.losses import sse, total_il
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Floats, Labels, LossPoints, Points, rows_at
from kanon_sql.search.nearest_lists import nearest_lists

NEAR = 10
"""How many of the nearest distinct points are a record's neighbours."""

LOSS_NEAR = 40
"""The same for information loss: there many are equally near, and the nearer of them are proposed
more often."""

HOT = 1.4
"""The temperature at which a cycle starts: the mean allowance of a record, in its unit."""

FINISH = 10
"""Steps per record to cool down a search that ends within a cycle."""

CHUNK = 1 << 15
"""Steps between two looks at the clock."""


@dataclass(frozen=True)
class Refined:
    """The result of a search.

    Attributes:
        labels: int64, shape (n,); the group of each record.
        steps: visits of records that the search has made.
        stopped: whether it ended for time, before the steps that it was given.
    """

    labels: Labels
    steps: int
    stopped: bool


def cycles_of(n: int) -> Iterator[Cycle]:
    """The cycles of n records, without end."""
    begin, length = 0, DESCENT * max(n, FEW)
    yield Cycle(begin, length, 0.0)
    begin, length = length, FIRST * max(n, FEW)
    while True:
        yield Cycle(begin, length, HOT)
        begin, length = begin + length, length * LONGER


def _sites(points: Points, near: int, watch: Watch) -> DistinctPoints:
    """The distinct points among the records, with so many neighbours."""
    columns = np.hstack([points.codes.astype(np.float64), points.numeric])
    # equal records side by side; in which order they are sorted does not matter
    order = np.lexsort(columns.T) if columns.shape[1] else np.arange(len(points))
    ordered = rows_at(columns, order)
    fresh = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    start = np.append(np.flatnonzero(fresh), len(points))
    firsts = order[start[:-1]]
    rank = np.argsort(np.argsort(firsts))  # sites in the order of their first records
    site_of = np.empty(len(points), np.int64)
    site_of[order] = rank[np.cumsum(fresh) - 1]
    order = label_order(site_of)
    start = np.append(0, np.cumsum(np.bincount(site_of)))
    firsts = order[start[:-1]]
    return DistinctPoints(
        site_of, start, order, nearest_lists(embedded(points, firsts), near, watch.beat())
    )


def _sites_of(sites: DistinctPoints, part: Labels) -> DistinctPoints:
    """The sites of some of the records. Where a neighbour is left out, the nearest of those that
    are not stand in its place again; where all are, the site beside it."""
    used, site_of = np.unique(sites.site_of[part], return_inverse=True)
    site_of = site_of.reshape(-1).astype(np.int64)
    number = np.full(len(sites.start) - 1, -1, np.int32)
    number[used] = np.arange(len(used))
    near = number[sites.near[used]]
    some = np.flatnonzero((near < 0).any(axis=1))
    if len(some) and len(used) > 1:
        lists = near[some]
        lists = np.take_along_axis(lists, np.argsort(lists < 0, axis=1, kind="stable"), axis=1)
        left = (lists >= 0).sum(axis=1)
        again = np.arange(lists.shape[1]) % np.maximum(left, 1)[:, None]
        lists = np.take_along_axis(lists, again, axis=1)
        lists[left == 0] = np.where(some == 0, 1, some - 1)[left == 0, None]
        near[some] = lists
    start = np.append(0, np.cumsum(np.bincount(site_of)))
    return DistinctPoints(site_of, start, label_order(site_of), near[:, : len(used) - 1])


@kernel
def _split(data: Any, members: Any, k: int, labels: Any, label: int) -> int:
    """Labels the members from ``label`` on, in groups of fewer than 2k; returns the next label.

    Halves them along the way from one end to the other until they are few enough.
    """
    waiting = [(0, members.shape[0])]
    while len(waiting) > 0:
        first, last = waiting.pop()
        part = members[first:last]
        m = last - first
        if m < 2 * k:
            for i in part:
                labels[i] = label
            label += 1
            continue
        # three times to the furthest from the end before: the last two lie far apart
        apart, gap, furthest = np.empty(m), np.empty(m), part[0]
        for _ in range(3):
            start, most = furthest, -1.0
            for p in range(m):
                before, gap[p] = gap[p], distance(data, start, part[p])
                # from the third end less from the second
                apart[p] = gap[p] - before
                if gap[p] > most:
                    most, furthest = gap[p], part[p]
        # stable: ties stay in canonical order, so that equal input is equal output
        order, moved = np.empty(m, np.int64), np.empty(m, np.int64)
        sort_stably(apart, order, moved)
        for p in range(m):
            moved[p] = part[order[p]]
        for p in range(m):
            part[p] = moved[p]
        # halves of m records have k each, since m is 2k at least
        waiting.append((first, first + m // 2))
        waiting.append((first + m // 2, last))
    return label


@kernel
def load_groups(data: Any, labels: Any, room: int, capacity: int) -> Any:
    """The groups under change, with room for so many of so many records, and the numbers of those
    that are still empty."""
    n = labels.shape[0]
    groups = hold_groups(data, room, capacity)
    for i in range(n):
        join(data, i, labels[i], groups)
    spare = Spare(np.zeros(room, np.int64), np.zeros(1, np.int64))
    # taken from the end, so the lowest number is the first to be used
    for g in range(room - 1, -1, -1):
        if groups.sizes[g] == 0:
            spare.numbers[spare.left[0]] = g
            spare.left[0] += 1
    for g in range(room):
        settle(data, g, groups)
    return groups, spare


@kernel
def _spread(data: Any, sites: DistinctPoints, count: int) -> Any:
    """Mean squared distance of each record to the nearest ``count`` other sites: float64, shape
    (n,)."""
    site_of, start, order, near = sites
    out = np.empty(site_of.shape[0])
    for i in range(out.shape[0]):
        total = 0.0
        for rank in range(count):
            j = order[start[near[site_of[i], rank]]]  # any record of the site is as far away
            total += distance(data, i, j)
        out[i] = total / count
    return out


def _small(data: Any, labels: Labels, k: int) -> Labels:
    """The same groups, those of 2k or more split."""
    sizes = np.bincount(labels)
    label, out = len(sizes), labels.copy()
    order, stops = label_order(labels), np.cumsum(sizes)
    for g in np.flatnonzero(sizes >= 2 * k):
        label = _split(data, order[stops[g] - sizes[g] : stops[g]].copy(), k, out, label)
    return number_by_first(out)


def loss_of(points: Points, labels: Labels) -> float:
    """What refine makes less of: Total-IL of LossPoints, else squared errors."""
    return total_il(points, labels) if isinstance(points, LossPoints) else sse(points, labels)


def data_of(points: Points) -> Any:
    """The records as the kernels take them."""
    if isinstance(points, LossPoints):
        return pack_records(points)
    return squared_records(points)


class Ground:
    """What searches among the same records have in common.

    Attributes:
        points: n records in canonical order.
        k: the least group size.
        data: the records, SquaredRecords or PackedRecords.
    """

    def __init__(
        self, points: Points, k: int, watch: Watch, near: int = NEAR, loss_near: int = LOSS_NEAR
    ) -> None:
        """``near``: how many neighbours a record has; ``loss_near``: of LossPoints."""
        self.points, self.k, self.data, self._watch = points, k, data_of(points), watch
        self._near = loss_near if isinstance(points, LossPoints) else near

    def of_part(self, part: Labels) -> Ground:
        """The ground of some of the records. If it is most of them, most of their neighbours are
        among them, and are kept."""
        ground = Ground(self.points.part(part), self.k, self._watch)
        if 2 * len(part) > len(self.points):
            ground.sites = _sites_of(self.sites, part)
        return ground

    @cached_property
    def sites(self) -> DistinctPoints:
        """The distinct points; found when a search first needs them. Raises StoppedError when the
        watch was asked to stop."""
        sites = _sites(self.points, self._near, self._watch)
        self._watch.check()
        return sites

    @cached_property
    def spread(self) -> Floats | None:
        """What a record's allowance goes by beside the loss, where that is the squared error:
        float64, shape (n,). 0 where no record has a neighbour, since all are alike."""
        if isinstance(self.points, LossPoints):
            return None
        if self.sites.near.shape[1] == 0:
            return np.zeros(len(self.points))
        count = max(1, min(self.k - 1, self.sites.near.shape[1]))
        spread: Floats = _spread(self.data, self.sites, count)
        return spread


class Refining:
    """A search that goes on for as long as it is asked to.

    Attributes:
        labels: the best grouping at the end of a cycle so far, numbered by first records; a later
            one has to be strictly better.
        loss: what it loses.
        last: the grouping at the end of the last cycle, which may lose more.
        step: where the search is.
        over: whether nothing can be gained any more.
    """

    def __init__(
        self, ground: Ground, labels: Labels, cycles: Iterator[Cycle], watch: Watch,
        helpers: Helpers | None = None,
    ) -> None:
        """``labels``: numbered by first records, groups of k or more. The search begins where the
        first of the cycles does. ``helpers``: threads that judge ahead, if any do."""
        self._ground, self._cycles, self._watch = ground, cycles, watch
        self.labels, self.loss = labels, loss_of(ground.points, labels)
        self._beat, self._cycle = watch.beat(), next(cycles)
        self._judging = Judging(len(labels), helpers)
        self.step = self._cycle.begin
        self._offer(_small(ground.data, labels, ground.k))
        self.over = ground.k == 1 or len(labels) < 2 * ground.k or self.loss <= 0.0
        # one point has no neighbours: its loss is a rounding error
        self.over = self.over or ground.sites.near.shape[1] == 0
        if not self.over:
            self._work = self._begun()

    def _offer(self, labels: Labels) -> None:
        self.last = labels
        loss = loss_of(self._ground.points, labels)
        if loss < self.loss:
            self.labels, self.loss = labels, loss

    def _begun(self) -> LocalSearch:
        """A cycle that begins, from the best and not from where the one before ended."""
        data, k, n = self._ground.data, self._ground.k, len(self.labels)
        groups, spare = load_groups(data, _small(data, self.labels, k), n // k, 2 * k)
        # the temperature counts in what a record loses on average by now
        unit = np.full(n, self.loss / n)
        if self._ground.spread is not None:
            unit = np.sqrt(self._ground.spread * unit)
        changes = no_changes(n // k, k, self._ground.sites)
        return LocalSearch(data, groups, self._ground.sites, spare, unit, k, changes, Free())

    def _anneal(self, cycle: Cycle, ahead: int) -> None:
        self._judging.anneal(self._work, cycle, self.step, ahead, self._beat)
        self._watch.check()

    def forward(self, steps: int) -> None:
        """Goes on by a chunk, up to that step at most. Raises StoppedError when the watch was asked
        to stop."""
        if self.over or self.step >= steps:
            return
        if self.step == self._cycle.begin + self._cycle.length:
            self._work, self._cycle = self._begun(), next(self._cycles)
        end = self._cycle.begin + self._cycle.length
        ahead = min(self.step + CHUNK, end, steps)
        self._anneal(self._cycle, ahead)
        self.step = ahead
        if ahead == end:
            self._offer(number_by_first(self._work.groups.labels))
            self.over = self.loss <= 0.0

    def finish(self) -> None:
        """Ends the search, within a cycle by a few cold steps that don't count: what it has while
        it is hot is worse than what they leave."""
        begin, length, hot = self._cycle
        if self.over or not begin < self.step < begin + length:
            return
        if hot > 0.0:
            progress = self._beat[DONE]
            length = FINISH * len(self.labels)
            self._anneal(Cycle(self.step, length, 0.0), self.step + length)
            self._beat[DONE] = progress
        self._offer(number_by_first(self._work.groups.labels))


def refine(
    points: Points, labels: Labels, k: int, steps: int, seconds: float | None, watch: Watch
) -> Refined:
    """Looks for a grouping of less loss, with all groups of k or more.

    What it makes less of is ``total_il`` where the points are LossPoints, else ``sse``.

    Cycles of simulated annealing, each four times as long as the one before, the first one cold.
    The result is the best grouping at the end of a cycle or of the search, or the labels given if
    none has a lower loss. It depends on the records, the partition, k and the steps made, not
    on how groups are numbered. Time O(steps), besides the neighbours of n records.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1; every group has k or more records.
        k: the least group size.
        steps: how many visits of a record to make at most.
        seconds: wall-clock time after which it stops early, or None; stopped after s steps the
            result is that of ``steps=s``.
        watch: told of the steps made; its stop ends the search with StoppedError.
    """
    layout = layout_of(points)
    if layout is None:
        return _refined(points, labels, k, steps, seconds, watch)
    laid = layout.of(labels)
    refined = _refined(points.part(layout.order), laid, k, steps, seconds, watch)
    better = labels if refined.labels is laid else layout.back(refined.labels)
    return replace(refined, labels=better)


def _refined(
    points: Points, labels: Labels, k: int, steps: int, seconds: float | None, watch: Watch
) -> Refined:
    """The same of records that stay where they are."""
    started = perf_counter()
    start, stopped = number_by_first(labels), False
    n, ground = len(points), Ground(points, k, watch)
    with helpers_for(n) as helpers:
        lane = Refining(ground, start, cycles_of(n), watch, helpers)
        while lane.step < steps and not lane.over and not stopped:
            stopped = seconds is not None and perf_counter() - started >= seconds
            if not stopped:
                lane.forward(steps)
        lane.finish()
    return Refined(labels if lane.labels is start else lane.labels, lane.step, stopped)
