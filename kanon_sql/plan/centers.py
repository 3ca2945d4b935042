"""The SQL of published centers: the centroid of a class, or the row that the method chose."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.names import quoted
from kanon_sql.plan.fragments import helpers, quasi
from kanon_sql.plan.generalize import class_rows
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.sql import statement


def centers_sql(call: GroupingCall, trees: Hierarchies, run: str) -> str:
    """The stages that give __kanon_published: for each class the centroid, unless its radius is
    larger than that of the row that the method chose (always that row, with centers 'rows', and
    never, with 'means').

    A column with a hierarchy has no mean; there the centroid is the most frequent value.
    """
    stage = trees.emptied("__kanon_labelled", trees.columns)
    centroids = class_rows(call, stage, ("centroid",))
    if trees:
        modes = ", ".join(f"__kanon_modes.{quoted(n)} AS {quoted(n)}" for n in trees.columns)
        counted = ", ".join(
            f"__kanon_most_frequent({quoted(name)}) AS {quoted(name)}" for name in trees.columns
        )
        centroids = statement("centers.modes", modes=modes, means=centroids, counted=counted)
    publishes = call.task.own.publishes
    if publishes in ("rows", "means"):
        owning = statement(f"centers.owning_{publishes}")
    else:
        owning = statement(
            "centers.owning_of_parts" if call.roles.within else "centers.owning",
            options=run,
            hierarchies=trees.argument(),
            centroids=trees.keyed("__kanon_centroids"),
            chosen=trees.keyed("__kanon_chosen"),
        )
    return statement(
        "centers.stages",
        centroids=centroids,
        quasi=quasi(call.roles, (*helpers(call.roles), "__kanon_center")),
        owning=owning,
    )
