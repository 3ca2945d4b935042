"""Tables as people have them: numbers beside categories, and categories alone."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.data import MADE, TEXTS
from benchmarks.kernels import growth
from benchmarks.plan import RUNS, Plan
from benchmarks.sql import call, grouping_seconds
from benchmarks.tables import Cell, Table

K = 5
BRIEF = 2.0
"""CPU seconds; work that takes less is done three times, and the least counts."""

ADULT = ("Adult, drawn", "Adult, jittered")
NOTES = [
    "CPU seconds of all threads. mixed: age, a skewed income, 400 zips, skewed, education (6); "
    f"six texts: of {', '.join(map(str, TEXTS))} values; zips: age, 20,000 zips, skewed, sex; "
    "births: a date, 900 zips, sex. The columns are independent.",
    "Adult, drawn: its eight quasi-identifiers, each cell that of a row drawn for it alone; "
    "jittered: its rows again and again, with ages up to 3 years off.",
    "sort: CREATE TABLE s AS FROM t ORDER BY ALL, by DuckDB, in the same process.",
    "one block: the grouping with block_rows as large as the table, where it isn't one block "
    "anyway; growth: the exponent from the size before.",
]


def make(con: Any, kind: str, n: int) -> None:
    """Creates the table t of n rows."""
    con.execute("SELECT setseed(0.5)")
    if kind in MADE:
        con.execute(f"CREATE TABLE t AS SELECT {MADE[kind]} FROM range({n})")
        return
    from kanon_sql.data import adult

    con.execute(f'CREATE TABLE a AS SELECT * EXCLUDE "salary-class" FROM \'{adult()}\'')
    names = [row[0] for row in con.execute("DESCRIBE a").fetchall()]
    rows = con.execute("SELECT count(*) FROM a").fetchone()[0]
    if kind == "Adult, drawn":
        lists = ", ".join(f'list("{name}") AS l{j}' for j, name in enumerate(names))
        cells = ", ".join(
            f'l{j}[1 + (random() * {rows - 1})::INT] AS "{name}"' for j, name in enumerate(names)
        )
        con.execute(f"CREATE TABLE t AS SELECT {cells} FROM range({n}), (SELECT {lists} FROM a)")
    else:
        con.execute(
            "CREATE TABLE t AS SELECT a.* REPLACE (age + (random() * 6)::INT - 3 AS age) "
            f"FROM (FROM range({n // rows + 1}) SELECT 1), a LIMIT {n}"
        )
    con.execute("DROP TABLE a")


def least(work: Callable[[], float], again: Callable[[], Any]) -> float:
    """The CPU seconds that a piece of work tells of itself; the least of three if that is brief."""
    again()
    spent = work()
    if spent < BRIEF:
        for _ in range(2):
            again()
            spent = min(spent, work())
    return spent


def one(kind: str, row: str, n: int) -> Outcome:
    """One table, released and sorted, in a process of its own: CPU seconds."""
    import duckdb

    import kanon_sql
    from kanon_sql.methods import task_for
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    make(con, kind, n)
    options: dict[str, Any] = {"k": K, **RUNS.get(row, {"method": row})}
    con.execute("CREATE TABLE few AS FROM t LIMIT 600")
    con.execute(f"CREATE TABLE warm AS FROM {call('few', options)}")
    con.execute(f"CREATE TABLE warmer AS FROM {call('few', {**options, 'block_rows': 300})}")
    grouped = grouping_seconds()

    def drop() -> None:
        forget()  # else a second call would remember the labels of the first
        con.execute("DROP TABLE IF EXISTS r")

    def create(query: str) -> Callable[[], float]:
        def work() -> float:
            started = process_time()
            con.execute(f"CREATE TABLE r AS {query}")
            return process_time() - started

        return work

    found = {
        "call": least(create(f"FROM {call('t', options)}"), drop), "group": min(grouped),
        "sort": least(create("FROM t ORDER BY ALL"), drop),
    }
    if n > task_for(**options).block_size():
        grouped.clear()
        least(create(f"FROM {call('t', {**options, 'block_rows': n})}"), drop)
        found["one_block"] = min(grouped)
    return found


def grown(sizes: list[int], found: list[Outcome], name: str) -> Cell:
    """The exponent by which a measure grew from the last but one size to the last."""
    if len(found) < 2 or "failed" in found[-2]:
        return None
    # what one block holds anyway is the grouping itself
    return growth(sizes[-2:], [each[name if name in each else "group"] for each in found[-2:]])


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Mixed: CREATE TABLE r AS FROM anonymize('t', k={K}, ...), CPU seconds",
        ["table", "method", "rows", "call", "grouping", "one block", "sort", "x sort",
         "growth, call", "growth, grouping", "growth, one block"],
        notes=NOTES,
    )
    for kind in (*MADE, *ADULT):
        for row in plan.everyday_methods:
            sizes: list[int] = []
            runs: list[Outcome] = []
            for n in map(plan.rows, plan.everyday):
                say(f"mixed: {kind}, {row}, {n:,} rows")
                found = apart("mixed:one", plan.limit, kind=kind, row=row, n=n)
                sizes.append(n)
                runs.append(found)
                if "failed" in found:
                    table.rows.append([kind, row, n, found["failed"], *[None] * 7])
                    continue
                table.rows.append([
                    kind, row, n, found["call"], found["group"], found.get("one_block"),
                    found["sort"], found["call"] / found["sort"],
                    *(grown(sizes, runs, name) for name in ("call", "group", "one_block")),
                ])
    return [table]
