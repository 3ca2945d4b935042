"""Recoding of single attributes: Mondrian and full-domain (LeFevre et al. 2005, 2006)."""

from __future__ import annotations

from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="mondrian",
        family=__name__,
        summary="Cuts the table at the median of the widest attribute, again and again, as "
        "long as both sides keep k.",
        guarantee="classes of k or more that no median cut can divide; relaxed: of k to 2k-1, "
        "unless all records are equal",
        cost="O(n log n)",
        options=("partitioning",),
        representation="interval",
        source="LeFevre, DeWitt and Ramakrishnan 2006, ICDE",
        distances=("loss",),
        in_blocks=False,
        loss_points=True,
    ),
    Method(
        name="full_domain",
        family=__name__,
        summary="Brings every value of a column to the same level of its hierarchy: the levels "
        "of least loss that leave classes of k (recoding 'global').",
        guarantee="no other choice of levels loses less",
        cost="grows with the number of combinations of levels that must be tried",
        options=(),
        representation="hierarchy",
        source="exact search in the lattice of Samarati 2001 and LeFevre et al. 2005",
        distances=("loss",),
        in_blocks=False,
        refinable=False,
        loss_points=True,
    ),
)
