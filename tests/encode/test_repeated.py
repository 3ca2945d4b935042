"""Columns that may say whose row a row is: a notice where no entity is named, and a suggestion."""

from __future__ import annotations

import duckdb
import pytest

import kanon_sql
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection
SAID = (
    "Rows with the same 'patient_id' have the same 'sex', 'zip', 'birth_date', so it may say whose "
    "row a row is, and k counts rows, not persons. If it does, name it in entity='patient_id'."
)
NAMED = "quasi_identifiers=['sex', 'zip', 'birth_date', 'dose']"


con = registered(
    "CREATE TABLE visits AS SELECT p AS patient_id, i AS visit, p % 2 AS sex, "
    "'z' || hash(p) % 9 AS zip, DATE '1950-01-01' + (hash(p + 1) % 40 * 365)::INTEGER "
    "AS birth_date, hash(i) % 30 AS dose "
    "FROM (SELECT i, 7000 + 13 * (i % 200) AS p FROM range(600) AS r(i))",
    "CREATE TABLE houses AS SELECT 'z' || i % 90 AS zip, 't' || i % 90 % 18 AS town, "
    "'s' || i % 90 % 6 AS state, hash(i) % 50 AS price FROM range(600) AS r(i)",
)
"""Six hundred visits of two hundred patients, and houses in towns of states."""


def notices(con: Connection, table: str, options: str) -> list[str]:
    found = con.execute(
        f"SELECT text FROM anonymize_metrics('{table}', k=5, {options}) WHERE metric = 'notice'"
    ).fetchall()
    return [text for (text,) in found if text.startswith("Rows with the same")]


def suggested(con: Connection, table: str, options: str) -> dict[str, str]:
    found = con.execute(
        f"SELECT column_name, suggested_role FROM anonymize_roles('{table}', k=5, {options})"
    ).fetchall()
    return dict(found)


@pytest.mark.parametrize("options", [
    f"{NAMED}, identifiers=['patient_id', 'visit']", "identifiers=['visit']",
    f"{NAMED}, identifiers=['PATIENT_ID', 'visit'], method='k_member'",
])
def test_a_release_of_visits_without_entity_says_so(con: Connection, options: str) -> None:
    said = [text.replace("PATIENT_ID", "patient_id") for text in notices(con, "visits", options)]
    # a mean of numbers isn't the same in all rows, what is released is told by its own column
    assert said == [SAID]
    assert suggested(con, "visits", options)["patient_id"] == "entity"
    assert suggested(con, "visits", options)["visit"] == "identifier"


@pytest.mark.slow
def test_nothing_is_said_where_an_entity_is_named_or_rows_are_nobodys(con: Connection) -> None:
    assert notices(con, "visits", f"{NAMED}, entity='patient_id', identifiers=['visit']") == []
    few = "(FROM visits WHERE patient_id < 7000 + 13 * 45)"
    con.execute(f"CREATE OR REPLACE TABLE few AS FROM {few}")
    assert notices(con, "few", f"{NAMED}, identifiers=['patient_id', 'visit']") == []
    # one row of each: an identifier, and nobody's rows
    con.execute("CREATE OR REPLACE TABLE once AS FROM visits LIMIT 200")
    assert notices(con, "once", f"{NAMED}, identifiers=['patient_id', 'visit']") == []
    assert suggested(con, "once", "identifiers=['visit']")["patient_id"] != "entity"


def test_a_place_is_no_person(con: Connection) -> None:
    assert notices(con, "houses", "method='mdav_star'") == []
    assert "entity" not in suggested(con, "houses", "method='mdav_star'").values()


def test_frames_and_their_releases_say_so_too(con: Connection) -> None:
    frame = con.sql("FROM visits").pl()
    found = kanon_sql.anonymize_metrics(
        frame, k=5, quasi_identifiers=["sex", "zip", "birth_date", "dose"],
        identifiers=["patient_id", "visit"],
    )
    assert SAID in list(found["text"])
