"""The representation 'rounded': the centroid in the column's own type, checked as it is shown."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import pytest

import kanon_sql

Connection = duckdb.DuckDBPyConnection

COLUMNS = {
    "tiny": "(i * 37 % 100)::TINYINT",
    "small": "(i % 5 - 2)::SMALLINT",
    "whole": "(i * 53 % 100)::INTEGER",
    "big": "9007199254740993 + i * 7919 % 1000",
    "utiny": "(i * 3 % 17)::UTINYINT",
    "uwhole": "(i * 3 % 17)::UINTEGER",
    "ubig": "(18446744073709551615 - i % 9)::UBIGINT",
    "money": "((i * 31 % 77) / 3)::DECIMAL(9,2)",
    "nulls": "CASE WHEN i % 2 = 0 THEN i END",
    "none": "NULL::INTEGER",
    "float": "(i * 1.7)::FLOAT",
    "double": "CASE WHEN i % 3 = 0 THEN 'nan'::DOUBLE ELSE i * 0.3 END",
    "day": "DATE '2020-01-01' + i::INTEGER",
    "stamp": "TIMESTAMP '2020-01-01 00:00:00' + to_hours(i)",
    "nano": "(TIMESTAMP '2020-01-01 00:00:00' + to_hours(i))::TIMESTAMP_NS",
    "second": "(TIMESTAMP '2020-01-01 00:00:00' + to_minutes(i))::TIMESTAMP_S",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_hours(i)",
    "hour": "TIME '10:00:00' + to_minutes(i)",
    "label": "(['x', 'y'][1 + i % 2])::ENUM('y', 'x')",
    "yes": "i % 3 = 0",
    "bytes": "('v' || i % 2)::BLOB",
    "word": "'v' || i % 4",
}
HUGE = {
    "huge": "170141183460469231731687303715884105727 - i % 9",
    "low": "-170141183460469231731687303715884105727 + i % 9",
    "unsigned": "340282366920938463463374607431768211455::UHUGEINT - (i % 9)::UHUGEINT",
    "digits": "(999999999999999999 - i % 3)::DECIMAL(18,0)",
    "places": "('999.999999999999999999' || (10 + i % 89))::DECIMAL(23,20)",
    "deep": "('-99999999999999.99' || (9 - i % 3))::DECIMAL(17,3)",
}
WHOLE = ("tiny", "small", "whole", "big", "utiny", "uwhole", "ubig", "nulls")


def source(con: Connection, columns: dict[str, str], rows: int = 40) -> None:
    listed = ", ".join(f"{text} AS {name}" for name, text in columns.items())
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {listed} FROM range({rows}) AS r(i)")


def types(con: Connection, relation: str) -> list[Any]:
    return con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {relation})").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [COLUMNS, HUGE])
def test_every_column_keeps_its_type(con: Connection, columns: dict[str, str]) -> None:
    source(con, columns)
    con.execute("CREATE TABLE released AS FROM anonymize('t', k=5, representation='rounded')")
    kept = [(name, "VARCHAR" if type_.startswith("ENUM") else type_)
            for name, type_ in types(con, "t")]
    assert types(con, "released") == kept
    assert (con.execute("SELECT k >= 5, \"rows\" FROM k_anonymity('released')").fetchone()
            == (True, 40))
    for name in set(columns) - {"label"}:  # whose values have an order of their own
        (outside,) = con.execute(
            f"SELECT count(*) FROM released WHERE {name} NOT BETWEEN "
            f"(SELECT min({name}) FROM t) AND (SELECT max({name}) FROM t)"
        ).fetchone() or ()
        assert outside == 0, con.execute(
            f"SELECT '{name}', min({name}), max({name}) FROM t UNION ALL "
            f"SELECT 'released', min({name}), max({name}) FROM released"
        ).fetchall()


def test_means_of_integers_are_rounded_exactly(con: Connection) -> None:
    """Beside the rows of each class, halves to the even one; a double can't hold each sum."""
    source(con, {name: COLUMNS[name] for name in WHOLE} | {"row_id": "i"})
    names = ", ".join(f"'{name}'" for name in WHOLE)
    call = (f"FROM anonymize('t', k=4, quasi_identifiers=[{names}], sensitive=['row_id'], "
            "seed=1, representation='{}')")
    rows = con.execute(
        "SELECT row_id, COLUMNS(* EXCLUDE (row_id)) FROM t ORDER BY row_id"
    ).fetchall()
    released = con.execute(
        f"SELECT row_id, COLUMNS(* EXCLUDE (row_id)) {call.format('rounded')}"
    ).fetchall()
    centroids = con.execute(
        f"SELECT row_id, COLUMNS(* EXCLUDE (row_id)) {call.format('centroid')}"
    ).fetchall()
    classes: dict[Any, list[int]] = {}
    for row_id, *center in centroids:
        classes.setdefault(tuple(center), []).append(row_id)
    shown = {row_id: tuple(values) for row_id, *values in released}
    assert len(shown) == len(rows) and len(classes) > 5
    for members in classes.values():
        for j in range(len(WHOLE)):
            values = [rows[i][j + 1] for i in members if rows[i][j + 1] is not None]
            mean = round(Fraction(sum(values), len(values))) if values else None
            assert {shown[i][j] for i in members} == {mean}


