"""One grouping from beginning to end: the method, in blocks if the input is large, then refine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kanon_sql.grouping import METHODS, Method
from kanon_sql.grouping.points import Grouping, LossPoints, MetricPoints, Points
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
        grouping = _refined(method, points, grouping, options, watch)
    if isinstance(points, MetricPoints) and method.promises_k:
        from kanon_sql.grouping.medoids import best_centers

        centers = best_centers(points, grouping.labels, grouping.centers, watch)
        grouping = replace(grouping, centers=centers)
    out = int(options.get("suppress", 0.0) * len(points))
    if out == 0 or method.name == "full_domain":
        return grouping
    from kanon_sql.grouping.suppression import suppress_rows

    watch.begin("suppressing", out)
    return Grouping(suppress_rows(points, grouping.labels, k, out, watch), grouping.facts)


def _refined(
    method: Method, points: Points, grouping: Grouping, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """The same groups, made better by search.

    Of methods with an objective, generalized cells are what the search makes less of, so the
    guarantee stays; squared errors are not what centers are about, so there it goes. Records that
    are left out stay so.
    """
    from kanon_sql.grouping.refine import LOSS_STEPS, REFINE_STEPS, default_steps, refine

    k = options["k"]
    members = np.flatnonzero(grouping.labels >= 0)
    part = points if len(members) == len(points) else points.part(members)
    steps = options.get("refine_steps")
    if steps is None:
        most = LOSS_STEPS if isinstance(points, LossPoints) else REFINE_STEPS
        steps = default_steps(len(part), k, most)
    watch.begin("refining", steps)
    better = refine(
        part, grouping.labels[members], k, steps, options.get("refine_seconds"), watch
    )
    labels = np.full(len(points), -1, np.int64)
    labels[members] = better.labels
    facts = {"refine_steps": float(better.steps), "refine_stopped": float(better.stopped)}
    kept = dict(grouping.facts)
    if method.has_centers:
        kept.pop("guaranteed_ratio", None)
    return Grouping(labels, {**kept, **facts})
