"""What a method is: its function, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from kanon_sql.kernel.watch import Watch
from kanon_sql.points.points import Grouping, Points

Items = Literal["", "labels", "nodes", "values", "places"]
GroupFunction = Callable[[Points, int, Mapping[str, Any], Watch], Grouping]


@dataclass(frozen=True)
class Method:
    """What ``anonymize_methods()`` tells about a method.

    Attributes:
        name: what a user types; also the module of its family, and the function in it.
        family: the package that the module is in.
        summary: one sentence.
        guarantee: what holds for its result, beyond classes of k or more.
        cost: time, by the number of rows n.
        options: the options that only some methods take, of those this one takes.
        representation: how it releases its classes unless the call says otherwise.
        source: paper and section.
        distances: the geometries it can work in, its own first (see DISTANCES in options.py);
            none for methods with an objective, which have a geometry of their own.
        objective: what it has a guarantee for. 'radius' or 'cellular': the largest radius or the
            cellular cost, in the metric that the call chooses, around centers that the method
            chooses; 'cells': the generalized cells; 'size': the rows of the largest class.
        in_blocks: whether large inputs may be grouped block by block.
        seeded: whether its result depends on the seed.
        refinable: whether refine may change its groups.
        loss_points: whether distance 'loss' is that of byun2006, sums of ranges; else the same
            distances along each attribute, combined as squares, for methods that need means.
        block_rows: the most rows of a block, unless the call says otherwise.
        promises_k: whether classes have k rows or more.
        items: for methods of one attribute (du2009), what its values are: 'labels', 'nodes' of a
            graph, ordered 'values', or 'places', which are two columns.
    """

    name: str
    family: str
    summary: str
    guarantee: str
    cost: str
    options: tuple[str, ...]
    representation: str
    source: str
    distances: tuple[str, ...] = ("sse", "loss")
    objective: str = ""
    in_blocks: bool = True
    seeded: bool = False
    refinable: bool = True
    loss_points: bool = False
    block_rows: int = 500_000
    promises_k: bool = True
    items: Items = ""

    @property
    def has_centers(self) -> bool:
        """Whether it works in a metric space and chooses the center of each class."""
        return self.objective in ("radius", "cellular")

    def load(self) -> GroupFunction:
        """The function itself; imports its module, and with it the compiler."""
        module = import_module(f"{self.family}.{self.name}")
        function: GroupFunction = getattr(module, self.name)
        return function

    def group(
        self, points: Points, k: int, options: Mapping[str, Any], watch: Watch | None = None
    ) -> Grouping:
        """Runs the method. Raises StoppedError when the watch was asked to stop."""
        return self.load()(points, k, options, watch or Watch())
