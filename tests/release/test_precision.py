"""A mean is released no finer than the values of its column are: see kanon_sql/encode/precision.py.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.encode.precision import DECIMALS, UNITS, steps_of

Connection = duckdb.DuckDBPyConnection

COLUMNS = {
    "tenths": "round(i * 37 % 1000 / 10.0 - 20, 1)",
    "cents": "round(i * 7919 % 10007 / 100.0, 2)",
    "single": "round(i * 37 % 1000 / 10.0, 1)::FLOAT",
    "money": "(i * 31 % 7777 / 100)::DECIMAL(9,2)",
    "whole": "(i * 53 % 100)::DOUBLE",
    "gaps": "CASE WHEN i % 3 > 0 THEN round(i * 11 % 83 / 10.0, 1) WHEN i % 2 = 0 THEN 'nan' END",
    "hours": "TIMESTAMP '1969-12-01 00:00:00' + to_hours(i * 7 % 400)",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_minutes(i * 7)",
    "clock": "TIME '10:00:00' + to_seconds(i * 13 % 7000)",
    "days": "(TIMESTAMP '2020-01-01 00:00:00' + to_days((i * 5 % 60)::INTEGER))::TIMESTAMP_S",
}
STEPS: dict[str, Any] = {
    "tenths": 10, "cents": 100, "single": 10, "money": 100, "whole": 1, "gaps": 10,
    "hours": 3_600_000_000, "zoned": 60_000_000, "clock": 1_000_000, "days": 86_400_000_000,
}
TIMES = ("hours", "zoned", "clock", "days")
EPOCH = dt.datetime(1970, 1, 1)


def create(con: Connection, columns: dict[str, str], rows: int = 90) -> None:
    listed = ", ".join(f"{text} AS {name}" for name, text in columns.items())
    con.execute("SET TimeZone = 'UTC'")
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {listed}, i AS row_id "
                f"FROM range({rows}) AS r(i)")


def exact(value: Any) -> Fraction | None:
    """A value as a number; of a time its microseconds."""
    if value is None or value != value:
        return None
    if isinstance(value, dt.time):
        value = dt.datetime.combine(EPOCH.date(), value)
    if isinstance(value, dt.datetime):
        return Fraction((value.replace(tzinfo=None) - EPOCH) // dt.timedelta(microseconds=1))
    return Fraction(value)


def classes_of(con: Connection, quasi: list[str]) -> list[tuple[list[int], tuple[Any, ...]]]:
    """The rows of each class, and what it releases."""
    call = (f"FROM anonymize('t', k=4, quasi_identifiers={quasi}, sensitive=['row_id'], seed=1, "
            "effort='fast'{})")
    columns = "row_id, COLUMNS(* EXCLUDE (row_id))"
    classes: dict[Any, list[int]] = defaultdict(list)
    for row, *center in con.execute(
        f"SELECT {columns} {call.format(', representation=$$centroid$$')}"
    ).fetchall():
        classes[tuple(map(str, center))].append(row)
    shown = {row: tuple(rest) for row, *rest in
             con.execute(f"SELECT {columns} {call.format('')}").fetchall()}
    assert all(len({str(shown[row]) for row in rows}) == 1 for rows in classes.values())
    return [(rows, shown[rows[0]]) for rows in classes.values()]


def test_a_mean_lies_on_the_nearest_step_of_its_column(con: Connection) -> None:
    create(con, COLUMNS)
    source = {row: rest for row, *rest in con.execute(
        "SELECT row_id, COLUMNS(* EXCLUDE (row_id)) FROM t").fetchall()}
    classes = classes_of(con, list(COLUMNS))
    assert len(classes) > 10
    for rows, shown in classes:
        for j, name in enumerate(COLUMNS):
            values = [v for v in (exact(source[row][j]) for row in rows) if v is not None]
            found = exact(shown[j])
            if not values:
                assert found is None
                continue
            mean = sum(values, Fraction(0)) / len(values)
            step = Fraction(STEPS[name]) if name in TIMES else Fraction(1, STEPS[name])
            assert found is not None
            on_step = round(found / step) * step
            # a double or FLOAT is the one nearest to its decimals
            off = abs(on_step) * Fraction(1, 2**(23 if name == "single" else 50))
            assert abs(found - on_step) <= off
            assert abs(found - mean) <= step / 2 + 2 * off, name


@pytest.mark.slow
def test_columns_keep_their_types(con: Connection) -> None:
    create(con, COLUMNS)
    con.execute("CREATE TABLE released AS FROM anonymize('t', k=4, sensitive=['row_id'])")
    kinds = "SELECT column_name, column_type FROM (DESCRIBE {})"
    assert (con.execute(kinds.format("released")).fetchall()
            == con.execute(kinds.format("t")).fetchall())


def test_halves_go_to_the_even_step(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT * FROM (VALUES (0.0::DOUBLE), (0.5), (10.5), (11.0), "
                "(100.0), (100.5), (-50.5), (-50.0)) AS r(a)")
    released = con.execute("FROM anonymize('t', k=2, method='optimal_1d')").fetchall()
    assert sorted({a for (a,) in released}) == [-50.2, 0.2, 10.8, 100.2]
    con.execute("CREATE TABLE u AS SELECT i AS a FROM range(8) AS r(i)")
    released = con.execute("FROM anonymize('u', k=2, method='optimal_1d')").fetchall()
    assert sorted({a for (a,) in released}) == [0, 2, 4, 6]
    con.execute("CREATE TABLE d AS SELECT DATE '2020-01-01' + a::INTEGER AS a FROM u")
    released = con.execute("FROM anonymize('d', k=2, method='optimal_1d')").fetchall()
    assert all((day - EPOCH.date()).days % 2 == 0 for (day,) in released)


def test_no_mean_of_many_is_biased(con: Connection) -> None:
    con.execute("SELECT setseed(0.3)")
    con.execute("CREATE TABLE t AS SELECT floor(random() * 1000)::INTEGER AS a, "
                "floor(random() * 1000)::INTEGER / 10 AS b FROM range(4000)")
    bias = con.execute("SELECT avg(a) - (SELECT avg(a) FROM t), avg(b) - (SELECT avg(b) FROM t) "
                       "FROM anonymize('t', k=4)").fetchone()
    assert bias is not None
    # of means of four, halves upwards would be 1/8 of a step too high
    assert abs(bias[0]) < 0.05 and abs(bias[1]) < 0.005


@pytest.mark.slow
def test_the_precision_is_that_of_all_rows(con: Connection, tmp_path: Path) -> None:
    """So that it says nothing of a class, a part or a block."""
    con.execute("CREATE TABLE t AS SELECT (i % 2)::VARCHAR AS part, "
                "CASE WHEN i % 2 = 0 THEN i // 8 + (i % 8) / 8 // 0.25 ELSE i + 0.25 END::DOUBLE "
                "AS a FROM range(64) AS r(i)")
    found = con.execute("SELECT count(*) FROM t WHERE part = '0' AND a = round(a)").fetchone()
    assert found == (32,)
    call = "k=4, quasi_identifiers=['a'], within=['part']"
    in_parts = con.execute(f"SELECT a FROM anonymize('t', {call}) WHERE part = '0'").fetchall()
    assert any(a != round(a) for (a,) in in_parts)  # in quarters, as those of the other part
    con.execute(f"COPY (FROM t ORDER BY part) TO '{tmp_path}/t.parquet'")
    kanon_sql.anonymize_files(
        tmp_path / "t.parquet", tmp_path / "out", k=4, quasi_identifiers=["a"], within=["part"])
    from_files = con.execute(
        f"SELECT a FROM '{tmp_path}/out/*.parquet' WHERE part = '0'").fetchall()
    assert sorted(from_files) == sorted(in_parts)


@pytest.mark.slow
def test_blocks_of_files_have_the_precision_of_all(con: Connection, tmp_path: Path) -> None:
    create(con, COLUMNS, 900)
    con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    kanon_sql.anonymize_files(
        tmp_path / "t.parquet", tmp_path / "out", k=4, quasi_identifiers=list(COLUMNS),
        sensitive=["row_id"], block_rows=200, method="mdav_star")
    released = f"'{tmp_path}/out/*.parquet'"
    kinds = "SELECT column_name, column_type FROM (DESCRIBE FROM {})"
    written = dict(con.execute(kinds.format(released)).fetchall())
    assert written["tenths"] == "DOUBLE" and written["money"] == "DECIMAL(9,2)"
    off = ", ".join(f"count(*) FILTER (epoch_us({n}) % {STEPS[n]} <> 0)" for n in TIMES)
    assert set(con.execute(f"SELECT {off} FROM {released}").fetchone() or ()) == {0}
    off = ", ".join(f"count(*) FILTER (round({n}, {len(str(STEPS[n])) - 1}) <> {n})"
                    for n in STEPS if n not in TIMES)
    assert set(con.execute(f"SELECT {off} FROM {released}").fetchone() or ()) == {0}


def test_values_of_more_decimals_keep_their_mean(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i / 7 AS a, "
                "TIMESTAMP '2020-01-01' + to_microseconds(i * 1001) AS b FROM range(40) AS r(i)")
    means = con.execute("FROM anonymize('t', k=4, representation='centroid')").fetchall()
    assert con.execute("FROM anonymize('t', k=4)").fetchall() == means


@pytest.mark.parametrize("sql_type", ["TIMESTAMP", "TIMESTAMPTZ", "TIME"])
def test_times_of_microseconds_keep_their_mean(con: Connection, sql_type: str) -> None:
    con.execute(f"""
        CREATE TABLE t AS SELECT ('2020-01-01 10:00:00.00000' || i)::TIMESTAMP::{sql_type} AS a
        FROM (VALUES (1), (3)) AS r(i)
    """)
    found = con.execute("SELECT DISTINCT epoch_us(a) % 1000000 FROM anonymize('t', k=2)").fetchall()
    assert found == [(2,)]


def test_a_column_that_is_named_has_the_precision_of_the_others(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i / 10 AS a, i * 7 % 20 / 10 AS b FROM range(21) AS r(i)")
    call = "FROM anonymize('t', k=4, seed=1, method='mdav_star', representation={})"
    plain = con.execute(call.format("'rounded'")).fetchall()
    assert con.execute(call.format("{'a': 'rounded', '*': 'rounded'}")).fetchall() == plain


def test_exact_means_by_naming_them(con: Connection) -> None:
    create(con, COLUMNS)
    call = ("FROM anonymize('t', k=4, sensitive=['row_id'], effort='fast', "
            "representation={})")
    mixed = con.execute(
        "SELECT row_id, tenths, cents " + call.format("{'cents': 'centroid', '*': 'rounded'}")
    ).fetchall()
    rounded = dict(con.execute("SELECT row_id, tenths " + call.format("'rounded'")).fetchall())
    exactly = dict(con.execute("SELECT row_id, cents " + call.format("'centroid'")).fetchall())
    assert all(tenths == rounded[i] and cents == exactly[i] for i, tenths, cents in mixed)
    assert any(cents != round(cents, 2) for cents in exactly.values())
    other = con.execute(
        "SELECT row_id, tenths, cents " + call.format("{'tenths': 'rounded', '*': 'centroid'}")
    ).fetchall()
    assert sorted(other) == sorted(mixed)


@given(st.lists(st.integers(-10**9, 10**9), min_size=1, max_size=30), st.integers(0, 12))
def test_steps_are_the_decimals_that_a_reader_sees(wholes: list[int], digits: int) -> None:
    values = [float(Decimal(whole).scaleb(-digits)) for whole in wholes]
    seen = max(max(0, -int(Decimal(repr(v)).normalize().as_tuple().exponent)) for v in values)
    expected = DECIMALS[seen] if seen < len(DECIMALS) else None
    assert steps_of(np.array([*values, np.nan]), "DOUBLE") == expected
    singles = np.array(values, np.float32)
    seen = max(max(0, -int(Decimal(str(v)).normalize().as_tuple().exponent)) for v in singles)
    if seen < 6 and np.abs(singles).max() < 1000:
        found = steps_of(singles.astype(np.float64), "FLOAT")
        assert found is not None and found <= DECIMALS[seen]


@pytest.mark.parametrize("unit", UNITS)
def test_steps_of_times(unit: int) -> None:
    values = np.array([-3.0, 0.0, 7.0, np.nan]) * unit
    assert steps_of(values, "TIMESTAMP") == unit
    assert steps_of(values + 1.0, "TIMESTAMP") is None
    assert steps_of(values, "DATE") is None
    assert steps_of(values, "BIGINT") is None


def test_a_column_of_nothing(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT NULL::DOUBLE AS a, 'nan'::DOUBLE AS b, NULL AS c, "
                "i % 3 AS d FROM range(12) AS r(i)")
    assert {row[:3] for row in con.execute("FROM anonymize('t', k=3)").fetchall()} == {
        (None, None, None)}


@pytest.mark.parametrize("sql_type", ["TIMESTAMP", "TIMESTAMPTZ"])
@pytest.mark.parametrize("far", [
    "9999-12-31 23:59:59.999999", "9999-12-31 00:00:00", "0044-03-15 (BC) 00:00:00.000001",
])
def test_a_time_far_from_1970_that_a_class_shares_is_released_as_it_is(
    con: Connection, sql_type: str, far: str
) -> None:
    con.execute(
        "SET TimeZone = 'UTC'; CREATE TABLE t AS SELECT CASE WHEN i % 2 = 0 "
        f"THEN '{far}'::{sql_type} ELSE '2024-05-01 10:00:00'::{sql_type} END AS valid_to "
        "FROM range(20) AS r(i)"
    )
    found = con.execute("SELECT DISTINCT valid_to::VARCHAR FROM anonymize('t', k=5)").fetchall()
    assert {text.removesuffix("+00") for (text,) in found} == {far, "2024-05-01 10:00:00"}


@pytest.mark.parametrize("unit", ["TIMESTAMP_S", "TIMESTAMP_MS"])
@pytest.mark.parametrize("first", ["2024-05-01", "9999-12-30", "0001-01-01"])
def test_an_exact_mean_of_seconds_may_be_of_any_year(
    con: Connection, unit: str, first: str
) -> None:
    """As of a TIMESTAMP; nanoseconds, which end in 2262, are no part of it."""
    moments = f"TIMESTAMP '{first} 10:00:00' + to_seconds(i // 7)"
    create(con, {"moment": f"({moments})::{unit}", "fine": moments}, rows=20)
    found = con.execute(
        "SELECT DISTINCT moment, fine, typeof(moment) FROM anonymize('t', k := 20, "
        "sensitive := ['row_id'], representation := 'centroid')"
    ).fetchall()
    mean = dt.datetime.fromisoformat(f"{first} 10:00:00.950000")  # 7, 7 and 6 rows
    assert found == [(mean, mean, "TIMESTAMP")]
