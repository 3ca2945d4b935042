"""One attribute, whose values (items) are generalized as they are (du2009, section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kanon_sql.errors import OptionError
from kanon_sql.methods.geometry import Classes, Geometry, Mergers, Trial
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import option
from kanon_sql.points.points import Grouping, ItemPoints, Points
from kanon_sql.validators import one_of

OBJECTIVES = ("largest", "quadratic")
Domain = Literal["labels", "nodes", "values", "places"]

INSTEAD = {
    "nodes": "{{'{0}': {{'kind': 'adjacency', 'adjacency': 'county_adjacency'}}}}",
    "labels": "{{'{0}': 'cover'}}",
    "values": "{{'{0}': 'bins'}}",
    "places": "{{'place': 'rectangles'}}, where place holds latitude and longitude in one column",
}
"""What generalizes such an attribute beside other quasi-identifiers."""

REPAIRS = {
    "nodes": "merges neighbours", "labels": "merges any two",
    "values": "merges with the class before or after", "places": "merges to rectangles",
}
"""What is done with classes that break a privacy model."""


@dataclass(frozen=True)
class OrderedOptions(MethodOptions):
    """The options of ordered."""

    objective: str = option(
        "largest", one_of(OBJECTIVES),
        "the quantity to minimize: the size of the 'largest' class, or the 'quadratic' penalty, "
        "the sum of size times (size - k).",
    )


class AttributeGeometry(Geometry):
    """Items and how many records have each; the cost is the size of the largest class.

    Attributes:
        domain: what the values are: 'labels', 'nodes' of a graph, ordered 'values', or 'places',
            which are two columns.
        width: how many quasi-identifiers that takes.
    """

    own_measure = "the rows of its classes"
    objective = "size"
    searched = False

    def __init__(self, domain: Domain) -> None:
        """``domain``: what the values are."""
        self.domain = domain
        self.repair = REPAIRS[domain]
        self.width = 2 if domain == "places" else 1

    def refuse_width(self, method: str, names: Sequence[str]) -> None:
        """Raises OptionError unless there are as many quasi-identifiers as the method takes."""
        if len(names) == self.width:
            return
        takes = "one quasi-identifier" if self.width == 1 else "a latitude and a longitude"
        are = "is one" if len(names) == 1 else f"are {len(names)}"
        raise OptionError(
            f"The method {method!r} generalizes {takes}, and there {are}: {', '.join(names)}. "
            "Give the others another role, or take a method such as k_member with hierarchies="
            + INSTEAD[self.domain].format((names[0] if names else "zip").replace("'", "''")) + "."
        )

    def points(self, records: Any, task: TaskView) -> Points:
        """The items, which were read with the rows."""
        items: Points = records.points
        return items

    def mergers(self, points: Points, grouping: Grouping, task: TaskView) -> Mergers | None:
        """Of a graph the neighbours of a class, of ordered values the class before and after it,
        of places what makes a rectangle with it, of labels any class."""
        # here, since it loads SciPy
        from kanon_sql.methods.single_attribute.neighbours import Boxes, Linked

        assert isinstance(points, ItemPoints)
        if self.domain == "labels":
            return None
        if self.domain == "places":
            assert grouping.cells is not None
            return Boxes(grouping.cells)
        if self.domain == "nodes":
            islands = task.own.islands
            return Linked(points, grouping.labels, points.links, islands)
        used = np.flatnonzero(points.size > 0)
        return Linked(points, grouping.labels, np.column_stack([used[:-1], used[1:]]))

    def trial(self, trial: Trial) -> Points:
        """Items in a ring with a hub, whose degree a spanning tree lowers."""
        number = np.arange(trial.rows or 60)
        place = np.column_stack([number * 37.0 % 61.0, number * 11.0 % 59.0])
        links = np.concatenate([
            np.column_stack([number, np.roll(number, 1)]),
            np.column_stack([number[2:] * 0, number[2:]]),
        ])
        return ItemPoints.of(number % 3 + 1, place, np.unique(np.sort(links, axis=1), axis=0))

    def cost(self, classes: Classes, task: TaskView) -> float | None:
        """The rows of the largest class."""
        return float(classes.sizes.max())

    def cost_sql(self, task: TaskView) -> str:
        """The same in SQL over the facts of the released classes (see sql/measure.sql)."""
        return "largest::DOUBLE"

    def unit(self, task: TaskView) -> str:
        """Rows."""
        return "rows"


class OrderedGeometry(AttributeGeometry):
    """Values with an order, where the cost may be the quadratic penalty (du2009, section 1)."""

    def cost(self, classes: Classes, task: TaskView) -> float | None:
        """The rows of the largest class, or the sum of |E| (|E| - k)."""
        if not _quadratic(task):
            return super().cost(classes, task)
        return float(np.sum(classes.sizes * (classes.sizes - task.k)))

    def cost_sql(self, task: TaskView) -> str:
        """The same in SQL."""
        if not _quadratic(task):
            return super().cost_sql(task)
        return f"(coalesce(squares, 0) - {task.k} * rows_released::DOUBLE)"

    def unit(self, task: TaskView) -> str:
        """Rows, or rows squared."""
        return "rows squared" if _quadratic(task) else super().unit(task)


def _quadratic(task: TaskView) -> bool:
    return bool(task.own.objective == "quadratic")


LABELS = AttributeGeometry("labels")
NODES = AttributeGeometry("nodes")
PLACES = AttributeGeometry("places")
VALUES = OrderedGeometry("values")
