"""Columns that look like identifiers: what does, and what becomes of one that nobody named."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.identifier_detection import LEAST_ROWS, Looks, look, notices_of
from kanon_sql.methods import METHODS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from tests.support.connections import registered
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
ROWS = 60
UNIQUE = {
    "text": "'n' || i", "BLOB": "encode('\\xC3' || i)",
    "UUID": "('00000000-0000-4000-8000-' || lpad(i::VARCHAR, 12, '0'))::UUID",
    "ENUM": "('n' || i)::person", "JSON": "('{\"a\": ' || i || '}')::JSON",
    "text that only capitals tell apart": "['x', 'X'][1 + i % 2] || i // 2",
    "text beside NULL": "CASE WHEN i < 55 THEN 'n' || i END",
    "integers": "i", "integers backwards": "1000 - i", "integers in any order": "(i * 7) % 60",
    "BIGINT": "i::BIGINT", "TINYINT": "(i - 100)::TINYINT", "HUGEINT": "i::HUGEINT",
    "integers beside NULL": "CASE WHEN i < 52 THEN i END",
    "one text twice": "'n' || greatest(i, 1)", "most texts twice": "'n' || i // 2",
    "more than half of the texts": "'n' || least(i, 31)",
    "a gap": "CASE WHEN i = 59 THEN 60 ELSE i END", "a gap for five numbers": "i + i // 5",
}
"""Columns of sixty rows that look like identifiers."""
OTHERS = {
    "texts of three rows": "'n' || i // 3", "half of the texts": "'n' || least(i, 30)",
    "49 texts": "CASE WHEN i < 49 THEN 'n' || i END",
    "49 integers": "CASE WHEN i < 49 THEN i END", "a gap for two numbers": "i + i // 2",
    "even numbers": "2 * i",
    "integers twice": "i // 2", "DOUBLE": "i::DOUBLE",
    "DECIMAL": "i::DECIMAL(9, 0)", "dates": "DATE '2020-01-01' + i::INTEGER",
    "times": "TIME '00:00:00' + INTERVAL (i) MINUTE", "BOOLEAN": "i % 2 = 0", "nothing": "NULL",
    "one number": "7", "NULL of a type": "NULL::VARCHAR",
}


NAMES = ", ".join(f"'n{i}'" for i in range(ROWS))
shared = registered(f"CREATE TYPE person AS ENUM ({NAMES})")


def fill(con: Connection, x: str, rows: int = ROWS) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT 20 + i % 7 AS age, {x} AS x, ['a', 'b'][1 + i % 2] "
        f"AS job, i % 3 AS flu FROM range({rows}) AS r(i)"
    )


def hidden_in(con: Connection, query: str, column: str = "x") -> bool:
    """Whether the column comes out, and is nothing but NULL."""
    found = con.sql(query)
    rows = found.fetchall()
    assert rows
    place = found.columns.index(column)  # DuckDB plans the call again to tell its columns
    return {row[place] for row in rows} == {None}


def seen_by_sql(con: Connection, column: str = "x", least: int = 3) -> bool:
    ((found,),) = con.execute(
        f"SELECT __kanon_looks_like_identifier(__kanon_profile({column}, {least})) FROM t"
    ).fetchall()
    return bool(found)


def seen_by_python(con: Connection, column: str = "x", least: int = 3) -> bool:
    """What the encoding, which gets cells, sees of a column of t."""
    table = con.sql(
        f"SELECT cell.number, cell.category, kind FROM (SELECT __kanon_cell({column}) AS cell, "
        f"typeof({column}) AS kind FROM t)"
    ).to_arrow_table()
    kind = table["kind"][0].as_py()
    numbers = table["number"].to_numpy().astype(float) if is_numeric(kind) else None
    texts = None if is_numeric(kind) else table["category"].combine_chunks()
    return look(Column(column, kind), numbers, texts, least).identifier


# --- what looks like one --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("x", UNIQUE)
def test_a_column_that_tells_all_rows_apart_looks_like_an_identifier(
    shared: Connection, x: str
) -> None:
    fill(shared, UNIQUE[x])
    assert seen_by_sql(shared) and seen_by_python(shared)
    assert hidden_in(shared, "FROM anonymize('t', k := 3)")
    assert hidden_in(shared, "FROM anonymize('t', k := 3, quasi_identifiers := ['age'], "
                             "others := 'release')")


@pytest.mark.slow
@pytest.mark.parametrize("x", OTHERS)
def test_a_column_that_does_not_is_treated_as_ever(shared: Connection, x: str) -> None:
    fill(shared, OTHERS[x])
    assert not seen_by_sql(shared) and not seen_by_python(shared)
    empty = x in ("nothing", "NULL of a type")
    for call in ("k := 3", "k := 3, quasi_identifiers := ['age'], others := 'release'"):
        assert hidden_in(shared, f"FROM anonymize('t', {call})") == empty


@pytest.mark.slow
@pytest.mark.parametrize("x", ["i", "'n' || i"])
def test_fifty_rows_are_enough_and_49_are_not(shared: Connection, x: str) -> None:
    for rows in (LEAST_ROWS - 1, LEAST_ROWS):
        fill(shared, x, rows)
        assert seen_by_sql(shared) == seen_by_python(shared) == (rows == LEAST_ROWS)
        assert hidden_in(shared, "FROM anonymize('t', k := 3)") == (rows == LEAST_ROWS)


def test_types_that_can_be_no_quasi_identifier_are_refused_and_not_hidden(
    shared: Connection,
) -> None:
    for x in ("[i]", "{'a': i}"):
        fill(shared, x)
        assert not seen_by_sql(shared) and not seen_by_python(shared)
        said = refusal_of(shared, "FROM anonymize('t', k := 3)")
        assert said.startswith("The quasi-identifier 'x' has the type ")


words = st.lists(st.none() | st.text(max_size=3), max_size=8)
numbers = st.lists(st.none() | st.integers(-9, 9), max_size=8)


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """Sixty values or so, most of them different, and their type."""
    kind = draw(st.sampled_from(("VARCHAR", "VARCHAR COLLATE NOCASE", "BLOB", "INTEGER", "BIGINT",
                                 "HUGEINT", "UBIGINT", "SMALLINT", "DOUBLE", "DECIMAL(18, 0)")))
    count, start = draw(st.integers(45, 70)), draw(st.integers(0, 10_000))
    own: list[Any] = list(range(start, start + count))
    if kind[0] in "VB" and kind != "BIGINT":
        own = [draw(st.sampled_from(("a", "B", "é"))) + str(i) for i in own]
        own = [word.lower() if draw(st.booleans()) else word for word in own[:4]] + own[4:]
        own += draw(words)
    else:
        least = 0 if kind == "UBIGINT" else -9
        own += [None if i is None else max(least, i + start) for i in draw(numbers)]
    if kind == "BLOB":
        own = [None if word is None else word.encode() for word in own]
    random.Random(start).shuffle(own)
    return kind, own


@pytest.mark.slow
@given(columns())
def test_sql_and_python_see_the_same(shared: Connection, column: tuple[str, list[Any]]) -> None:
    kind, values = column
    shared.execute(f"CREATE OR REPLACE TABLE t (x {kind})")
    shared.execute("INSERT INTO t SELECT unnest($1)", [values])
    for least in (2, 3, 5, 60):
        assert seen_by_sql(shared, least=least) == seen_by_python(shared, least=least)


@pytest.mark.parametrize("first", [2**53 - 2000, 2**60, -(2**61)])
def test_numbers_beyond_what_doubles_tell_apart(first: int) -> None:
    count = 3000
    values = np.arange(first, first + count).astype(np.float64)
    column = Column("x", "BIGINT")
    assert look(column, values, None).identifier
    assert not look(column, values * 1.0 + 4096 * np.arange(count), None).identifier
    # where doubles are further apart than there are rows, they don't tell
    assert look(column, values[:60], None).identifier == (first < 2**53 and first > 0)


# --- what becomes of one --------------------------------------------------------------------------

FIT = [
    name for name, m in METHODS.items()
    if m.promises_k and not isinstance(m.geometry(), AttributeGeometry)
    and name not in ("optimal_1d", "full_domain")
]


@pytest.mark.slow
@pytest.mark.parametrize("method", FIT)
def test_every_method_groups_as_if_it_were_not_there(shared: Connection, method: str) -> None:
    fill(shared, "'n' || i")
    call = f"'t', k := {METHODS[method].only_k or 4}, method := '{method}', sensitive := ['flu']"
    if method == "best":
        call += ", refine_steps := 500"
    away = ", identifiers := ['x']"
    for name, more in (("anonymize", ", keep_order := true"), ("anonymize_clusters", "")):
        assert hidden_in(shared, f"FROM {name}({call}{more})")
        # classes are the same; of rows that are equal in all but x, which one is in which class
        # goes by x, and isn't the same where nobody may look at x
        query = "SELECT * EXCLUDE ({}) FROM {}({}{}{})"
        shown = shared.execute(query.format("x, flu", name, call, more, "")).fetchall()
        expected = shared.execute(query.format("flu", name, call, more, away)).fetchall()
        assert sorted(map(repr, shown)) == sorted(map(repr, expected))
    numbered = f"SELECT age, job, class_id FROM anonymize({call}, class_id := true)"
    rows = shared.execute(numbered).fetchall()
    assert len({row[2] for row in rows}) == len(set(rows)) > 1
    query = (
        "SELECT metric, value FROM anonymize_metrics({}, detail := true) WHERE unit <> 'seconds' "
        "AND metric NOT LIKE 'homogeneous%'"
    )
    measured = dict(shared.execute(query.format(call)).fetchall())
    assert measured == dict(shared.execute(query.format(call + away)).fetchall())


@pytest.mark.slow
@pytest.mark.parametrize("shown", ["centroid", "median", "interval", "bounds", "suppress"])
@pytest.mark.parametrize("x", ["'n' || i", "i", "('n' || i)::person"])
def test_every_representation_of_it_is_null(shared: Connection, shown: str, x: str) -> None:
    fill(shared, x)
    for method in ("mdav_star", "r_gather"):
        call = f"'t', k := 3, method := '{method}', representation := '{shown}'"
        assert hidden_in(shared, f"FROM anonymize({call})")
        assert hidden_in(shared, f"FROM anonymize_clusters({call})")


@pytest.mark.sample(2)
@pytest.mark.parametrize("x", ["'n' || i", "i"])
@pytest.mark.parametrize("named", [
    "categorical := ['X']", "categorical := ['x']", "representation := {'X': 'median'}",
    "categorical := ['X'], method := 'full_domain'", "categorical := ['X'], method := 'r_gather'",
    "categorical := ['X'], method := 'r_gather', metric := 'taxonomy'",
])
def test_other_options_name_it_without_showing_it(shared: Connection, named: str, x: str) -> None:
    """Whatever the capitals: only a role and a hierarchy are a decision to show it."""
    fill(shared, x)
    for call in ("anonymize", "anonymize_clusters"):
        found = shared.sql(f"FROM {call}('t', k := 3, sensitive := ['flu'], {named})")
        spot = [name.lower() for name in found.columns].index("x")
        assert {row[spot] for row in found.fetchall()} == {None}


def test_global_recoding_hides_it_too(shared: Connection) -> None:
    fill(shared, "'n' || i")
    call = "'t', k := 3, method := 'full_domain', sensitive := ['flu'], keep_order := true"
    assert hidden_in(shared, f"FROM anonymize({call})")
    assert shared.execute(f"SELECT age, job, flu FROM anonymize({call})").fetchall() == (
        shared.execute(f"FROM anonymize({call}, identifiers := ['x'])").fetchall()
    )


@pytest.mark.slow
@pytest.mark.parametrize("x", ["'n' || i", "i"])
def test_whoever_names_it_generalizes_it(shared: Connection, x: str) -> None:
    fill(shared, x)
    named = "quasi_identifiers := ['X', 'age', 'job'], sensitive := ['flu']"
    assert not hidden_in(shared, f"FROM anonymize('t', k := 3, {named})")
    named = "quasi_identifiers := ['x'], others := 'quasi_identifier'"
    assert not hidden_in(shared, f"FROM anonymize('t', k := 3, {named})")
    for tree in ("'flat'", "'levels'"):
        shared.execute(f"CREATE OR REPLACE TABLE levels AS SELECT ({x})::VARCHAR AS level0, "
                       "'*' AS level1 FROM range(60) AS r(i)")
        assert not hidden_in(shared, f"FROM anonymize('t', k := 3, hierarchies := {{'x': {tree}}})")
    for role in ("sensitive", "class_label"):
        value = "'x'" if role == "class_label" else "['x']"
        rows = shared.execute(f"SELECT x FROM anonymize('t', k := 3, {role} := {value})").fetchall()
        assert len(set(rows)) == ROWS


@pytest.mark.slow
def test_several_are_hidden_and_none_is_left_is_refused(shared: Connection) -> None:
    shared.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x, 'n' || i AS y, i % 9 AS z "
                   "FROM range(60) AS r(i)")
    for column in "xy":
        assert hidden_in(shared, "FROM anonymize('t', k := 3)", column)
    rows = shared.execute("SELECT z FROM anonymize('t', k := 3)").fetchall()
    assert min(rows.count(row) for row in rows) >= 3
    shared.execute("ALTER TABLE t DROP COLUMN z")
    for name in ("anonymize", "anonymize_clusters", "anonymize_metrics"):
        assert refusal_of(shared, f"FROM {name}('t', k := 3)") == (
            "No column is left as a quasi-identifier: 'x', 'y' look like identifiers. Name the "
            "quasi-identifiers in quasi_identifiers=[...]."
        )
    assert "'y' looks like an identifier" in refusal_of(
        shared, "FROM anonymize('t', k := 3, sensitive := ['x'])"
    )
    assert "'x' looks like an identifier" in refusal_of(
        shared, "FROM anonymize('t', k := 3, method := 'optimal_1d', identifiers := ['y'])"
    )


@pytest.mark.parametrize("others", ["", ", quasi_identifiers := ['age'], others := 'release'"])
def test_no_order_of_rows_and_no_number_of_threads_changes_it(
    shared: Connection, others: str
) -> None:
    fill(shared, "(i * 7) % 60")
    released = set()
    for threads, order in ((1, "age"), (2, "x DESC"), (4, "hash(x)")):
        shared.execute(f"SET threads = {threads}; CREATE OR REPLACE TABLE other AS FROM t "
                       f"ORDER BY {order}")
        rows = shared.execute(f"FROM anonymize('other', k := 3, seed := 5{others})").fetchall()
        released.add(tuple(rows))
    shared.execute("SET threads = 2")
    assert len(released) == 1
    assert {row[1] for row in released.pop()} == {None}


def test_the_call_says_so(shared: Connection, capfd: pytest.CaptureFixture[str]) -> None:
    said = (
        "kanon_sql: The column 'x' looks like an identifier and has no role, so it is released as "
        "NULL. Drop it by identifiers=['x'], or generalize it after all by quasi_identifiers=['x', "
        "...]."
    )
    fill(shared, "'n' || i")
    for more in ("", ", quasi_identifiers := ['age'], others := 'release'"):
        shared.execute(f"FROM anonymize('t', k := 3, seed := 8{more})").fetchall()
        assert said in capfd.readouterr().err
        shared.execute(f"FROM anonymize('t', k := 3, progress := false{more})").fetchall()
        assert said not in capfd.readouterr().err


def test_the_same_holds_for_frames(shared: Connection) -> None:
    fill(shared, "'n' || i")
    frame = shared.sql("FROM t").pl()
    for options in ({}, {"quasi_identifiers": ["age"], "others": "release"}):
        found = kanon_sql.anonymize(frame, k=3, **options)
        assert found["x"].null_count() == ROWS and found["age"].null_count() == 0


# --- what is said of columns ----------------------------------------------------------------------


def texts(distinct: int, count: int) -> Looks:
    column = Column("x", "VARCHAR")
    return look(column, None, pa.array([f"n{i % distinct}" for i in range(count)]), 2)


def whole(values: Sequence[float], kind: str = "INTEGER") -> Looks:
    return look(Column("x", kind), np.array(values, np.float64), None)


def test_what_is_said_of_a_column_follows_from_its_looks() -> None:
    (hidden,) = notices_of("x", texts(60, 60), named=False)
    assert "is released as NULL" in hidden
    assert notices_of("x", texts(57, 60), named=False) == (hidden,)
    (coded,) = notices_of("x", whole([i % 9 for i in range(60)]), named=True)
    assert "only 9 different ones" in coded and "categorical=['x']" in coded
    for looks, named in ((texts(60, 60), True), (texts(57, 60), True), (texts(40, 60), False),
                         (whole([i % 30 for i in range(60)]), False), (texts(49, 49), False),
                         (whole([i % 9 for i in range(60)], "DOUBLE"), False)):
        assert notices_of("x", looks, named) == ()
