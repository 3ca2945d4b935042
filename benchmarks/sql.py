"""The whole way in SQL, beside what DuckDB itself does with the same columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import RUNS, Plan
from benchmarks.tables import Table

NAMES = "abcd"
K = 5
STAGES = ("read", "encode", "group", "generalize", "verify", "total")


def call(relation: str, options: dict[str, Any]) -> str:
    """The text of anonymize(...) with these options."""
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    return f"anonymize('{relation}'{given})"


def one(row: str, n: int) -> Outcome:
    """One table, released, scanned and sorted, in a process of its own."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    import kanon_sql
    from benchmarks.meter import measured
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")

    def make(name: str, size: int) -> None:
        values = np.random.default_rng([n, 4]).standard_normal((size, len(NAMES)))
        source = pa.table({letter: values[:, j] for j, letter in enumerate(NAMES)})
        con.register("source", source)
        con.execute(f"CREATE TABLE {name} AS FROM source")
        con.unregister("source")

    def create(name: str, query: str) -> Callable[[], Any]:
        return lambda: con.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def drop() -> None:
        forget()  # else a second call would remember the labels of the first
        con.execute("DROP TABLE IF EXISTS r; DROP TABLE IF EXISTS s")

    make("few", 600)
    options = {"k": K, **RUNS[row]}
    con.execute(f"CREATE TABLE warm AS FROM {call('few', options)}")
    con.execute(f"CREATE TABLE warmer AS FROM {call('few', {**options, 'block_rows': 300})}")
    make("t", n)
    released = measured(create("r", f"FROM {call('t', options)}"), drop)
    found = con.execute("SELECT k, rows FROM k_anonymity('r')").fetchone()
    if found is None or found[0] < K or found[1] != n:
        raise ValueError(f"the release has k and rows {found}, of {n} rows")
    drop()
    columns = ", ".join(NAMES)
    scan = ", ".join(f"avg({letter})" for letter in NAMES)
    scanned = measured(lambda: con.execute(f"SELECT {scan} FROM t").fetchall())
    ordered = measured(create("s", f"SELECT * FROM t ORDER BY {columns}"), drop)
    drop()
    metrics = call("t", options).replace("anonymize", "anonymize_metrics", 1)
    spent = con.execute(f"SELECT metric, value FROM {metrics}").fetchall()
    return {
        **released.numbers(n * len(NAMES) * 8), "scan": scanned.seconds, "sort": ordered.seconds,
        **{name: value for name, value in spent if name.startswith("seconds_")},
    }


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    ends = Table(
        "SQL: CREATE TABLE r AS FROM anonymize('t', k=5, ...), four DOUBLE columns",
        ["rows", "method", "seconds", "rows/s", "scan s", "sort s", "x scan", "x sort",
         "peak MB", "x matrix"],
        notes=[
            "scan: SELECT avg(a), avg(b), avg(c), avg(d); sort: CREATE TABLE s AS SELECT * FROM "
            "t ORDER BY a, b, c, d; both by DuckDB, in the same process.",
            "peak: above what the process held with the table t; it includes the table r, which "
            "has the size of the encoded matrix. All other options have their defaults.",
        ],
    )
    stages = Table(
        "SQL: seconds of the stages, as anonymize_metrics tells them",
        ["rows", "method", *STAGES], notes=["One call more, so not the best of three."],
    )
    for size in plan.sql:
        n = plan.rows(size)
        for row in plan.sql_methods:
            say(f"sql: {row}, {n:,} rows")
            found = apart("sql:one", plan.limit, row=row, n=n)
            if "failed" in found:
                ends.rows.append([n, row, found["failed"], *[None] * 7])
                stages.rows.append([n, row, found["failed"], *[None] * (len(STAGES) - 1)])
                continue
            seconds = found["seconds"]
            ends.rows.append([
                n, row, seconds, n / seconds, found["scan"], found["sort"],
                seconds / found["scan"], seconds / found["sort"], found["peak"] / 1e6,
                found["multiple"],
            ])
            stages.rows.append([n, row, *(found[f"seconds_{stage}"] for stage in STAGES)])
    return [ends, stages]
