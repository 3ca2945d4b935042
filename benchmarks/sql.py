"""The whole way in SQL, beside what DuckDB itself does with the same columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.data import FOUR
from benchmarks.plan import RUNS, Plan
from benchmarks.tables import Table

K = 5
DEFAULTS = ("mdav_plus", "mdav_star")
"""The methods whose calls are measured on all kinds of tables."""

STAGES = ("read", "encode", "group", "generalize", "verify", "total")


def call(relation: str, options: dict[str, Any]) -> str:
    """The text of anonymize(...) with these options."""
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    return f"anonymize('{relation}'{given})"


def metrics_call(relation: str, options: dict[str, Any]) -> str:
    """The text of anonymize_metrics(...), all rows of it, with these options."""
    return call(relation, {**options, "detail": True}).replace("anonymize", "anonymize_metrics", 1)


def grouping_seconds() -> list[float]:
    """A list to which each grouping from now on adds its CPU seconds, those of all threads."""
    from kanon_sql.stages import group

    plain, spent = vars(group)["group_points"], []

    def watched(*given: Any) -> Any:
        # nothing else runs meanwhile: the query waits for the grouping
        started = process_time()
        found = plain(*given)
        spent.append(process_time() - started)
        return found

    vars(group)["group_points"] = watched
    return spent


def one(kind: str, row: str, n: int) -> Outcome:
    """One table, released, scanned and sorted, in a process of its own."""
    import duckdb

    import kanon_sql
    from benchmarks.data import make_four
    from benchmarks.meter import measured
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")

    def create(name: str, query: str) -> Callable[[], Any]:
        return lambda: con.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def drop() -> None:
        forget()  # else a second call would remember the labels of the first
        con.execute("DROP TABLE IF EXISTS r; DROP TABLE IF EXISTS s")

    make_four(con, kind, "few", 600)
    options = {"k": K, **RUNS[row]}
    con.execute(f"CREATE TABLE warm AS FROM {call('few', options)}")
    con.execute(f"CREATE TABLE warmer AS FROM {call('few', {**options, 'block_rows': 300})}")
    make_four(con, kind, "t", n)
    grouped, spent = grouping_seconds(), []

    def release() -> None:
        started = process_time()
        create("r", f"FROM {call('t', options)}")()
        spent.append(process_time() - started)

    released = measured(release, drop)
    found = con.execute("SELECT k, rows FROM k_anonymity('r')").fetchone()
    if found is None or found[0] < K or found[1] != n:
        raise ValueError(f"the release has k and rows {found}, of {n} rows")
    drop()
    names = [each[0] for each in con.execute("DESCRIBE t").fetchall()]
    scan = ", ".join(f"max({name})" for name in names)
    scanned = measured(lambda: con.execute(f"SELECT {scan} FROM t").fetchall())
    ordered = measured(create("s", "FROM t ORDER BY ALL"), drop)
    drop()
    stages = con.execute(f"SELECT metric, value FROM {metrics_call('t', options)}").fetchall()
    around = min(whole - part for whole, part in zip(spent, grouped, strict=False))
    return {
        **released.numbers(n * len(names) * 8), "scan": scanned.seconds, "sort": ordered.seconds,
        "cpu": min(spent), "around": around,
        **{name: value for name, value in stages if name.startswith("seconds_")},
    }


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    ends = Table(
        "SQL: CREATE TABLE r AS FROM anonymize('t', k=5, ...), four columns",
        ["columns", "rows", "method", "seconds", "rows/s", "CPU s", "around CPU s", "scan s",
         "sort s", "x scan", "x sort", "peak MB", "x matrix"],
        notes=[
            "doubles: standard normal; mixed: age, income, zip (400), education (6); long: BIGINT, "
            "text of 300,000 values, TIMESTAMP, INTEGER.",
            "around: CPU seconds of the call but for the grouping.",
            "scan: the maximum of each column; sort: CREATE TABLE s AS FROM t ORDER BY ALL; both "
            "by DuckDB, in the same process.",
            "peak: above what the process held with the table t; it includes the table r; matrix: "
            "8 bytes a cell. All other options have their defaults.",
        ],
    )
    stages = Table(
        "SQL: seconds of the stages, as anonymize_metrics tells them",
        ["columns", "rows", "method", *STAGES], notes=["One call more, so not the best of three."],
    )
    for kind, size, row in product(FOUR, plan.sql, plan.sql_methods):
        n = plan.rows(size)
        if kind != "doubles" and row not in DEFAULTS:
            continue
        say(f"sql: {kind}, {row}, {n:,} rows")
        found = apart("sql:one", plan.limit, kind=kind, row=row, n=n)
        if "failed" in found:
            ends.rows.append([kind, n, row, found["failed"], *[None] * 9])
            stages.rows.append([kind, n, row, found["failed"], *[None] * (len(STAGES) - 1)])
            continue
        seconds = found["seconds"]
        ends.rows.append([
            kind, n, row, seconds, n / seconds, found["cpu"], found["around"], found["scan"],
            found["sort"], seconds / found["scan"], seconds / found["sort"], found["peak"] / 1e6,
            found["multiple"],
        ])
        stages.rows.append([kind, n, row, *(found[f"seconds_{stage}"] for stage in STAGES)])
    return [ends, stages]
