"""Columns that may say whose row a row is: a notice where no entity is named, and a suggestion."""

from __future__ import annotations

import duckdb
import pytest

import kanon_sql
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection
SAID = (
    "Rows with the same 'patient_id' have the same 'sex', 'zip', 'birth_date', so it may identify "
    "the person of each row, and k counts rows, not persons. If it does, name it in "
    "entity='patient_id'."
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
        f"SELECT text FROM anonymize_metrics('{table}', detail=true, k=5, {options}) WHERE metric "
        f"= 'notice'"
    ).fetchall()
    return [text for (text,) in found if text.startswith("Rows with the same")]


def suggested(con: Connection, table: str, options: str) -> dict[str, str]:
    found = con.execute(
        f"SELECT column_name, suggested_role FROM anonymize_roles('{table}', k=5, {options})"
    ).fetchall()
    return dict(found)


@pytest.mark.slow
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


BY = {"drop": "others='drop'", "release": "others='release'"}
"""What becomes of columns that nobody named."""
SAID_OF_WHO = SAID.replace("patient_id", "who")


@pytest.fixture(params=BY)
def others(request: pytest.FixtureRequest) -> str:
    return BY[request.param]


@pytest.mark.sample(2)
@pytest.mark.parametrize("who", [
    "patient_id", "patient_id::HUGEINT", "'p' || patient_id",
    "md5(patient_id::VARCHAR)::UUID", "encode('p' || patient_id)",
    "('p' || patient_id)::ENUM_OF_PERSONS", "nullif(patient_id, 7013)",
    "[7000, NULL][1 + visit % 2]",
    "{'id': patient_id}", "patient_id::DOUBLE",
])
def test_a_column_that_nobody_named_is_looked_at_if_it_is_text_or_an_integer(
    con: Connection, others: str, who: str
) -> None:
    con.execute("CREATE TYPE ENUM_OF_PERSONS AS ENUM (SELECT DISTINCT 'p' || patient_id "
                "FROM visits ORDER BY ALL)")
    con.execute(f"CREATE OR REPLACE TABLE told AS SELECT * EXCLUDE (patient_id), {who} AS who, "
                "[visit] AS rooms, DATE '2020-01-01' + visit::INTEGER AS day FROM visits")
    never = who.startswith(("{", "[")) or who.endswith("DOUBLE")
    assert notices(con, "told", f"{NAMED}, {others}") == ([] if never else [SAID_OF_WHO])
    con.execute("DROP TABLE told")
    con.execute("DROP TYPE ENUM_OF_PERSONS")


@pytest.mark.slow
def test_it_is_looked_at_in_views_and_ctes_and_under_a_name_like_that_of_another_column(
    con: Connection, others: str
) -> None:
    con.execute(
        "CREATE OR REPLACE VIEW viewed AS SELECT * RENAME (patient_id AS \"Sex \") FROM visits"
    )
    assert notices(con, "viewed", f"{NAMED}, {others}") == [SAID.replace("patient_id", "Sex ")]
    upper = NAMED.replace("sex", "SEX")
    assert notices(con, "visits", f"{upper}, {others}") == [SAID]
    assert notices(con, "visits", f"{NAMED}, {others}, entity='patient_id'") == []
    found = con.execute(
        "WITH written AS (SELECT * REPLACE ('p' || patient_id AS patient_id) FROM visits) "
        f"SELECT text FROM anonymize_metrics('written', detail=true, k=5, {NAMED}, {others}) "
        "WHERE metric = 'notice'"
    ).fetchall()
    assert (SAID,) in found


@pytest.mark.slow
def test_no_order_of_rows_and_no_number_of_threads_changes_what_is_said(
    con: Connection, others: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE long AS SELECT v.* REPLACE (v.visit + 600 * i AS visit, "
                "v.patient_id + 3000 * i AS patient_id) FROM visits v, range(200) r(i)")
    con.execute("CREATE OR REPLACE TABLE mixed AS FROM long ORDER BY hash(visit)")
    for threads in (1, 4):
        con.execute(f"SET threads = {threads}")
        for table in ("long", "mixed"):
            options = f"{NAMED}, {others}, method='mondrian'"
            assert notices(con, table, options) == [SAID]
    con.execute("RESET threads")


@pytest.mark.slow
def test_rows_that_are_left_out_and_parts_change_nothing(con: Connection, others: str) -> None:
    con.execute("CREATE OR REPLACE TABLE holes AS SELECT * REPLACE ("
                "CASE WHEN visit % 9 > 0 THEN dose END AS dose) FROM visits")
    assert notices(con, "holes", f"{NAMED}, {others}, nulls='suppress'") == [SAID]
    con.execute("CREATE OR REPLACE TABLE none AS SELECT * REPLACE (NULL::INTEGER AS dose) "
                "FROM visits")
    with pytest.raises(duckdb.Error, match="no rows"):
        notices(con, "none", f"{NAMED}, {others}, nulls='suppress'")
    parts = f"{NAMED}, {others}, within=['ward']"
    con.execute("CREATE OR REPLACE TABLE wards AS SELECT *, visit % 3 AS ward FROM visits")
    assert notices(con, "wards", parts) == [SAID]


def test_an_empty_table_is_refused_and_one_without_other_columns_released_as_before(
    con: Connection, others: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE empty AS FROM visits LIMIT 0")
    with pytest.raises(duckdb.Error, match="no rows"):
        con.execute(f"FROM anonymize('empty', k=5, {NAMED}, {others})")
    con.execute("CREATE OR REPLACE TABLE bare AS SELECT sex, zip, birth_date, dose FROM visits")
    assert notices(con, "bare", f"{NAMED}, {others}") == []


def test_a_column_that_is_dropped_comes_out_nowhere(con: Connection) -> None:
    found = con.execute(f"FROM anonymize('visits', k=5, {NAMED}, others='drop')")
    assert [name for name, *_ in found.description] == ["sex", "zip", "birth_date", "dose"]


@pytest.mark.slow
def test_a_place_or_a_code_or_one_row_of_each_is_no_person(con: Connection, others: str) -> None:
    places = f"quasi_identifiers=['town', 'state'], {others}"
    assert notices(con, "houses", places) == []  # a zip code determines both, a town its state
    assert notices(con, "houses", f"quasi_identifiers=['town', 'price'], {others}") == []
    con.execute("CREATE OR REPLACE TABLE persons AS SELECT * REPLACE (visit AS patient_id) "
                "FROM visits")
    assert notices(con, "persons", f"{NAMED}, {others}") == []
    con.execute("CREATE OR REPLACE TABLE codes AS SELECT * REPLACE ("
                "hash(visit) % 70 AS patient_id) FROM visits")
    assert notices(con, "codes", f"{NAMED}, {others}") == []  # has many rows, determines nothing


def test_many_columns_are_looked_at(con: Connection, others: str) -> None:
    more = ", ".join(f"hash(visit + {i}) AS w{i}" for i in range(40))
    con.execute(f"CREATE OR REPLACE TABLE wide AS SELECT *, {more} FROM visits")
    assert notices(con, "wide", f"{NAMED}, {others}") == [SAID]


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
