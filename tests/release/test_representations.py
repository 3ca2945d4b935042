"""What a class releases: names, types and values, against small tables worked by hand."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

Connection = duckdb.DuckDBPyConnection

ONE_CLASS = """
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE TABLE one AS SELECT * REPLACE (feel::mood AS feel) FROM (VALUES
        (1::INTEGER, 1.5::DOUBLE, 1.25::DECIMAL(9, 2), 7::HUGEINT, DATE '2020-01-01',
         TIMESTAMP '2020-01-01 00:00:00', TIMESTAMPTZ '2020-01-01 00:00:00+00', TIME '10:00:00',
         true, 'b', 'ok', 'b5ad51c0-0000-4000-8000-000000000001'::UUID, 'x'::BLOB),
        (2, 2.5, 1.75, 8, DATE '2020-01-02', TIMESTAMP '2020-01-01 00:00:01',
         TIMESTAMPTZ '2020-01-01 00:00:01+00', TIME '11:00:00', false, 'a', 'sad',
         'b5ad51c0-0000-4000-8000-000000000002', 'y'),
        (6, 5.0, 1.75, 8, DATE '2020-01-02', TIMESTAMP '2020-01-01 00:00:03',
         TIMESTAMPTZ '2020-01-01 00:00:03+00', TIME '13:00:00', false, 'a', 'sad',
         'b5ad51c0-0000-4000-8000-000000000002', 'y'),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    ) AS t(i, d, dec, huge, day, ts, tz, clock, flag, word, feel, id, raw)
