"""Information loss on Adult beside what other packages reach there.

The peers' figures were measured once, on the same 30,162 rows, and stand here as constants; the
lower bound is computed. All numbers are losses per cell: 0 where nothing is lost, 1 where all is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import njit

from benchmarks.apart import ROOT, Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
COLUMNS = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)
TREES = ROOT / "tests" / "data" / "hierarchies"
PEERS: dict[str, tuple[float | None, float | None, float | str]] = {
    "ARX, local recoding": (0.1126, 0.0312, "3.4 (CPU)"),
    "ARX, local recoding, finest steps": (0.1028, 0.0275, "32"),
    "sdcMicro, MDAV on integer codes": (0.1623, 0.0269, ""),
    "anonypy, Mondrian": (0.2203, 0.0320, ""),
    "anjana": (0.70, 0.28, ""),
}
"""range_flat, range_distinct, seconds."""

PEERS_IN_TREES = {"ARX, local recoding": 0.0609, "ARX, local recoding, finest steps": 0.0540}
TARGETS = (0.090, 0.024, "15")
REFINED = {"method": "k_member", "effort": "balanced"}

FLAT: dict[str, dict[str, Any]] = {
    "k_member": {"method": "k_member"},
    "k_member, refined": REFINED,
    "k_member, refined, long": {**REFINED, "refine_steps": 9_651_840},
    "best": {"method": "best", "distance": "loss"},
    "nearest": {"method": "nearest"},
    "mondrian, strict": {"method": "mondrian", "partitioning": "strict"},
    "mondrian, relaxed": {"method": "mondrian", "partitioning": "relaxed"},
    "mdav_star": {"method": "mdav_star"},
    "mdav_star, refined": {"method": "mdav_star", "effort": "balanced"},
    "mdav_star, distance 'loss'": {"method": "mdav_star", "distance": "loss"},
    "mdav_plus, distance 'loss'": {"method": "mdav_plus", "distance": "loss"},
    "k_member, suppress 0.01": {"method": "k_member", "suppress": 0.01},
}
"""The runs without hierarchies."""

BOTH = ("k_member", "k_member, refined", "k_member, refined, long", "best")
"""Those of them that are made for either measure."""

IN_TREES: dict[str, dict[str, Any]] = {
    "k_member": {"method": "k_member"},
    "k_member, refined": REFINED,
    "k_member, refined, by leaves": {**REFINED, "loss": "range_distinct"},
    "best, by leaves": {"method": "best", "distance": "loss", "loss": "range_distinct"},
    "global": {"method": "full_domain"},
    "global, suppress 0.01": {"method": "full_domain", "suppress": 0.01},
}
"""The runs with ARX's hierarchies."""


def trees() -> dict[str, str]:
    """ARX's hierarchy of each column, as a file."""
    return {name: str(TREES / f"adult_hierarchy_{name}.parquet") for name in COLUMNS}


def one(options: dict[str, Any], copies: int = 1, steps: int | None = None) -> Outcome:
    """Losses and seconds of one choice of options, in a process of its own.

    Of copies of Adult, k is as many times as large: classes of equal rows would be no work.
    """
    import duckdb

    import kanon_sql
    from benchmarks.meter import measured
    from benchmarks.sql import call, metrics_call
    from kanon_sql.data import adult
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(
        "CREATE TABLE adult AS SELECT t.* FROM read_parquet(?) AS t, range(?)", [adult(), copies]
    )
    con.execute(f"CREATE TABLE few AS FROM adult LIMIT {300 * copies}")
    options = {"k": K * copies, **options, "sensitive": ["salary-class"]}
    searches = options.get("effort") == "balanced" or options.get("method") == "best"
    if searches and steps is not None:
        options["refine_steps"] = steps
    few = {**options, "refine_steps": 1000} if searches else options
    con.execute(f"CREATE TABLE warm AS FROM {call('few', few)}")
    metrics = f"SELECT metric, value FROM {metrics_call('adult', options)}"
    found = dict(con.execute(metrics).fetchall())

    def again() -> None:
        forget()  # else the labels would be remembered
        con.execute("DROP TABLE IF EXISTS r")

    again()
    spent = measured(lambda: con.execute(f"CREATE TABLE r AS FROM {call('adult', options)}"), again)
    named = options.get("hierarchies")
    return {
        "ncp": found["ncp_grouping"], "ncp_distinct": found["ncp_distinct_grouping"],
        "seconds": spent.seconds, "method_seconds": found["seconds_group"],
        "rows": found["rows"], "suppressed": found["rows_suppressed"],
        **(leaf_shares(con, named, int(found["rows_suppressed"])) if named else {}),
    }


