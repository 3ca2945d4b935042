"""Tables of many columns: what the planning of a call takes, beside that of a plain query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Table

ROWS = 300
CALLS = {
    "all quasi-identifiers": "anonymize('t', k=5)",
    "all but one sensitive": "anonymize('t', k=5, quasi_identifiers=['c0'], sensitive={rest})",
    "all but one released": "anonymize('t', k=5, quasi_identifiers=['c0'], others='release')",
    "k_anonymity": "k_anonymity('t')",
}
PLAIN = "SELECT count(*), COLUMNS(*) FROM t GROUP BY ALL"
"""What has to name every column, too."""


def one(row: str, n: int) -> Outcome:
    """One call on a table of ``n`` columns, in a process of its own."""
    import duckdb

    import kanon_sql
    from benchmarks.meter import measured
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    columns = ", ".join(f"hash(i * {j + 1}) % 97 AS c{j}" for j in range(n))
    con.execute(f"CREATE TABLE t AS SELECT {columns} FROM range({ROWS}) AS r(i)")
    rest = [f"c{j}" for j in range(1, n)]
    call = f"FROM {CALLS[row].format(rest=rest)}"
    con.execute(call).fetchall()  # compiles, or loads what was compiled

    def fetch(query: str) -> Callable[[], Any]:
        return lambda: con.execute(query).fetchall()

    found = measured(fetch(call), forget)
    return {**found.numbers(ROWS * n * 8), "plain": measured(fetch(PLAIN)).seconds}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    table = Table(
        f"Wide tables: FROM anonymize('t', k=5, ...), {ROWS} rows of integers",
        ["columns", "call", "seconds", "ms a column", "plain s", "x plain"],
        notes=[f"plain: {PLAIN}, by DuckDB, in the same process. The rows are few: what takes "
               "time is to plan the query."],
    )
    for n in plan.wide:
        for row in CALLS:
            say(f"wide: {row}, {n:,} columns")
            found = apart("wide:one", plan.limit, row=row, n=n)
            if "failed" in found:
                table.rows.append([n, row, found["failed"], *[None] * 3])
                continue
            seconds = found["seconds"]
            table.rows.append([
                n, row, seconds, 1000.0 * seconds / n, found["plain"], seconds / found["plain"],
            ])
    return [table]
