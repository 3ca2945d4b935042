"""The method to ask for when the loss matters more than the time: many starts, long search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search.long_search import LongSearch, all_steps, polish, visits
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, LossPoints, Points

Start = tuple[Callable[..., Grouping], MethodOptions]


def is_line(points: Points) -> bool:
    """Whether optimal_1d takes them, so that no grouping is better than its own."""
    if isinstance(points, LossPoints):
        return False
    return bool(points.numeric.shape[1] <= 1 and points.codes.shape[1] == 0)


def starts_of(points: Points) -> list[Start]:
    """The methods whose groups are made better, with their options: all that are quick and made
    for the same points."""
    # imported here, since each brings its kernels
    if isinstance(points, LossPoints):
        from kanon_sql.methods.k_member import KMemberOptions
        from kanon_sql.methods.k_member.k_member import k_member
        from kanon_sql.methods.k_member.nearest import nearest
        from kanon_sql.methods.recoding import MondrianOptions
        from kanon_sql.methods.recoding.mondrian import mondrian

        return [
            (k_member, KMemberOptions()), (nearest, MethodOptions()), (mondrian, MondrianOptions())
        ]
    from kanon_sql.methods.microaggregation import VMdavOptions
    from kanon_sql.methods.microaggregation.mdav import mdav
    from kanon_sql.methods.microaggregation.mdav_plus import mdav_plus
    from kanon_sql.methods.microaggregation.mdav_star import mdav_star
    from kanon_sql.methods.microaggregation.v_mdav import v_mdav

    plain = MethodOptions()
    starts: list[Start] = [
        (mdav_plus, plain), (mdav_star, plain), (mdav, plain), (v_mdav, VMdavOptions())
    ]
    if is_line(points):
        from kanon_sql.methods.microaggregation.optimal_1d import optimal_1d

        starts.insert(0, (optimal_1d, plain))
    return starts


def best(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """The best of what refine makes of several methods' groups, and what a long search finds from
    there, which ends after refine_steps or refine_seconds. With one step or more the groups have k
    to 2k-1 records.

    It loses no more than any of the starts, and no more than refine leaves of any of them with its
    default steps, or with as many where best gets fewer. Of searches that run side by side, one
    counts (see long_search.py).

    Needs len(points) >= k >= 1. Raises StoppedError when the watch was asked to stop.
    """
    n, k = len(points), task.k
    starts = starts_of(points)
    watch.expect((len(starts) - 1) * n)
    plain = replace(task, class_label=None)
    groupings = in_parallel([
        partial(start, points, replace(plain, own=own), watch) for start, own in starts
    ])
    steps = all_steps(points, k) if task.refine_steps is None else task.refine_steps
    if is_line(points):
        # what refine makes of them are rounding errors; there is nothing to search for
        steps = min(steps, polish(points, k))
    watch.begin("refining", visits(points, k, len(starts), steps))
    search = LongSearch(points, k, steps, task.refine_seconds, watch)
    better = search.run([start.labels for start in groupings])
    facts = {"refine_steps": float(better.steps), "refine_stopped": float(better.stopped)}
    return Grouping(better.labels, facts)
