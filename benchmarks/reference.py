"""How much faster the kernels are than the same methods in plain Python, with the same labels."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Table

METHODS = ("mdav_plus", "mdav_star")
K, D = 5, 4


def one(row: str, n: int) -> Outcome:
    """Both on the same records, in a process of its own."""
    from benchmarks.data import numbers
    from benchmarks.kernels import warm
    from benchmarks.meter import measured
    from kanon_sql.methods import task_for
    from tests.methods.microaggregation import reference

    warm("numbers", D, {"method": row})
    records = numbers(n, D)
    slow = reference.Records(records.numeric.tolist(), [[] for _ in range(n)], [])
    theirs = measured(lambda: getattr(reference, row)(slow, K))
    ours = measured(lambda: task_for(row, K).group(records))
    if ours.result.labels.tolist() != theirs.result:
        raise AssertionError(f"{row} at {n} rows: the labels differ from the reference's")
    return {"ours": ours.seconds, "reference": theirs.seconds}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Reference: the kernels beside the readable reference ({D} columns, k = {K})",
        ["method", "rows", "kernel s", "reference s", "times faster", "labels"],
    )
    for row in METHODS:
        for size in plan.reference:
            n = plan.rows(size)
            say(f"reference: {row}, {n:,} rows")
            found = apart("reference:one", plan.limit, row=row, n=n)
            if "failed" in found:
                table.rows.append([row, n, found["failed"], None, None, None])
                continue
            ours, theirs = found["ours"], found["reference"]
            table.rows.append([row, n, ours, theirs, theirs / ours, "equal"])
    return [table]
