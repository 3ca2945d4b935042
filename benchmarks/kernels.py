"""The grouping alone, as one block on one core: seconds and memory by rows, columns and k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

from benchmarks.apart import Outcome, apart, cell
from benchmarks.data import MIXED
from benchmarks.plan import FAMILY, RUNS, SEARCHES, Plan
from benchmarks.tables import Cell, Table

FROM = 30_000
"""The least number of rows that counts for the growth of time."""

K, D = 5, 4
Ask = Callable[..., Outcome]


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent e of seconds = c * n^e, by least squares on logarithms.

    Needs two different sizes.
    """
    xs, ys = [log(n) for n in sizes], [log(s) for s in seconds]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))
    return across / sum((x - middle_x) ** 2 for x in xs)


def warm(kind: str, d: int, options: dict[str, Any]) -> None:
    """Compiles or loads all that a run will call."""
    from benchmarks.data import points
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for

    few = {**options, "k": 3, "refine_steps": 1000}
    group_points(points(kind, 600, d), task_for(**few))
    group_points(points(kind, 600, d), task_for(**{**few, "block_rows": 300}))


def one(kind: str, row: str, n: int, d: int, k: int, steps: int | None) -> Outcome:
    """One measured grouping, in a process of its own."""
    from benchmarks.data import points
    from benchmarks.meter import measured
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for
    from kanon_sql.points.losses import information_loss, sse, sst

    options = {**RUNS[row], "k": k, "block_rows": n, "refine_steps": steps}
    warm(kind, d, options)
    records = points(kind, n, d)
    found = measured(lambda: group_points(records, task_for(**options)))
    labels = found.result.labels
    loss = information_loss(sse(records, labels), sst(records))
    return {**found.numbers(n * d * 8), "loss": loss}


def exponent(sizes: Sequence[int], cells: Sequence[Cell], least: float) -> Cell:
    """The growth over the sizes from ``least`` on that have a time."""
    known = [
        (n, cell)
        for n, cell in zip(sizes, cells, strict=True)
        if n >= least and isinstance(cell, float)
    ]
    if len({n for n, _ in known}) < 2:
        return f"needs two sizes from {least:,.0f}"
    return growth([n for n, _ in known], [seconds for _, seconds in known])


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """All tables of this part."""
    done: dict[tuple[Any, ...], Outcome] = {}

    def ask(kind: str, row: str, n: int, d: int, k: int) -> Outcome:
        key = (kind, row, n, d, k)
        if key not in done:
            say(f"kernels: {row}, {n:,} x {d} {kind}, k = {k}")
            smaller = [
                seen for (a, b, m, e, j), seen in done.items()
                if (a, b, e, j) == (kind, row, d, k) and m < n
            ]
            if any(str(seen.get("failed", "")).startswith("not within") for seen in smaller):
                done[key] = {"failed": "not run: fewer rows took too long"}
            else:
                done[key] = apart(
                    "kernels:one", plan.limit, kind=kind, row=row, n=n, d=d, k=k,
                    steps=plan.steps,
                )
        return done[key]

    return [*_by_rows(plan, ask), *_by_columns(plan, ask), *_by_k(plan, ask), *_mixed(plan, ask)]


def _grid(
    title: str, head: Iterable[int], rows: dict[str, list[Outcome]], field: str, of: str,
    notes: Sequence[str] = (), unit: float = 1.0,
) -> Table:
    table = Table(title, ["method", *(f"{of}{value:,}" for value in head)], notes=list(notes))
    for name, outcomes in rows.items():
        cells = [cell(outcome, field) for outcome in outcomes]
        table.rows.append([name, *(c if isinstance(c, str) else c / unit for c in cells)])
    return table


def _by_rows(plan: Plan, ask: Ask) -> list[Table]:
    sizes = [plan.rows(n) for n in plan.sizes]
    rows = {
        row: [ask("numbers", row, n, 1 if row == "optimal_1d" else D, K) for n in sizes]
        for row in RUNS
    }
    least = FROM if plan.scale == 1.0 else FROM * plan.scale
    what = f"by rows ({D} columns, 1 for optimal_1d; k = {K})"
    seconds = _grid(
        f"Kernels: seconds {what}", sizes, rows, "seconds", "",
        [
            f"growth: the exponent of time in rows, least squares from {least:,.0f} rows on.",
            f"mdav_plus, refined and best take {plan.steps_told()} steps.",
            "One block, standard normal records; blocks and both cores are in the parts below.",
        ],
    )
    seconds.columns.append("growth")
    for line in seconds.rows:
        line.append(exponent(sizes, line[1:], least))
    memory = _grid(f"Kernels: peak memory in MB {what}", sizes, rows, "peak", "", unit=1e6)
    multiple = _grid(
        f"Kernels: peak memory {what}, as a multiple of the encoded matrix", sizes, rows,
        "multiple", "", ["Above what the process held with the records, before they are grouped."],
    )
    return [seconds, memory, multiple]


def _by_columns(plan: Plan, ask: Ask) -> list[Table]:
    n = plan.rows(plan.at)
    rows = {row: [ask("numbers", row, n, d, K) for d in plan.columns] for row in plan.swept}
    what = f"by columns ({n:,} rows, k = {K})"
    return [
        _grid(f"Kernels: seconds {what}", plan.columns, rows, "seconds", "d = "),
        _grid(
            f"Kernels: peak memory {what}, as a multiple of the encoded matrix", plan.columns,
            rows, "multiple", "d = ",
        ),
    ]


def _by_k(plan: Plan, ask: Ask) -> list[Table]:
    n = plan.rows(plan.at)
    rows = {row: [ask("numbers", row, n, D, k) for k in plan.ks] for row in plan.swept}
    what = f"by k ({n:,} rows, {D} columns)"
    return [
        _grid(f"Kernels: seconds {what}", plan.ks, rows, "seconds", "k = "),
        _grid(
            f"Kernels: peak memory {what}, as a multiple of the encoded matrix", plan.ks, rows,
            "multiple", "k = ",
        ),
        _grid(f"Kernels: information loss in percent {what}", plan.ks, rows, "loss", "k = "),
    ]


def _mixed(plan: Plan, ask: Ask) -> list[Table]:
    sizes = [plan.rows(n) for n in plan.mixed]
    d = 6 + len(MIXED)
    wanted = [row for row in (*FAMILY, *SEARCHES) if row in plan.swept]
    rows = {row: [ask("mixed", row, n, d, K) for n in sizes] for row in wanted}
    kinds = " and ".join(map(str, MIXED))
    what = f"by rows of mixed data (6 numbers, text of {kinds} values; k = {K})"
    return [
        _grid(f"Kernels: seconds {what}", sizes, rows, "seconds", ""),
        _grid(
            f"Kernels: peak memory {what}, as a multiple of rows x {d} x 8 bytes", sizes, rows,
            "multiple", "",
        ),
    ]
