"""anonymize_roles: what each column is, against counts made by hand and by plain SQL."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.stages.roles import determined
from tests.support.connections import registered

con = registered(
    f"""
        CREATE TABLE p AS SELECT i AS id, 'n' || i AS name, i % 7 AS age, i % 3 AS sex,
            'c' || (i % 7 // 2) AS city, 1 AS one, i % 2 = 0 AS flag,
            CASE WHEN i % 4 > 0 THEN 2.5 * (i % 30) END AS pay, [i % 2] AS tags,
            'e' || (i % 95) AS mail
        FROM range(100) AS r(i);
        COMMENT ON COLUMN p.pay IS 'kanon: sensitive';
        CREATE TABLE adult AS FROM '{adult()}';
    """
)


def described(con: duckdb.DuckDBPyConnection, call: str) -> dict[str, dict[str, Any]]:
    result = con.execute(f"FROM anonymize_roles({call})")
    names = [column[0] for column in result.description or ()]
    return {row[0]: dict(zip(names, row, strict=True)) for row in result.fetchall()}


def test_one_row_per_column_in_their_order(con: duckdb.DuckDBPyConnection) -> None:
    found = described(con, "'p'")
    assert list(found) == [c for c, *_ in con.execute("DESCRIBE p").fetchall()]
    assert [row["column_type"] for row in found.values()] == [
        row[1] for row in con.execute("DESCRIBE p").fetchall()
    ]


@pytest.mark.parametrize("table", ["p", "adult"])
def test_the_counts_are_those_of_plain_sql(con: duckdb.DuckDBPyConnection, table: str) -> None:
    for name, row in described(con, f"'{table}'").items():
        ((distinct, nulls, unique, separation),) = con.execute(f"""
            SELECT count(DISTINCT "{name}"), count(*) - count("{name}"),
                   (SELECT count(*) FROM (SELECT "{name}" FROM {table}
                    GROUP BY 1 HAVING count(*) = 1)) / count(*),
                   1 - (SELECT sum(n * n) FROM (SELECT count(*)::DOUBLE AS n FROM {table}
                        GROUP BY "{name}")) / count(*)::DOUBLE ** 2
            FROM {table}""").fetchall()
        assert (row["distinct_values"], row["nulls"]) == (distinct, nulls)
        assert row["unique_share"] == pytest.approx(unique)
        assert row["separation"] == pytest.approx(separation)


@pytest.mark.slow
def test_where_a_role_comes_from(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE r AS SELECT 'name' AS column_name, 'identifier' AS role")
    found = described(con, "'p', roles='r', quasi_identifiers=['age'], others='release'")
    told = {name: (row["role"], row["role_from"]) for name, row in found.items()}
    assert told["age"] == ("quasi_identifier", "call")
    assert told["name"] == ("identifier", "relation")
    assert told["pay"] == ("sensitive", "comment")
    assert told["city"] == ("other", "others")
    con.execute("CREATE OR REPLACE VIEW v AS FROM p")
    assert described(con, "'v'")["pay"]["role_from"] == "view"
    assert described(con, "'v'")["age"]["role_from"] == "default"
    open_call = described(con, "'p', quasi_identifiers=['age']")
    assert (open_call["city"]["role"], open_call["city"]["released_as"]) == (None, "refused")
    dropped = described(con, "'p', quasi_identifiers=['age'], others='drop'")
    assert dropped["city"]["released_as"] == "dropped"


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [
    "", "representation='interval'", "representation={'age': 'bounds', '*': 'median'}",
    "categorical=['sex'], representation='bounds'", "hierarchies={'city': 'flat'}",
    "method='mondrian'", "method='r_gather'", "method='full_domain'", "others='quasi_identifier'",
    "quasi_identifiers=['age', 'city'], others='release'",
    "quasi_identifiers=['age', 'city'], others='drop'",
])
def test_what_it_announces_is_what_comes_out(
    con: duckdb.DuckDBPyConnection, options: str
) -> None:
    given_options = ", ".join(filter(None, ["k=4, identifiers=['tags']", options]))
    told = described(con, f"'p', {given_options}")
    columns = con.execute(f"DESCRIBE FROM anonymize('p', {given_options})").fetchall()
    announced = {n: row["released_type"] for n, row in told.items() if row["released_type"]}
    assert {row[0]: row[1] for row in columns} == announced
    released = con.sql(f"FROM anonymize('p', {given_options})").to_arrow_table()
    for name, row in told.items():
        if row["released_as"] == "NULL":
            assert released[name].null_count == released.num_rows
        elif row["released_as"] in ("dropped", "refused"):
            assert name not in released.column_names
        else:
            assert released[name].null_count < released.num_rows


def test_remarks(con: duckdb.DuckDBPyConnection) -> None:
    said = {name: " ".join(row["remarks"]) for name, row in described(con, "'p'").items()}
    assert "looks like an identifier" in said["id"] and "looks like an identifier" in said["name"]
    assert "looks like an identifier" in said["mail"]  # 95 different values in 100 rows
    assert "categorical=['sex']" in said["sex"]
    assert "constant: all rows" in said["one"]
    assert "determines 'city'" in said["age"] and "constant within 'age'" in said["city"]
    found = described(con, "'p', quasi_identifiers=['id', 'sex'], categorical=['sex']")
    assert found["sex"]["remarks"] == []
    assert found["id"]["remarks"] == ["looks like an identifier"]
    assert "has no role" in found["age"]["remarks"][0]


def test_suggestions_are_not_by_name(con: duckdb.DuckDBPyConnection) -> None:
    found = {n: row["suggested_role"] for n, row in described(con, "'p'").items()}
    assert {n for n, role in found.items() if role == "identifier"} == {"id", "name", "mail"}
    assert found["age"] == found["city"] == "quasi_identifier"
    assert found["one"] is None


WRITTEN = """
    CREATE OR REPLACE TABLE written AS
    SELECT DATE '2020-01-01' + (i % 40)::INTEGER AS born,
           TIMESTAMP '2020-01-01' + to_hours(i % 40) AS seen,
           TIME '08:00' + to_minutes(i % 40) AS at, i % 31 AS age, (i % 31) / 4 AS weight,
           (i % 30)::DECIMAL(9, 2) AS pay, (47900 + i % 40)::VARCHAR AS zip,
           'E' || (10 + i % 40) || '.' || i % 3 AS icd, 'SW' || i % 40 || ' 1AB' AS postcode,
           (i % 25) / 8 || ' ' || -(i % 25) / 4 AS place,
           'POINT(' || i % 25 || ' ' || i % 7 || ')' AS point,
           'town ' || i % 40 AS town, ['low', 'mid', 'high'][1 + i % 3] AS level, i % 2 = 0 AS flag,
           CASE WHEN i % 9 > 0 THEN (47900 + i % 40)::VARCHAR END AS gaps,
           CASE WHEN i = 0 THEN 'none' ELSE (47900 + i % 40)::VARCHAR END AS spoiled,
           'n' || i AS name, 1 AS one, NULL AS nothing, [i] AS list, 'ab'::BLOB AS bytes
    FROM range(400) AS r(i)
"""
KINDS = {
    "born": "date", "seen": "date", "at": None, "age": "bins", "weight": "bins", "pay": "bins",
    "zip": "prefix", "icd": "prefix", "postcode": "prefix", "place": "rectangles",
    "point": "rectangles", "town": "cover", "level": "flat", "flag": "flat", "gaps": "prefix",
    "spoiled": "cover", "name": None, "one": None, "nothing": None, "list": None, "bytes": None,
}


def test_a_hierarchy_is_suggested_by_type_and_writing(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(WRITTEN)
    found = described(con, "'written'")
    assert {name: row["suggested_hierarchy"] for name, row in found.items()} == KINDS
    named = described(con, "'written', quasi_identifiers=['name']")
    assert named["name"]["suggested_hierarchy"] == "cover"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind])
def test_what_is_suggested_can_be_used(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(WRITTEN)
    rows = con.execute(
        f"FROM anonymize('written', k=5, quasi_identifiers={sorted({name, 'age'})}, others='drop', "
        f"hierarchies={{'{name}': '{KINDS[name]}'}})"
    ).fetchall()
    assert len(rows) == 400


def test_it_asks_for_nothing_and_releases_nothing(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE VIEW hides AS SELECT pay AS p, age FROM p")
    assert set(described(con, "'hides'")) == {"p", "age"}
    assert "n42" not in str(described(con, "'p'"))


def test_a_relation_without_rows_or_that_is_no_table(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE none AS FROM p LIMIT 0")
    found = described(con, "'none'")
    assert len(found) == 10 and found["id"]["distinct_values"] == 0
    rows = con.execute("WITH c AS (SELECT age, sex FROM p) FROM anonymize_roles('c')").fetchall()
    assert [row[0] for row in rows] == ["age", "sex"]


def test_in_python() -> None:
    import polars as pl

    frame = pl.DataFrame({"a": [1, 2, 2, 1], "b": ["x", "y", "y", "x"]})
    found = kanon_sql.anonymize_roles(frame, sensitive=["b"])
    assert found["role"].to_list() == ["quasi_identifier", "sensitive"]
    assert found["remarks"].to_list() == [
        ["determines 'b'", "constant within 'b'"], ["determines 'a'", "constant within 'a'"]
    ]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=40))
def test_determined_pairs_are_those_of_the_definition(rows: list[tuple[int, ...]]) -> None:
    columns = [np.unique(column, return_inverse=True)[1].reshape(-1)
               for column in np.array(rows).T]
    sizes = [int(column.max()) + 1 for column in columns]
    expected = [
        (a, b) for a in range(3) for b in range(3)
        if a != b and all(1 < sizes[j] <= 0.9 * len(rows) for j in (a, b))
        and len(set(zip(columns[a], columns[b], strict=True))) == sizes[a]
    ]
    assert determined(columns, sizes) == expected
