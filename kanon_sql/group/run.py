"""One grouping from beginning to end: the method, in blocks if the input is large, then refine."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from kanon_sql.group.enforce import enforce, facts_before, merged_if_few, size_to_begin_by
from kanon_sql.group.people import keep_people
from kanon_sql.group.whole import keep_whole
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.people import Population
from kanon_sql.points.points import Grouping, LossPoints, Points
from kanon_sql.privacy.feasible import refuse_infeasible


def group_points(
    points: Points, task: GroupTask, watch: Watch | None = None, people: Population | None = None
) -> Grouping:
    """Groups points as the task says: by its method, then refined, then without the rows that pay,
    then so that every class keeps the privacy models: their shares are those of the rows that are
    released; and last so that all classes keep together what is asked of them.

    Args:
        points: n records in canonical order, of the task's geometry.
        task: what to group by, and how.
        watch: told how far it is; may stop it.
        people: the population against which classes are held, if one is.

    Raises:
        StoppedError: the watch was asked to stop.
        DataError: no release of the rows that are left keeps the models.
    """
    watch = watch or Watch()
    grouping = _grouped(points, task, watch)
    if task.models and task.method.keeps_models:
        grouping = _beside(points, grouping, task, watch)
    elif task.models:
        grouping = _kept(points, grouping, task, watch)
    if not task.method.keeps_models:
        grouping = keep_people(points, grouping, task, people, watch)
        grouping = keep_whole(points, grouping, task, watch)
    return task.geometry.finished(points, grouping, task, watch)


def _grouped(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """The classes without a look at the privacy models."""
    from kanon_sql.group.blocks import group_in_blocks  # here, since it loads the compiler

    watch.begin("grouping", len(points))
    grouping = group_in_blocks(points, task, watch)
    if task.refine == "local":
        grouping = _refined(points, grouping, task, watch)
    return _without_rows(points, grouping, task, watch)


def _kept(points: Points, grouping: Grouping, task: GroupTask, watch: Watch) -> Grouping:
    """Classes that keep the models, from those that were made without them; and what both lose."""
    left = np.flatnonzero(grouping.labels >= 0)
    if len(left) < len(points):
        refuse_infeasible(points, task.models, left)
    without, start = _loss(points, grouping, task), grouping
    larger = task.k
    if task.method.only_k is None and task.geometry.searched:
        larger = size_to_begin_by(points, task.models, task.k, left)
    if larger > task.k:
        # hardly any smaller class keeps the models, so the search begins by these: what refine does
        # without a look at the models would be undone
        begun = replace(task, k=min(larger, len(left)), refine="none")
        start = _one_class(grouping) if 2 * larger > len(left) else _grouped(points, begun, watch)
        if (start.labels < 0).any():
            refuse_infeasible(points, task.models, np.flatnonzero(start.labels >= 0))
    kept = enforce(points, start, task.models, task, watch)
    lost = _loss(points, kept, task)
    # mergers lose no less than what they begin with: where the search loses no more, it stays
    if without is not None and lost is not None and lost > without:
        merged = merged_if_few(points, grouping, task.models, watch)
        if merged is not None:
            other = replace(kept, labels=merged)
            loss = _loss(points, other, task)
            if loss is not None and loss < lost:
                kept, lost = other, loss
    facts = {"loss_without": without, "loss_with": lost}
    losses = {name: value for name, value in facts.items() if value is not None}
    return replace(kept, facts={**kept.facts, **losses})


def _one_class(grouping: Grouping) -> Grouping:
    """All that isn't left out as one class, without a method that would look for more."""
    return Grouping(np.minimum(grouping.labels, 0), {})


def _beside(points: Points, grouping: Grouping, task: GroupTask, watch: Watch) -> Grouping:
    """The grouping of a method that keeps the models by itself, and what it loses by that."""
    free = _grouped(points, replace(task, beside_k=()), watch)
    facts = facts_before(points, free.labels, task.models)
    losses = {"loss_without": _loss(points, free, task), "loss_with": _loss(points, grouping, task)}
    known = {name: value for name, value in losses.items() if value is not None}
    return replace(grouping, facts={**grouping.facts, **facts, **known})


def _loss(points: Points, grouping: Grouping, task: GroupTask) -> float | None:
    """What a grouping loses, as information_loss or total_il tells it; None in geometries that know
    neither."""
    from kanon_sql.points.losses import information_loss, sse, sst, total_il

    if not task.geometry.searched:
        return None
    left = np.flatnonzero(grouping.labels >= 0)
    part, labels = points.part(left), grouping.labels[left]
    if isinstance(part, LossPoints):
        return total_il(part, labels)
    return information_loss(sse(part, labels), sst(part))


def _without_rows(points: Points, grouping: Grouping, task: GroupTask, watch: Watch) -> Grouping:
    """Without the rows that pay where they are left out, as far as the task allows it."""
    out = int(task.suppress * len(points))
    if out == 0 or task.method.suppresses:
        return grouping
    from kanon_sql.methods.local_search.row_suppression import suppress_rows

    watch.begin("suppressing", out)
    return Grouping(suppress_rows(points, grouping.labels, task.k, out, watch), grouping.facts)


def _refined(points: Points, grouping: Grouping, task: GroupTask, watch: Watch) -> Grouping:
    """The same groups, made better by search: so are the squared errors or the information loss,
    which are the generalized cells where a method has a guarantee for those."""
    from kanon_sql.methods.local_search.refine import refine
    from kanon_sql.methods.search_steps import LOSS_STEPS, REFINE_STEPS, default_steps

    k, steps = task.k, task.refine_steps
    if steps is None:
        most = LOSS_STEPS if task.geometry.by_loss else REFINE_STEPS
        steps = default_steps(len(points), k, most * task.refine_times)
    watch.begin("refining", steps)
    if grouping.centers is not None:
        return _divided(points, grouping, k, steps, task.refine_seconds, watch)
    better = refine(points, grouping.labels, k, steps, task.refine_seconds, watch)
    facts: dict[str, float] = {
        "refine_steps": float(better.steps), "refine_stopped": float(better.stopped)
    }
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
        offset = sum(map(len, centers)) - 1
        labels[members] = np.where(better.labels == 0, g, better.labels + offset)
        centers.append(np.full(parts, grouping.centers[g]))
    facts = {"refine_steps": float(done), "refine_stopped": float(stopped)}
    return Grouping(labels, {**grouping.facts, **facts}, np.concatenate(centers))
