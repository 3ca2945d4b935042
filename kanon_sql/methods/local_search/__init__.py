"""Local search: the same groups made better, and rows left out where that pays."""

from __future__ import annotations

from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="best",
        family=__name__,
        summary="The better of mdav_plus and mdav_star (k_member with distance 'loss'), then a "
        "long search for groups that lose less.",
        guarantee="groups of k to 2k-1; never more loss than what it starts from",
        cost="that of its starts, and refine_steps",
        options=("refine_steps", "refine_seconds"),
        representation="centroid",
        source="simulated annealing over moves, swaps, splits and mergers of groups",
        in_blocks=False,
        loss_points=True,
    ),
)
