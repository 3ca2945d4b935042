"""Local search: the same groups made better, and rows left out where that pays."""

from __future__ import annotations

from kanon_sql.methods.geometry import LOSS, SQUARED
from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="best",
        family=__name__,
        summary="The better of mdav_plus and mdav_star (k_member with distance 'loss'), then a "
        "long search for groups that lose less.",
        guarantee="groups of k to 2k-1; never more loss than what it starts from",
        cost="that of its starts, and refine_steps",
        representation="centroid",
        source="simulated annealing over moves, swaps, splits and mergers of groups",
        geometries={"sse": SQUARED, "loss": LOSS},
        searches=True,
        in_blocks=False,
    ),
)
