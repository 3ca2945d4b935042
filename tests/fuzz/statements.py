"""Statements around a call, from a small grammar: what they give is what they give over the same
release as a table, or they are refused in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import duckdb

from tests.fuzz.door import open_connection
from tests.fuzz.oracle import INTERNAL

Connection = duckdb.DuckDBPyConnection

TABLE = """
    CREATE OR REPLACE TABLE patients AS
    SELECT 20 + i * 7 % 41 AS age, 'z' || i % 9 AS zip, ['Flu', 'Cold', 'Gout'][1 + i % 3] AS ill
    FROM range(60) AS r(i)
"""
OPTIONS = (
    "k := 4, sensitive := ['ill'], seed := 1", "k := 3, sensitive := ['ill'], l := 2, seed := 1",
    "k := 5, quasi_identifiers := ['age'], others := 'release', method := 'mdav_star'",
    "k := 4, sensitive := ['ill'], seed := 1, representation := 'interval', class_id := true",
    "k := 3, quasi_identifiers := ['age', 'zip'], within := ['ill'], method := 'mdav_plus'",
    "k := 4, sensitive := ['ill'], seed := 1, method := 'mondrian', representation := 'median'",
)
SOURCES = (
    "patients", "v_patients", "memory.main.patients", '"patients"', "PATIENTS", "in_cte",
    "in_variable",
)

WRAPPERS: tuple[str, ...] = (
    "SELECT * FROM {r}", "FROM {r}", "SELECT DISTINCT ill FROM {r}", "SELECT count(*) FROM {r}",
    "SELECT ill, count(*) AS n FROM {r} GROUP BY ill", "SELECT age, zip FROM {r} AS x",
    "SELECT x.ill FROM {r} AS x WHERE x.ill <> 'Flu'", "SELECT * FROM ({q}) AS s",
    "WITH w AS ({q}) SELECT * FROM w", "WITH w AS MATERIALIZED ({q}) FROM w UNION ALL FROM w",
    "WITH a AS ({q}), b AS (SELECT ill FROM a) SELECT count(*), min(ill) FROM b",
    "({q}) UNION ALL ({q})", "({q}) UNION ({q})", "({q}) INTERSECT ({q})", "({q}) EXCEPT ({q})",
    "SELECT a.ill, count(*) FROM ({q}) a JOIN ({q}) b ON a.ill = b.ill GROUP BY ALL",
    "SELECT count(*) FROM ({q}) a JOIN patients p ON a.ill = p.ill",
    "SELECT count(*) FROM ({q}) a LEFT JOIN patients p ON a.ill = p.zip",
    "SELECT count(*) FROM ({q}) a SEMI JOIN patients p ON a.ill = p.ill",
    "SELECT p.zip, (SELECT count(*) FROM ({q}) s WHERE s.ill = p.ill) FROM patients p",
    "SELECT * FROM patients WHERE EXISTS (SELECT 1 FROM ({q}) s WHERE s.ill = patients.ill)",
    "SELECT * FROM patients WHERE ill IN (SELECT ill FROM ({q}) s)",
    "SELECT p.zip, s.n FROM patients p, LATERAL (SELECT count(*) AS n FROM ({q}) s "
    "WHERE s.ill = p.ill) AS s",
    "PIVOT ({q}) ON ill USING count(*) GROUP BY zip",
    "SELECT ill, sum(n) FROM (SELECT ill, count(*) AS n FROM ({q}) GROUP BY ill, zip) GROUP BY 1",
    "SELECT ill, count(*) OVER (PARTITION BY ill) FROM ({q}) AS s",
    "SELECT ill FROM ({q}) AS s QUALIFY row_number() OVER (PARTITION BY ill ORDER BY ill) = 1",
    "SELECT * FROM ({q}) AS s ORDER BY ALL LIMIT 3", "SELECT * FROM ({q}) s WHERE false",
    "SELECT CASE WHEN (SELECT count(*) FROM ({q})) > 5 THEN 'many' ELSE 'few' END",
    "SELECT COLUMNS('i.*') FROM ({q}) AS s", "SELECT * EXCLUDE (zip) FROM ({q}) AS s",
    "SELECT * REPLACE (upper(ill) AS ill) FROM ({q}) AS s", "DESCRIBE {q}",
    "FROM ({q}) AS s SELECT list(ill ORDER BY ill)", "SELECT unnest([1, 2]), ill FROM ({q}) AS s",
    "WITH RECURSIVE w AS (SELECT 1 AS n, ill FROM ({q}) UNION ALL SELECT n + 1, ill FROM w "
    "WHERE n < 3) SELECT n, count(*) FROM w GROUP BY n", "SELECT * FROM ({q}) a POSITIONAL JOIN "
    "(SELECT 1 AS one) b", "SELECT count(*) FROM ({q}) a ASOF JOIN (SELECT 'Flu' AS ill, 1 AS t) b "
    "ON a.ill = b.ill AND 2 >= b.t", "SELECT ill, count(*) FROM ({q}) GROUP BY ROLLUP (ill)",
)
"""Statements; {r} stands for the relation, {q} for a query of it."""


def _created(con: Connection, kind: str, query: str) -> list[Any]:
    con.execute(f"CREATE OR REPLACE {kind} made AS {query}")
    found = con.execute("FROM made").fetchall()
    con.execute(f"DROP {kind.removeprefix('TEMP ')} made")
    return found


def _prepared(con: Connection, query: str) -> list[Any]:
    con.execute(f"PREPARE asked AS {query}")
    found = con.execute("EXECUTE asked").fetchall()
    again = con.execute("EXECUTE asked").fetchall()
    con.execute("DEALLOCATE asked")
    assert Counter(map(repr, found)) == Counter(map(repr, again))
    return found


def _by_macro(con: Connection, query: str) -> list[Any]:
    con.execute(f"CREATE OR REPLACE TEMP MACRO asked() AS TABLE {query}")
    return con.execute("FROM asked()").fetchall()


def _copied(con: Connection, query: str) -> list[Any]:
    con.execute(f"COPY ({query}) TO '/dev/null' (FORMAT csv)")
    return con.execute(query).fetchall()


def _explained(con: Connection, query: str) -> list[Any]:
    assert con.execute(f"EXPLAIN {query}").fetchall()
    return con.execute(query).fetchall()


def _in_transaction(con: Connection, query: str) -> list[Any]:
    con.execute("BEGIN")
    try:
        return con.execute(query).fetchall()
    finally:
        con.execute("ROLLBACK")


KNOWN = (
    "The call is in a subquery that reads the query around it",
    "PIVOT statements with pivot elements extracted from the data",
)
"""What is refused of a statement that DuckDB would read: the first by us, the rest by DuckDB."""

RUNNERS: dict[str, Callable[[Connection, str], list[Any]]] = {
    "plainly": lambda con, query: con.execute(query).fetchall(),
    "as a table": lambda con, query: _created(con, "TABLE", query),
    "as a view": lambda con, query: _created(con, "TEMP VIEW", query),
    "prepared": _prepared, "by a macro": _by_macro, "copied": _copied, "explained": _explained,
    "in a transaction": _in_transaction,
    "as a relation": lambda con, query: con.sql(query).fetchall(),
    "on a cursor": lambda con, query: con.cursor().execute(query).fetchall(),
}
"""How a statement is run."""


def begin(con: Connection) -> None:
    """Makes what the statements name."""
    con.execute(TABLE)
    con.execute("CREATE OR REPLACE TEMP VIEW v_patients AS FROM patients WHERE age > 0")
    con.execute("SET VARIABLE source = 'patients'")


def fault_of(con: Connection, seed: int) -> str | None:
    """What is wrong with a statement; None where it gives what it gives over a table."""
    random = Random(seed)
    options, source = random.choice(OPTIONS), random.choice(SOURCES)
    wrapper, (how, run) = random.choice(WRAPPERS), random.choice(list(RUNNERS.items()))
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('patients', {options})")
    name = {"in_cte": "c"}.get(source, source)
    call = f"anonymize('{name}', {options})"
    if source == "in_variable":
        call = f"anonymize(getvariable('source'), {options})"
    before = "WITH c AS (FROM patients) " if source == "in_cte" else ""
    if before and wrapper.startswith(("WITH", "PIVOT", "DESCRIBE")):
        return None
    asked, plain = (
        before + wrapper.format(r=relation, q=f"SELECT * FROM {relation}")
        for relation in (call, "released")
    )
    try:
        found = run(con, asked)
    except duckdb.Error as error:
        said = str(error).partition("\n\nLINE")[0]
        if any(each in said for each in KNOWN):
            return None
        refused = not INTERNAL.search(said) and isinstance(error, (
            duckdb.InvalidInputException, duckdb.BinderException, duckdb.ParserException,
            duckdb.CatalogException,
        ))
        return None if refused and not _must(source, how) else f"{how}, {asked}: {said[:300]}"
    except AssertionError:
        return f"{how}, {asked}: a prepared statement gives something else the second time"
    expected = RUNNERS["plainly"](con, plain)
    if Counter(map(repr, found)) != Counter(map(repr, expected)):
        return f"{how}, {asked}: {len(found)} rows are others than over the release as a table"
    return None


def campaign(seed: int, runs: int, report: Callable[[str], None]) -> int:
    """Runs statements; how many of them failed."""
    failed = 0
    with open_connection() as con:
        begin(con)
        for each in range(seed, seed + runs):
            fault = fault_of(con, each)
            if fault:
                failed += 1
                report(f"seed {each}: {fault}")
    report(f"{runs} statements, from seed {seed}, {failed} failed")
    return failed


def _must(source: str, how: str) -> bool:
    """Whether a statement must run: a named table, in no odd way."""
    return source in ("patients", "PATIENTS", '"patients"') and how != "on a cursor"
