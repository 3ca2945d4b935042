"""Groups of a record and its nearest (the condensation baseline of byun2006, section 6)."""

from __future__ import annotations

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.k_member.greedy import Rules, gather
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.content_order import content_order
from kanon_sql.points.points import Grouping, LossPoints


def nearest(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records: the next one in the seeded content order and the k-1 records left that
    are nearest to it; leftovers join the group whose loss grows least.

    The distance is that of definition 6, ties go to the lowest record. It is the algorithm that
    byun2006 compares with (section 6: "repeatedly (randomly) selecting a record and making it a
    group with k-1 nearest neighbors"), after Aggarwal and Yu 2004. Where leftovers go isn't said
    there; they go where k_member puts them. Quadratic at most. Needs k >= 1.

    Of the task it reads k and the seed.
    """
    k = task.k
    order = content_order(points, task.seed)
    return Grouping(gather(points, k, order, Rules(grow=False, furthest=False), watch), {})
