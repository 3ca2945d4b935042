"""The Python functions on the caller's connection: its tables, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql

Connection = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {"k": 5, "sensitive": ["disease"], "identifiers": ["name"]}
LEFT = """
    SELECT 'view', database_name, view_name, sql FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT 'table', database_name, table_name, sql FROM duckdb_tables()
    UNION ALL SELECT 'setting', name, value, '' FROM duckdb_settings()
    UNION ALL SELECT 'macro', function_name, parameters::VARCHAR, macro_definition
        FROM duckdb_functions() WHERE function_type LIKE '%macro' AND NOT internal
    ORDER BY ALL
"""


def left(con: Connection) -> list[Any]:
    return con.execute(LEFT).fetchall()


def expected(con: Connection, relation: str = "patients") -> list[Any]:
    return con.execute(
        f"FROM anonymize('{relation}', k=5, sensitive=['disease'], identifiers=['name'])"
    ).fetchall()


RELATIONS: dict[str, Callable[[Connection], Any]] = {
    "table": lambda con: "patients",
    "qualified": lambda con: "main.patients",
    "view": lambda con: con.execute("CREATE VIEW v AS FROM patients") and "v",
    "temporary table": lambda con: con.execute("CREATE TEMP TABLE t AS FROM patients") and "t",
    "polars": lambda con: con.sql("FROM patients").pl(),
    "pandas": lambda con: con.sql("FROM patients").df(),
    "relation": lambda con: con.sql("FROM patients"),
    "relation of another": lambda con: duckdb.from_arrow(con.sql("FROM patients").to_arrow_table()),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", RELATIONS)
def test_what_the_connection_has_is_released_and_nothing_is_left(
    con: Connection, form: str
) -> None:
    data = RELATIONS[form](con)
    before = left(con)
    result = kanon_sql.anonymize(data, con=con, **CALL)
    assert left(con) == before
    kinds = {"polars": pl.DataFrame, "pandas": pd.DataFrame}
    if form.startswith("relation"):
        assert sorted(result.fetchall()) == sorted(expected(con))
        assert con.sql("SELECT count(*) FROM result").fetchall() == [(60,)]  # on this connection
    else:
        assert isinstance(result, kinds.get(form, pa.Table))
        rows = pl.DataFrame(result).rows() if form != "pandas" else result.values.tolist()
        assert [tuple(row) for row in rows] == expected(con)


def test_a_frame_hides_no_table_of_the_connection(con: Connection) -> None:
    con.execute("CREATE TABLE frame AS SELECT 1 AS a; CREATE TEMP TABLE frame_2 AS SELECT 2 AS a")
    before = left(con)
    result = kanon_sql.anonymize(con.sql("FROM patients").pl(), con=con, **CALL)
    assert result.rows() == expected(con)
    assert left(con) == before
    assert con.execute("FROM frame").fetchall() == [(1,)]


@pytest.mark.slow
def test_frames_and_tables_of_the_connection_stand_together(con: Connection) -> None:
    con.execute(
        "CREATE TEMP TABLE jobs AS SELECT DISTINCT job AS level0, '*' AS level1 FROM patients"
    )
    before = left(con)
    ages = pl.DataFrame({"level0": list(range(20, 70)), "level1": ["*"] * 50})
    result = kanon_sql.anonymize(
        con.sql("FROM patients").pl(), con=con, **CALL, hierarchies={"job": "jobs", "age": ages}
    )
    assert set(result["job"]) <= {"Private", "State-gov", "Never-worked", "*"}
    audit = kanon_sql.anonymize_audit("patients", con=con, release=result, **CALL).to_pylist()
    assert next(row["value"] for row in audit if row["metric"] == "rows_below_k") == 0
    assert left(con) == before


def test_roles_of_the_catalog_hold(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.disease IS 'kanon: sensitive'")
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    result = kanon_sql.anonymize("patients", con=con, k=5)
    assert result.column_names == ["age", "zip", "job", "disease"]
    assert set(result["disease"].to_pylist()) == {"Flu", "Cold", "Hypertension"}


@pytest.mark.slow
def test_errors_keep_their_class_and_the_macro_its_text(con: Connection) -> None:
    before = left(con)
    with pytest.raises(kanon_sql.DataError, match=r"^There are 60 rows to anonymize, fewer"):
        kanon_sql.anonymize("patients", con=con, k=61)
    with pytest.raises(kanon_sql.OptionError, match=r"^column_weights names the column 'agee'"):
        kanon_sql.anonymize("patients", con=con, k=5, column_weights={"agee": 1})
    with pytest.raises(kanon_sql.OptionError, match=r"^column_weights names the column 'age' tw"):
        kanon_sql.anonymize("patients", con=con, k=5, column_weights={"age": 1, "AGE": 2})
    with pytest.raises(kanon_sql.DataError, match=r"^There are 60 rows to anonymize, fewer"):
        kanon_sql.anonymize(con.sql("FROM patients").pl(), con=con, k=61)
    with pytest.raises(kanon_sql.OptionError, match=r"'nobody' is not a table.* Check its name\.$"):
        kanon_sql.anonymize("nobody", con=con, k=5)
    assert left(con) == before
    with pytest.raises(duckdb.InvalidInputException, match=r"^Invalid Input Error: There are 60"):
        con.execute("FROM anonymize('patients', k=61)")


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 61])
def test_inside_a_transaction_of_the_caller(con: Connection, k: int) -> None:
    before = left(con)
    con.execute("BEGIN")
    con.execute("CREATE TABLE fresh AS FROM patients")
    frame = con.sql("FROM fresh").pl()
    for data in ("fresh", frame):
        if k == 5:
            assert len(kanon_sql.anonymize(data, con=con, k=k)) == 60
            continue
        with pytest.raises((kanon_sql.DataError, kanon_sql.OptionError)):
            kanon_sql.anonymize(data, con=con, k=k)
    con.execute("ROLLBACK")
    assert left(con) == before


def test_a_connection_whose_configuration_is_locked(con: Connection) -> None:
    con.execute("CREATE SCHEMA other; CREATE TABLE other.q AS FROM patients; USE other")
    told = expected(con, "q")
    con.execute("SET lock_configuration = true")
    assert expected(con, "q") == expected(con, "memory.main.patients") == told
    measured = con.execute("SELECT k FROM k_anonymity('q', quasi_identifiers := ['age'])")
    assert measured.fetchall()[0][0] >= 1


def test_a_new_connection_is_registered() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) AS r(i)")
    assert kanon_sql.anonymize("t", con=con, k=5).num_rows == 30
    assert len(con.execute("FROM anonymize('t', k=5)").fetchall()) == 30


def test_what_is_no_open_connection() -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"^con is a str, no connection\. Give what"):
        kanon_sql.anonymize({"a": [1, 2]}, k=2, con="a.duckdb")  # type: ignore[arg-type]
    con = duckdb.connect()
    con.close()
    with pytest.raises(kanon_sql.OptionError, match=r"^con is closed\. Give an open connection"):
        kanon_sql.anonymize({"a": [1, 2]}, k=2, con=con)


@pytest.mark.parametrize(("name", "hint"), {
    "patiens": " Did you mean 'patients'?",
    "memory.main.patiens": " Did you mean 'memory.main.patients'?",
    "people": "",
}.items())
def test_a_misspelt_relation_gets_the_nearest_one(con: Connection, name: str, hint: str) -> None:
    with pytest.raises(kanon_sql.OptionError) as refused:
        kanon_sql.anonymize(name, con=con, **CALL)
    assert str(refused.value) == (
        f"The relation {name!r} is not a table, view or file here. Check its name.{hint}"
    )


def test_a_misspelt_relation_of_an_option_gets_the_nearest_one(con: Connection) -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"Did you mean 'main\.patients'\?$"):
        kanon_sql.anonymize_audit("patients", con=con, release="main.patiens", **CALL)
