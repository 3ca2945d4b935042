"""What grouping in blocks adds to the loss, and saves in time."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

METHODS = ("mdav_plus", "mdav_star")
K = 5


def one(row: str, n: int, d: int, block_rows: int | None) -> Outcome:
    """One grouping, in a process of its own."""
    from benchmarks.data import numbers
    from benchmarks.kernels import warm
    from benchmarks.meter import measured
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for
    from kanon_sql.points.losses import information_loss, sse, sst

    options = {"method": row, "k": K, "block_rows": block_rows}
    warm("numbers", d, options)
    records = numbers(n, d)
    found = measured(lambda: group_points(records, task_for(**options)))
    loss = information_loss(sse(records, found.result.labels), sst(records))
    return {
        **found.numbers(n * d * 8), "loss": loss, "blocks": int(found.result.facts["blocks"])
    }


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Blocks: what they add to the loss (k = {K})",
        ["rows", "columns", "method", "block_rows", "blocks", "loss %", "added %", "seconds",
         "x one block's s", "x matrix"],
        notes=[
            "added: by how many percent the loss of one block grows. Blocks use all cores.",
            "automatic: block_rows is not given.",
        ],
    )
    for wanted, d in plan.blocks:
        n = plan.rows(wanted)
        for row in METHODS:
            table.rows += _rows(plan, row, n, d, say)
    return [table, _by_family(plan, say)]


KINDS = ("doubles", "mixed")

LOSS = {"k_member": "total_il", "forest": "cost", "r_gather": "max_radius"}
"""The metric that tells what a method minimizes; of all others information_loss."""


def called(kind: str, method: str, n: int, block_rows: int) -> Outcome:
    """The metrics of one call, in a process of its own."""
    import duckdb

    import kanon_sql
    from benchmarks.data import make_four
    from benchmarks.sql import metrics_call

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    make_four(con, kind, "t", n)
    options = {"k": K, "method": method, "block_rows": block_rows}
    rows = con.execute(f"SELECT metric, value FROM {metrics_call('t', options)}").fetchall()
    told = {metric: value for metric, value in rows if value is not None}
    return {
        "loss": told[LOSS.get(method, "information_loss")], "seconds": told["seconds_group"],
        "blocks": told.get("blocks", 1.0), "k": told["k"],
    }


def _by_family(plan: Plan, say: Callable[[str], None]) -> Table:
    """What blocks of each size add to what a method of each family minimizes."""
    n = plan.rows(plan.block_rows)
    table = Table(
        f"Blocks by family: {n:,} rows of four columns, k = {K}",
        ["columns", "method", "measured", "block_rows", "blocks", "loss", "added %", "seconds"],
        notes=["added: over one block of all rows. Columns as in the SQL part; loss: the metric "
               "named, seconds: of the grouping, on all cores. Where a size takes too long, those "
               "above it were not tried."],
    )
    for kind in KINDS:
        for method in plan.block_methods:
            table.rows += _of_method(plan, kind, method, n, say)
    return table


def _of_method(
    plan: Plan, kind: str, method: str, n: int, say: Callable[[str], None]
) -> list[list[Cell]]:
    """The rows of a method, the smallest blocks first: what takes too long in one size does in all
    above."""
    measured = LOSS.get(method, "information_loss")
    found: list[tuple[int, Outcome]] = []
    for size in (*map(plan.rows, plan.block_sizes), 2 * n):
        say(f"blocks: {kind}, {method}, block_rows {size:,}")
        if not any("failed" in each for _, each in found):
            found.append((size, apart(
                "blocks:called", plan.limit, kind=kind, method=method, n=n, block_rows=size
            )))
    last, outcome = found[-1]
    whole = outcome.get("loss") if last == 2 * n else None
    return [
        [kind, method, measured, size, None, each["failed"], None, None] if "failed" in each
        else [kind, method, measured, size, each["blocks"], each["loss"],
              100.0 * (each["loss"] / whole - 1.0) if whole else None, each["seconds"]]
        for size, each in found
    ]


def _rows(plan: Plan, row: str, n: int, d: int, say: Callable[[str], None]) -> list[list[Cell]]:
    """One block, automatic, and the parts of the plan, of one method on the same records."""
    rows: list[list[Cell]] = []
    whole: Outcome = {}
    sizes = [-(-n // parts) for parts in plan.block_parts]
    asked = [("above rows", 2 * n), ("automatic", None), *((f"{size:,}", size) for size in sizes)]
    for called, block_rows in asked:
        say(f"blocks: {row}, {n:,} x {d}, block_rows {called}")
        found = apart("blocks:one", plan.limit, row=row, n=n, d=d, block_rows=block_rows)
        whole = whole or found
        if "failed" in found:
            rows.append([n, d, row, called, None, None, None, found["failed"], None, None])
            continue
        added = slower = None
        if "failed" not in whole:
            added = 100.0 * (found["loss"] / whole["loss"] - 1.0)
            slower = found["seconds"] / whole["seconds"]
        rows.append([
            n, d, row, called, found["blocks"], found["loss"], added, found["seconds"], slower,
            found["multiple"],
        ])
    return rows
