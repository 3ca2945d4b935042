"""The audit tells whether a release still has an identifier, or a column that determines one."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.support.connections import registered

Found = tuple[float | None, str | None]
AUDIT = (
    "SELECT metric, value, text FROM anonymize_audit('people', release='released', {}) "
    "WHERE metric LIKE 'identifiers%'"
)
ROLES = (
    "quasi_identifiers=['age'], sensitive=['flu', 'email', 'visit', 'Household', 'noted'], "
    "identifiers=['Id']"
)


con = registered(
    """
        CREATE TABLE people AS
        SELECT i // 2 AS id, 'p' || (i // 2) || '@example.org' AS email, i AS visit,
               i // 4 AS household, 20 + i % 30 AS age, i % 3 = 0 AS flu,
               CASE WHEN i % 8 = 0 THEN 'note ' || i END AS noted
        FROM range(80) AS r(i)
    """,
    scope="function",
)
"""Forty people: an email each, several visits, households of two, a note for some."""


def audited(con: duckdb.DuckDBPyConnection, release: str, roles: str = ROLES) -> dict[str, Found]:
    con.execute(f"CREATE OR REPLACE TABLE released AS {release}")
    found = con.execute(AUDIT.format(roles)).fetchall()
    return {name: (value, text) for name, value, text in found}


def test_a_column_that_is_still_there_and_those_that_tell_of_it(
    con: duckdb.DuckDBPyConnection,
) -> None:
    found = audited(con, "FROM people")
    assert found["identifiers_released"] == (1.0, "id")
    # a household has two people, and a value of flu or age many
    assert found["identifiers_determined"] == (3.0, "email (id), visit (id), noted (id)")


def test_a_release_of_ours_has_what_passes_unchanged(con: duckdb.DuckDBPyConnection) -> None:
    found = audited(con, f"FROM anonymize('people', k=4, {ROLES})")
    assert found["identifiers_released"] == (0.0, None)
    assert found["identifiers_determined"] == (3.0, "email (id), visit (id), noted (id)")


@pytest.mark.slow
@pytest.mark.parametrize(("release", "determined"), [
    ("SELECT * EXCLUDE (id) FROM people WHERE visit > 7", "email (id), visit (id), noted (id)"),
    ("SELECT * EXCLUDE (id, email, visit), 'x' AS email, 1000 + visit AS visit FROM people",
     "noted (id)"),
    ("SELECT * EXCLUDE (id) REPLACE (upper(email) AS email, visit // 2 * 2 AS visit, "
     "NULL AS noted) FROM people", None),
    ("SELECT * EXCLUDE (id, visit, noted), visit AS VISIT, noted FROM people ORDER BY hash(email)",
     "email (id), visit (id), noted (id)"),
    ("SELECT * EXCLUDE (id) FROM people LIMIT 0", None),
])
def test_only_what_stands_unchanged_is_told(
    con: duckdb.DuckDBPyConnection, release: str, determined: str | None
) -> None:
    found = audited(con, release)
    assert found["identifiers_released"] == (0.0, None)
    count = determined.count("(") if determined else 0
    assert found["identifiers_determined"] == (float(count), determined)


@pytest.mark.slow
def test_a_generalized_column_tells_nothing(con: duckdb.DuckDBPyConnection) -> None:
    """Its values were those of one person each; the medians are those of four rows."""
    roles = ROLES.replace("'visit', ", "").replace("['age']", "['age', 'visit']")
    for representation in ("median", "interval", "centroid"):
        release = f"FROM anonymize('people', k=4, representation='{representation}', {roles})"
        found = audited(con, release, roles)
        assert found["identifiers_determined"] == (2.0, "email (id), noted (id)")


def test_several_identifiers_and_none(con: duckdb.DuckDBPyConnection) -> None:
    roles = ROLES.replace("'email', ", "").replace("['Id']", "['id', 'email']")
    found = audited(con, "SELECT * EXCLUDE (id) FROM people", roles)
    assert found["identifiers_released"] == (1.0, "email")
    assert found["identifiers_determined"] == (
        4.0, "visit (id), visit (email), noted (id), noted (email)"
    )
    nothing = audited(con, "FROM people", ROLES.replace("['Id']", "[]").replace(
        "'noted'", "'noted', 'id'"))
    assert set(nothing.values()) == {(None, None)}


@pytest.mark.slow
def test_nulls_and_an_identifier_that_says_nothing(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("UPDATE people SET id = NULL WHERE visit >= 70")
    found = audited(con, "SELECT * EXCLUDE (id) FROM people")
    assert found["identifiers_determined"] == (3.0, "email (id), visit (id), noted (id)")
    con.execute("UPDATE people SET id = NULL WHERE visit = 9")  # one email now has two ids
    found = audited(con, "SELECT * EXCLUDE (id) FROM people")
    assert found["identifiers_determined"] == (2.0, "visit (id), noted (id)")
    con.execute("UPDATE people SET id = 1")
    found = audited(con, "SELECT * EXCLUDE (id) FROM people")
    assert found["identifiers_determined"] == (0.0, None)


def test_it_names_columns_and_no_value(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE released AS FROM people")
    rows: list[Any] = con.execute(
        f"FROM anonymize_audit('people', release='released', {ROLES})"
    ).fetchall()
    assert not any("example.org" in str(row) or "note " in str(row) for row in rows)
