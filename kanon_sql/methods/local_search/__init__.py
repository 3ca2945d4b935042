"""Local search: the same groups made better, and rows left out where that pays."""

from __future__ import annotations

from kanon_sql.methods.geometry import LOSS, SQUARED
from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="best",
        family=__name__,
        use="lowest loss",
        summary="Refines the groups of mdav, mdav_plus, v_mdav and mdav_star (optimal_1d for one "
        "number; k_member, nearest and mondrian with distance 'loss'), then continues from the "
        "best of them.",
        guarantee="groups of k to 2k-1; never a higher loss than the methods it starts from, "
        "refined or not",
        cost="that of these methods, and refine_steps",
        representation="rounded",
        source="simulated annealing over moves, swaps, splits and mergers of groups; set "
        "partitioning by column generation, as Aloise et al. 2014",
        geometries={"sse": SQUARED, "loss": LOSS},
        searches=True,
        in_blocks=False,
    ),
)
