"""Macros of the caller's database, and its settings, change no answer: refused, or of no effect.

The database of the tests is a stranger's file, attached and current. In each test the attack is
first shown to work on plain SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from kanon_sql.plan.macro_shadowing import FUNCTIONS, NAMED, OURS
from tests.support.connections import borrowed, registered
from tests.support.strangers import (
    CALLS,
    GUARDED,
    QUICK,
    ROWS,
    SAID,
    Connection,
    answer,
    refused,
    shadow,
)

shared = registered()

con = borrowed(
    f"ATTACH ':memory:' AS file; USE file; CREATE TABLE patients AS {ROWS}",
    end="USE memory; DETACH file",
)
"""A stranger's database, current, with a table of twenty-four patients."""


@pytest.fixture(scope="module")
def right() -> dict[str, str]:
    """What the calls answer where nothing is in their way."""
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(f"CREATE TABLE patients AS {ROWS}")
        return {name: answer(con, call) for name, call in CALLS.items()}


# --- what such macros do --------------------------------------------------------------------------


@pytest.mark.slow
def test_a_k_that_is_counted_by_a_macro_is_refused(con: Connection) -> None:
    naive = "SELECT min(size) FROM (SELECT count(*) AS size FROM patients GROUP BY age)"
    assert con.execute(naive).fetchall() == [(1,)]
    con.execute("CREATE MACRO min(x) AS 99")
    assert set(con.execute(naive).fetchall()) == {(99,)}
    for name in GUARDED:
        refused(con, CALLS[name], SAID.format("min"))


def test_an_order_that_a_macro_makes_is_refused(con: Connection) -> None:
    naive = "SELECT age FROM patients ORDER BY md5(age::VARCHAR)"
    before = con.execute(naive).fetchall()
    con.execute("CREATE MACRO md5(x) AS 'same'")
    assert con.execute(naive).fetchall() == con.execute("SELECT age FROM patients").fetchall()
    assert con.execute(naive).fetchall() != before
    refused(con, CALLS["anonymize"], SAID.format("md5"))


