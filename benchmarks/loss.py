"""What is lost on real data, beside what the paper prints for its own algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

PAPER = ("CENSUS", "EIA")
REFINED = ", refined"


def choice(row: str, steps: int | None) -> dict[str, Any]:
    """The options that a row stands for."""
    method, refined, _ = row.partition(REFINED)
    options: dict[str, Any] = {"method": method}
    if refined:
        options["effort"] = "balanced"
    if (refined or method == "best") and steps is not None:
        options["refine_steps"] = steps
    return options


def one(name: str, row: str, k: int, steps: int | None) -> Outcome:
    """Loss and seconds of one row on one data set, in a process of its own."""
    options = {"k": k, **choice(row, steps)}
    return adult(options) if name == "Adult" else of_the_paper(name, options)


def of_the_paper(name: str, options: dict[str, Any]) -> Outcome:
    """On CENSUS or EIA, read as the example reads them."""
    from benchmarks.kernels import warm
    from benchmarks.meter import measured
    from examples.thaeter2021 import benchmark
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for
    from kanon_sql.points.losses import information_loss, sse, sst

    if options.pop("effort", None) is not None:
        options["refine"] = "local"  # as a task says it
    warm("numbers", 4, options)
    records = benchmark(name)
    found = measured(lambda: group_points(records, task_for(**options)))
    lost = information_loss(sse(records, found.result.labels), sst(records))
    return {"loss": lost, "seconds": found.seconds}


def adult(options: dict[str, Any]) -> Outcome:
    """On UCI Adult, eight quasi-identifiers, through SQL."""
    import duckdb

    import kanon_sql
    from benchmarks.meter import measured
    from benchmarks.sql import metrics_call
    from kanon_sql.data import adult as path
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [path()])
    con.execute("CREATE TABLE few AS FROM adult LIMIT 300")

    def ask(relation: str, given: dict[str, Any]) -> Any:
        text = metrics_call(relation, {**given, "sensitive": ["salary-class"]})
        query = f"SELECT value FROM {text} WHERE metric = 'information_loss'"
        return con.execute(query).fetchall()[0][0]

    searches = "effort" in options or options["method"] == "best"
    ask("few", {**options, **({"refine_steps": 1000} if searches else {})})
    found = measured(lambda: ask("adult", options), forget)
    return {"loss": found.result, "seconds": found.seconds}


def paper_best(name: str, k: int) -> float:
    """The least loss that the paper prints for its four algorithms."""
    from examples.thaeter2021 import KS, TABLE_1

    return min(losses[KS.index(k)] for losses in TABLE_1[name].values())


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """One table per data set."""
    plain = plan.loss_methods
    rows = [*plain, *(method + REFINED for method in plain), "best"]
    return [_table(plan, name, rows, say) for name in plan.loss_data]


def _table(plan: Plan, name: str, rows: list[str], say: Callable[[str], None]) -> Table:
    known = name in PAPER
    fields = ("%", "s", "beats the paper") if known else ("%", "s")
    table = Table(
        f"Loss: information loss in percent, and seconds, on {name}",
        ["method", *(f"k = {k}, {field}" for k in plan.loss_ks for field in fields)], digits=3,
        notes=[f"refined and best take {plan.steps_told()} steps; v_mdav has its best gamma."],
    )
    if known:
        table.notes.append(
            "beats the paper: a loss below the least that Thaeter and Reischuk 2021, table 1, "
            "print for their four algorithms, to their three digits."
        )
    else:
        table.notes.append("30,162 rows; seconds are those of anonymize_metrics(...).")
    for row in rows:
        cells: list[Cell] = [row]
        for k in plan.loss_ks:
            say(f"loss: {name}, {row}, k = {k}")
            found = apart("loss:one", plan.limit, name=name, row=row, k=k, steps=plan.steps)
            if "failed" in found:
                cells += [found["failed"], *[None] * (len(fields) - 1)]
                continue
            cells += [found["loss"], found["seconds"]]
            if known:
                cells.append("yes" if round(found["loss"], 3) < paper_best(name, k) else "no")
        table.rows.append(cells)
    if known:
        best: list[Cell] = ["the paper's best of four"]
        for k in plan.loss_ks:
            best += [paper_best(name, k), None, None]
        table.rows.append(best)
    return table
