"""The methods: one module per algorithm, one dictionary that lists them.

A method is a function ``(points, k, options, watch) -> Grouping``. It knows neither DuckDB nor
Polars. Its module is imported when the method is first used, since that loads the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.watch import Watch

__all__ = ["METHODS", "Grouping", "Method", "Points"]

GroupFunction = Callable[[Points, int, Mapping[str, Any], Watch], Grouping]


@dataclass(frozen=True)
class Method:
    """What ``anonymize_methods()`` tells about a method.

    Attributes:
        name: what a user types; also the module and the function under kanon_sql.grouping.
        summary: one sentence.
        guarantee: what holds for its result, beyond classes of k or more.
        cost: time, by the number of rows n.
        options: the options that only some methods take, of those this one takes.
        representation: how it releases its classes unless the call says otherwise.
        source: paper and section.
        distances: the geometries it can work in, its own first (see DISTANCES in options.py);
            none for methods with an objective, which have a geometry of their own.
        objective: what it has a guarantee for. 'radius' or 'cellular': the largest radius or the
            cellular cost, in the metric that the call chooses, around centers that the method
            chooses; 'cells': the generalized cells.
        in_blocks: whether large inputs may be grouped block by block.
        seeded: whether its result depends on the seed.
        refinable: whether refine may change its groups.
        loss_points: whether distance 'loss' is that of byun2006, sums of ranges; else the same
            distances along each attribute, combined as squares, for methods that need means.
        block_rows: the most rows of a block, unless the call says otherwise.
        promises_k: whether classes have k rows or more.
    """

    name: str
    summary: str
    guarantee: str
    cost: str
    options: tuple[str, ...]
    representation: str
    source: str
    distances: tuple[str, ...] = ("sse", "loss")
    objective: str = ""
    in_blocks: bool = True
    seeded: bool = False
    refinable: bool = True
    loss_points: bool = False
    block_rows: int = 500_000
    promises_k: bool = True

    @property
    def has_centers(self) -> bool:
        """Whether it works in a metric space and chooses the center of each class."""
        return self.objective in ("radius", "cellular")

    def load(self) -> GroupFunction:
        """The function itself; imports its module, and with it the compiler."""
        function: GroupFunction = getattr(import_module(f"{__name__}.{self.name}"), self.name)
        return function

    def group(
        self, points: Points, k: int, options: Mapping[str, Any], watch: Watch | None = None
    ) -> Grouping:
        """Runs the method. Raises StoppedError when the watch was asked to stop."""
        return self.load()(points, k, options, watch or Watch())


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
    )
}
