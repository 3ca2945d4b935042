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
    return [table]


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
