"""Makes classes no wider than a largest diameter, where that is possible by moving few records.

To decide whether there are such classes at all is NP-hard (aggarwal2006, section 3.1, leaves the
details to a full version), so not finding any proves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.centers.improve import diameters
from kanon_sql.points.distances import distances_between
from kanon_sql.points.points import Floats, Labels, MetricPoints
from kanon_sql.search.threshold_tree import Ball, ThresholdTree, members_within, new_threshold_tree

ROUNDS = 3
"""How often records that found no class try again."""


@kernel
def _within(threshold_tree: ThresholdTree, x: int, wide: float, ball: Ball) -> int:
    """Fills the ball with the records within a distance of x; how many there are."""
    count: int = members_within(threshold_tree, x, wide, -np.inf, ball)
    return count


class Narrowing:
    """Classes that become narrow.

    Args:
        points: n records.
        k: the least size of a class.
        labels, centers: the classes.
        wide: the largest diameter.
        watch: its stop raises StoppedError.
    """

    def __init__(
        self, points: MetricPoints, k: int, labels: Labels, centers: Labels, wide: float,
        watch: Watch,
    ) -> None:
        self.points, self.k, self.labels, self.wide = points, k, labels.copy(), wide
        self.watch, self.threshold_tree = watch, new_threshold_tree(points)
        self.ball = Ball(np.empty(len(points), np.int64), np.empty(len(points)))
        self.sizes = np.bincount(labels[labels >= 0], minlength=len(centers)).tolist()
        self.loose: list[int] = []
        for g in np.flatnonzero(diameters(points, labels, watch) > wide):
            self._loosen(int(g), int(centers[g]))

    def _loosen(self, g: int, center: int) -> None:
        """Takes records out of a class until it is narrow, or all, if fewer than k would stay;
        those near to the center stay first."""
        own = np.flatnonzero(self.labels == g)
        away = distances_between(self.points, center, own)
        kept = self._close(own[np.argsort(away, kind="stable")], len(own))
        # too few would stay: the class is given up, and all of its records look for another
        kept = kept if len(kept) >= self.k else []
        self.labels[own], self.sizes[g] = -1, len(kept)
        self.labels[kept] = g
        self.loose += [int(i) for i in own if self.labels[i] < 0]

    def _close(self, rows: Any, most: int) -> list[int]:
        """Of these records in their order those that are close to all taken before, up to many."""
        taken: list[int] = []
        while len(rows) > 0 and len(taken) < most:
            taken.append(int(rows[0]))
            rows = rows[1:]
            rows = rows[distances_between(self.points, taken[-1], rows) <= self.wide]
        return taken

    def _place(self, x: int) -> bool:
        """Puts a record into the class where the farthest record is nearest, of those that stay
        narrow; or into a new one, with records that are in none, or in one of more than k."""
        count = _within(self.threshold_tree, x, self.wide, self.ball)
        near, away = self.ball.records[:count], self.ball.distances[:count]
        labels, sizes = self.labels[near], np.array(self.sizes)
        placed = labels >= 0
        farthest = np.zeros(len(sizes))
        np.maximum.at(farthest, labels[placed], away[placed])
        # a class stays narrow where all of its members are among the near ones
        fits = np.bincount(labels[placed], minlength=len(sizes)) == sizes
        fits = np.flatnonzero(fits & (sizes > 0))
        if len(fits) > 0:
            self.labels[x] = fits[np.argmin(farthest[fits])]
            self.sizes[self.labels[x]] += 1
            return True
        order = np.lexsort((near, away))
        near, labels = near[order], labels[order]
        spare = np.where(labels < 0, len(self.labels), sizes[labels] - self.k)
        # a class may lend what it has above k: of its members the nearest ones
        earlier = np.zeros(len(near), np.int64)
        by_class = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_class], labels[by_class])
        earlier[by_class] = np.arange(len(near)) - starts
        # a new class takes only records that are free, or that their class can spare
        team = self._close(near[earlier < spare], self.k)
        if len(team) < self.k:
            return False
        for i in team:
            if self.labels[i] >= 0:
                self.sizes[self.labels[i]] -= 1
        self.labels[team] = len(self.sizes)
        self.sizes.append(self.k)
        return True

    def run(self, least: Floats, spare: int) -> Labels | None:
        """Places all loose records but ``spare``, those with the farthest neighbours first.

        Args:
            least: float64, shape (n,); the distance of each record to its (k-1)-th nearest.
            spare: how many may be left out.

        Returns:
            Labels 0 .. groups-1, -1 for those left out; None where too many are loose still.
        """
        waiting = sorted(self.loose, key=lambda i: (-least[i], i))
        for _ in range(ROUNDS):
            before = len(waiting)
            for x in waiting:
                self.watch.check()
                if self.labels[x] < 0:
                    self._place(x)
            waiting = [x for x in waiting if self.labels[x] < 0]
            if len(waiting) in (0, before):
                break
        if len(waiting) > spare:
            return None
        numbers = np.cumsum(np.array(self.sizes) > 0) - 1
        return np.where(self.labels >= 0, numbers[self.labels], -1)