def test_classes_that_rounding_makes_alike_count_as_one(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT 10 + i % 2 AS a FROM range(12) AS r(i)")
    con.execute("CREATE TABLE released AS FROM anonymize('t', k=4, representation='rounded')")
    told = con.execute(
        "SELECT value FROM anonymize_metrics('t', detail=true, k=4, representation='rounded') "
        "WHERE metric IN ('k', 'sse', 'sse_released') ORDER BY metric"
    ).fetchall()
    found = con.execute("SELECT min(n) FROM (SELECT count(*) AS n FROM released GROUP BY a)")
    assert found.fetchone() == told[0]
    assert told[2][0] >= told[1][0]


def test_by_column_and_of_categories(con: Connection) -> None:
    con.execute("""CREATE TABLE released AS FROM anonymize('patients', k=5, sensitive=['disease'],
        identifiers=['name'], categorical=['zip'],
        representation={'age': 'rounded', 'zip': 'rounded', 'job': 'interval'})""")
    assert types(con, "released")[:3] == [("age", "BIGINT"), ("zip", "BIGINT"), ("job", "VARCHAR")]
    assert con.execute("SELECT count(*) FROM released WHERE zip NOT IN (SELECT zip FROM patients)"
                       ).fetchone() == (0,)


def test_weights_count(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i * 10 AS a, CASE WHEN i = 3 THEN 97 ELSE 1 END AS w "
                "FROM range(4) AS r(i)")
    call = ("SELECT DISTINCT round(a, 9), typeof(a) "
            "FROM anonymize('t', k=4, sampling_weight='w', representation='{}')")
    assert con.execute(call.format("centroid")).fetchall() == [(29.4, "DOUBLE")]
    assert con.execute(call.format("rounded")).fetchall() == [(29, "BIGINT")]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal_1d", "ordered", "r_gather", "k_member"])
def test_other_methods(con: Connection, method: str) -> None:
    con.execute("CREATE TABLE t AS SELECT i * i % 97 AS a FROM range(60) AS r(i)")
    con.execute(f"CREATE TABLE released AS FROM anonymize('t', k=5, method='{method}', "
                "representation='rounded')")
    assert types(con, "released") == [("a", "BIGINT")]
    assert con.execute("SELECT k >= 5 FROM k_anonymity('released')").fetchone() == (True,)


@pytest.mark.slow
def test_the_order_of_rows_means_nothing(con: Connection) -> None:
    source(con, COLUMNS | HUGE, 200)
    call = "FROM anonymize('{}', k=5, representation='rounded')"
    con.execute("CREATE TABLE u AS FROM t ORDER BY hash(word, whole, big)")
    assert con.execute(call.format("t")).fetchall() == con.execute(call.format("u")).fetchall()


@pytest.mark.slow
def test_a_ledger_goes_on_from_rounded_means() -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i AS id, i * 7 % 50 AS age FROM range(80) AS r(i)")
    call = "'t', k := 4, entity := 'id', quasi_identifiers := ['age'], representation := 'rounded'"
    con.execute(f"CREATE TABLE releases AS FROM anonymize_ledger({call}, headroom := 1)")
    con.execute("DELETE FROM t WHERE id < 8")
    con.execute(f"CREATE TABLE second AS FROM anonymize({call}, ledger := 'releases')")
    con.execute(f"INSERT INTO releases FROM anonymize_ledger({call}, ledger := 'releases')")
    assert types(con, "second") == [("age", "BIGINT")]
    check = con.execute("SELECT keeps_presence FROM ledger_check('releases', k := 4)")
    assert check.fetchone() == (True,)


def test_what_a_ledger_goes_on_from_may_stand_for_more_than_the_rows() -> None:
    """So the loss of its intervals isn't told."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i AS id, i * 7 % 50 AS age FROM range(40) AS r(i)")
    call = "'t', k := 4, entity := 'id', quasi_identifiers := ['age'], representation := 'interval'"
    con.execute(f"CREATE TABLE releases AS FROM anonymize_ledger({call}, headroom := 1)")
    told = f"SELECT value FROM anonymize_metrics({call}{{}}) WHERE metric = 'ncp'"
    first = con.execute(told.format("")).fetchone()
    assert first is not None and first[0] > 0
    assert con.execute(told.format(", ledger := 'releases'")).fetchone() == (None,)
