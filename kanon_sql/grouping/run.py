"""One grouping from beginning to end: the method, in blocks if the input is large, then refine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.grouping import METHODS
from kanon_sql.grouping.points import Grouping, LossPoints, Points
from kanon_sql.grouping.watch import Watch


def group_points(
    points: Points, options: Mapping[str, Any], watch: Watch | None = None
) -> Grouping:
    """Groups points by the method of the options, and refines the groups if that is asked for.

    Args:
        points: n records in canonical order.
        options: as read by the registry; k, method, the method's own, block_rows, refine,
            refine_steps and refine_seconds are used.
        watch: told how far it is; may stop it.

    Raises:
        StoppedError: the watch was asked to stop.
    """
    from kanon_sql.grouping.blocks import group_in_blocks  # here, since it loads the compiler

    watch = watch or Watch()
    method, k = METHODS[options["method"]], options["k"]
    watch.begin("grouping", len(points))
    grouping = group_in_blocks(method, points, k, options, watch)
    if options.get("refine") == "local":
        grouping = _refined(points, grouping, options, watch)
    out = int(options.get("suppress", 0.0) * len(points))
    if out == 0 or method.name == "full_domain":
        return grouping
    from kanon_sql.grouping.suppression import suppress_rows

    watch.begin("suppressing", out)
    return Grouping(suppress_rows(points, grouping.labels, k, out, watch), grouping.facts)


def _refined(
    points: Points, grouping: Grouping, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """The same groups, made better by search."""
    from kanon_sql.grouping.refine import LOSS_STEPS, REFINE_STEPS, default_steps, refine

    k = options["k"]
    steps = options.get("refine_steps")
    if steps is None:
        most = LOSS_STEPS if isinstance(points, LossPoints) else REFINE_STEPS
        steps = default_steps(len(points), k, most)
    watch.begin("refining", steps)
    better = refine(points, grouping.labels, k, steps, options.get("refine_seconds"), watch)
    facts = {"refine_steps": float(better.steps), "refine_stopped": float(better.stopped)}
    return Grouping(better.labels, {**grouping.facts, **facts})
