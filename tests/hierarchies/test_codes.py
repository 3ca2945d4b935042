"""Which columns hold codes, which hierarchy they get, and what a call does that asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.call.suggested import refuse_suggested
from kanon_sql.duckdb.catalog import ConnectionCatalog
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.codes import CodeFacts, Suggestion, WrittenForm, suggest, words_of
from kanon_sql.hierarchies.kinds import check_kind
from tests.support.columns_of_codes import COLUMNS, LATER, MIXED, ROWS, WRONG, table_sql
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
Told = dict[str, tuple[str | None, str | None]]
"""Kind and reason by column."""

PATIENTS = f"""
    CREATE OR REPLACE TABLE visited AS
    SELECT 10115 + {MIXED} % 60 * 101 AS zip, 20 + {MIXED} % 60 AS age,
           ['f', 'm'][1 + i % 2] AS sex, DATE '1950-01-01' + ({MIXED} % 90 * 50)::INTEGER AS born,
           'card ' || {MIXED} AS card, ['flu', 'cough', 'cold'][1 + i % 3] AS disease
    FROM range({ROWS}) AS r(i)
"""
GIVEN = "k := 4, sensitive := ['disease'], quasi_identifiers := ['zip', 'age', 'sex', 'born'], " \
    "others := 'drop'"
QUICK = f"{GIVEN}, effort := 'fast'"
EXPLICIT = {"zip": "prefix", "born": "date"}


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    connection = kanon_sql.register(duckdb.connect())
    connection.execute(PATIENTS)
    connection.execute(table_sql("columns_of_codes"))
    yield connection
    connection.close()


def told(con: Connection, table: str, more: str = "") -> Told:
    """Kind and reason by column, as anonymize_roles tells them."""
    rows = con.execute(
        "SELECT column_name, suggested_hierarchy, hierarchy_reason "
        f"FROM anonymize_roles('{table}'{more})"
    ).fetchall()
    return {name: (kind, reason) for name, kind, reason in rows}


@pytest.fixture(scope="module")
def whole(con: Connection) -> Told:
    """What is told of the table of all columns."""
    return told(con, "columns_of_codes")


def kind_of(suggested: str | None) -> str | None:
    if suggested is None or not suggested.startswith("{"):
        return suggested
    return str(json.loads(suggested)["kind"])


# --- the decision -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_gets_what_it_needs(whole: Told, name: str) -> None:
    kind, reason = whole[name]
    assert (kind_of(kind) if reason else None) == COLUMNS[name][1]


@pytest.mark.parametrize("name", LATER)
def test_columns_that_came_later(whole: Told, name: str) -> None:
    kind, reason = whole[name]
    assert (kind_of(kind) if reason else None) == WRONG.get(name, LATER[name][1])


@pytest.mark.slow
def test_the_order_of_the_rows_means_nothing(con: Connection, whole: Told) -> None:
    con.execute(table_sql("shuffled", f"{MIXED} DESC"))
    assert told(con, "shuffled") == whole


@pytest.mark.slow
def test_every_suggestion_can_be_made(con: Connection, whole: Told) -> None:
    for name, (suggested, _) in whole.items():
        if suggested is None:
            continue
        spec = json.loads(suggested) if suggested.startswith("{") else {"kind": suggested}
        check_kind(name, spec)
        options = ", ".join(f"{option} := {value!r}" for option, value in spec.items())
        rows = con.execute(f"FROM hierarchy('columns_of_codes', '{name}', {options})").fetchall()
        assert rows and all(row[-1] == "*" for row in rows), name


def test_nothing_is_suggested_without_two_values(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE few AS SELECT 47906 AS zip, 'E11.9' AS icd10, "
                "DATE '2020-01-01' AS born, NULL::INTEGER AS plz FROM range(80)")
    nothing = dict.fromkeys(("zip", "icd10", "born", "plz"), (None, None))
    assert told(con, "few") == nothing
    con.execute("CREATE OR REPLACE TABLE none AS FROM few LIMIT 0")
    assert told(con, "none") == nothing


@pytest.mark.parametrize("name", ["x", "X", "n", "facts"])
def test_columns_may_be_called_as_the_query_calls_its_own(con: Connection, name: str) -> None:
    con.execute("CREATE OR REPLACE TABLE named AS SELECT 47000 + i % 30 AS zip, "
                f"'s' || i % 3 AS {name} FROM range(200) AS r(i)")
    call = "FROM anonymize('named', k := 5, {}, effort := 'fast')"
    found = con.execute(call.format("hierarchies := 'suggested'")).fetchall()
    assert found == con.execute(call.format("hierarchies := {'zip': 'prefix'}")).fetchall()


@pytest.mark.slow
def test_nulls_change_nothing(con: Connection, whole: Told) -> None:
    con.execute("CREATE OR REPLACE TABLE gaps AS FROM columns_of_codes UNION ALL BY NAME "
                "SELECT NULL::BIGINT AS zip FROM range(200)")
    assert told(con, "gaps") == whole


@given(st.lists(st.integers(0, 10**13) | st.none(), max_size=12), st.sampled_from(
    ["zip", "x", "year", "code", "sic_code", "zip_count", "patientId", "ID", ""]
))
def test_whatever_numbers_there_are(numbers: list[int | None], name: str) -> None:
    known = [number for number in numbers if number is not None]
    facts = CodeFacts(
        name, "BIGINT", len(known), len(set(known)), min(known, default=None),
        max(known, default=None), WrittenForm(digits=True, whole=True),
    )
    suggestion = suggest(facts)
    assert (suggestion is None) == (len(set(known)) < 2)
    if suggestion is not None and suggestion.kind == "prefix":
        # codes that a prefix tells apart are all of the same length
        assert len({len(str(number)) for number in known}) == 1
    if suggestion is not None:
        check_kind(name, {"kind": suggestion.kind, **dict(suggestion.options)})


@pytest.mark.parametrize(("name", "words"), [
    ("postalCode5", ("postal", "code", "5")), ("ICD10Code", ("icd", "10", "code")),
    ("zip_code", ("zip", "code")), ("PLZ", ("plz",)), ("", ()), ("NUTS-3 region", ("nuts", "3",
                                                                                  "region")),
])
def test_the_words_of_a_name(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


def test_lost_zeros_come_back_as_bins() -> None:
    facts = CodeFacts("zip", "INTEGER", 900, 90, 501, 99950)
    suggestion = suggest(facts)
    assert suggestion is not None
    assert suggestion.spec == {"kind": "bins", "width": 10, "factor": 10, "levels": 5}
    assert suggest(CodeFacts("zip", "INTEGER", 900, 90, 10115, 99950)) == Suggestion(
        "prefix", "It holds codes of 5 digits: 'zip' is in the name."
    )


@pytest.mark.slow
def test_what_the_planner_knows_is_what_the_query_knows(con: Connection) -> None:
    catalog = ConnectionCatalog(lambda: nullcontext(con))
    names = ", ".join(f"'{name}'" for name in COLUMNS)
    in_query = told(con, "columns_of_codes", f", quasi_identifiers := [{names}]")
    for facts in catalog.facts("columns_of_codes", COLUMNS):
        suggestion = suggest(facts)
        here = (None, None) if suggestion is None else (suggestion.text, suggestion.reason)
        assert here == in_query[facts.name]


# --- hierarchies := 'suggested' -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("call", ["anonymize_sql", "anonymize_manifest", "anonymize"])
def test_suggested_is_what_one_would_have_stated(con: Connection, call: str) -> None:
    suggested = con.execute(f"FROM {call}('visited', {QUICK}, hierarchies := 'suggested')")
    rows = suggested.fetchall()
    assert rows == con.execute(
        f"FROM {call}('visited', {QUICK}, hierarchies := {EXPLICIT})"
    ).fetchall()
    assert rows != con.execute(f"FROM {call}('visited', {QUICK})").fetchall()


def test_what_was_applied_is_told(con: Connection) -> None:
    entries = con.execute(
        "SELECT entry, value FROM anonymize_manifest('visited', "
        f"{QUICK}, hierarchies := 'suggested') WHERE section = 'hierarchies'"
    ).fetchall()
    assert {name: json.loads(value) for name, value in entries} == {
        name: {"kind": kind} for name, kind in EXPLICIT.items()
    }
    ((text,),) = con.execute(
        f"SELECT text FROM anonymize_metrics('visited', {QUICK}, hierarchies := 'suggested', "
        "detail := true) WHERE metric = 'options'"
    ).fetchall()
    assert json.loads(text)["hierarchies"] == EXPLICIT


def test_what_is_stated_stays(con: Connection) -> None:
    for spec in ("{'age': 'bins', '*': 'suggested'}", "{'AGE': 'bins', '*': 'Suggested'}"):
        ((mixed,),) = con.execute(
            f"FROM anonymize_sql('visited', {GIVEN}, hierarchies := {spec})"
        ).fetchall()
        assert "\"kind\": \"bins\"" in mixed and "\"kind\": \"prefix\"" in mixed
    ((stated,),) = con.execute(
        f"FROM anonymize_sql('visited', {GIVEN}, hierarchies := {{'zip': 'flat', "
        "'*': 'suggested'})"
    ).fetchall()
    assert "\"kind\": \"flat\"" in stated and "\"kind\": \"prefix\"" not in stated


@pytest.mark.slow
def test_only_quasi_identifiers_get_one_and_names_of_rows_stay_withheld(con: Connection) -> None:
    released = con.sql(
        "FROM anonymize('visited', k := 4, sensitive := ['disease', 'zip'], "
        "hierarchies := 'suggested')"
    ).to_arrow_table()
    assert pa.types.is_int64(released.schema.field("zip").type)
    assert released["card"].null_count == ROWS
    assert pa.types.is_string(released.schema.field("born").type)


def test_a_frame_in_python_and_a_table_in_sql_give_the_same(con: Connection) -> None:
    options: Any = {
        "k": 4, "sensitive": ["disease"], "quasi_identifiers": ["zip", "age", "sex", "born"],
        "others": "drop", "effort": "fast",
    }
    frame = con.sql("FROM visited").to_arrow_table()
    suggested = kanon_sql.anonymize(frame, hierarchies="suggested", **options)
    assert suggested.equals(kanon_sql.anonymize(frame, hierarchies=EXPLICIT, **options))
    in_sql = con.sql(f"FROM anonymize('visited', {QUICK}, hierarchies := 'suggested')")
    assert in_sql.fetchall() == [tuple(row.values()) for row in suggested.to_pylist()]


def test_with_the_levels_of_full_domain(con: Connection) -> None:
    released = con.sql(
        f"SELECT DISTINCT zip FROM anonymize('visited', {GIVEN}, method := 'full_domain', "
        "hierarchies := 'suggested')"
    ).fetchall()
    assert len({len(code) for (code,) in released} - {1}) <= 1  # 101** or *


@pytest.mark.parametrize(("spec", "words"), [
    ("'sugested'", "must be 'suggested', or map column names"),
    ("{'*': 'prefix'}", "gives all other columns, '*', a hierarchy"),
])
def test_what_cant_be_asked_for(con: Connection, spec: str, words: str) -> None:
    assert words in refusal_of(con, f"FROM anonymize('visited', {GIVEN}, hierarchies := {spec})")


def test_rows_that_the_planner_cant_read_are_refused(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TEMP TABLE fleeting AS FROM visited")
    said = refusal_of(con, f"FROM anonymize('fleeting', {GIVEN}, hierarchies := 'suggested')")
    assert "DuckDB can't read fleeting then" in said
    with pytest.raises(OptionError, match="Spark releases them block by block"):
        refuse_suggested("suggested")
    with pytest.raises(OptionError, match="Spark releases them block by block"):
        refuse_suggested({"age": "bins", "*": "suggested"})
    refuse_suggested({"age": "bins"})
    refuse_suggested(None)


def test_a_column_that_isnt_there_is_told_as_ever(con: Connection) -> None:
    said = refusal_of(con, "FROM anonymize('visited', k := 4, quasi_identifiers := ['zpi', 'age'], "
                           "others := 'drop', hierarchies := 'suggested')")
    assert "zpi" in said and "zip" in said


@pytest.mark.slow
def test_files_are_looked_at_as_a_whole(con: Connection, tmp_path: Path) -> None:
    con.execute(f"COPY (FROM visited LIMIT 150) TO '{tmp_path}/a.parquet'")
    con.execute(f"COPY (FROM visited OFFSET 150) TO '{tmp_path}/b.parquet'")
    options: Any = {
        "k": 4, "sensitive": ["disease"], "quasi_identifiers": ["zip", "age", "sex", "born"],
        "others": "drop", "effort": "fast",
    }
    released = []
    for name, spec in (("one", "suggested"), ("two", EXPLICIT)):
        made = kanon_sql.anonymize_files(
            f"{tmp_path}/*.parquet", tmp_path / name, hierarchies=spec, progress=False, **options
        )
        applied = EXPLICIT if spec == "suggested" else None
        assert made.metrics.get("suggested_hierarchies") == applied
        released.append(con.execute(f"FROM '{tmp_path}/{name}/*.parquet' ORDER BY ALL").fetchall())
    assert released[0] == released[1]
    assert any(str(row[0]).endswith("*") for row in released[0])


# --- the notice ---------------------------------------------------------------------------------


def noticed(con: Connection, more: str) -> list[str]:
    return [text for (text,) in con.execute(
        f"SELECT text FROM anonymize_metrics('visited', {GIVEN}{more}, method := 'mdav_star', "
        "detail := true) WHERE metric LIKE 'notice%'"
    ).fetchall() if text is not None]


def test_codes_that_are_taken_as_numbers_are_told(
    con: Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    (notice,) = noticed(con, "")
    assert notice == (
        "The quasi-identifier 'zip' is treated as a number, so a class may release a mean or a "
        "range of codes. It holds codes of 5 digits: 'zip' is in the name. Say "
        "hierarchies='suggested', or give this column 'prefix'."
    )
    assert notice in capfd.readouterr().err
    assert notice in con.execute(
        f"SELECT remarks FROM anonymize_roles('visited', {GIVEN}) WHERE column_name = 'zip'"
    ).fetchall()[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("more", [
    ", hierarchies := 'suggested'", ", hierarchies := {'zip': 'bins'}", ", categorical := ['zip']",
])
def test_where_somebody_decided_nothing_is_told(con: Connection, more: str) -> None:
    assert noticed(con, more) == []
    remarks = con.execute(
        f"SELECT remarks FROM anonymize_roles('visited', {GIVEN}{more}) WHERE column_name = 'zip'"
    ).fetchall()[0][0]
    assert not any("treated as a number" in remark for remark in remarks)
