"""The search of the method best: several searches side by side, then set partitioning.

One clock counts steps, and what is done at each of them does not depend on where the search is to
end, nor on how many cores there are. So a search that stopped for time is one of as many steps.
First all starts are refined, each by as many steps, so that the result is never above what refine
makes of any of them. Then rounds follow: a long cycle of annealing from the best so far, WAYS times
where there are few records; and turns of set partitioning over regions, where there are few. Each
round is GROWTH times as long as the one before.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from functools import partial
from time import perf_counter

import numpy as np

from kanon_sql.kernel.parallel import in_parallel, threads
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.local_search.highs import Solver
from kanon_sql.methods.local_search.partitioning import Region, load_kernels
from kanon_sql.methods.local_search.refine import HOT, Ground, Refined, Refining, cycles_of, loss_of
from kanon_sql.methods.local_search.regions import cut_regions
from kanon_sql.methods.local_search.state import Cycle
from kanon_sql.methods.local_search.variations import class_rows
from kanon_sql.methods.search_steps import FEW, LARGE, LOSS_STEPS, REFINE_STEPS, default_steps
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Codes, Labels, LossPoints, Points

LONG, LONG_BY_LOSS, LEAST = 60_000_000, 40_000_000, 80
"""Steps of the first long cycle, for squared errors and for information loss, whose steps take
longer; and the least for each record."""

WAYS, ALIKE = 4, 20_000
"""Long cycles side by side, and up to how many records there is more than one: among more, all end
with nearly the same loss."""

GROWTH = 4

PARTED, LARGEST = 5_000, 6
"""Records, and k, up to which there is set partitioning: regions of larger classes are too few
classes."""

REGION, WIDER = 5_000, 1.3
"""Records of an integer program, times the square of k: the larger the classes, the harder it is. A
region is wider, as far as the linear programs of the turn before left classes as they were; from
turn to turn at most so many times, since those of a wider region leave fewer."""

TURNS, ROWS = 6, 27_000
"""Turns of set partitioning in a round, and the records in all of them, if one turn has no more."""

ROUNDING = 1e-24
"""What a class of equal records may seem to lose, for each of them: squared rounding errors."""

TURN = 16
"""Chunks between two looks at the clock."""

AWAY = 1 << 40
"""Steps between the beginnings of two long cycles, by which chance differs: more than one has."""


def polish(points: Points, k: int) -> int:
    """The steps that each start gets: those of refine."""
    most = LOSS_STEPS if isinstance(points, LossPoints) else REFINE_STEPS
    return default_steps(len(points), k, most)


def long_cycle(points: Points, k: int) -> int:
    """Steps of the first long cycle."""
    n, by_loss = len(points), isinstance(points, LossPoints)
    most = LONG_BY_LOSS if by_loss else LONG
    if turns(n, k) > 0 or (by_loss and n <= ALIKE):
        most //= 2  # the time goes into set partitioning, or into steps that take longer
    steps = max(LEAST * n, most * min(n, FEW) // FEW)
    return steps if k <= LARGE else max(n, steps * LARGE // k)


def ways(points: Points) -> int:
    """How many long cycles there are side by side."""
    return WAYS if len(points) <= ALIKE else 1


def turns(n: int, k: int) -> int:
    """Turns of set partitioning in a round; each counts as n steps."""
    return min(TURNS, max(1, ROWS // n)) if n <= PARTED and 1 < k <= LARGEST else 0


def all_steps(points: Points, k: int) -> int:
    """Steps up to the end of the first round."""
    n = len(points)
    return polish(points, k) + long_cycle(points, k) + turns(n, k) * n


def visits(points: Points, k: int, starts: int, steps: int) -> int:
    """How many records are visited in so many steps, by all searches together."""
    first, length, parted = polish(points, k), long_cycle(points, k), turns(len(points), k)
    total, left = starts * min(steps, first), max(steps - first, 0)
    while left > 0:
        total += ways(points) * min(left, length)
        left -= length
        total += min(max(left, 0), parted * len(points))
        left, length = left - parted * len(points), length * GROWTH
    return total


class _LateError(Exception):
    """The time is over."""


class LongSearch:
    """One such search.

    Attributes:
        labels: the best grouping so far, numbered by first records.
        loss: what it loses.
    """

    def __init__(
        self, points: Points, k: int, steps: int, seconds: float | None, watch: Watch
    ) -> None:
        """``steps``, ``seconds``: where it ends; as refine has them."""
        self._points, self._k, self._steps, self._watch = points, k, steps, watch
        self._until = np.inf if seconds is None else perf_counter() + seconds
        self._ground = Ground(points, k, watch)
        self._step, self._stopped = 0, False
        self.labels, self.loss = np.zeros(0, np.int64), np.inf
        self._begin, self._width = 0, float(REGION)
        self._known: list[Codes] = []

    def _late(self) -> bool:
        return perf_counter() >= self._until

    def _offer(self, labels: Labels, loss: float) -> None:
        if loss < self.loss:
            self.labels, self.loss = labels, loss

    def _way(self, length: int) -> Refining:
        """A search of one cycle from the best so far, by other chances than all before."""
        self._begin += AWAY
        cycle = Cycle(self._begin, length, HOT)
        return Refining(self._ground, self.labels, iter([cycle]), self._watch)

    def _together(self, searches: Sequence[Refining], length: int) -> None:
        """Searches side by side, each for as many steps."""
        begins, done = [one.step for one in searches], 0
        ahead = min(length, self._steps - self._step)

        def forward(one: Refining, end: int) -> None:
            chunks = 0
            while one.step < end and not one.over and (self._until == np.inf or chunks < TURN):
                one.forward(end)
                chunks += 1

        while done < ahead and not self._stopped:
            self._stopped = self._late()
            if not self._stopped:
                in_parallel([
                    partial(forward, one, begin + ahead)
                    for one, begin in zip(searches, begins, strict=True)
                ])
                # those that are over have nothing more to do; the others are all at the same step
                steps = [
                    one.step - begin for one, begin in zip(searches, begins, strict=True)
                    if not one.over
                ]
                done = max(steps, default=ahead)
        in_parallel([one.finish for one in searches])
        self._step += done

    def _gather(self, searches: Sequence[Refining]) -> None:
        """Takes what searches among all records have come to."""
        for one in searches:
            self._offer(one.labels, one.loss)
            if turns(len(self._points), self._k) > 0:
                self._known.append(class_rows(one.last, self._k))

    def _check(self) -> None:
        self._watch.check()
        if self._late():
            raise _LateError

    def _parted(self, turn: int, solvers: queue.SimpleQueue[Solver]) -> bool:
        """Parts the records of all regions anew. Raises _LateError.

        Returns: whether another turn may gain.
        """
        points, labels, k, n = self._points, self.labels, self._k, len(self._points)
        known = np.unique(np.concatenate(self._known), axis=0)

        def part(members: Labels) -> tuple[Labels | None, Codes, int]:
            self._check()
            # numbers in the region, one that is too high for others, and none for none
            number = np.full(n + 1, n)
            number[members], number[-1] = np.arange(len(members)), -1
            rows = number[known]
            rows = rows[(rows < n).all(axis=1)].astype(np.int32)
            solver = solvers.get()
            try:
                current = number_by_first(labels[members])
                region = Region(points.part(members), current, k, rows, solver)
                part_labels = region.parted(self._check)
            finally:
                solvers.put(solver)
            self._watch.beat()[DONE] = len(members)
            return part_labels, np.append(members, -1)[region.used].astype(np.int32), region.free

        cut = cut_regions(points, labels, max(int(self._width) // (k * k), 4 * k), turn)
        parts = in_parallel([partial(part, members) for members in cut])
        better = labels.copy()
        for members, (part_labels, used, _) in zip(cut, parts, strict=True):
            self._known.append(used)
            if part_labels is not None:
                better[members] = part_labels + better.max() + 1
        better = number_by_first(better)
        free = sum(free for *_, free in parts)
        self._width = min(WIDER * self._width, REGION * n / max(free, 1))
        self._offer(better, loss_of(points, better))
        # all records in one region again, and from the same grouping: nothing would be new
        return len(parts) > 1 or parts[0][0] is not None

    def _partition(self, first: int) -> None:
        """The turns of set partitioning of a round."""
        n, may_gain = len(self._points), True
        solvers: queue.SimpleQueue[Solver] = queue.SimpleQueue()
        all_solvers = [Solver() for _ in range(threads())]
        for solver in all_solvers:
            solvers.put(solver)
        try:
            for turn in range(turns(n, self._k)):
                if self._step + n > self._steps:
                    self._step = self._steps
                    break
                may_gain = may_gain and self._parted(first + turn, solvers)
                self._step += n
        except _LateError:
            self._stopped = True
        finally:
            for solver in all_solvers:
                solver.close()

    def run(self, starts: Sequence[Labels]) -> Refined:
        """The best grouping, from any starts.

        Args:
            starts: int64, shape (n,), 0 .. groups-1 each; every group has k or more records.
        """
        n, k = len(self._points), self._k
        if turns(n, k) > 0:
            load_kernels(self._points, k)
        groupings = [number_by_first(start) for start in starts]
        searches = [Refining(self._ground, start, cycles_of(n), self._watch) for start in groupings]
        self._together(searches, polish(self._points, k))
        self._gather(searches)
        length, turn = long_cycle(self._points, k), 0
        while self._step < self._steps and not self._stopped and self._may_gain():
            searches = [self._way(length) for _ in range(ways(self._points))]
            self._together(searches, length)
            self._gather(searches)
            if not self._stopped and self._step < self._steps:
                self._partition(turn)
            turn += turns(n, k)
            length *= GROWTH
        return Refined(self.labels, self._step, self._stopped)

    def _may_gain(self) -> bool:
        n = len(self._points)
        few = self._k == 1 or n < 2 * self._k
        return not few and self.loss > ROUNDING * n and self._ground.sites.near.shape[1] > 0
