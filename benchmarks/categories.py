"""The methods that work on information loss: k_member, nearest, mondrian and full_domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart, cell
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
GREEDY = ("k_member", "nearest")


def adult_like(n: int) -> Any:
    """Adult's eight quasi-identifiers, n rows of it drawn again, one cell in ten with the value of
    another row: LossPoints in canonical order."""
    import numpy as np
    import polars as pl

    from kanon_sql.data import adult
    from kanon_sql.points.points import LossPoints

    table = pl.read_parquet(adult()).drop("salary-class")
    rng = np.random.default_rng([n, 8])
    drawn = rng.integers(0, len(table), n)
    cells = []
    for column in table:
        codes = np.unique(column.to_numpy(), return_inverse=True)[1].reshape(-1)
        other = codes[rng.integers(0, len(codes), n)]
        cells.append(np.where(rng.random(n) < 0.1, other, codes[drawn]))
    age = table.columns.index("age")
    numeric = cells.pop(age)[:, None] / 72.0
    codes = np.column_stack(cells)
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1]])
    return LossPoints.of(numeric[order], codes[order], np.ones(codes.shape[1]))


def greedy(method: str, n: int) -> Outcome:
    """Seconds and peak of one method on n rows like Adult's, and what it loses per cell."""
    from benchmarks.meter import measured
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for
    from kanon_sql.points.losses import total_il

    options = {"k": K, "method": method, "seed": 0, "block_rows": max(n, 1000)}
    group_points(adult_like(2_000), task_for(**options))
    points = adult_like(n)
    found = measured(lambda: group_points(points, task_for(**options)))
    return {
        **found.numbers(n * 8 * 8), "loss": total_il(points, found.result.labels) / (8 * n)
    }


def cuts(n: int, partitioning: str) -> Outcome:
    """Seconds of mondrian on four standard normal columns, and of DuckDB to sort them."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    from benchmarks.meter import measured
    from kanon_sql.methods import task_for
    from kanon_sql.points.points import LossPoints

    values = np.random.default_rng([n, 4]).standard_normal((n, 4))
    places = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    points = LossPoints.of(places[np.argsort(places[:, 0], kind="stable")])
    options = {"partitioning": partitioning}
    task_for("mondrian", K, **options).group(points.part(np.arange(min(n, 2_000))))
    con = duckdb.connect()
    con.register("source", pa.table({name: values[:, j] for j, name in enumerate("abcd")}))
    con.execute("CREATE TABLE t AS FROM source")
    ordered = measured(
        lambda: con.execute("CREATE OR REPLACE TABLE s AS FROM t ORDER BY a, b, c, d")
    )
    found = measured(lambda: task_for("mondrian", K, **options).group(points))
    return {**found.numbers(n * 4 * 8), "sort": ordered.seconds}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """One table for the greedy methods, one for mondrian."""
    first = Table(
        f"Categories: rows like UCI Adult's, 8 quasi-identifiers, k = {K}, one core, one block",
        ["method", "rows", "s", "peak / matrix", "ncp"], digits=4,
        notes=["the grouping alone; ncp is the loss per cell, categories flat."],
    )
    for method in GREEDY:
        for n in map(plan.rows, plan.categories):
            say(f"categories: {method}, {n:,} rows")
            found = apart("categories:greedy", plan.limit, method=method, n=n)
            if "failed" in found:
                row: list[Cell] = [method, n, found["failed"], None, None]
            else:
                row = [method, n, found["seconds"], found["multiple"], found["loss"]]
            first.rows.append(row)
    second = Table(
        f"Categories: mondrian, 4 standard normal columns, k = {K}, all cores",
        ["partitioning", "rows", "s", "DuckDB sorts them in, s", "ratio"], digits=3,
        notes=["the grouping alone, beside CREATE TABLE AS ... ORDER BY in the same process."],
    )
    for partitioning in ("strict", "relaxed"):
        for n in map(plan.rows, plan.cut):
            say(f"categories: mondrian {partitioning}, {n:,} rows")
            found = apart("categories:cuts", plan.limit, n=n, partitioning=partitioning)
            row = [partitioning, n, cell(found, "seconds"), None, None]
            if "failed" not in found:
                row[3:] = [found["sort"], found["seconds"] / found["sort"]]
            second.rows.append(row)
    return [first, second]
