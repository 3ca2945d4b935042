"""Groupings made better by set partitioning: of many classes, those that hold each record once.

The classes of a region, all records of some classes near to each other, are parted anew by column
generation. A linear program takes classes in part, so that each record is taken once; it prices the
records. Classes that cost less than the prices of their records are looked for near to those that
are taken, and come in, until there are none. Then no grouping of the region costs less than the
program, and a grouping better than the one at hand has only classes whose reduced cost is below the
difference. Of those, the ones that are found, up to a number, go into an integer program. A class
at hand that the linear program takes whole stays, and its records are not in it: the more of them,
the more records a region may have.

Column generation for microaggregation: Aloise, Hansen, Rocha and Santi (2014). There the classes
that come in are found exactly, which bounds the optimum; here near classes are looked through, in
one region after the other, so nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.methods.local_search.highs import CoverProblem, Solver
from kanon_sql.methods.local_search.refine import data_of, loss_of
from kanon_sql.methods.local_search.variations import (
    PricedClasses,
    cheapest,
    class_costs,
    class_rows,
    vary,
)
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Floats, Labels, Points
from kanon_sql.search.nearest_lists import nearest_lists

NEAR = 16
"""How many records near to one of its own may join a class."""

ROUNDS, PATIENCE, LITTLE = 60, 4, 0.02
"""Rounds of column generation at most, and how many may go by in which the program falls by less
than LITTLE of what it lies below the grouping at hand."""

NEW = 3
"""Classes of each record that come in at once."""

ROOM, WIDE, MOST, NODES = 150, 4, 16, 20
"""Per record: the variations that are looked at, of that many classes, and the classes of an
integer program; nodes of its tree."""

WHOLE = 1.0 - 1e-6
"""How far a class is taken whole, as a solver counts."""

GAIN = 1e-9
"""What must be gained, as a share of the loss: more than rounding errors and tolerances."""

Check = Callable[[], None]


class Region:
    """Records of some classes, which are parted anew.

    Attributes:
        used: rows of classes that the linear program took in part, by the numbers of the records
            in the region: int32, shape (m, 2k - 1).
        free: how many records are in no class that the linear program took whole and left.
    """

    def __init__(self, points: Points, labels: Labels, k: int, known: Any, solver: Solver) -> None:
        """``labels``: the grouping at hand, numbered by first records; ``known``: rows of other
        classes, int32, shape (m, 2k - 1)."""
        self.points, self.labels, self.k, self._solver = points, labels, k, solver
        self._data = data_of(points)
        self._near = nearest_lists(embedded(points), NEAR)
        room = ROOM * len(points) * k
        self._found = PricedClasses(np.empty((room, 2 * k - 1), np.int32), np.empty(room))
        self._reduced = np.empty(room)
        own = self._priced(class_rows(labels, k))
        self.used, self.free = own.rows, 0
        self._own, self._cost = len(own.costs), float(own.costs.sum())
        self._classes = own.joined(self._priced(known)) if len(known) else own

    def _priced(self, rows: Any) -> PricedClasses:
        """Classes with what they cost."""
        return PricedClasses(rows, class_costs(self._data, rows, self.k))

    def _varied(self, rows: Any, prices: Floats, limit: float) -> tuple[PricedClasses, Floats]:
        """Classes near to these, of reduced cost below the limit, and their reduced costs."""
        count = vary(
            self._data, self._near, prices, rows, self.k, limit, self._found, self._reduced
        )
        return self._found.taken(slice(count)), self._reduced[:count]

    def _cover(self, classes: PricedClasses, nodes: int) -> CoverProblem:
        """The program of these classes, which hold the records that are in one of them."""
        within = classes.rows >= 0
        starts = np.append(0, np.cumsum(within.sum(axis=1)))
        records, members = np.unique(classes.rows[within], return_inverse=True)
        return CoverProblem(len(records), nodes, classes.costs, starts, members.ravel())

    def _generate(self, check: Check) -> tuple[Floats, Any]:
        """Lets classes come in until there is nothing to be gained; the prices then, float64,
        shape (n,), or empty; and which of the classes at hand the program takes whole."""
        least, idle, n = np.inf, 0, len(self.points)
        prices, whole = np.zeros(0), np.zeros(self._own, np.bool_)
        for _ in range(ROUNDS):
            solution = self._solver.solve(self._cover(self._classes, 0), check)
            if len(solution) == 0:
                break
            prices, whole = solution[:n], solution[n:][:self._own] > WHOLE
            bound = float(prices.sum())
            idle = 0 if least - bound > LITTLE * (self._cost - bound) else idle + 1
            least = min(least, bound)
            taken = self._classes.reduced(prices) < GAIN * self._cost
            self.used = self._classes.rows[taken]
            variants, reduced = self._varied(self.used, prices, -GAIN * self._cost)
            if len(reduced) == 0 or idle > PATIENCE:
                break
            new = cheapest(variants, reduced, 0.0, NEW)
            self._classes = self._classes.joined(variants.taken(new))
        return prices, whole

    def parted(self, check: Check) -> Labels | None:
        """A better grouping, numbered by first records; None where none is found.

        ``check`` is called now and then, and may raise.
        """
        n = len(self.points)
        prices, whole = self._generate(check)
        if len(prices) == 0 or self._cost - prices.sum() <= GAIN * self._cost:
            return None
        gap, stays = self._cost - float(prices.sum()), self._classes.rows[:self._own][whole]
        self.free = n - int((stays >= 0).sum())
        if self.free == 0:
            return None
        own = self._classes.taken(slice(self._own))
        for _ in range(2):
            check()
            near = cheapest(self._classes, self._classes.reduced(prices), gap, WIDE)
            variants, _ = self._varied(self._classes.rows[near], prices, gap)
            self._classes = self._classes.joined(variants)
        some = cheapest(self._classes, self._classes.reduced(prices), gap, MOST)
        # the classes at hand are among them, so that there is a solution
        chosen = own.joined(self._classes.taken(some))
        free = np.ones(n + 1, np.bool_)
        free[stays[stays >= 0]] = False
        chosen = chosen.taken(free[chosen.rows].all(axis=1))
        solution = self._solver.solve(self._cover(chosen, NODES), check)
        if len(solution) == 0:
            return None
        labels = np.full(n, -1, np.int64)
        rows = np.concatenate([stays, chosen.rows[solution > 0.5]])
        for g, row in enumerate(rows):
            labels[row[row >= 0]] = g
        # the solver counts with tolerances
        if (rows >= 0).sum() != n or labels.min() < 0:
            return None
        labels = number_by_first(labels)
        lost = loss_of(self.points, labels), loss_of(self.points, self.labels)
        return labels if lost[0] < lost[1] * (1.0 - GAIN) else None


def load_kernels(points: Points, k: int) -> None:
    """Compiles what a region needs, or loads it from the cache, so that no search has to in its
    middle."""
    few = np.arange(min(len(points), 2 * k - 1))
    none = np.zeros((0, 2 * k - 1), np.int32)
    region = Region(points.part(few), np.zeros(len(few), np.int64), k, none, Solver())
    # nothing costs less than that, so that nothing is written
    region._varied(region.used, np.zeros(len(few)), -np.inf)
