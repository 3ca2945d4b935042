"""Cellular clustering: clusters open where their cost is paid (aggarwal2006, section 3).

Theorem 3.3 and the bound are about clusters around records, each of which pays the facility cost of
its center. With D, the sum of the dual variables: the facility costs are at most D (lemma 3.2), and
each record pays for the radius at most 3 times its own dual variable, as all records of a cluster
froze at the same time t, at most 3 t from its center. So the cost is at most 4 D, and D at most the
least possible.

A center anywhere has no facility cost of its own. There a cluster pays that of some record, and its
records their distance to any point. Let f be the least facility cost. A cluster with radius R costs
f + size * R at least, and holds a record from which the others are within 2 R, so that its dual
variables sum to f' + size * 2 R at most, if all facilities cost f'. With f' = 2 f, half the dual
value is a bound of the least cost around any points. If all facilities cost the same, so is D / 2,
and the cost is at most 8 times the least; centroids, with centers 'means', pay at most twice 3 D
for their radii, 7 D in all, so 14 times the least. If facility costs differ, centers anywhere may
have those of a record far away: nothing is guaranteed then but with centers 'rows'.
"""

from __future__ import annotations

import math

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.centers.lower_bounds import FREE
from kanon_sql.methods.centers.primal_dual import grow
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, MetricPoints

OPENING, REACHING = 1.0, 3.0
"""What facilities, and rows times radii, cost at most, over the dual value."""


def cellular(points: MetricPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Clusters whose facility costs, and records times radii, are small; of any size.

    Procedure 1. Where several clusters reach their cost at the same time, the one first by (radius,
    center) opens first. One that has no unassigned member left then stays closed: all of its edges
    are frozen, so its cost is never exceeded.

    Args:
        points: n records, with the facility cost of each, 0 or more.
        task: centers.
        watch: told of the records assigned; its stop raises StoppedError.

    Returns:
        The clusters as they opened. No clustering costs less than lower_bound, up to rounding:
        around any points, with centers 'rows' around records. This one costs guaranteed_ratio
        times the least at most (with centers 'means', its centroids do); not known where facility
        costs differ and centers may be anywhere. ``facility`` is what the open clusters'
        facilities cost.

    Source: aggarwal2006, section 3, procedure 1 and theorem 3.3; see above for what differs.
    """
    n, publishes = len(points), task.own.publishes
    growth = grow(points, np.zeros(n), points.facility, 0.0, np.inf, 0, True, watch)
    dual = math.fsum(growth.alpha)
    facts = {"facility": math.fsum(points.facility[growth.centers])}
    if publishes == "rows":
        ratio, alike = OPENING + REACHING, True
        bound = max(dual, _dual(points, points.facility, watch))
    else:
        alike = bool(np.all(points.facility == points.facility[:1]))
        ratio = FREE * (OPENING + REACHING * task.own.widening)
        least = np.full(n, FREE * float(points.facility.min(initial=np.inf)))
        bound = max(_dual(points, least, watch), dual if alike else 0.0) / FREE
    facts["lower_bound"] = bound
    if alike:
        facts["guaranteed_ratio"] = ratio
    return Grouping(growth.cluster, facts, growth.centers)


def _dual(points: MetricPoints, facility: Floats, watch: Watch) -> float:
    """The dual value for these facility costs where no cluster is shut down, so that it is larger
    as a rule: alpha stays feasible (see shared_clusters.py)."""
    n = len(points)
    watch.expect(n)
    return math.fsum(grow(points, np.zeros(n), facility, 0.0, np.inf, 0, False, watch).alpha)