PLACES = {
    "the default schema": ("CREATE MACRO min(x) AS 99",),
    "a schema on the search path": (
        "CREATE SCHEMA lib; CREATE MACRO lib.min(x) AS 99; "
        "SET search_path = 'file.main,file.lib'",),
    "a current schema": (
        f"CREATE SCHEMA lib; CREATE MACRO lib.min(x) AS 99; USE file.lib; "
        f"CREATE TABLE patients AS {ROWS}",),
    "main, beside a current schema": (
        f"CREATE SCHEMA lib; CREATE MACRO min(x) AS 99; USE file.lib; "
        f"CREATE TABLE patients AS {ROWS}",),
    "another database on the search path": (
        "ATTACH ':memory:' AS second; CREATE MACRO second.main.min(x) AS 99; "
        "SET search_path = 'second.main,file.main'",),
    "a database whose name needs quotes": (
        'ATTACH \':memory:\' AS "o\'d.""d"; CREATE MACRO "o\'d.""d".main.min(x) AS 99; '
        f'USE "O\'D.""d"; CREATE TABLE patients AS {ROWS}',),
    "the temporary ones": ("CREATE TEMP MACRO min(x) AS 99",),
    "a name in capitals": ('CREATE MACRO "MIN"(x) AS 99',),
    "one overload of several": ("CREATE MACRO min(x) AS 99, (x, y) AS 98, (x, y, z) AS 97",),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("place", PLACES)
def test_a_macro_is_found_wherever_duckdb_finds_it(con: Connection, place: str) -> None:
    try:
        for statement in PLACES[place]:
            con.execute(statement)
        assert con.execute("SELECT min(1)").fetchall() == [(99,)]
        said = SAID.format("MIN" if "capitals" in place else "min")
        for name in QUICK:
            if name == "anonymize_sql" and "temporary" in place:
                continue  # it is text alone, whose first stage refuses
            refused(con, CALLS[name], said)
    finally:
        con.execute("USE memory; DROP MACRO IF EXISTS temp.min; DETACH DATABASE IF EXISTS second")
        con.execute('DETACH DATABASE IF EXISTS "o\'d.""d"')


@pytest.mark.parametrize("name", QUICK)
def test_a_macro_that_is_the_function_for_some_arguments_is_refused(
    con: Connection, name: str
) -> None:
    con.execute("CREATE MACRO min(x) AS system.main.min(x), (x, y) AS 99")
    assert con.execute("SELECT min(1), min(1, 2)").fetchall() == [(1, 99)]
    refused(con, CALLS[name], SAID.format("min"))
    con.execute("DROP MACRO min; CREATE MACRO min(x) AS TABLE SELECT 99")
    assert con.execute("SELECT min(1), (FROM min(1))").fetchall() == [(1, 99)]
    refused(con, CALLS[name], SAID.format("min"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [name for name in GUARDED if name != "anonymize_sql"])
def test_what_is_not_committed_is_found_where_the_query_runs(con: Connection, name: str) -> None:
    con.execute("BEGIN; CREATE MACRO map_to_pg_oid(x) AS 99")  # no query breaks for lack of it
    refused(con, CALLS[name], SAID.format("map_to_pg_oid"))
    con.execute("ROLLBACK")


def test_an_empty_table_is_no_way_around(con: Connection) -> None:
    con.execute("DELETE FROM patients; CREATE TEMP MACRO avg(x) AS 99")
    try:
        refused(con, CALLS["k_anonymity"], SAID.format("avg"))
    finally:
        con.execute("DROP MACRO temp.avg")


# --- every function -------------------------------------------------------------------------------

SPECIAL = ("unnest", "row_number", "dense_rank", "duckdb_columns")
"""Those that take no macro in this form, or in some versions of DuckDB only."""


@pytest.mark.parametrize("name", sorted({*NAMED, *OURS} - {*SPECIAL}))
def test_duckdb_takes_the_macro_for_the_function(con: Connection, name: str) -> None:
    con.execute('CREATE MACRO "-"(a, b) AS 0')
    assert con.execute("SELECT 7 - 3").fetchall() == [(0,)]
    shadow(con, name)
    assert con.execute(f"SELECT {name}(1, 1)").fetchall() == [("shadow",)]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_call_gives_a_wrong_answer_with_a_macro_of_this_name(
    con: Connection, right: dict[str, str], name: str
) -> None:
    con.execute("BEGIN")
    shadow(con, name)
    try:  # the planner can't see it: what comes out is refused by DuckDB, or by the query
        assert answer(con, CALLS["k_anonymity"]) == "refused"
    except duckdb.Error as error:
        assert "Traceback" not in str(error)
    con.execute("ROLLBACK")
    shadow(con, name)
    for call in QUICK:
        refused(con, CALLS[call], SAID.format(name))
    assert answer(con, CALLS["anonymize_methods"]) == right["anonymize_methods"]
    con.execute(f'DROP MACRO "{name}"')
    assert answer(con, CALLS["k_anonymity"]) == right["k_anonymity"]


@pytest.mark.parametrize("name", ["range", "unnest", "duckdb_columns", "generate_series"])
def test_a_table_macro_of_the_name_of_a_table_function_is_refused(
    con: Connection, name: str
) -> None:
    con.execute(f"CREATE MACRO {name}(a) AS TABLE SELECT 'shadow'")
    assert con.execute(f"FROM {name}([1])").fetchall() == [("shadow",)]
    for call in QUICK:
        refused(con, CALLS[call], SAID.format(name))


def others(con: Connection) -> Sequence[tuple[str, bool]]:
    """All built-in functions that the query doesn't use, and whether each gives a table."""
    rows = con.execute(
        "SELECT function_name, bool_or(function_type IN ('table', 'table_macro')) "
        "FROM duckdb_functions() WHERE internal AND function_name NOT LIKE '\\_\\_kanon\\_%' "
        "ESCAPE '\\' GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    return [(name, table) for name, table in rows if name not in FUNCTIONS]


@pytest.mark.slow
def test_macros_of_all_other_functions_have_no_effect(
    con: Connection, right: dict[str, str]
) -> None:
    names = others(con)
    assert len(names) > 500
    con.execute("BEGIN")
    for name, table in names:
        shadow(con, name)
        if table:
            con.execute(f"CREATE MACRO \"{name}\"(a := NULL) AS TABLE SELECT 'shadow'")
    con.execute("COMMIT")
    assert con.execute("SELECT upper('a')").fetchall() == [("shadow",)]
    assert con.execute("FROM duckdb_functions()").fetchall() == [("shadow",)]
    assert {name: answer(con, call) for name, call in CALLS.items()} == right


def test_the_check_is_not_fooled_by_macros_of_what_it_calls(con: Connection) -> None:
    for name in ("lower", "replace", "contains", "concat", "current_setting", "error",
                 "current_database", "format", "min"):
        shadow(con, name, "NULL")
    con.execute("CREATE MACRO duckdb_functions() AS TABLE SELECT 'shadow' LIMIT 0")
    con.execute("CREATE MACRO query(a) AS TABLE SELECT 99 AS k")
    assert con.execute("FROM query('SELECT 1')").fetchall() == [(99,)]
    for name in QUICK:
        refused(con, CALLS[name], SAID.format("concat"))


# --- names of ours --------------------------------------------------------------------------------

@pytest.mark.slow
def test_our_own_macros_and_planner_come_before_those_of_a_file(
    con: Connection, right: dict[str, str]
) -> None:
    for name in ("__kanon_value", "__kanon_refuse", "__kanon_cell", "__kanon_key", "__kanon_plan",
                 "anonymize", "k_anonymity"):
        shadow(con, name)
        con.execute(f"CREATE MACRO {name}(a := NULL, k := NULL) AS TABLE SELECT 'shadow' AS k")
    assert {name: answer(con, call) for name, call in CALLS.items()} == right


@pytest.mark.slow
def test_registering_on_a_hostile_file_is_not_fooled(
    tmp_path: Path, right: dict[str, str]
) -> None:
    path = str(tmp_path / "file.duckdb")
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE patients AS {ROWS}")
        for name in ("list_has_any", "lower", "error", "__kanon_value", "anonymize"):
            shadow(con, name, "true")
        con.execute("CREATE MACRO duckdb_functions() AS TABLE SELECT '__kanon_plan' AS a")
        con.execute("CREATE MACRO duckdb_columns() AS TABLE SELECT 'x' AS a LIMIT 0")
        # in the schema of others, so that it is there and hides nothing
        con.execute("CREATE SCHEMA s; CREATE MACRO s.__kanon_plan(a) AS 1")
    with kanon_sql.register(duckdb.connect(path)) as con:
        refused(con, CALLS["k_anonymity"], SAID.format("duckdb_columns"))
        con.execute("DROP MACRO lower")
        con.execute("DROP MACRO TABLE duckdb_columns")
        try:  # a view of DuckDB 1.4 reads duckdb_functions()
            assert answer(con, CALLS["k_anonymity"]) == right["k_anonymity"]
        except duckdb.InvalidInputException as error:
            assert "The columns of the database can't be listed" in str(error)
            assert "Traceback" not in str(error)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["__kanon_plan", "__kanon_instance", "__kanon_start", "min"])
def test_what_keeps_us_from_registering_is_named(tmp_path: Path, name: str) -> None:
    with duckdb.connect(str(tmp_path / "file.duckdb")) as con:
        con.execute(f"CREATE MACRO {name}(x) AS 99")
        with pytest.raises(OptionError) as caught:
            kanon_sql.register(con)
        assert SAID.format(name) in str(caught.value)
        con.execute(f"DROP MACRO {name}")
        kanon_sql.register(con).execute(f"CREATE TABLE patients AS {ROWS}")
        assert len(con.execute(CALLS["anonymize"]).fetchall()) == 24


# --- what stays possible --------------------------------------------------------------------------


@pytest.mark.slow
def test_the_advice_helps(tmp_path: Path, right: dict[str, str]) -> None:
    path = str(tmp_path / "stranger.duckdb")
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE patients AS {ROWS}")
        con.execute("CREATE MACRO avg(x) AS 99; CREATE MACRO md5(x) AS 'same'")
    with kanon_sql.register(duckdb.connect(path)) as con:
        refused(con, CALLS["k_anonymity"], "'file.main.patients'")
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(f"ATTACH '{path}' AS file (READ_ONLY)")
        for name in ("k_anonymity", "anonymize", "anonymize_audit"):
            call = CALLS[name].replace("'patients'", "'file.main.patients'")
            assert answer(con, call) == right[name]


def test_a_view_may_use_the_macros_of_its_database(con: Connection) -> None:
    con.execute(
        "CREATE MACRO lower(x) AS 'same'; CREATE VIEW v AS SELECT lower(name) AS name FROM patients"
    )
    con.execute("USE memory")
    try:
        found = con.execute("SELECT k, classes FROM k_anonymity('file.main.v')").fetchall()
    finally:
        con.execute("USE file")
    assert found == [(24, 1)]


def test_text_that_was_kept_refuses_where_it_is_run_again(con: Connection) -> None:
    ((text,),) = con.execute(CALLS["anonymize_sql"]).fetchall()
    assert len(con.execute(text).fetchall()) == 24
    con.execute("CREATE MACRO avg(x) AS 99")
    refused(con, text, SAID.format("avg"))


def test_what_was_prepared_before_is_refused_after(con: Connection) -> None:
    con.execute(f"PREPARE audit AS {CALLS['k_anonymity']}")
    before = con.execute("EXECUTE audit").fetchall()
    con.execute("CREATE MACRO min(x) AS 99")
    refused(con, "EXECUTE audit", SAID.format("min"))
    con.execute("DROP MACRO min")
    assert con.execute("EXECUTE audit").fetchall() == before
    con.execute("DEALLOCATE audit")


# --- types and settings ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("body", ["VARCHAR", "ENUM ('q')", "INTEGER", "STRUCT(a INTEGER)"])
def test_a_type_of_the_database_has_no_effect(
    con: Connection, right: dict[str, str], body: str
) -> None:
    con.execute(f"CREATE TYPE JSON AS {body}")
    ((kind,),) = con.execute("SELECT typeof(NULL::JSON)").fetchall()
    assert kind != "JSON"
    for name in ("anonymize_metrics", "anonymize_audit", "suppressed_rows"):
        assert answer(con, CALLS[name]) == right[name]


SETTINGS = {
    "default_order": "DESC", "default_null_order": "NULLS_FIRST", "integer_division": True,
    "ieee_floating_point_ops": False, "old_implicit_casting": True,
    "preserve_insertion_order": False, "scalar_subquery_error_on_multiple_rows": False,
    "order_by_non_integer_literal": True, "lambda_syntax": "ENABLE_SINGLE_ARROW",
    "Calendar": "japanese", "arrow_large_buffer_size": True, "arrow_output_list_view": True,
    "enable_macro_dependencies": True, "disable_timestamptz_casts": True,
    "errors_as_json": True,
    **({"preserve_identifier_case": "uppercase", "dialect_compatibility_mode": "spark"}
       if duckdb.__version__ >= "2" else {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_changes_no_answer(right: dict[str, str], setting: str) -> None:
    value: Any = SETTINGS[setting]
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(f"CREATE TABLE patients AS {ROWS}")
        con.execute(f"SET {setting} = {value!r}")
        assert {name: answer(con, call) for name, call in CALLS.items()} == right


@pytest.mark.slow
def test_a_default_collation_is_refused(con: Connection) -> None:
    naive = "SELECT min(v) = max(v) FROM (VALUES ('Anna'), ('anna')) AS t(v)"
    assert con.execute(naive).fetchall() == [(False,)]
    said = "The setting default_collation is on"
    ((text,),) = con.execute(CALLS["anonymize_sql"]).fetchall()
    con.execute("SET default_collation = 'nocase'")
    try:
        assert con.execute(naive).fetchall() == [(True,)]
        for name in GUARDED:
            refused(con, CALLS[name], said)
            refused(con, CALLS[name].replace(" := 3", "=3"), said)
        refused(con, text, said)
    finally:
        con.execute("RESET default_collation")
