"""The method to ask for when the loss matters more than the time: several starts, long search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search.refine import SEARCH_STEPS, default_steps, search
from kanon_sql.methods.microaggregation.mdav_plus import mdav_plus
from kanon_sql.methods.microaggregation.mdav_star import mdav_star
from kanon_sql.points.points import Grouping, LossPoints, Points


def best(points: Points, k: int, options: Mapping[str, Any], watch: Watch) -> Grouping:
    """Groups of k to 2k-1 records: the better of mdav_plus and mdav_star, or k_member where the
    loss is that of byun2006, then a search that goes
    on for refine_steps (by default as ``default_steps`` says) or refine_seconds.

    Needs len(points) >= k >= 1. Raises StoppedError when the watch was asked to stop.
    """
    seeds: tuple[Callable[..., Grouping], ...] = (mdav_plus, mdav_star)
    if isinstance(points, LossPoints):
        from kanon_sql.methods.k_member.k_member import k_member  # here, since only this needs it

        seeds = (k_member,)
    watch.expect((len(seeds) - 1) * len(points))
    given = {"seed": options.get("seed", 0)}
    starts = in_parallel([partial(seed, points, k, given, watch) for seed in seeds])
    steps = options.get("refine_steps")
    if steps is None:
        steps = default_steps(len(points), k, SEARCH_STEPS)
    watch.begin("refining", steps)
    found = search(
        points, [start.labels for start in starts], k, steps, options.get("refine_seconds"), watch
    )
    facts = {"refine_steps": float(found.steps), "refine_stopped": float(found.stopped)}
    return Grouping(found.labels, facts)
