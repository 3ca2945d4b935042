"""Classes of k or more records, the sum of records times radii small (aggarwal2006, section 3.1).

The paper's r is k here. Shared clusters (shared_clusters.py) cost 6 OPT at most, disjoint ones
(disjoint_clusters.py) 10 times that, and what follows (improve.py) never costs more: 60 OPT, where
the paper says 80.

All that is about clusterings whose centers are records, as those of the paper are; OPT is the least
cost of them. What is published may cost less. The least cost around any points is OPT / 2 or more
(lower_bounds.py), so ratios double: 120, or 60 of OPT with centers 'rows', where records are
published; and centroids, with centers 'means', may cost twice what the records do: 240.

Lower bounds. Of OPT, half the dual value is one: opening costs k * d, which is no more than what
the records of a class pay. Another follows from what each record needs: see lower_bounds.py for
need_i and ``cheapest_classes``; need_i is that of v = i, or of one of the k-1 nearest v, as all
others are no closer than what v = i has. Around any points, half of the first is a bound, a quarter
of the dual value; and cheapest_classes of half the distances to the (k-1)-th nearest, which is no
less than half of the second.

Records left out. The shared clusters cost 6 OPT and 3 unpaid, where unpaid <= k * most: radii above
``most`` are not allowed. Let D be the largest radius of an optimal clustering; OPT >= k * D. A run
with most >= D and unpaid <= STEP * k * D has shared clusters of (6 + 3 STEP) OPT: 100 OPT in all.
So the first run allows all radii. If the optimum's D is less than unpaid / (STEP * k), that says
nothing, and the next run allows radii up to that; this is below 1 / STEP of the last one. It ends
where no clustering has such a small D, or where the bounds already say that the best so far is good
enough. OPT is no less than the least of max(bounds of the runs so far, k * the next ``most``), each
taken where a run ends.

A largest diameter. Nothing is guaranteed then, and it may be that no classes are found though there
are some: to tell is NP-hard. Runs with several ``most`` are tried, and classes halved that are too
wide; where that is not enough a few records are moved (limit_diameter.py). Without that, the runs
do not depend on the diameter asked for, and a larger one halves a part of what a smaller one does:
so what the error says there is will be found if it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.centers import RCellularOptions
from kanon_sql.methods.centers.disjoint_clusters import Disjoint
from kanon_sql.methods.centers.improve import cheapen, costs, diameters, halve
from kanon_sql.methods.centers.limit_diameter import Narrowing
from kanon_sql.methods.centers.lower_bounds import FREE, cheapest_classes
from kanon_sql.methods.centers.medoids import best_centers
from kanon_sql.methods.centers.shared_clusters import share
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.distances import distances_between
from kanon_sql.points.points import Grouping, Labels, MetricPoints
from kanon_sql.search.nearest_lists import nearest_lists

RATIO, WITH_EPSILON = 60.0, 100.0
"""What the cost is at most, over the least possible around records."""

STEP = 4.0 / 3.0
"""See above; WITH_EPSILON is 10 * (6 + 3 * STEP)."""

NEAR = 8
"""The nearest records to whose classes a record may move, at least."""

TIGHTER, TINY = 2.0, 1e-3
"""Where there is a largest diameter: by how much the radius shrinks from run to run, and the share
of the first at which that ends."""


@dataclass(frozen=True)
class _Clustering:
    """The classes of a run.

    Attributes:
        labels, centers: of the classes.
        cost: the sum of records times radii.
        bound, unpaid: as in Shared.
    """

    labels: Labels
    centers: Labels
    cost: float
    bound: float
    unpaid: float


class _CellularTask:
    """What is asked for, and what all runs need.

    Attributes:
        least: float64, shape (n,); the distance of each record to its (k-1)-th nearest.
        needs: float64, shape (n,), ascending; what each record needs.
        needed, radius: lower bounds of the cost and of the largest radius, around records.
        widest: the largest radius of a cluster that opened.
    """

    def __init__(self, points: MetricPoints, k: int, out: int, watch: Watch) -> None:
        self.points, self.k, self.out, self.watch = points, k, out, watch
        n = len(points)
        self.near = nearest_lists(points, max(k - 1, NEAR), watch.beat())
        self.lists = np.ascontiguousarray(self.near[:, : k - 1])
        watch.check()
        rows = np.arange(n)
        self.least = np.zeros(n)
        if k > 1:
            self.least = distances_between(points, rows, self.lists[:, -1])
        needs = self.least.copy()
        for near in self.lists.T:
            needs = np.minimum(
                needs, np.maximum(self.least[near], distances_between(points, rows, near))
            )
        self.needs = np.sort(needs)
        kept = self.needs[: n - out]
        self.radius = float(kept[-1])
        self.needed = max(math.fsum(kept), k * self.radius)
        self.runs, self.widest = 0, 0.0

    def bound(self, lower: float, rows: bool) -> float:
        """The best lower bound of the cost, around records or else around any points; ``lower`` is
        one around records."""
        if rows:
            return max(lower, cheapest_classes(self.needs, self.k, self.out))
        halves = np.sort(self.least) / 2.0
        return max(lower / FREE, cheapest_classes(halves, self.k, self.out))

    def narrowed(self, clustering: _Clustering, wide: float) -> _Clustering | None:
        """The classes with some records moved, so that none is wider than ``wide``."""
        points, watch = self.points, self.watch
        spare = self.out - int(np.sum(clustering.labels < 0))
        narrowing = Narrowing(points, self.k, clustering.labels, clustering.centers, wide, watch)
        labels = narrowing.run(self.least, spare)
        if labels is None:
            return None
        centers = best_centers(points, labels, None, watch)
        return replace(
            clustering, labels=labels, centers=centers,
            cost=math.fsum(costs(points, labels, centers)),
        )

    def limits(self, wide: float) -> Iterator[float]:
        """Limits of radii to be tried: none, then ever smaller ones down to the least possible;
        those above ``wide`` are left out."""
        yield np.inf
        most = self.widest / TIGHTER
        while most > max(self.radius, TINY * self.widest):
            if most <= wide:
                yield most
            most /= TIGHTER
        yield self.radius

    def run(self, most: float, wide: float) -> _Clustering | None:
        """Classes made of clusters with radii up to ``most``; halved where wider than ``wide``."""
        points, k, watch = self.points, self.k, self.watch
        if self.runs > 0:
            watch.expect(len(points))
        self.runs += 1
        shared = share(points, k, self.lists, self.least, most, self.out, watch)
        if shared is None:
            return None
        centers, classes = Disjoint(points, k, shared.centers, shared.members).classes()
        labels = np.full(len(points), -1, np.int64)
        for g, members in enumerate(classes):
            labels[members] = g
        chosen = np.array(centers, np.int64)
        if wide == np.inf:
            labels, chosen = cheapen(points, k, self.near, labels, chosen, wide, watch)
        else:
            labels, chosen = halve(points, k, labels, chosen, wide, watch)
        cost = math.fsum(costs(points, labels, chosen))
        self.widest = max(self.widest, shared.widest)
        return _Clustering(labels, chosen, cost, shared.bound, shared.unpaid)


def _cheapest(task: _CellularTask) -> tuple[_Clustering, float]:
    """The cheapest of the runs, and a lower bound of the least possible cost around records."""
    most, bound, lower, best = np.inf, task.needed, np.inf, None
    while True:
        clustering = task.run(most, np.inf)
        if clustering is None:
            raise DataError(
                "Some rows are too far from all others for a distance. Leave them out, or scale "
                "the columns down."
            )
        best = clustering if best is None or clustering.cost < best.cost else best
        bound = max(bound, clustering.bound)
        most = clustering.unpaid / (STEP * task.k)
        if clustering.unpaid == 0.0 or most < task.radius or best.cost <= WITH_EPSILON * bound:
            return best, min(lower, bound)
        # either the optimum's largest radius is below the next limit, or its cost is at least k of
        # it
        lower = min(lower, max(bound, task.k * most))


def _narrow(task: _CellularTask, wide: float) -> tuple[_Clustering, float]:
    """The cheapest of the runs whose classes have no diameter above ``wide``, and a lower bound,
    around records.

    Raises:
        DataError: there is none.
    """
    lonely = int(np.sum(task.least > wide))
    if lonely > task.out:
        raise DataError(
            f"{lonely} rows have fewer than k-1 others within max_diameter, and {task.out} may be "
            "left out. Raise max_diameter or epsilon, or lower k."
        )
    best, bound, narrowest = None, task.needed, np.inf
    for most in task.limits(wide):
        clustering = task.run(most, wide)
        if clustering is None:
            continue
        # only without a limit is the dual value a bound of all clusterings
        if most == np.inf:
            bound = max(bound, clustering.bound)
        width = float(diameters(task.points, clustering.labels, task.watch).max())
        narrowest = min(narrowest, width)
        # halving was not enough: single records must move
        if width > wide:
            clustering = task.narrowed(clustering, wide)
        if clustering is not None and (best is None or clustering.cost < best.cost):
            best = clustering
    if best is None:
        raise DataError(
            f"No classes of k rows within max_diameter were found; with {_rounded_up(narrowest)} "
            "there are some. Raise max_diameter to that, lower k, or raise epsilon."
        )
    return best, bound


def _rounded_up(value: float) -> str:
    """A number of few digits that is no less, in words for a message."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    near = f"{value:.3g}"
    return near if float(near) >= value else f"{value + unit:.3g}"


