"""Generalized cells, by forests and factors (aggarwal2005)."""

from __future__ import annotations

from kanon_sql.methods.cell_generalization.geometry import CELLS
from kanon_sql.methods.geometry import Trial
from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="forest",
        family=__name__,
        summary="Joins each small tree of rows to one of its k-1 nearest rows, then cuts trees "
        "that have become large.",
        guarantee="generalized cells at most max(2k-1, 3k-5) times the optimum; in blocks none",
        cost="near O(n log n) for the nearest rows, O(n k) for the trees",
        representation="suppress",
        source="aggarwal2005, section 4",
        geometries={None: CELLS},
    ),
    Method(
        name="pairs",
        family=__name__,
        summary="For k = 2: finds the subgraph of minimum weight in which each row has one or "
        "two neighbours.",
        guarantee="suppressed cells at most 1.5 times the optimum if each column has at most two "
        "values, else 2 times; guaranteed_ratio is higher if the minimum isn't proven; "
        "with suppress none",
        cost="up to 10,000 rows, in one to three minutes",
        representation="suppress",
        source="aggarwal2005, section 5",
        geometries={None: CELLS},
        only_k=2,
        trial=Trial(rows=12),
        in_blocks=False,
    ),
    Method(
        name="triples",
        family=__name__,
        summary="For k = 3: finds the cycles of minimum weight through all rows, and cuts them "
        "into classes of 3 to 5.",
        guarantee="suppressed cells at most 2 times the optimum if each column has at most two "
        "values, else 3 times; guaranteed_ratio is higher if the minimum isn't proven; "
        "with suppress none",
        cost="up to 10,000 rows, in one to three minutes",
        representation="suppress",
        source="aggarwal2005, section 6",
        geometries={None: CELLS},
        only_k=3,
        trial=Trial(rows=12, k=3),
        in_blocks=False,
    ),
)
