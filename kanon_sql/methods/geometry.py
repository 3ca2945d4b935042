"""Geometries: the form in which a method sees the records, and all that follows from the form.

A method names its geometry; nobody asks a method what it works on. Each geometry makes the points
from the encoded relation, invents a few for a trial run, says what a grouping costs in it, what no
grouping is below, and in which unit. The geometry of one paper family lies in the family's folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kanon_sql.methods.task_view import TaskView
from kanon_sql.points.points import (
    Floats,
    Grouping,
    Labels,
    LossPoints,
    MetricPoints,
    Points,
)

if TYPE_CHECKING:
    from kanon_sql.kernel.watch import Watch


class Mergers(Protocol):
    """Which classes of a grouping may become one, while they are merged."""

    @property
    def leaves_out(self) -> bool:
        """Whether a class that can be merged with no other is left out."""

    @property
    def cells(self) -> Floats | None:
        """The bounds of the classes as they are now, as in Grouping; None where they have none."""

    def choices(self, group: int) -> list[Labels]:
        """The sets of classes that a class may be put together with: each of them int64, one class
        or several. None: it is left out.

        Raises:
            DataError: there is none, and nothing else may be done.
        """

    def merged(self, group: int, into: int) -> None:
        """Takes note that one class became part of another."""


class Records(Protocol):
    """The encoded relation, as a geometry sees it: n records in canonical order."""

    @property
    def extra(self) -> Floats:
        """A number of each row that its method needs: float64, shape (n,), or empty."""

    def squared(self) -> Points:
        """Points for squared distances."""

    def losses(self, loss: str = "range_flat", weighted: bool = True) -> LossPoints:
        """Points for information loss."""

    def cells(self) -> LossPoints:
        """Points for generalized cells."""

    def in_metric(self, metric: str) -> MetricPoints:
        """Points in a metric."""


@dataclass(frozen=True)
class Classes:
    """The classes of a release, as their cost is measured.

    Attributes:
        records: the encoded relation.
        labels: int64, shape (n,); the class of each record, -1 for one that is suppressed.
        sizes: int64, shape (groups,).
        radii: float64, shape (groups,); the largest distance of a record to the released point.
    """

    records: Records
    labels: Labels
    sizes: Labels
    radii: Floats

    @property
    def cellular(self) -> float:
        """The sum of sizes times radii."""
        return cellular_cost(self.sizes, self.radii)


def cellular_cost(sizes: Labels, radii: Floats) -> float:
    """The sum of sizes times radii, the same in whatever order the classes stand.

    Args:
        sizes: int64, shape (groups,).
        radii: float64, shape (groups,).
    """
    return float(np.sum(np.sort(sizes * radii)))


@dataclass(frozen=True)
class Trial:
    """What a trial run of a method needs to be like, so that every kernel is compiled.

    Attributes:
        rows: how many records, where not as many as the geometry invents.
        numbers: how many numeric columns.
        k: the k.
    """

    rows: int | None = None
    numbers: int = 2
    k: int = 2


def spread_numbers(rows: int, numbers: int) -> Floats:
    """Invented coordinates that look like chance: float64, shape (rows, numbers up to 2)."""
    count = np.arange(float(rows))
    places = np.column_stack([count * 37 % 1009, count * 611 % 997])
    return np.asarray(places[:, :numbers])


TRIAL_ROWS = 1_100
"""Records enough for every kernel to be needed."""


class Geometry:
    """One form of points; the defaults are those of a geometry without a cost of its own.

    Attributes:
        by_loss: whether refine searches by information loss; else by squared errors.
        own_measure: by what the method measures, where the call has no choice of distance.
        objective: what its methods have a guarantee for, with a lower bound on each run:
            'radius' or 'cellular', the largest radius or the cellular cost; 'cells', the
            generalized cells; 'size', the rows of the largest class. None of methods without one.
        has_centers: whether the method chooses a record as the center of each class.
        searched: whether classes that break a privacy model are repaired by search; else they are
            merged with others, which keeps what the method makes.
        repair: the same in words, of tables that tell about methods.
    """

    by_loss = False
    own_measure = ""
    objective: str | None = None
    has_centers = False
    searched = True
    repair = "search"

    def points(self, records: Any, task: TaskView) -> Points:
        """What the method works on.

        Args:
            records: a Records, or for one attribute its Items (see encode/single_attribute.py).
            task: what to group by.
        """
        raise NotImplementedError

    def trial(self, trial: Trial) -> Points:
        """A few invented records."""
        raise NotImplementedError

    def cost(self, classes: Classes, task: TaskView) -> float | None:
        """What the guarantee of the methods is about; None where there is none."""
        return None

    def unit(self, task: TaskView) -> str:
        """The unit of the cost."""
        return ""

    def lower_bound(self, points: Points, task: TaskView) -> float | None:
        """What no grouping of all the points costs less than, from nearest neighbours alone: for
        groupings in blocks, where no block knows what a class across a cut would cost."""
        return None

    def mergers(self, points: Points, grouping: Grouping, task: TaskView) -> Mergers | None:
        """Which classes a class may be merged with; None: with any.

        Args:
            points: the records that are not left out.
            grouping: their classes, numbered from 0.
            task: what they were grouped by.
        """
        return None

    def finished(
        self, points: Points, grouping: Grouping, task: TaskView, watch: Watch
    ) -> Grouping:
        """The grouping after refinement, with what the geometry adds to it."""
        return grouping


class SquaredGeometry(Geometry):
    """Squared distances between standardized values (thaeter2021, section 1)."""

    def points(self, records: Records, task: TaskView) -> Points:
        """Points; attributes without variance or weight are left out."""
        return records.squared()

    def trial(self, trial: Trial) -> Points:
        """Numbers only: categories compile to the same kernels."""
        return Points.of(spread_numbers(trial.rows or TRIAL_ROWS, trial.numbers))


def trial_codes(rows: int) -> Any:
    """Invented codes of a flat attribute and of a hierarchy of two levels."""
    count = np.arange(rows)
    return np.column_stack([count * 7 % 5, count // 8 % 6, count // 16 % 3]).astype(np.int32)


class LossGeometry(Geometry):
    """Information loss: ranges of numbers, and what categories lose (byun2006, section 4.1)."""

    by_loss = True

    def points(self, records: Records, task: TaskView) -> Points:
        """LossPoints; every attribute is there."""
        return records.losses(task.loss)

    def trial(self, trial: Trial) -> Points:
        """Numbers, a flat attribute and a hierarchy."""
        rows = trial.rows or TRIAL_ROWS
        numbers = spread_numbers(rows, trial.numbers) / 1009.0
        return LossPoints.of(numbers, trial_codes(rows), [1.0, 0.5, 0.5], first=[0, 1, 1])


SQUARED = SquaredGeometry()
LOSS = LossGeometry()