def r_cellular(points: MetricPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Classes of k or more, in which the sum of records times radii is small.

    Args:
        points: n records, k or more; their facility costs are not used.
        task: k; epsilon (the share of the records that may be left out), max_diameter (the
            largest distance of two records of a class), and centers.
        watch: told of the records frozen; its stop raises StoppedError.

    Returns:
        The classes, with the center that the method chose for each. No classes cost less than
        lower_bound, up to rounding: around any points, with centers 'rows' around records. These
        cost guaranteed_ratio times the least at most (not known with max_diameter; with centers
        'means', their centroids do).

    Raises:
        DataError: no classes within max_diameter were found.

    Source: aggarwal2006, section 3.1 and theorem 3.6; see above for what differs.
    """
    own = task.own
    assert isinstance(own, RCellularOptions)
    k = task.k
    n, wide = len(points), own.max_diameter
    out = min(int(own.epsilon * n), max(n - 1, 0))
    rows = own.publishes == "rows"
    ratio = (WITH_EPSILON if out > 0 else RATIO) * (1.0 if rows else FREE) * own.widening
    if n == 0:
        none = np.zeros(0, np.int64)
        return Grouping(none, {"lower_bound": 0.0, "guaranteed_ratio": ratio}, none)
    search = _CellularTask(points, k, out, watch)
    if wide is not None:
        clustering, lower = _narrow(search, float(wide))
        labels, centers = cheapen(
            points, k, search.near, clustering.labels, clustering.centers, float(wide), watch
        )
        return Grouping(labels, {"lower_bound": search.bound(lower, rows)}, centers)
    clustering, lower = _cheapest(search)
    facts = {"lower_bound": search.bound(lower, rows), "guaranteed_ratio": ratio}
    return Grouping(clustering.labels, facts, clustering.centers)
