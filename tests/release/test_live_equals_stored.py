"""A release that is selected from is what its stored copy is, whatever is asked of a column.

Every scalar function of one argument that DuckDB has is applied to each column of both. What the
planner knows of a column of the source (statistics, estimates) must show in neither.
"""

from __future__ import annotations

import re

import duckdb
import pytest

from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection

TABLES = """
    CREATE TABLE people AS  -- row 7 has the ends of all columns, and is left out
    SELECT CASE WHEN i = 7 THEN NULL ELSE 20 + i % 40 END AS age,
           CASE WHEN i = 7 THEN 777 ELSE 100 + i * i % 61 END AS pay,
           CASE WHEN i = 7 THEN 'zzzsecret' ELSE 'a' || i % 9 END AS zip,
           DATE '2000-01-01' + (CASE WHEN i = 7 THEN 9999 ELSE i % 30 END)::INT AS born,
           ((i * 37) % 211) / 8 AS cost,
           CASE WHEN i = 7 THEN 777777 ELSE i % 7 END AS visits,
           CASE WHEN i = 7 THEN 'zzzsecret' ELSE ['flu', 'cold', ''][1 + i % 3] END AS ill,
           TIMESTAMP '2024-01-01' + to_hours(i % 50) AS seen,
           [i % 3, NULL] AS marks
    FROM range(160) AS r(i)
"""
OPTIONS = (
    "k := 5, quasi_identifiers := ['age', 'pay', 'zip', 'born', 'cost'], seed := 1, "
    "sensitive := ['visits', 'ill', 'seen', 'marks'], nulls := 'suppress', "
)
FORMS = {
    "centroid": "", "rounded": "", "median": "", "interval": "", "bounds": "", "suppress": "",
    "hierarchy": "hierarchies := {'zip': 'prefix', 'age': 'bins'}",
    "rows": "keep_order := true",
    "centers": "method := 'r_gather'",
    "classes": "class_id := true",
}
QUICK = ("median", "bounds")
"""Ten ways to release, by representation or by another option; two that are tried at once."""

LEFT_OUT = {
    "stats": "shows what the planner knows of a column: of a stored one, something; see below",
    "vector_type": "shows how values lie in memory",
    "setseed": "changes a setting", "write_log": "writes", "sleep_ms": "waits",
}
"""Functions that may differ, and why; so may those that DuckDB itself calls volatile."""

ALIKE = re.compile("^(icu_)?collate_(?!noaccent|de$)|^__internal_")
"""Hundreds of collations, of which two are tried, and what only plans call."""


def call(form: str) -> str:
    more = FORMS[form] or f"representation := '{form}'"
    return f"anonymize('people', {OPTIONS}{more})"


con = registered(
    TABLES,
    *(f"CREATE VIEW live_{form} AS FROM {call(form)}" for form in FORMS),
    *(f"CREATE TABLE stored_{form} AS FROM {call(form)}" for form in FORMS),
)
"""Each release as a view and as a table."""


def functions(con: Connection) -> list[str]:
    """The functions that are applied."""
    names = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'scalar' "
        "AND (len(parameters) = 1 OR (varargs IS NOT NULL AND len(parameters) <= 1)) "
        "AND stability NOT LIKE 'VOLATILE%' ORDER BY ALL"
    ).fetchall()
    return [name for (name,) in names if name not in LEFT_OUT and not ALIKE.search(name)]


def told(con: Connection, query: str) -> str:
    """The rows, or of an error the type and how it begins."""
    try:
        return repr(con.execute(query).fetchall())
    except duckdb.Error as error:
        return f"{type(error).__name__} {' '.join(str(error).split()[:5])}"


