"""Every column has a role, or nothing comes out; an option is given or left out, never NULL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

import kanon_sql
from kanon_sql.call.options import GROUPING_CALLS, OPTIONS
from tests.support.connections import registered
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
QUASI = "quasi_identifiers := ['age', 'zip']"
ADVICE = (
    "Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], or say "
    "others='drop', others='release' or others='quasi_identifier'."
)
PEOPLE = """
    SELECT 20 + i % 7 AS age, 100 + i % 5 AS zip, 'n' || i AS name, i % 3 AS flu
    FROM range(30) AS r(i)
"""

shared = registered(
    f"CREATE TABLE people AS {PEOPLE}; CREATE VIEW seen AS FROM people",
    f"CREATE TEMP TABLE passing AS {PEOPLE}; SET VARIABLE nothing = NULL",
)


@pytest.fixture
def con(shared: Connection) -> Connection:
    return shared


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "people.parquet"
    duckdb.sql(PEOPLE).write_parquet(str(path))
    return path


RELATIONS = ("people", "main.people", "seen", "passing", "held", "file", "cte")
"""Whether the catalog knows the relation, or DuckDB alone finds it."""


def asked(relation: str, file: Path) -> tuple[str, str]:
    """What stands before FROM, and the name of the relation in the call."""
    if relation == "cte":
        return f"WITH cte AS ({PEOPLE}) ", "cte"
    return "", str(file) if relation == "file" else relation


# --- columns that nobody gave a role --------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
def test_columns_without_a_role_are_refused_where_quasi_identifiers_are_named(
    con: Connection, file: Path, relation: str
) -> None:
    before, name = asked(relation, file)
    held = con.sql(PEOPLE).to_arrow_table()  # DuckDB finds it by its name
    assert held.num_rows == 30
    for options in (QUASI, f"{QUASI}, others := 'error'"):
        for call in GROUPING_CALLS:
            if call == "anonymize_sql":
                continue  # the text is shown; it refuses when it runs
            if call == "anonymize_ledger":
                continue  # it asks first whose row a row is, see tests/release/test_ledger.py
            if call == "anonymize_roles":  # it tells what is missing, and releases nothing
                roles = con.execute(
                    f"{before}SELECT column_name, role, released_as FROM {call}('{name}', k := 3, "
                    f"{options})"
                ).fetchall()
                assert roles[2:] == [("name", None, "refused"), ("flu", None, "refused")]
                continue
            with pytest.raises(duckdb.Error) as caught:
                con.execute(f"{before}FROM {call}('{name}', k := 3, {options})").fetchall()
            assert f": 2 columns have no role: 'name', 'flu'. {ADVICE}" in str(caught.value)
    # where all have one, they come out
    rows = con.execute(
        f"{before}FROM anonymize('{name}', k := 3, {QUASI}, sensitive := ['FLU'], "
        "identifiers := ['Name'])"
    )
    assert [column[0] for column in rows.description or ()] == ["age", "zip", "flu"]
    assert len(rows.fetchall()) == 30


OTHERS = {
    "quasi_identifier": ["age", "zip", "name", "flu"], "drop": ["age", "zip"],
    "release": ["age", "zip", "name", "flu"],
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("others", OTHERS)
def test_the_option_others_decides(
    con: Connection, file: Path, others: str, relation: str
) -> None:
    before, name = asked(relation, file)
    held = con.sql(PEOPLE).to_arrow_table()
    call = f"('{name}', k := 3, {QUASI}, others := '{others}'"
    rows = con.execute(f"{before}FROM anonymize{call})")
    assert [column[0] for column in rows.description or ()] == OTHERS[others]
    released = rows.fetchall()
    assert len(released) == 30
    generalized = [row[:2] if others == "release" else row for row in released]
    assert min(generalized.count(row) for row in generalized) >= 3
    if others == "release":
        assert {row[2:] for row in released} == set(
            zip(held["name"].to_pylist(), held["flu"].to_pylist(), strict=True)
        )
    clusters = con.execute(f"{before}FROM anonymize_clusters{call})")
    own = OTHERS["drop"] if others == "release" else OTHERS[others]
    assert [c[0] for c in clusters.description or ()] == [*own, "num_points", "radius"]
    told = con.execute(
        f"{before}SELECT text->>'others' FROM anonymize_metrics{call}, detail := true) WHERE "
        f"metric = 'options'"
    ).fetchall()
    assert told == [(others,)]
    shown = con.execute(f"{before}FROM suppressed_rows{call}, show_values := true)")
    columns = [column[0] for column in shown.description or ()]
    assert columns == ["row_number", *OTHERS[others]]
    ((text,),) = con.execute(f"{before}SELECT sql FROM anonymize_sql{call})").fetchall()
    assert con.execute(f"{before}FROM ({text})").fetchall() == released


def test_the_text_of_a_call_refuses_what_the_call_does(con: Connection) -> None:
    ((text,),) = con.execute(f"FROM anonymize_sql('people', k := 3, {QUASI})").fetchall()
    assert refusal_of(con, text).startswith("2 columns have no role: 'name', 'flu'.")


def test_a_column_that_is_added_later_is_noticed_by_what_was_kept(con: Connection) -> None:
    """A view over a call, and the text of a call, are asked again when they run."""
    con.execute("CREATE OR REPLACE TABLE growing AS SELECT age, zip FROM people")
    call = f"anonymize('growing', k := 3, {QUASI})"
    con.execute(f"CREATE OR REPLACE TEMP VIEW released AS FROM {call}")
    con.execute(f"PREPARE again AS FROM {call}")
    ((text,),) = con.execute(f"SELECT sql FROM anonymize_sql{call[9:]}").fetchall()
    con.execute("ALTER TABLE growing ADD COLUMN ssn VARCHAR")
    for query in (text, f"FROM {call}"):
        assert refusal_of(con, query) == f"1 column has no role: 'ssn'. {ADVICE}"
    for query in ("FROM released", "EXECUTE again"):
        with pytest.raises(duckdb.Error):
            con.execute(query).fetchall()
    con.execute("DROP VIEW released; DEALLOCATE again")


@pytest.mark.parametrize(("count", "said"), [
    (1, "1 column has no role: 'c0'."),
    (10, "10 columns have no role: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9'."),
    (13, "13 columns have no role: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9' and "
         "3 more."),
])
def test_ten_columns_are_named_and_the_others_counted(
    con: Connection, count: int, said: str
) -> None:
    columns = ", ".join(f"range AS c{j}" for j in range(count))
    con.execute(f"CREATE OR REPLACE TABLE wide AS SELECT range % 2 AS age, {columns} FROM range(9)")
    call = "FROM anonymize('wide', k := 3, quasi_identifiers := ['age'])"
    assert refusal_of(con, call) == f"{said} {ADVICE}"


def test_where_nobody_names_a_quasi_identifier_every_other_column_is_one(con: Connection) -> None:
    rows = con.execute("FROM anonymize('people', k := 3, sensitive := ['flu'])").fetchall()
    generalized = [row[:3] for row in rows]
    assert min(generalized.count(row) for row in generalized) >= 3
    options = "k := 3, sensitive := ['flu'], others := 'error'"
    assert refusal_of(con, f"FROM anonymize('people', {options})") == (
        "others is 'error', and no column is a quasi-identifier. Name at least one in "
        "quasi_identifiers."
    )


def test_columns_that_options_use_need_no_other_role(con: Connection) -> None:
    base = "quasi_identifiers := ['age', 'zip'], identifiers := ['name']"
    rows = con.execute(
        f"FROM anonymize('people', k := 3, method := 'k_member', {base}, class_label := 'flu')"
    )
    assert [column[0] for column in rows.description or ()] == ["age", "zip", "flu"]
    con.execute("CREATE OR REPLACE TABLE priced AS SELECT age, zip, 1 + flu AS price FROM people")
    found = con.execute(
        "FROM anonymize_clusters('priced', method := 'cellular', facility_cost := 'price', "
        "quasi_identifiers := ['age', 'zip'], allow_small := true)"
    ).fetchall()
    assert found


@pytest.mark.parametrize("call", ["k_anonymity", "anonymize_audit", "anonymize_risk"])
def test_an_audit_asks_for_nothing(con: Connection, call: str) -> None:
    release = ", release := 'people'" if call == "anonymize_audit" else ""
    assert con.execute(f"FROM {call}('people', {QUASI}{release})").fetchall()
    said = refusal_of(con, f"FROM {call}('people', others='drop', {QUASI}{release})")
    assert said.startswith(f"{call} has no option 'others'.")


@pytest.mark.slow
def test_the_same_holds_for_frames(con: Connection) -> None:
    frame = con.sql(PEOPLE).pl()
    with pytest.raises(kanon_sql.OptionError, match=r"2 columns have no role: 'name', 'flu'\."):
        kanon_sql.anonymize(frame, k=3, quasi_identifiers=["age", "zip"])
    found = kanon_sql.anonymize(frame, k=3, quasi_identifiers=["age", "zip"], others="drop")
    assert isinstance(found, pl.DataFrame) and found.columns == ["age", "zip"]
    assert kanon_sql.anonymize(frame, k=3, sensitive=None, others=None).height == 30


# --- NULL is not "left out" -----------------------------------------------------------------------

FORMS: dict[str, Callable[[Connection, str], None]] = {
    "named": lambda con, name: con.execute(
        f"FROM anonymize('people', {name} := NULL)").fetchall(),
    "named, with a type": lambda con, name: con.execute(
        f"FROM anonymize('people', {name} := NULL::VARCHAR)").fetchall(),
    "positional": lambda con, name: con.execute(
        f"FROM anonymize('people', {name}=NULL)").fetchall(),
    "a variable": lambda con, name: con.execute(
        f"FROM anonymize('people', {name} := getvariable('nothing'))").fetchall(),
    "a positional variable": lambda con, name: con.execute(
        f"FROM anonymize('people', {name}=getvariable('nothing'))").fetchall(),
    "a variable that was never set": lambda con, name: con.execute(
        f"FROM anonymize('people', {name} := getvariable('no_such'))").fetchall(),
    "a prepared parameter": lambda con, name: con.execute(
        f"FROM anonymize('people', {name} := ?)", [None]).fetchall(),
    "a positional parameter": lambda con, name: con.execute(
        f"FROM anonymize('people', {name}=$1)", [None]).fetchall(),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_an_option_that_is_null_is_refused(con: Connection, form: str) -> None:
    for name, option in OPTIONS.items():
        if "anonymize" not in option.calls:
            continue
        with pytest.raises(duckdb.Error) as caught:
            FORMS[form](con, name)
        said = str(caught.value).partition(": ")[2].partition("\n\nLINE")[0]
        assert said == (
            f"The value of {name} is NULL. Leave it out, or look where its value comes from."
        )


@pytest.mark.parametrize("call", ["anonymize_metrics", "anonymize_clusters", "anonymize_sql",
                                  "suppressed_rows", "k_anonymity", "anonymize_audit",
                                  "anonymize_risk"])
def test_every_call_refuses_null(con: Connection, call: str) -> None:
    for text in ("sensitive := NULL", "k=NULL"):
        assert "is NULL. Leave it out" in refusal_of(con, f"FROM {call}('people', {text})")


def test_a_null_inside_a_value_is_no_option_that_is_null(con: Connection) -> None:
    assert "quasi_identifiers must be a list of column names" in refusal_of(
        con, "FROM anonymize('people', k := 3, quasi_identifiers := [NULL])"
    )
    said = refusal_of(con, "FROM anonymize('people', k := 3, column_weights := {'age': NULL})")
    assert said.startswith("column_weights must map column names to numbers")
