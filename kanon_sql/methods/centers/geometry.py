"""Metric spaces, and what opening a cluster costs in them (aggarwal2006, section 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.geometry import (
    TRIAL_ROWS,
    Classes,
    Geometry,
    Records,
    Trial,
    cellular_cost,
    spread_numbers,
)
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import option
from kanon_sql.points.points import Floats, Grouping, Labels, MetricPoints, Points
from kanon_sql.validators import one_of

FIFTH = 5
"""Which nearest row tells the default facility_cost."""

DISTANCES_OF_CENTERS = {
    "euclidean": "the square root of the sum of squared distances of standardized values",
    "hamming": "the number of quasi-identifiers in which the rows differ",
    "taxonomy": "the sum over the quasi-identifiers of height of the lowest common ancestor / "
    "height of the hierarchy (without one the built-in 'bins', 'date' or 'flat')",
    "haversine": "the kilometres between two places, for two quasi-identifiers with names such as "
    "lat and lon",
}

CENTERS = {
    "anywhere": "the centroid of the class, or a row if that gives a smaller radius",
    "means": "always the centroid",
    "rows": "always a row",
}
"""What a class may publish as its center, by the option ``centers``."""

WIDENED = 2.0
"""What centroids may cost, over the rows that the method chose, where a guarantee is told; see
lower_bounds.py."""

UNITS = {
    "euclidean": "standard deviations",
    "hamming": "quasi-identifiers",
    "taxonomy": "heights of hierarchies",
    "haversine": "kilometres",
}
"""The units of distances, by metric."""


@dataclass(frozen=True)
class CenterOptions(MethodOptions):
    """The options of all methods with centers."""

    metric: str = option(
        "euclidean", one_of(DISTANCES_OF_CENTERS),
        "the distance of two rows: "
        + "; ".join(f"'{name}' is {text}" for name, text in DISTANCES_OF_CENTERS.items()) + ".",
    )
    centers: str = option(
        "anywhere", one_of(CENTERS, "centers value"),
        "the center that a class publishes: "
        + "; ".join(f"'{name}' is {text}" for name, text in CENTERS.items()) + ".",
        compiles="rows",
    )

    @property
    def publishes(self) -> str:
        """The centers that are published, a word of the option ``centers``."""
        return self.centers

    @property
    def widening(self) -> float:
        """That of centroids with 'means', which are published whatever they cost."""
        return WIDENED if self.centers == "means" else 1.0

    @property
    def in_metric(self) -> str:
        """The metric."""
        return self.metric


def facility_costs(points: MetricPoints, facility_cost: Any) -> MetricPoints:
    """The points with what it costs to open a cluster at each of them.

    Args:
        points: n records.
        facility_cost: float64, shape (n,), in canonical order; a number; or None for the mean
            distance to the fifth nearest row.

    Raises:
        DataError: costs that are missing, negative or infinite.
    """
    from kanon_sql.methods.centers.lower_bounds import half_distances  # loads the compiler

    n = len(points)
    if facility_cost is None:
        facility_cost = 2.0 * float(np.mean(half_distances(points, min(FIFTH + 1, n))))
    costs = np.broadcast_to(np.asarray(facility_cost, dtype=np.float64), (n,))
    wrong = int(np.sum(~(np.isfinite(costs) & (costs >= 0.0))))
    if wrong:
        raise DataError(
            f"The column of facility_cost has {wrong} rows that are NULL, negative or infinite. "
            "Fill them with numbers of 0 or more."
        )
    return replace(points, facility=np.ascontiguousarray(costs))


class MetricGeometry(Geometry):
    """A metric space; the cost is the largest radius, or the cellular cost."""

    own_measure = "by metric"
    has_centers = True
    searched = False
    repair = "merges whole classes"

    def __init__(self, objective: str) -> None:
        """``objective``: 'radius' or 'cellular'."""
        self.objective: str = objective

    def points(self, records: Records, task: TaskView) -> Points:
        """MetricPoints."""
        return records.in_metric(task.own.in_metric)

    def trial(self, trial: Trial) -> Points:
        """Numbers, a category and facility costs."""
        rows = trial.rows or TRIAL_ROWS
        codes = (np.arange(rows)[:, None] // 8 % 5).astype(np.int32)
        return MetricPoints.of(
            spread_numbers(rows, trial.numbers) / 1009.0, codes, [0.1], facility=np.full(rows, 0.1)
        )

    def cost(self, classes: Classes, task: TaskView) -> float | None:
        """The largest radius or the cellular cost, in the metric."""
        return self._cost(classes.sizes, classes.radii)

    def _cost(self, sizes: Labels, radii: Floats) -> float:
        if self.objective == "cellular":
            return cellular_cost(sizes, radii)
        return float(radii.max(initial=0.0))

    def unit(self, task: TaskView) -> str:
        """That of distances in the metric."""
        return UNITS[task.own.in_metric]

    def lower_bound(self, points: Points, task: TaskView) -> float | None:
        """By the (k-1)-th nearest of each record; none without a class size."""
        from kanon_sql.methods.centers.lower_bounds import neighbour_bound  # loads the compiler

        if task.promised is None:
            return None
        assert isinstance(points, MetricPoints)
        _, share = task.left_out
        return neighbour_bound(points, task.k, self.objective, int(share * len(points)))

    def finished(
        self, points: Points, grouping: Grouping, task: TaskView, watch: Watch
    ) -> Grouping:
        """With the best member of each class as its center, where a class size is promised: what
        is published is then no worse than what the method chose. ``chosen_cost`` tells what the
        centers cost."""
        from kanon_sql.methods.centers.lower_bounds import radii_around  # loads the compiler
        from kanon_sql.methods.centers.medoids import best_centers

        assert isinstance(points, MetricPoints)
        labels, centers = grouping.labels, grouping.centers
        if task.promised is not None:
            centers = best_centers(points, labels, centers, watch)
        assert centers is not None
        radii = radii_around(points, labels, centers)
        sizes = np.bincount(labels[labels >= 0], minlength=len(radii))
        cost = self._cost(sizes, radii)
        return replace(grouping, centers=centers, facts={**grouping.facts, "chosen_cost": cost})


class FacilityGeometry(MetricGeometry):
    """A metric space in which opening a cluster costs something at each record."""

    def points(self, records: Records, task: TaskView) -> Points:
        """MetricPoints with facility costs."""
        points = records.in_metric(task.own.in_metric)
        if task.own.cost_column is not None:
            return facility_costs(points, records.extra)
        return facility_costs(points, task.own.row_cost)


RADIUS = MetricGeometry("radius")
CELLULAR = MetricGeometry("cellular")
FACILITIES = FacilityGeometry("cellular")