def agree(con: Connection, form: str, refused: bool) -> int:
    """Asserts that live and stored agree; how many applications there were.

    Args:
        form: one of FORMS.
        refused: whether also those are tried that end with an error; each makes a release.
    """
    made = 0
    columns = con.execute(f"DESCRIBE stored_{form}").fetchall()
    assert con.execute(f"DESCRIBE live_{form}").fetchall() == columns
    for column, *_ in columns:
        bound: dict[str, str] = {}
        for name in functions(con):
            text = f'"{name}"("{column}")'
            try:
                con.execute(f"SELECT {text} FROM stored_{form}").fetchall()
                bound[name] = text
            except duckdb.Error as error:
                # what a type doesn't bind to is the same for both, which have the same types
                if refused and not isinstance(error, duckdb.BinderException):
                    query = f"SELECT {text} FROM {{}}_{form}"
                    assert told(con, query.format("live")) == told(con, query.format("stored"))
                    made += 1
        query = f"SELECT {', '.join(bound.values())} FROM {{}}_{form}"
        live, stored = (con.execute(query.format(w)).fetchall() for w in ("live", "stored"))
        assert len(live) == len(stored)
        for at, name in enumerate(bound):
            one, other = ([repr(row[at]) for row in rows] for rows in (live, stored))
            assert one == other, f"{name}({column})"
        made += len(bound)
    return made


@pytest.mark.slow
@pytest.mark.sample(len(QUICK))
@pytest.mark.parametrize("form", QUICK)
def test_functions_give_of_a_release_what_they_give_of_its_copy(
    con: Connection, form: str
) -> None:
    assert agree(con, form, refused=False) > 300


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_functions_agree_for_every_form(con: Connection, form: str) -> None:
    assert agree(con, form, refused=True) > 400


@pytest.mark.sample(len(FORMS))
@pytest.mark.parametrize("form", FORMS)
def test_no_statistics_of_the_source_reach_a_release(con: Connection, form: str) -> None:
    """As if the column came from an expression of which nothing is known, also through a view."""
    unknown = f"SELECT stats(TRY(COLUMNS(*))) FROM stored_{form} LIMIT 1"
    expected = con.execute(unknown).fetchall()
    assert not re.search("[1-9]|secret", str(expected))
    for release in (f"live_{form}", call(form)):
        found = con.execute(f"SELECT stats(COLUMNS(*)) FROM {release} LIMIT 1").fetchall()
        assert found == expected, release


def test_published_clusters_show_none_either(con: Connection) -> None:
    clusters = f"anonymize_clusters('people', {OPTIONS} method := 'r_gather')"
    found = con.execute(f"SELECT stats(COLUMNS(*)) FROM {clusters} LIMIT 1").fetchall()
    assert not re.search("(?i)approx|secret|777", str(found))


@pytest.mark.slow
@pytest.mark.parametrize(("column", "low", "high"), [
    ("visits", "700000", "900000"), ("ill", "'zzyyyyyyy'", "'zzzzzzzzz'"),
])
def test_no_plan_knows_where_the_values_of_the_source_end(
    con: Connection, column: str, low: str, high: str
) -> None:
    """A planner that knows that nothing is above a number plans to read nothing."""
    plans = {
        con.execute(
            f"EXPLAIN SELECT count(*) FROM live_median WHERE {column} > {value}"
        ).fetchall()[0][1].replace(value.strip("'"), "...")
        for value in (low, high)
    }
    assert len(plans) == 1


@pytest.mark.sample(5)
@pytest.mark.parametrize("query", [
    "SELECT count(*) FROM live_median WHERE visits::TINYINT < 100",
    "SELECT count(*) FROM live_median "
    "WHERE CASE ill WHEN 'zzzsecret' THEN error(ill) ELSE true END",
    "SELECT max(visits::TINYINT) FROM live_classes",
    "SELECT visits::TINYINT FROM live_rows ORDER BY visits::TINYINT LIMIT 1",
    "SELECT count(*) FROM live_interval JOIN range(9) AS r(j) ON visits::TINYINT = j",
])
def test_a_row_that_is_left_out_stops_no_query(con: Connection, query: str) -> None:
    """Row 7 would, if a condition moved to where rows are read; its value would be in the error."""
    assert con.execute(query).fetchall()[0][0] is not None
