"""Clustering with published centers (aggarwal2006)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from kanon_sql.errors import OptionError
from kanon_sql.methods.centers.geometry import (
    CELLULAR,
    DISTANCES_OF_CENTERS,
    FACILITIES,
    RADIUS,
    CenterOptions,
)
from kanon_sql.methods.method import Method
from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import option
from kanon_sql.validators import flag, number_or_column, positive, share, whole

__all__ = [
    "DISTANCES_OF_CENTERS", "METHODS", "CellularOptions", "RCellularOptions", "RGatherOptions"
]

WIDE = 1e9
"""A diameter that the records of a trial run are far below."""

EPSILON = (
    "the maximum share of the rows that are left out, so that a few outliers do not widen the "
    "classes."
)


@dataclass(frozen=True)
class RGatherOptions(CenterOptions):
    """The options of r_gather."""

    epsilon: float = option(0.0, share, EPSILON, type="DOUBLE", default_text="0", compiles=0.1)
    max_clusters: int | None = option(
        None, whole(1), "the maximum number of classes.", type="BIGINT", default_text="no limit",
        compiles=100,
    )

    @property
    def leaves_out(self) -> tuple[str, float] | None:
        """By epsilon."""
        return ("epsilon", self.epsilon) if self.epsilon > 0.0 else None

    @property
    def needs_all_rows(self) -> str | None:
        """max_clusters."""
        return None if self.max_clusters is None else "max_clusters"

    def for_trial(self, in_blocks: bool) -> RGatherOptions:
        """max_clusters is refused where the rows are cut into blocks."""
        return replace(self, max_clusters=None) if in_blocks else self

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Refuses refine beside max_clusters."""
        if task.refine == "local" and self.max_clusters is not None:
            raise OptionError(
                "refine divides classes, which max_clusters forbids. Leave one of them out."
            )


@dataclass(frozen=True)
class CellularOptions(CenterOptions):
    """The options of cellular."""

    facility_cost: float | str | None = option(
        None, number_or_column,
        "the cost of opening a cluster: a number, or the column with the cost for each row as "
        "center (which is released unchanged).",
        type="DOUBLE or VARCHAR", default_text="the mean distance to the fifth nearest row",
        columns=True,
    )
    allow_small: bool = option(
        False, flag, "whether anonymize_clusters publishes clusters of one row.", type="BOOLEAN"
    )

    @property
    def publishes_small(self) -> bool:
        """With allow_small."""
        return self.allow_small

    @property
    def row_cost(self) -> float | str | None:
        """The facility cost."""
        return self.facility_cost


@dataclass(frozen=True)
class RCellularOptions(CenterOptions):
    """The options of r_cellular."""

    epsilon: float = option(0.0, share, EPSILON, type="DOUBLE", default_text="0", compiles=0.1)
    max_diameter: float | None = option(
        None, positive, "the maximum distance of two rows of a class, in the metric.",
        type="DOUBLE", default_text="no limit", compiles=WIDE,
    )

    @property
    def leaves_out(self) -> tuple[str, float] | None:
        """By epsilon."""
        return ("epsilon", self.epsilon) if self.epsilon > 0.0 else None

    def for_trial(self, in_blocks: bool) -> RCellularOptions:
        """A diameter that the invented records are far below."""
        return self if self.max_diameter is None else replace(self, max_diameter=WIDE)

METHODS = (
    Method(
        name="r_gather",
        family=__name__,
        summary="Finds the smallest radius for which a flow gives each greedy center at least k "
        "rows; epsilon allows leaving rows out, and max_clusters limits the number of classes.",
        guarantee="largest radius at most 2 times the optimum; with epsilon 4 times, with "
        "epsilon and max_clusters 6 times (both 3 times the optimum over rows with centers "
        "'rows'); twice that with centers 'means'; in blocks none",
        cost="the rows around each center, about 20 times; a flow network of all of them",
        representation="centroid",
        source="aggarwal2006, section 2",
        geometries={None: RADIUS},
        own=RGatherOptions,
        block_rows=250_000,
        memory=9.0,
    ),
    Method(
        name="cellular",
        family=__name__,
        summary="Opens clusters, each at the price of facility_cost, by a primal-dual method; "
        "guarantees no class size, so anonymize rejects it.",
        guarantee="facility costs and rows times radius at most 8 times the optimum, 4 times the "
        "optimum over rows with centers 'rows', 14 times with 'means'; if facility costs differ, "
        "with 'rows' only; no class size; in blocks none",
        cost="grows with the rows within a facility_cost of each row",
        representation="centroid",
        source="aggarwal2006, section 3, procedure 1",
        geometries={None: FACILITIES},
        own=CellularOptions,
        refinable=False,
        block_rows=50_000,
        memory=9.0,
        promises_k=False,
    ),
    Method(
        name="r_cellular",
        family=__name__,
        summary="Forms clusters by a primal-dual method that penalizes small ones, shares rows "
        "between them, and then makes them disjoint.",
        guarantee="rows times radius at most 120 times the optimum, with epsilon 200 times; with "
        "centers 'rows' half of that times the optimum over rows, with 'means' twice that; with "
        "max_diameter or in blocks none",
        cost="grows with the rows within twice the distance to the k-th nearest of each row",
        representation="centroid",
        source="aggarwal2006, section 3.1",
        geometries={None: CELLULAR},
        own=RCellularOptions,
        block_rows=50_000,
        memory=9.0,
    ),
)
