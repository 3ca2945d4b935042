"""One grouping from beginning to end: the method, in blocks if the input is large, then refine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS
from kanon_sql.points.points import Grouping, LossPoints, MetricPoints, Points


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
    from kanon_sql.group.blocks import group_in_blocks  # here, since it loads the compiler

    watch = watch or Watch()
    method, k = METHODS[options["method"]], options["k"]
    watch.begin("grouping", len(points))
    grouping = group_in_blocks(method, points, k, options, watch)
    if options.get("refine") == "local":
        grouping = _refined(points, grouping, options, watch)
    if isinstance(points, MetricPoints) and method.promises_k:
        from kanon_sql.methods.centers.medoids import best_centers

        centers = best_centers(points, grouping.labels, grouping.centers, watch)
        grouping = replace(grouping, centers=centers)
    out = int(options.get("suppress", 0.0) * len(points))
    if out == 0 or method.name == "full_domain":
        return grouping
    from kanon_sql.methods.local_search.row_suppression import suppress_rows

    watch.begin("suppressing", out)
    return Grouping(suppress_rows(points, grouping.labels, k, out, watch), grouping.facts)


def _refined(
    points: Points, grouping: Grouping, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """The same groups, made better by search: so are the squared errors or the information loss,
    which are the generalized cells where a method has a guarantee for those."""
    from kanon_sql.methods.local_search.refine import (
        LOSS_STEPS,
        REFINE_STEPS,
        default_steps,
        refine,
    )

    k = options["k"]
    steps = options.get("refine_steps")
    if steps is None:
        most = LOSS_STEPS if isinstance(points, LossPoints) else REFINE_STEPS
        steps = default_steps(len(points), k, most)
    watch.begin("refining", steps)
    seconds = options.get("refine_seconds")
    if grouping.centers is not None:
        return _divided(points, grouping, k, steps, seconds, watch)
    better = refine(points, grouping.labels, k, steps, seconds, watch)
    facts = {"refine_steps": float(better.steps), "refine_stopped": float(better.stopped)}
    return Grouping(better.labels, {**grouping.facts, **facts})


def _divided(
    points: Points, grouping: Grouping, k: int, steps: int, seconds: float | None, watch: Watch
) -> Grouping:
    """The same classes, those of 2k records or more divided where that lowers squared errors.

    A part of a class has no larger radius than the class, from the same center, so neither the
    largest radius nor the cellular cost grows, and what is guaranteed stays. Records that are left
    out stay so.
    """
    from kanon_sql.methods.local_search.refine import refine

    assert grouping.centers is not None
    started, done, stopped = perf_counter(), 0, False
    sizes = np.bincount(grouping.labels[grouping.labels >= 0])
    large = np.flatnonzero(sizes >= 2 * k)
    labels, centers = grouping.labels.copy(), [grouping.centers]
    order = np.argsort(grouping.labels, kind="stable")
    first = np.searchsorted(grouping.labels[order], large)
    for g, start in zip(large.tolist(), first.tolist(), strict=True):
        left = None if seconds is None else max(started + seconds - perf_counter(), 0.0)
        members = order[start : start + sizes[g]]
        better = refine(
            points.part(members), np.zeros(len(members), np.int64), k,
            steps * len(members) // len(points), left, watch,
        )
        done, stopped = done + better.steps, stopped or better.stopped
        parts = int(better.labels.max())
        made = sum(map(len, centers)) - 1
        labels[members] = np.where(better.labels == 0, g, better.labels + made)
        centers.append(np.full(parts, grouping.centers[g]))
    facts = {"refine_steps": float(done), "refine_stopped": float(stopped)}
    return Grouping(labels, {**grouping.facts, **facts}, np.concatenate(centers))
