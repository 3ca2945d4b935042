"""k-member clustering (byun2006), and the nearest-neighbour clustering it compares with."""

from __future__ import annotations

from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="k_member",
        family=__name__,
        summary="One class of k a round: a record furthest away, then those that add least to "
        "the class's information loss; leftovers join where they add least.",
        guarantee="n // k classes of k to 2k-1; no bound on the loss",
        cost="near O(n^1.5) on mixed tables, O(n^2) at most",
        options=("start", "class_penalty", "diversity", "diversity_penalty"),
        representation="interval",
        source="byun2006, figure 8; class labels section 5.2, diversity section 5.1",
        distances=("loss",),
        seeded=True,
        loss_points=True,
    ),
    Method(
        name="nearest",
        family=__name__,
        summary="One class of k a round: a record picked at random, and the k-1 nearest.",
        guarantee="n // k classes of k to 2k-1; no bound on the loss",
        cost="near O(n^1.5) on mixed tables, O(n^2 / k) at most",
        options=(),
        representation="interval",
        source="Aggarwal and Yu 2004, as byun2006, section 6, compares with it",
        distances=("loss",),
        seeded=True,
        loss_points=True,
    ),
)
