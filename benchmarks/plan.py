"""How large each part is: quick, default and full."""

from __future__ import annotations

from dataclasses import dataclass

RUNS: dict[str, dict[str, object]] = {
    "mdav": {"method": "mdav"},
    "mdav_plus": {"method": "mdav_plus"},
    "v_mdav, gamma 0.2": {"method": "v_mdav", "gamma": 0.2},
    "mdav_star": {"method": "mdav_star"},
    "optimal_1d": {"method": "optimal_1d"},
    "mdav_plus, refined": {"method": "mdav_plus", "refine": "local"},
    "best": {"method": "best"},
}
"""What the rows of the tables stand for."""

SEARCHES = ("mdav_plus, refined", "best")
FAMILY = ("mdav", "mdav_plus", "v_mdav, gamma 0.2", "mdav_star")

Shapes = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Plan:
    """The sizes of all parts.

    Attributes:
        limit: seconds for one run.
        scale: factor on every number of rows that is made up (not on real data).
        steps: of refine and best; None for their own default.
        sizes, columns, ks: the sweeps of the kernels; ``at`` are the rows of the last two.
        swept: the methods of the last two, and of the mixed data.
        mixed: rows of the mixed data.
        sql, sql_methods: rows and methods of the SQL part.
        reference: rows of the comparison with the reference.
        loss_ks, loss_methods, loss_data: of the loss part.
        opponent, opponent_trees: the runs of the opponent part, without and with hierarchies.
        opponent_copies: how many times Adult is recoded globally, beside once.
        categories, cut: rows of the methods for categories, and of mondrian.
        guarantees: rows of the methods with a guarantee.
        items: rows of the methods of one attribute.
        blocks, block_parts: shapes of the block part, and into how many blocks they are cut
            beside the automatic number.
        wide: columns of the wide part.
        models: rows of the tables made up of the part of privacy models.
        everyday, everyday_methods: rows and methods of the part of mixed tables.
        first_use: methods of the part of that name; none for all.
        large: rows of the large part; 0 leaves it out.
        calls: rows of the part of that name.
        files, spark: rows of the parts of tables larger than memory, and of Spark.
        block_methods, block_sizes: of the table of what blocks add, by method; of a table of
            ``block_rows`` rows.
        peers: whether the peers are installed and run.
    """

    name: str
    limit: float
    sizes: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000)
    columns: tuple[int, ...] = (2, 4, 8, 13)
    ks: tuple[int, ...] = (3, 5, 10, 50)
    at: int = 100_000
    swept: tuple[str, ...] = (*FAMILY, *SEARCHES)
    mixed: tuple[int, ...] = (10_000, 30_000, 100_000)
    sql: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    sql_methods: tuple[str, ...] = FAMILY
    reference: tuple[int, ...] = (500, 1000, 2000)
    loss_ks: tuple[int, ...] = (3, 5, 10)
    loss_methods: tuple[str, ...] = ("mdav", "mdav_plus", "v_mdav", "mdav_star")
    loss_data: tuple[str, ...] = ("CENSUS", "EIA", "Adult")
    opponent: tuple[str, ...] = (
        "k_member", "k_member, refined", "k_member, refined, long", "best", "nearest",
        "mondrian, strict",
        "mondrian, relaxed", "mdav_star", "mdav_star, refined", "mdav_star, distance 'loss'",
        "mdav_plus, distance 'loss'", "k_member, suppress 0.01",
    )
    opponent_trees: tuple[str, ...] = (
        "k_member", "k_member, refined", "k_member, refined, by leaves", "best, by leaves",
        "global", "global, suppress 0.01",
    )
    opponent_copies: tuple[int, ...] = (34,)
    categories: tuple[int, ...] = (10_000, 50_000, 100_000, 200_000)
    guarantees: tuple[int, ...] = (5_000, 20_000)
    items: tuple[int, ...] = (100_000, 1_000_000)
    cut: tuple[int, ...] = (100_000, 1_000_000)
    blocks: Shapes = ((1_000_000, 4), (1_000_000, 8), (2_000_000, 4))
    block_parts: tuple[int, ...] = (2, 4)
    wide: tuple[int, ...] = (100, 400, 2000)
    models: tuple[int, ...] = (100_000, 1_000_000)
    everyday: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    everyday_methods: tuple[str, ...] = (
        "mdav_plus", "v_mdav, gamma 0.2", "mdav_star", "k_member", "nearest"
    )
    first_use: tuple[str, ...] = ()
    large: int = 0
    calls: tuple[int, ...] = (100_000, 1_000_000)
    files: tuple[int, ...] = (1_000_000, 10_000_000)
    block_methods: tuple[str, ...] = ("mdav_star", "mdav_plus", "k_member", "forest", "r_gather")
    block_sizes: tuple[int, ...] = (10_000, 50_000, 100_000, 250_000, 500_000)
    block_rows: int = 1_000_000
    spark: tuple[int, ...] = (1_000_000, 5_000_000)
    scale: float = 1.0
    steps: int | None = None
    peers: bool = False

    def rows(self, n: int) -> int:
        """A number of rows, scaled."""
        return n if self.scale == 1.0 else max(100, int(n * self.scale))

    def steps_told(self) -> str:
        """The steps of refine and best, for a note."""
        return "their default number of" if self.steps is None else f"{self.steps:,}"


PLANS = {
    "default": Plan("default", limit=600.0),
    "full": Plan(
        "full", limit=3600.0, large=10_000_000, calls=(100_000, 1_000_000, 10_000_000),
        files=(1_000_000, 10_000_000, 100_000_000),
    ),
    "quick": Plan(
        "quick", limit=30.0, sizes=(30_000, 100_000), columns=(4, 8), ks=(5, 10),
        at=30_000, swept=("mdav_plus", "mdav_star"), mixed=(10_000,), sql=(10_000, 100_000),
        sql_methods=("mdav_star",), reference=(500,), loss_ks=(5,),
        loss_methods=("mdav_star",), loss_data=("CENSUS", "EIA"),
        categories=(10_000,), cut=(100_000,), guarantees=(2_000,), items=(100_000,),
        opponent=("k_member, refined",), opponent_trees=("k_member, refined",), opponent_copies=(),
        blocks=((50_000, 4),), block_parts=(4,), wide=(100,),
        first_use=("optimal_1d",), steps=500_000,
        files=(100_000,), block_methods=("mdav_star",), block_sizes=(5_000,), block_rows=20_000,
        spark=(20_000,), calls=(5_000,),
        models=(3_000,), everyday=(10_000, 30_000), everyday_methods=("mdav_star", "k_member"),
    ),
}
