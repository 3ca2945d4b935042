"""Clustering with published centers (aggarwal2006)."""

from __future__ import annotations

from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="r_gather",
        family=__name__,
        summary="The least radius for which a flow gives each greedy center k rows or more; "
        "with epsilon some rows are left out, with max_clusters there are no more classes.",
        guarantee="largest radius at most 2 times the least possible; with epsilon 4 times (3 "
        "with centers 'rows'), with epsilon and max_clusters 6 times (3); in blocks none",
        cost="the rows around each center, about 20 times; a flow network of all of them",
        options=("metric", "epsilon", "max_clusters", "centers"),
        representation="centroid",
        source="aggarwal2006, section 2",
        distances=(),
        objective="radius",
        block_rows=50_000,
    ),
    Method(
        name="cellular",
        family=__name__,
        summary="Opens clusters where facility_cost pays, by a primal-dual method; promises no "
        "class size, so that anonymize refuses it.",
        guarantee="facility costs and rows times radius at most 4 times the least possible; no "
        "class size; in blocks none",
        cost="grows with the rows within a facility_cost of each row",
        options=("metric", "facility_cost", "allow_small"),
        representation="centroid",
        source="aggarwal2006, section 3, procedure 1",
        distances=(),
        objective="cellular",
        refinable=False,
        block_rows=50_000,
        promises_k=False,
    ),
    Method(
        name="r_cellular",
        family=__name__,
        summary="Clusters by a primal-dual method that makes small ones dear, shares rows "
        "between them, and then makes them disjoint.",
        guarantee="rows times radius at most 60 times the least possible, with epsilon 100 "
        "times; with max_diameter or in blocks none",
        cost="grows with the rows within twice the distance to the k-th nearest of each row",
        options=("metric", "epsilon", "max_diameter"),
        representation="centroid",
        source="aggarwal2006, section 3.1",
        distances=(),
        objective="cellular",
        block_rows=50_000,
    ),
)
