"""The method to ask for when the loss matters more than the time: several starts, long search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.k_member import KMemberOptions
from kanon_sql.methods.local_search.refine import SEARCH_STEPS, default_steps, search
from kanon_sql.methods.microaggregation.mdav_plus import mdav_plus
from kanon_sql.methods.microaggregation.mdav_star import mdav_star
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, LossPoints, Points


def best(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k to 2k-1 records: the better of mdav_plus and mdav_star, or k_member where the
    loss is that of byun2006, then a search that goes
    on for refine_steps (by default as ``default_steps`` says) or refine_seconds.

    Needs len(points) >= k >= 1. Raises StoppedError when the watch was asked to stop.
    """
    starts: tuple[Callable[..., Grouping], ...] = (mdav_plus, mdav_star)
    own = MethodOptions()
    if isinstance(points, LossPoints):
        from kanon_sql.methods.k_member.k_member import k_member  # here, since only this needs it

        starts, own = (k_member,), KMemberOptions()
    watch.expect((len(starts) - 1) * len(points))
    plain = replace(task, own=own, class_label=None)
    found = in_parallel([partial(start, points, plain, watch) for start in starts])
    steps = task.refine_steps
    if steps is None:
        steps = default_steps(len(points), task.k, SEARCH_STEPS)
    watch.begin("refining", steps)
    better = search(
        points, [start.labels for start in found], task.k, steps, task.refine_seconds, watch
    )
    facts = {"refine_steps": float(better.steps), "refine_stopped": float(better.stopped)}
    return Grouping(better.labels, facts)
