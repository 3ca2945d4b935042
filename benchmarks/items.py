"""Methods of one attribute in SQL, beside what DuckDB itself does with the same column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Table

K = 20
ROLES = {
    "gps_rectangles": "quasi_identifiers=['lat', 'lon'], others='drop'",
    "zip_regions": "quasi_identifiers=['zip'], others='drop', adjacency='pairs'",
    "zip_regions, places": "quasi_identifiers=['zip'], others='drop', places='spots'",
    "fold": "quasi_identifiers=['zip'], others='drop'",
    "spread": "quasi_identifiers=['zip'], others='drop'",
    "five_halves": "quasi_identifiers=['zip'], others='drop'",
    "ordered": "quasi_identifiers=['lat'], others='drop'",
}
CODES = 40_000
"""Zip codes: a grid of 200 by 200, in which every fifth code has a third of its rows."""

TABLES = """
CREATE TABLE t AS
SELECT 40 + hash(i, 1) % 1000000007 / 1000000007 AS lat,
       -75 + hash(i, 2) % 1000000007 / 1000000007 AS lon,
       lpad((CASE WHEN hash(i, 4) % 3 = 0 THEN hash(i, 3) % {codes} // 5 * 5
                  ELSE hash(i, 3) % {codes} END)::VARCHAR, 5, '0') AS zip
FROM range({n}) AS r(i);
CREATE TABLE pairs AS
SELECT lpad(a::VARCHAR, 5, '0') AS code, lpad(b::VARCHAR, 5, '0') AS neighbour
FROM range({codes}) AS r(a), LATERAL (VALUES (a + 1), (a + {side})) AS s(b)
WHERE b < {codes} AND (b = a + {side} OR b % {side} > 0);
CREATE TABLE spots AS
SELECT lpad(i::VARCHAR, 5, '0') AS code, i // {side} + hash(i) % 97 / 300 AS x,
       i % {side} + hash(i, 1) % 97 / 300 AS y
FROM range({codes}) AS r(i);
"""


def one(row: str, n: int) -> Outcome:
    """One table, released, scanned and sorted, in a process of its own."""
    import duckdb

    import kanon_sql
    from benchmarks.meter import measured
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    side = int(min(CODES, n // K) ** 0.5)
    con.execute(TABLES.format(n=n, codes=side * side, side=side))
    call = f"('t', k={K}, method='{row.partition(',')[0]}', {ROLES[row]}"
    con.execute(f"CREATE TABLE warm AS SELECT * FROM anonymize{call}, representation='number')")

    def create() -> Any:
        return con.execute(
            f"CREATE OR REPLACE TABLE r AS FROM anonymize{call}, representation='number')"
        )

    def drop() -> None:
        forget()  # else a second call would remember the labels of the first
        con.execute("DROP TABLE IF EXISTS r")

    released = measured(create, drop)
    told = dict(con.execute(f"SELECT metric, value FROM anonymize_metrics{call}, detail := "
                            f"true)").fetchall())
    column = ROLES[row].split("'")[1]
    scanned = measured(lambda: con.execute(f"SELECT max({column}) FROM t").fetchall())
    grouped = f"SELECT count(*) FROM (SELECT {column}, count(*) FROM t GROUP BY 1)"
    counted = measured(lambda: con.execute(grouped).fetchall())
    return {
        "seconds": released.seconds, "peak": released.peak, "scan": scanned.seconds,
        "count": counted.seconds, "group": told["seconds_group"], "classes": told["classes"],
        "overfull": told["overfull_ratio"], "ratio": told["ratio"],
        "guaranteed": told["guaranteed_ratio"],
    }


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """One line for each method and size."""
    table = Table(
        f"One attribute: CREATE TABLE r AS FROM anonymize('t', k={K}, ...), class numbers",
        ["method", "rows", "s", "s grouping", "x scan", "x count", "peak MB", "classes",
         "largest / k", "largest / bound", "guaranteed"],
        digits=3,
        notes=[
            "scan: SELECT max(column); count: rows per value of the column; both by DuckDB.",
            f"zip: {CODES:,} codes or fewer, in a grid, by pairs of neighbours or by places.",
            "s grouping: the method alone, on a second call.",
        ],
    )
    for row in ROLES:
        for n in map(plan.rows, plan.items):
            say(f"items: {row}, {n:,} rows")
            found = apart("items:one", plan.limit, row=row, n=n)
            if "failed" in found:
                table.rows.append([row, n, found["failed"], *[None] * 8])
                continue
            seconds = found["seconds"]
            table.rows.append([
                row, n, seconds, found["group"], seconds / found["scan"],
                seconds / found["count"], found["peak"] / 1e6, found["classes"],
                found["overfull"], found["ratio"], found["guaranteed"],
            ])
    return [table]
