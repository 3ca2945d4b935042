"""Groups of a record and its nearest (the condensation baseline of byun2006, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.k_member.greedy import Rules, gather
from kanon_sql.points.content_order import content_order
from kanon_sql.points.points import Grouping, LossPoints


def nearest(points: LossPoints, k: int, options: Mapping[str, Any], watch: Watch) -> Grouping:
    """Groups of k records: the next one in the seeded content order and the k-1 records left that
    are nearest to it; leftovers join the group whose loss grows least.

    The distance is that of definition 6, ties go to the lowest record. It is the algorithm that
    byun2006 compares with (section 6: "repeatedly (randomly) selecting a record and making it a
    group with k-1 nearest neighbors"), after Aggarwal and Yu 2004. Where leftovers go isn't said
    there; they go where k_member puts them. Quadratic at most. Needs k >= 1.

    Options: ``seed`` of the order, 0 by default.
    """
    order = content_order(points, int(options.get("seed") or 0))
    return Grouping(gather(points, k, order, Rules(grow=False, furthest=False), watch), {})
