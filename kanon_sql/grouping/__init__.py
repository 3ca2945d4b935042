"""The methods: one module per algorithm, one dictionary that lists them.

A method is a function ``(points, k, options, watch) -> Grouping``. It knows neither DuckDB nor
Polars. Its module is imported when the method is first used, since that loads the compiler.
"""

from __future__ import annotations

from kanon_sql.grouping.method import Method
from kanon_sql.grouping.points import Grouping, Points

__all__ = ["METHODS", "Grouping", "Method", "Points"]

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="mdav",
            summary="Two groups of k a round, around the record furthest from the centroid of "
            "the rest and around the one furthest from that.",
            guarantee="groups of k, the last of k to 2k-1; no bound on the loss",
            cost="near O(n log n) with few columns, O(n^2 / k) at most",
            options=(),
            representation="centroid",
            source="Domingo-Ferrer 2009, as cited in thaeter2021, section 2",
        ),
        Method(
            name="mdav_plus",
            summary="One group of k a round, around the record furthest from the centroid; "
            "leftovers join the closest group.",
            guarantee="n // k groups of k to 2k-1; no bound on the loss",
            cost="near O(n log n) with few columns, O(n^2 / k) at most",
            options=(),
            representation="centroid",
            source="thaeter2021, section 2, MDAV+",
        ),
        Method(
            name="v_mdav",
            summary="As mdav_plus, but a new group takes in records that are closer to it than "
            "to their neighbours, by the factor gamma.",
            guarantee="groups of k to 3k-2, few above 2k-1; no bound on the loss",
            cost="near O(n log n) with few columns, O(n^2) at most; 21 times that with gamma "
            "'best'",
            options=("gamma",),
            representation="centroid",
            source="thaeter2021, section 2, V-MDAV",
        ),
        Method(
            name="mdav_star",
            summary="Before a group is made, compares what it costs with what it costs to extend "
            "the group whose squared error grows least.",
            guarantee="groups of k or more; no bound on the loss",
            cost="near O(n log n) with few columns, O(n^2) at most",
            options=(),
            representation="centroid",
            source="thaeter2021, section 3, MDAV*",
        ),
        Method(
            name="optimal_1d",
            summary="The grouping with the least squared error, for one quasi-identifier that is "
            "a number, date or time.",
            guarantee="groups of k to 2k-1; no grouping into groups of k or more loses less",
            cost="O(n log n)",
            options=(),
            representation="centroid",
            source="Hansen and Mukherjee 2003, IEEE TKDE 15(4)",
            distances=("sse",),
            in_blocks=False,
        ),
        Method(
            name="best",
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
        Method(
            name="k_member",
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
        Method(
            name="mondrian",
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
        Method(
            name="r_gather",
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
        Method(
            name="forest",
            summary="Joins each small tree of rows to one of its k-1 nearest rows, and cuts trees "
            "that have become large.",
            guarantee="generalized cells at most max(2k-1, 3k-5) times the least possible; in "
            "blocks none",
            cost="near O(n log n) for the nearest rows, O(n k) for the trees",
            options=(),
            representation="suppress",
            source="aggarwal2005, section 4",
            distances=(),
            objective="cells",
            loss_points=True,
        ),
        Method(
            name="pairs",
            summary="For k = 2: the subgraph of least weight in which each row has one or two "
            "neighbours.",
            guarantee="suppressed cells at most 1.5 times the least possible if each column has at "
            "most two values, else 2 times; with neighbours or suppress none",
            cost="exact to 300 rows; above with neighbours, to 45,000 of them in all",
            options=("neighbours",),
            representation="suppress",
            source="aggarwal2005, section 5",
            distances=(),
            objective="cells",
            in_blocks=False,
            loss_points=True,
        ),
        Method(
            name="triples",
            summary="For k = 3: the cycles of least weight through all rows, cut into classes of "
            "3 to 5.",
            guarantee="suppressed cells at most 2 times the least possible if each column has at "
            "most two values, else 3 times; with neighbours or suppress none",
            cost="exact to 150 rows; above with neighbours, to 5,000 of them in all",
            options=("neighbours",),
            representation="suppress",
            source="aggarwal2005, section 6",
            distances=(),
            objective="cells",
            in_blocks=False,
            loss_points=True,
        ),
        Method(
            name="zip_regions",
            summary="For codes of areas: connected regions of the graph of neighbours, cut off a "
            "spanning tree of low degree, the lightest first.",
            guarantee="largest class at most max(k, largest code) + d (k - 1) rows, d being the "
            "degree of the tree; with islands 'nearest' none",
            cost="O(n) for the rows, near O(m log m) for m codes",
            options=("adjacency", "places", "islands"),
            representation="interval",
            source="du2009, section 2.2",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            items="nodes",
        ),
        Method(
            name="gps_rectangles",
            summary="For a latitude and a longitude: disjoint rectangles, by a k-d tree that cuts "
            "as long as both sides keep k rows.",
            guarantee="largest class at most 5 times the least possible",
            cost="O(n log n)",
            options=("extent", "tight", "wkt"),
            representation="bounds",
            source="du2009, section 3.2",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            items="places",
        ),
        Method(
            name="fold",
            summary="For labels without an order: fills class after class to k rows; the last, "
            "unfilled one joins another.",
            guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
            cost="O(n) for the rows, O(m) for m labels",
            options=("sequence",),
            representation="interval",
            source="du2009, theorem 7",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            seeded=True,
            items="labels",
        ),
        Method(
            name="spread",
            summary="As fold, but the labels of the last, unfilled class are spread over the "
            "others.",
            guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
            cost="O(n) for the rows, near O(m log m) for m labels",
            options=("sequence",),
            representation="interval",
            source="du2009, section 5",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            seeded=True,
            items="labels",
        ),
        Method(
            name="five_halves",
            summary="Fills classes with labels from the most frequent down, evens them out by "
            "exchanging labels, and keeps the best of three packings.",
            guarantee="largest class at most 5/2 times the least possible",
            cost="O(n) for the rows, O(m log m) for m labels in each of some tries",
            options=(),
            representation="interval",
            source="du2009, theorem 9",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            items="labels",
        ),
        Method(
            name="bin_cover",
            summary="For few labels: tries all ways to put the frequent ones together, up to "
            "rounding by epsilon.",
            guarantee="largest class at most (1 + epsilon) (least possible + k) rows, so 2 (1 + "
            "epsilon) times the least possible",
            cost="grows fast with the number of frequent labels; refused where it is too large",
            options=("epsilon",),
            representation="interval",
            source="du2009, theorem 10",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            items="labels",
        ),
        Method(
            name="ordered",
            summary="For one column with an order: the intervals whose largest class, or whose "
            "quadratic penalty, is the least possible.",
            guarantee="no intervals have a smaller largest class (objective 'quadratic': a lower "
            "quadratic penalty)",
            cost="O(n) for the rows, O(m log m) for m distinct values",
            options=("objective",),
            representation="interval",
            source="du2009, section 4",
            distances=(),
            objective="size",
            in_blocks=False,
            refinable=False,
            items="values",
        ),
    )
}
