"""The metrics of persons, counted once more from the rows that came out: each is known again by a
number that passes."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection
CALL = (
    "k := 3, quasi_identifiers := ['age', 'income'], sensitive := ['visit'], others := 'drop', "
    "entity := 'patient', seed := 1"
)
ALONE = """
    CASE WHEN visit % 97 = 0 THEN 10000000 * (1 + visit) ELSE 1000 * (hash(visit) % 40) END::BIGINT
"""

con = registered(
    "SET threads = 2",
    f"""
        CREATE TABLE visits AS
        SELECT CASE WHEN visit < 500 THEN visit // 2 ELSE visit - 500 END AS patient, visit,
               CASE WHEN visit % 20 > 1 THEN 20 + (hash(visit * 3) % 50)::INTEGER END AS age,
               {ALONE} AS income,
               CASE WHEN visit IN (4, 5) THEN 'west' ELSE ['north', 'south'][1 + visit % 3 // 2]
               END AS site
        FROM range(600) AS r(visit)
    """,
    "CREATE TABLE whole AS FROM visits WHERE age IS NOT NULL",
)
"""250 patients with up to three visits each: some visits lack an age, some lie far from all
others, and a site has few."""


def told(con: Connection, table: str, options: str) -> dict[str, Any]:
    """The metrics, by name."""
    return metrics_of(con, f"anonymize_metrics('{table}', detail=true, {CALL}{options})")


COUNTED = """
    SELECT count(DISTINCT patient) FILTER (WHERE visit IN (SELECT visit FROM released)),
           count(DISTINCT patient) FILTER (WHERE visit NOT IN (SELECT visit FROM released)),
           count(*) FILTER (WHERE visit NOT IN (SELECT visit FROM released))
"""
"""Persons of whom rows came out, persons of whom rows were left out, and these rows."""


@pytest.mark.slow
@pytest.mark.parametrize(("table", "options"), [
    ("visits", ", nulls := 'suppress'"),
    ("visits", ", nulls := 'suppress', entity_rows := 'apart'"),
    ("visits", ", nulls := 'suppress', suppress := 0.04"),
    ("visits", ", nulls := 'suppress', suppress := 0.04, entity_rows := 'apart'"),
    ("visits", ", nulls := 'suppress', within := ['site'], small_parts := 'suppress'"),
    ("visits", ", nulls := 'suppress', within := ['site'], small_parts := 'join'"),
    ("whole", ", suppress := 0.04"),
    ("whole", ", suppress := 0.04, entity_rows := 'apart'"),
    ("whole", ", within := ['site'], small_parts := 'suppress'"),
    ("whole", ", within := ['site'], small_parts := 'suppress', suppress := 0.04"),
    ("whole", ", within := ['site'], small_parts := 'join', suppress := 0.04, "
              "entity_rows := 'apart'"),
])
def test_persons_are_those_of_the_rows(con: Connection, table: str, options: str) -> None:
    """Whatever left rows out, and whoever has rows of both kinds counts in both."""
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('{table}', {CALL}{options})"
    )
    ((came, lacking, rows),) = con.execute(f"{COUNTED} FROM {table}").fetchall()
    found = told(con, table, options)
    assert found["persons"] == came
    assert found["persons_suppressed"] == lacking
    assert found["rows_suppressed"] == rows > 0
    ((everybody,),) = con.execute(f"SELECT count(DISTINCT patient) FROM {table}").fetchall()
    whole = table == "whole" and "apart" not in options and "within" not in options
    assert (came + lacking == everybody) == whole


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["together", "apart"])
def test_persons_of_a_part_are_those_of_its_rows(con: Connection, rows: str) -> None:
    options = f", within := ['site'], suppress := 0.04, entity_rows := '{rows}'"
    con.execute("CREATE OR REPLACE TEMP VIEW large AS FROM whole WHERE site <> 'west'")
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('large', {CALL}{options})")
    found = con.execute(f"""
        SELECT site, max(value) FILTER (metric = 'persons'),
               max(value) FILTER (metric = 'persons_suppressed'),
               max(value) FILTER (metric = 'rows_suppressed')
        FROM anonymize_metrics('large', detail=true, {CALL}{options}, by_part := true)
        GROUP BY site ORDER BY site
    """).fetchall()
    counted = COUNTED.replace("SELECT", "SELECT site,", 1)
    assert found == con.execute(f"{counted} FROM large GROUP BY site ORDER BY site").fetchall()
    assert [site for site, *_ in found] == ["north", "south"]
    assert any(lacking > 0 for _, _, lacking, _ in found)


def test_who_lacks_a_value_takes_nothing_of_what_may_be_left_out(con: Connection) -> None:
    """Nor is such a person scattered; the share that suppress allows is for the other rows."""
    found = told(con, "visits", ", nulls := 'suppress', suppress := 0.04")
    ((rows, persons),) = con.execute(
        "SELECT count(*), count(DISTINCT patient) FROM visits WHERE age IS NULL"
    ).fetchall()
    assert found["persons_suppressed"] > persons > 0.04 * 250
    assert found["rows_suppressed"] > rows


def test_rows_of_nobody_that_are_left_out_are_no_person(con: Connection) -> None:
    con.execute("""
        CREATE OR REPLACE TEMP VIEW strange AS
        SELECT * REPLACE (CASE WHEN visit % 40 > 1 THEN patient END AS patient) FROM visits
    """)
    ((expected,),) = con.execute(
        "SELECT count(DISTINCT patient) FROM strange WHERE age IS NULL"
    ).fetchall()
    assert told(con, "strange", ", nulls := 'suppress'")["persons_suppressed"] == expected