def leaf_shares(con: Any, named: Mapping[str, str], suppressed: int) -> dict[str, float]:
    """What the table r loses by the leaves below its labels, per cell.

    Returns:
        leaves: leaves / domain, which is 1 / domain for an original value; leaves_more:
        (leaves - 1) / (domain - 1), which is 0 there. The domain is all leaves of the hierarchy,
        also those that no row has. A suppressed row loses 1 in each cell.
    """
    shares, more = [], []
    for column, path in named.items():
        nodes = (  # long form: one row for each leaf and node above it
            f"SELECT label, count(DISTINCT level0) AS leaves FROM (SELECT level0, unnest([*COLUMNS("
            f"*)]) AS label FROM read_parquet('{path}')) GROUP BY label"
        )
        query = (
            f"SELECT count(*), sum(leaves), count(leaves) FROM r LEFT JOIN ({nodes}) "
            f'ON "{column}"::VARCHAR = label'
        )
        rows, leaves, known = con.execute(query).fetchone()
        if known != rows:
            raise ValueError(f"{rows - known} released values of {column} are not in {path}")
        domain = con.execute(f"SELECT count(*) FROM read_parquet('{path}')").fetchall()[0][0]
        total = rows + suppressed
        shares.append((leaves / domain + suppressed) / total)
        more.append(((leaves - rows) / (domain - 1) + suppressed) / total)
    return {"leaves": float(np.mean(shares)), "leaves_more": float(np.mean(more))}


@njit(cache=True, nogil=True)
def neighbours(ages: Any, codes: Any, costs: Any, counts: Any, nearest: Any) -> None:
    """Fills nearest[i] with the least distances of a record like row i to others, ascending.

    Row j stands for counts[j] equal records. Rows are tried from i outwards, since those near in
    the order are near, and left at the first column that takes them too far.
    """
    n, wanted = nearest.shape
    for i in range(n):
        mine = nearest[i]
        for step in range(2 * n - 1):
            j = i + (step + 1) // 2 if step % 2 == 1 else i - step // 2
            if j < 0 or j >= n:
                continue
            gap = abs(ages[i] - ages[j])
            for c in range(len(costs)):
                if gap >= mine[wanted - 1]:
                    break
                if codes[i, c] != codes[j, c]:
                    gap += costs[c]
            for _ in range(min(counts[j] - (i == j), wanted)):
                if gap >= mine[wanted - 1]:
                    break
                place = wanted - 1
                while place > 0 and mine[place - 1] > gap:
                    mine[place] = mine[place - 1]
                    place -= 1
                mine[place] = gap


def bound() -> Outcome:
    """What no grouping into classes of k can be below, per cell, by either measure.

    The class of a record holds k-1 others, one of which is no nearer than its (k-1)-th nearest, so
    the class loses at least that distance (byun2006, definition 6) for this record.
    """
    import polars as pl

    from kanon_sql.data import adult

    table = pl.read_parquet(adult())
    names = [name for name in COLUMNS if name != "age"]
    names.sort(key=lambda name: -table[name].n_unique())  # the first tells most
    coded = [np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in names]
    records = np.column_stack([*coded, table["age"].to_numpy()])
    rows, counts = np.unique(records, axis=0, return_counts=True)
    codes, ages = np.ascontiguousarray(rows[:, :-1], dtype=np.int32), rows[:, -1].astype(np.float64)
    found = {}
    for name, costs in (
        ("ncp", np.ones(len(names))), ("ncp_distinct", 1.0 / codes.max(axis=0))
    ):
        nearest = np.full((len(rows), K - 1), np.inf)
        neighbours(ages / (ages.max() - ages.min()), codes, costs, counts, nearest)
        found[name] = float(np.sum(nearest[:, -1] * counts)) / (len(records) * len(COLUMNS))
    return found


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    return [_flat(plan, say), _in_trees(plan, say)]