"""
CENTROID = {
    "i": ("DOUBLE", "3.0"),
    "d": ("DOUBLE", "3.0"),
    "dec": ("DOUBLE", "1.5833333333333333"),
    "huge": ("DOUBLE", "7.666666666666667"),
    "day": ("DATE", "2020-01-02"),
    "ts": ("TIMESTAMP", "2020-01-01 00:00:01.333333"),
    "tz": ("TIMESTAMP WITH TIME ZONE", "2020-01-01 00:00:01.333333+00"),
    "clock": ("TIME", "11:20:00"),
    "flag": ("BOOLEAN", "false"),
    "word": ("VARCHAR", "a"),
    "feel": ("VARCHAR", "sad"),
    "id": ("UUID", "b5ad51c0-0000-4000-8000-000000000002"),
    "raw": ("BLOB", "y"),
}
MEDIAN = {
    **CENTROID,
    "i": ("INTEGER", "2"),
    "d": ("DOUBLE", "2.5"),
    "dec": ("DECIMAL(9,2)", "1.75"),
    "huge": ("HUGEINT", "8"),
    "ts": ("TIMESTAMP", "2020-01-01 00:00:01"),
    "tz": ("TIMESTAMP WITH TIME ZONE", "2020-01-01 00:00:01+00"),
    "clock": ("TIME", "11:00:00"),
    "feel": ("VARCHAR", "sad"),
}
INTERVAL = {
    "i": ("VARCHAR", "[1, 6]"),
    "d": ("VARCHAR", "[1.5, 5.0]"),
    "dec": ("VARCHAR", "[1.25, 1.75]"),
    "huge": ("VARCHAR", "[7, 8]"),
    "day": ("VARCHAR", "[2020-01-01, 2020-01-02]"),
    "ts": ("VARCHAR", "[2020-01-01 00:00:00, 2020-01-01 00:00:03]"),
    "tz": ("VARCHAR", "[2020-01-01 00:00:00+00, 2020-01-01 00:00:03+00]"),
    "clock": ("VARCHAR", "[10:00:00, 13:00:00]"),
    "flag": ("VARCHAR", "{false, true}"),
    "word": ("VARCHAR", "{a, b}"),
    "feel": ("VARCHAR", "{ok, sad}"),
    "id": ("VARCHAR", "{b5ad51c0-0000-4000-8000-000000000001, "
           "b5ad51c0-0000-4000-8000-000000000002}"),
    "raw": ("VARCHAR", "{x, y}"),
}
BOUNDS = {
    "i": ("STRUCT(min INTEGER, max INTEGER)", "{'min': 1, 'max': 6}"),
    "d": ("STRUCT(min DOUBLE, max DOUBLE)", "{'min': 1.5, 'max': 5.0}"),
    "dec": ("STRUCT(min DECIMAL(9,2), max DECIMAL(9,2))", "{'min': 1.25, 'max': 1.75}"),
    "huge": ("STRUCT(min HUGEINT, max HUGEINT)", "{'min': 7, 'max': 8}"),
    "day": ("STRUCT(min DATE, max DATE)", "{'min': 2020-01-01, 'max': 2020-01-02}"),
    "ts": ("STRUCT(min TIMESTAMP, max TIMESTAMP)",
           "{'min': '2020-01-01 00:00:00', 'max': '2020-01-01 00:00:03'}"),
    "tz": ("STRUCT(min TIMESTAMP WITH TIME ZONE, max TIMESTAMP WITH TIME ZONE)",
           "{'min': '2020-01-01 00:00:00+00', 'max': '2020-01-01 00:00:03+00'}"),
    "clock": ("STRUCT(min TIME, max TIME)", "{'min': '10:00:00', 'max': '13:00:00'}"),
    "flag": ("BOOLEAN[]", "[false, true]"),
    "word": ("VARCHAR[]", "[a, b]"),
    "feel": ("VARCHAR[]", "[ok, sad]"),
    "id": ("STRUCT(min UUID, max UUID)", "{'min': b5ad51c0-0000-4000-8000-000000000001, "
           "'max': b5ad51c0-0000-4000-8000-000000000002}"),
    "raw": ("STRUCT(min BLOB, max BLOB)", "{'min': x, 'max': y}"),
}


@pytest.fixture
def typed(con: Connection) -> Connection:
    con.execute("SET TimeZone = 'UTC'")
    con.execute(ONE_CLASS)
    return con


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("representation", "expected"),
    [("centroid", CENTROID), ("median", MEDIAN), ("interval", INTERVAL), ("bounds", BOUNDS)],
)
def test_each_type_in_each_representation(
    typed: Connection, representation: str, expected: dict[str, tuple[str, str]]
) -> None:
    call = f"anonymize('one', k=4, representation='{representation}')"
    types = {row[0]: row[1] for row in typed.execute(f"DESCRIBE FROM {call}").fetchall()}
    result = typed.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {call}")
    names = [column[0] for column in result.description or ()]
    rows = set(result.fetchall())
    assert len(rows) == 1
    assert {n: (types[n], v) for n, v in zip(names, rows.pop(), strict=True)} == expected


@pytest.mark.parametrize("representation", ["centroid", "median", "interval"])
def test_a_class_that_agrees_releases_that_value(con: Connection, representation: str) -> None:
    con.execute(
        "CREATE TABLE same AS SELECT 0.1::DOUBLE AS x, 'it''s' AS w, DATE '0044-03-15' AS d, "
        "NULL::INTEGER AS n FROM range(7)"
    )
    found = con.execute(
        f"SELECT DISTINCT COLUMNS(*)::VARCHAR FROM anonymize('same', k=3, "
        f"representation='{representation}')"
    ).fetchall()
    assert found == [("0.1", "it's", "0044-03-15", None)]


@pytest.mark.slow
def test_nan_is_missing_and_null_only_where_all_are(con: Connection) -> None:
    con.execute(
        "CREATE TABLE holes AS SELECT * FROM (VALUES (1.0::DOUBLE, 'nan'::DOUBLE), "
        "('nan', 'nan'), (NULL, NULL), (3.0, 'nan')) AS t(few, nobody)"
    )
    for representation, some in (
        ("centroid", 2.0), ("median", 1.0), ("interval", "[1.0, 3.0]"),
        ("bounds", {"min": 1.0, "max": 3.0}),
    ):
        found = con.execute(
            f"SELECT DISTINCT * FROM anonymize('holes', k=4, representation='{representation}')"
        ).fetchall()
        assert found == [(some, None)]


def test_times_and_dates_before_1970_round_alike(con: Connection) -> None:
    for days, mean in (
        (("1969-12-28", "1969-12-29"), "1969-12-28"), (("1969-12-29", "1969-12-30"), "1969-12-30"),
        (("1970-01-01", "1970-01-02"), "1970-01-01"), (("1970-01-02", "1970-01-03"), "1970-01-03"),
    ):
        con.execute(f"CREATE OR REPLACE TABLE old AS SELECT unnest({list(days)})::DATE AS d")
        found = con.execute("SELECT DISTINCT d::VARCHAR FROM anonymize('old', k=2)").fetchall()
        assert found == [(mean,)]  # the even one of two days as near


@pytest.mark.slow
def test_clusters_publish_center_size_radius_and_sensitive_values(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'x', 'Flu'), (1, 'x', 'Flu'), "
        "(1, 'x', NULL), (9, 'y', 'Cold'), (9, 'y', 'Flu')) AS t(age, place, disease)"
    )
    found: list[Any] = con.execute(
        "SELECT age, place, num_points, radius, disease FROM anonymize_clusters('t', k=2, "
        "sensitive=['disease']) ORDER BY age"
    ).fetchall()
    assert found == [
        (1.0, "x", 3, 0.0, [{"value": "Flu", "count": 2}, {"value": None, "count": 1}]),
        (9.0, "y", 2, 0.0, [{"value": "Cold", "count": 1}, {"value": "Flu", "count": 1}]),
    ]
    for representation in ("interval", "bounds", "median"):
        sizes = con.execute(
            "SELECT sum(num_points), min(num_points) FROM anonymize_clusters('t', k=2, "
            f"sensitive=['disease'], representation='{representation}')"
        ).fetchall()
        assert sizes == [(5, 2)]
