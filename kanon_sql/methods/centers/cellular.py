"""Cellular clustering: clusters open where their cost is paid (aggarwal2006, section 3)."""

from __future__ import annotations

import math

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.centers.primal_dual import grow
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, MetricPoints


def cellular(points: MetricPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Clusters whose facility costs, and records times radii, are small; of any size.

    Procedure 1. Where several clusters reach their cost at the same time, the one first by (radius,
    center) opens first. One that has no unassigned member left then stays closed: all of its edges
    are frozen, so its cost is never exceeded.

    Args:
        points: n records, with the facility cost of each, 0 or more.
        task: ignored.
        watch: told of the records assigned; its stop raises StoppedError.

    Returns:
        The clusters as they opened. No clustering with records as centers costs less than
        lower_bound, up to rounding; this one costs guaranteed_ratio times the least at most.
        ``facility`` is what the open clusters' facilities cost.

    Source: aggarwal2006, section 3, procedure 1 and theorem 3.3.
    """
    growth = grow(points, np.zeros(len(points)), points.facility, 0.0, np.inf, 0, True, watch)
    return Grouping(
        growth.cluster,
        {
            "lower_bound": math.fsum(growth.alpha),
            "guaranteed_ratio": 4.0,
            "facility": math.fsum(points.facility[growth.centers]),
        },
        growth.centers,
    )