def _told(found: Outcome, fields: tuple[str, ...]) -> list[Cell]:
    """The fields of an outcome, and what it took; or why there is nothing."""
    if "failed" in found:
        return [found["failed"], *[None] * (len(fields) + 2)]
    seconds = [f"{found[name]:.1f}" for name in ("seconds", "method_seconds")]
    return [*(found[name] for name in fields), *seconds, int(found["suppressed"])]


def _flat(plan: Plan, say: Callable[[str], None]) -> Table:
    table = Table(
        f"Opponent: loss per cell on Adult, 30,162 rows, eight quasi-identifiers, k = {K}",
        ["by", "made for", "range_flat", "range_distinct", "seconds", "of the method", "rows out"],
        digits=4,
        notes=[
            "range_flat: the range of age over 73; a category loses 1 unless all of its class "
            "agree (metric ncp). range_distinct: (distinct values - 1) / (values of the column - "
            "1) instead (metric ncp_distinct). Of the original values in each class, for all.",
            "made for: the option loss of the run; each run has both measures.",
            "seconds: CREATE TABLE r AS FROM anonymize(...), after a first call that compiles; the "
            "others' are those of their own, as measured (ARX's first call: 8.8 of CPU).",
            "lower bound: the mean distance to the (k-1)-th nearest record; no grouping is below. "
            "With rows out, each of them loses 1 in every cell, and the bound does not hold.",
            f"refined and best take {plan.steps_told()} steps.",
        ],
    )
    for name, (flat, distinct, seconds) in PEERS.items():
        table.rows.append([name, "", flat, distinct, seconds, None, None])
    table.rows.append(["to be reached", "", *TARGETS, None, None])
    for name in plan.opponent:
        for loss in ("range_flat", "range_distinct") if name in BOTH else ("",):
            say(f"opponent: {name} {loss}")
            options = {**FLAT[name], **({"loss": loss} if loss else {})}
            found = apart("opponent:one", plan.limit, options=options, steps=plan.steps)
            table.rows.append([name, loss, *_told(found, ("ncp", "ncp_distinct"))])
    say("opponent: lower bound")
    least = apart("opponent:bound", plan.limit)
    if "failed" in least:
        least = {"ncp": least["failed"], "ncp_distinct": None}
    table.rows.append(["lower bound", "", least["ncp"], least["ncp_distinct"], *[None] * 3])
    return table


def _in_trees(plan: Plan, say: Callable[[str], None]) -> Table:
    table = Table(
        f"Opponent: the same with ARX's hierarchies for all eight columns, k = {K}",
        ["by", "rows", "leaves - 1", "leaves", "heights", "seconds", "of the method", "rows out"],
        digits=4,
        notes=[
            "leaves - 1: (leaves below the released label - 1) / (leaves of the hierarchy - 1). "
            "leaves: the same without the ones, so that even original values lose 0.1420. heights: "
            "height of the lowest common ancestor over that of the hierarchy (metric ncp). by "
            "leaves: with loss 'range_distinct', which counts them.",
            "ARX: the loss of the published hierarchy values, as it was told. It is below what "
            "original values lose in the column leaves; so it stands beside leaves - 1, most "
            "probably ARX's own loss: a share of leaves, 0 for original values.",
            "seconds as above. global: recoding 'global', the least loss of all choices of levels; "
            "of copies of Adult with k as many times as large.",
            f"refined and best take {plan.steps_told()} steps.",
        ],
    )
    for name, loss in PEERS_IN_TREES.items():
        table.rows.append([name, 30_162, loss, *[None] * 5])
    runs = [(name, 1) for name in plan.opponent_trees]
    runs += [("global", copies) for copies in plan.opponent_copies]
    for name, copies in runs:
        say(f"opponent: hierarchies, {name}, {copies} times Adult")
        options = {**IN_TREES[name], "hierarchies": trees()}
        found = apart(
            "opponent:one", plan.limit, options=options, copies=copies, steps=plan.steps
        )
        fields = ("leaves_more", "leaves", "ncp")
        table.rows.append([name, 30_162 * copies, *_told(found, fields)])
    return table
