"""Every type that DuckDB has is released, or refused by a sentence of ours.

test_all_types() has a column of each, with its least and greatest value and NULL.
"""

from __future__ import annotations

import re

import duckdb
import pytest

from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection
FORMS = ("centroid", "median", "rounded", "interval", "bounds", "suppress")
NO_QUASI = re.compile(
    "which has neither an order nor single values|CAST it to TIME(STAMPTZ)?, or give it a hierarchy"
)


con = registered(
    "SET TimeZone = 'UTC'; CREATE TABLE all_types AS "
    "SELECT * REPLACE (CASE WHEN i % 2 = 0 THEN hugeint END AS hugeint), i AS number "
    "FROM test_all_types() CROSS JOIN range(40) AS r(i)",
)


def columns(con: Connection) -> list[str]:
    return [name for name, *_ in con.execute("DESCRIBE all_types").fetchall() if name != "number"]


@pytest.mark.slow
def test_every_type_passes_as_it_is(con: Connection) -> None:
    """As a sensitive column with a model, and where nobody gives it a role."""
    for role in ("others := 'release'", f"sensitive := {columns(con)}"):
        con.execute(
            "CREATE OR REPLACE TABLE released AS FROM anonymize('all_types', k := 4, "
            f"quasi_identifiers := ['number'], {role})"
        )
        for name in columns(con):
            counted = f'SELECT "{name}"::VARCHAR AS x, count(*) FROM {{}} GROUP BY x ORDER BY ALL'
            found, there = (
                con.execute(counted.format(table)).fetchall() for table in ("released", "all_types")
            )
            assert found == there, name
    con.execute("FROM anonymize_roles('all_types')").fetchall()
    con.execute("FROM k_anonymity('all_types')").fetchall()


def released(con: Connection, form: str, names: list[str]) -> int:
    """How many of these columns are released in this form; the others are refused."""
    count = 0
    for name in names:
        call = (
            f"anonymize('all_types', k := 4, quasi_identifiers := ['{name}'], others := 'drop', "
            f"representation := '{form}')"
        )
        try:
            rows = con.execute(f'SELECT "{name}"::VARCHAR, count(*) FROM {call} GROUP BY 1')
            sizes = [size for _, size in rows.fetchall()]
            assert sum(sizes) == 120 and min(sizes) >= 4, name
            count += 1
        except duckdb.InvalidInputException as refusal:
            assert f"The quasi-identifier '{name}' has the type" in str(refusal)
            assert NO_QUASI.search(str(refusal))
    return count


@pytest.mark.slow
def test_every_type_is_generalized_or_refused(con: Connection) -> None:
    assert released(con, "median", columns(con)[::6]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_type_is_generalized_or_refused_in_every_form(con: Connection, form: str) -> None:
    assert released(con, form, columns(con)) >= 29


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "type", "low", "high"), [
    ("huge", "HUGEINT", -2**127, 2**127 - 1), ("big", "BIGINT", -2**63, 2**63 - 1),
    ("unsigned", "UHUGEINT", 0, 2**128 - 1),
])
def test_the_ends_of_a_type_stop_nothing(
    con: Connection, name: str, type: str, low: int, high: int
) -> None:
    """Sixty numbers that are all different, from end to end: is it one that numbers the rows?"""
    con.execute(
        f"CREATE OR REPLACE TABLE ends AS SELECT i AS number, CASE i WHEN 0 THEN '{low}' WHEN 1 "
        f"THEN '{high}' ELSE i::VARCHAR END::{type} AS {name} FROM range(60) AS r(i)"
    )
    for call in (
        "anonymize('ends', k := 4, quasi_identifiers := ['number'], others := 'release')",
        "anonymize('ends', k := 4)", "anonymize_roles('ends')",
    ):
        assert con.execute(f"FROM {call}").fetchall()
