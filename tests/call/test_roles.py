"""Roles: given in the call, or declared by column comments."""

from __future__ import annotations

import duckdb
import pytest

from kanon_sql.call.options import read_options
from kanon_sql.call.roles import Roles, declared_roles, resolve_roles
from kanon_sql.errors import OptionError

Connection = duckdb.DuckDBPyConnection
QUASI = "kanon: quasi_identifier"


def columns_of(con: Connection, call: str) -> dict[str, int]:
    """The released columns and how many distinct values each has."""
    result = con.execute(f"SELECT * FROM {call}")
    names = [column[0] for column in result.description or ()]
    rows = result.fetchall()
    return {name: len({row[i] for row in rows}) for i, name in enumerate(names)}


def test_every_column_is_a_quasi_identifier_unless_something_says_otherwise(
    con: Connection,
) -> None:
    released = columns_of(con, "anonymize('patients', k=5)")
    assert list(released) == ["name", "age", "zip", "job", "disease"]
    assert max(released.values()) <= 12


def test_roles_given_in_the_call(con: Connection) -> None:
    released = columns_of(
        con, "anonymize('patients', k=5, sensitive=['DISEASE'], identifiers=['name'])"
    )
    assert list(released) == ["age", "zip", "job", "disease"]
    released = columns_of(con, "anonymize('patients', k=5, quasi_identifiers=['zip', 'Age'])")
    assert released["name"] == 60
    assert list(released) == ["name", "age", "zip", "job", "disease"]


def test_roles_declared_in_the_catalog(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("COMMENT ON COLUMN patients.disease IS 'The diagnosis. kanon: sensitive'")
    assert list(columns_of(con, "anonymize('patients', k=5)")) == ["age", "zip", "job", "disease"]
    con.execute(f"COMMENT ON COLUMN patients.age IS '{QUASI}'")
    con.execute("COMMENT ON COLUMN patients.job IS 'kanon: other'")
    released = columns_of(con, "anonymize('patients', k=5)")
    assert list(released) == ["age", "zip", "job", "disease"]
    assert released["zip"] > 12
    assert released["age"] <= 12


def test_declared_roles_hold_for_every_spelling_and_other_calls(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("CREATE SCHEMA s; CREATE TABLE s.people AS FROM patients")
    con.execute("COMMENT ON COLUMN s.people.name IS 'kanon: identifier'")
    for name in ("patients", "PATIENTS", "main.patients", "memory.main.patients", "s.people"):
        assert "name" not in columns_of(con, f"anonymize('{name}', k=5)")
        assert "name" not in columns_of(con, f"anonymize_clusters('{name}', k=5)")
    con.execute("USE s")
    assert "name" not in columns_of(con, "anonymize('people', k=5)")


def test_the_call_wins_over_the_catalog(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute(f"COMMENT ON COLUMN patients.age IS '{QUASI}'")
    released = columns_of(con, "anonymize('patients', k=5, sensitive=['name'])")
    assert released["name"] == 60
    released = columns_of(con, "anonymize('patients', k=5, quasi_identifiers=['zip'])")
    assert "name" not in released
    assert released["zip"] <= 12 < released["age"]


def test_roles_of_an_uncommitted_table_are_not_passed_over_in_silence(con: Connection) -> None:
    con.execute("BEGIN; CREATE TABLE fresh AS FROM patients")
    con.execute("COMMENT ON COLUMN fresh.name IS 'kanon: identifier'")
    for call in ("anonymize", "anonymize_metrics", "anonymize_clusters", "k_anonymity"):
        with pytest.raises(duckdb.InvalidInputException, match="not committed yet"):
            con.execute(f"FROM {call}('fresh', k := 5)").fetchall()
        con.execute("ROLLBACK; BEGIN; CREATE TABLE fresh AS FROM patients")
        con.execute("COMMENT ON COLUMN fresh.name IS 'kanon: identifier'")
    con.execute("COMMIT")
    assert "name" not in columns_of(con, "anonymize('fresh', k=5)")


def test_a_role_that_does_not_exist(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifer'")
    with pytest.raises(duckdb.InvalidInputException, match="Did you mean 'identifier'"):
        con.execute("FROM anonymize('patients', k=5)")


def test_resolving_without_a_database() -> None:
    comments = {"a": QUASI, "b": "kanon:sensitive", "c": "x kanon: identifier", "d": None}
    assert declared_roles(comments) == {
        "a": "quasi_identifier", "b": "sensitive", "c": "identifier"
    }
    options = read_options("anonymize", {"k": 2, "identifiers": ["d"]})
    assert resolve_roles(options.roles, comments) == Roles(("a",), ("b",), ("d", "c"), ())
    options = read_options("anonymize", {"k": 2, "sensitive": ["a", "b"], "identifiers": ["c"]})
    with pytest.raises(OptionError, match="No column is left"):
        resolve_roles(options.roles, {"a": None, "b": None, "C": None})
