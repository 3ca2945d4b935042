"""A relation of roles: what it says, what wins over it, and every way in which it can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.options import read_options
from kanon_sql.call.relation import Relation
from kanon_sql.call.role_table import RoleTable, with_table
from tests.support.connections import registered
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
ALL = "('name', 'identifier'), ('AGE', 'qi'), ('zip', 'Quasi-Identifier'), ('flu', 'sensitive')"


def say(con: Connection, rows: str, columns: str = "column_name, role", name: str = "r") -> None:
    con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM (VALUES {rows}) AS t({columns})")

con = registered(
    "CREATE TABLE p AS SELECT 'n' || i AS name, i % 7 AS age, i % 5 AS zip, i % 3 AS flu "
    "FROM range(30) AS r(i)",
    lambda con: say(con, ALL),
    scope="function",
)
"""A connection with thirty people, and a relation r that gives all their columns a role."""


def columns(con: Connection, options: str = "roles := 'r'", call: str = "anonymize") -> list[str]:
    """The columns that a call releases."""
    found = con.execute(f"FROM {call}('p', k := 3, {options})")
    assert found.fetchall()
    return [column[0] for column in found.description or ()]


def used(con: Connection, options: str) -> Any:
    """The options that the metrics tell."""
    ((text,),) = con.execute(
        f"SELECT text FROM anonymize_metrics('p', detail=true, k := 3, {options}) WHERE metric = "
        f"'options'"
    ).fetchall()
    return json.loads(text)


def test_what_the_call_says_wins_whatever_the_capitals() -> None:
    relation = Relation('"r"', ("r",))
    table = RoleTable(
        relation, (), {}, {"Zip": "prefix", "age": "flat"}, {"Zip": "median", "age": "bounds"},
        {"Zip": 2.0, "age": 3.0},
    )
    given = {"k": 3, "hierarchies": {"ZIP": "flat"}, "column_weights": {"zIP": 5}}
    merged = with_table(read_options("anonymize", {**given, "representation": {
        "ZIP": "centroid"}}), table)
    assert merged.group.column_weights == {"zIP": 5, "age": 3}
    assert set(merged.release.hierarchies) == {"ZIP", "age"}
    assert merged.release.representation == {"ZIP": "centroid", "age": "bounds"}
    alone = with_table(read_options("anonymize", {"k": 3}), table)
    assert alone.release.representation == {"Zip": "median", "age": "bounds"}
    for_all = read_options("anonymize", {"k": 3, "representation": "interval"})
    assert with_table(for_all, table).release.representation == "interval"
    without = with_table(read_options("anonymize", {"k": 3}), RoleTable(relation, (), {}))
    assert without.release.representation is None
    assert with_table(for_all, None) is for_all


# --- what it says ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_relation_gives_every_column_its_role(con: Connection) -> None:
    assert columns(con) == ["age", "zip", "flu"]
    assert columns(con, call="anonymize_clusters") == ["age", "zip", "num_points", "radius", "flu"]
    found = used(con, "roles := 'r'")
    assert (found["roles"], found["sensitive"], found["others"]) == ("r", ["flu"], "error")
    assert sorted(map(str.lower, found["quasi_identifiers"])) == ["age", "zip"]
    ((uniques,),) = con.execute(
        "SELECT classes FROM k_anonymity('p', roles := 'r')"
    ).fetchall()
    assert uniques == 30  # age and zip together, of which the flu is no part


@pytest.mark.slow
@pytest.mark.parametrize("given", [
    "", "('name', 'identifier')", "('name', 'identifier'), ('flu', 'sensitive')",
])
def test_a_relation_without_a_quasi_identifier_leaves_all_others_to_be_one(
    con: Connection, given: str
) -> None:
    con.execute("DELETE FROM r")
    if given:
        con.execute(f"INSERT INTO r VALUES {given}")
    assert columns(con) == (["age", "zip", "flu"] if given else ["name", "age", "zip", "flu"])


def test_a_column_that_it_leaves_out_is_refused(con: Connection) -> None:
    con.execute("DELETE FROM r WHERE column_name IN ('name', 'flu')")
    assert refusal_of(con, "FROM anonymize('p', k := 3, roles := 'r')").startswith(
        "2 columns have no role: 'name', 'flu'."
    )
    assert columns(con, "roles := 'r', others := 'drop'") == ["age", "zip"]


@pytest.mark.slow
def test_the_call_wins_over_the_relation_and_that_over_comments(con: Connection) -> None:
    for column, role in (("name", "sensitive"), ("age", "sensitive"), ("flu", "identifier")):
        con.execute(f"COMMENT ON COLUMN p.{column} IS 'kanon: {role}'")
    assert columns(con, "others := 'quasi_identifier'") == ["name", "age", "zip"]
    assert columns(con) == ["age", "zip", "flu"]
    assert used(con, "roles := 'r'")["sensitive"] == ["flu"]
    call = "roles := 'r', sensitive := ['Name'], identifiers := ['zip']"
    assert columns(con, call) == ["name", "age", "flu"]
    assert used(con, call)["quasi_identifiers"] == ["AGE"]
    # a list of quasi-identifiers in the call replaces all others; the comment on age is left
    call = "roles := 'r', quasi_identifiers := ['zip']"
    assert columns(con, call) == ["age", "zip", "flu"]
    assert used(con, call)["sensitive"] == ["flu", "age"]


@pytest.mark.slow
def test_a_relation_by_every_name(con: Connection, tmp_path: Path) -> None:
    con.execute(f"COPY r TO '{tmp_path / 'roles.csv'}'; COPY r TO '{tmp_path / 'r.parquet'}'")
    con.execute('CREATE SCHEMA "my schema"; CREATE VIEW "my schema"."the roles" AS FROM r')
    con.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS oth; CREATE TABLE oth.roles AS FROM r")
    for name in ("main.r", str(tmp_path / "roles.csv"), str(tmp_path / "r.parquet"),
                 '"my schema"."the roles"', "oth.roles"):
        assert columns(con, f"roles := '{name}'") == ["age", "zip", "flu"]
        rows = con.execute(f"FROM anonymize('p', k=3, roles='{name}')").fetchall()
        assert rows == con.execute("FROM anonymize('p', k=3, roles='r')").fetchall()


@pytest.mark.slow
def test_a_frame_of_roles(con: Connection) -> None:
    people, roles = con.sql("FROM p").pl(), con.sql("FROM r").pl()
    found = kanon_sql.anonymize(people, k=3, roles=roles)
    assert found.columns == ["age", "zip", "flu"]
    with pytest.raises(kanon_sql.OptionError, match="2 columns have no role: 'name', 'flu'"):
        kanon_sql.anonymize(people, k=3, roles=roles.slice(1, 2))


# --- what it says beside the role -----------------------------------------------------------------

REST = "('name', 'identifier', NULL), ('flu', 'sensitive', NULL)"


@pytest.mark.slow
def test_hierarchies_of_a_relation_are_those_of_the_option(con: Connection) -> None:
    con.execute("CREATE TABLE own AS SELECT DISTINCT zip::VARCHAR AS level0, '*' AS level1 FROM p")
    say(con, f"('age', 'qi', '{{\"kind\": \"bins\", \"width\": 2}}'), ('zip', 'qi', 'own'), {REST}",
        "column_name, role, hierarchy")
    call = "FROM anonymize('p', k := 3, method := 'mondrian', {})"
    same = ("hierarchies := {'age': {'kind': 'bins', 'width': 2}, 'zip': 'own'}, "
            "identifiers := ['name'], sensitive := ['flu']")
    by_relation = con.execute(call.format("roles := 'r'")).fetchall()
    assert by_relation == con.execute(call.format(same)).fetchall()
    assert {row[0] for row in by_relation} & {"[0, 2)", "[2, 4)", "[4, 6)"}
    # the call wins, column by column
    won = con.execute(call.format("roles := 'r', hierarchies := {'Age': 'flat'}")).fetchall()
    assert {row[0] for row in won} <= {*map(str, range(7)), "*"}
    assert {row[1] for row in won} <= {*map(str, range(5)), "*"}


def test_representations_of_a_relation_are_those_of_the_option(con: Connection) -> None:
    say(con, f"('age', 'qi', 'median'), ('zip', 'qi', 'interval'), {REST}",
        "column_name, role, representation")
    rows = con.execute("FROM anonymize('p', k := 3, roles := 'r')").fetchall()
    assert all(isinstance(row[0], int) and isinstance(row[1], str) for row in rows)
    rows = con.execute(
        "FROM anonymize('p', k := 3, roles := 'r', representation := {'ZIP': 'bounds'})"
    ).fetchall()
    assert all(isinstance(row[0], int) and isinstance(row[1], dict) for row in rows)
    rows = con.execute("FROM anonymize('p', k := 3, roles := 'r', representation := 'centroid')")
    assert {type(value) for row in rows.fetchall() for value in row[:2]} == {float}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["DECIMAL(4, 2)", "DOUBLE", "INTEGER", "UTINYINT"])
def test_weights_of_a_relation_are_those_of_the_option(con: Connection, kind: str) -> None:
    say(con, f"('age', 'qi', 9::{kind}), ('zip', 'qi', NULL), {REST}",
        "column_name, role, column_weight")
    assert used(con, "roles := 'r'")["column_weights"] == {"age": 9}
    same = "identifiers := ['name'], sensitive := ['flu']"
    call = "FROM anonymize('p', k := 3, {})"
    by_relation = con.execute(call.format("roles := 'r'")).fetchall()
    weighted = f"{same}, column_weights := {{'age': 9}}"
    assert by_relation == con.execute(call.format(weighted)).fetchall()
    assert by_relation != con.execute(call.format(same)).fetchall()
    assert used(con, "roles := 'r', column_weights := {'AGE': 2, 'zip': 3}")["column_weights"] == {
        "AGE": 2, "zip": 3
    }


# --- how it can be wrong --------------------------------------------------------------------------

WRONG = {
    "no role": ("('name')", "column_name", "has no column 'role'. It needs column_name and role"),
    "no column_name": ("('qi')", "role", "has no column 'column_name'."),
    "another column": ("('a', 'qi', 1)", "column_name, role, wieght",
                       "has a column 'wieght', which means nothing here. There are: column_name, "),
    "unknown role": ("('name', 'identifer')", "column_name, role",
                     "gives the column 'name' no role that exists. There are: quasi_identifier, "
                     "sensitive, identifier, entity, within, other."),
    "no role but NULL": ("('name', NULL)", "column_name, role", "'name' no role that exists."),
    "a number for a role": ("('name', 5)", "column_name, role", "'name' no role that exists."),
    "a NULL for a column": ("(NULL, 'qi')", "column_name, role", "a row without a column_name."),
    "an empty column": ("(' ', 'qi')", "column_name, role", "has a row without a column_name."),
    "twice": ("('name', 'qi'), ('NAME', 'qi')", "column_name, role",
              "names the column 'NAME' twice. Leave one row."),
    "a column that isn't there": ("('nmae', 'qi')", "column_name, role",
                                  "names the column 'nmae', which doesn't exist. Did you mean "
                                  "'name'?"),
    "a hierarchy of an identifier": (
        "('name', 'identifier', 'flat')", "column_name, role, hierarchy",
        "gives the column 'name' a hierarchy, and it is not a quasi-identifier. Leave it NULL.",
    ),
    "a weight of what passes": (
        "('flu', 'other', 2)", "column_name, role, column_weight",
                                "gives the column 'flu' a column_weight, and it is not a "
                                "quasi-identifier."),
    "no JSON": ("('age', 'qi', '{\"kind\"}')", "column_name, role, hierarchy",
                "has a hierarchy that is not JSON."),
    "an unknown kind": ("('age', 'qi', '{\"kind\": \"bin\"}')", "column_name, role, hierarchy",
                        "Did you mean 'bins'"),
    "a number for a hierarchy": ("('age', 'qi', 5)", "column_name, role, hierarchy",
                                 "map column names to a table of levels"),
    "an unknown representation": ("('age', 'qi', 'centre')", "column_name, role, representation",
                                  "The representation 'centre' is not known."),
    "a weight below 0": ("('age', 'qi', -1)", "column_name, role, column_weight",
                         "column_weights must map column names to numbers from 0"),
    "a weight in words": ("('age', 'qi', 'two')", "column_name, role, column_weight",
                          "column_weights must map column names to numbers from 0"),
    "a weight that is true": ("('age', 'qi', true)", "column_name, role, column_weight",
                              "column_weights must map column names to numbers from 0"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("call", ["anonymize", "anonymize_metrics", "k_anonymity"])
def test_what_can_not_be_understood_is_refused(con: Connection, call: str, wrong: str) -> None:
    rows, names, sentence = WRONG[wrong]
    say(con, rows, names)
    said = refusal_of(con, f"FROM {call}('p', k := 3, roles := 'r')")
    assert sentence in said
    assert said.endswith((".", "?"))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "said"), [
    ("nosuch", "The relation \"nosuch\" can't be read before the query runs: Table with name "
               "nosuch does not exist. Name a table, view or file that is committed."),
    ("here", "The relation \"here\" can't be read before the query runs"),
    ("fresh", "The relation \"fresh\" can't be read before the query runs"),
    ("__kanon_r", "The relation '__kanon_r' has a name that starts with '__kanon_'"),
    ("", "roles must be a name, such as 'my_roles'. Got ''."),
])
def test_a_relation_that_the_planner_can_not_read(con: Connection, name: str, said: str) -> None:
    con.execute("CREATE TEMP TABLE here AS FROM r; BEGIN; CREATE TABLE fresh AS FROM r")
    assert refusal_of(con, f"FROM anonymize('p', k := 3, roles := '{name}')").startswith(said)


CHANGES = (
    "UPDATE r SET role = 'sensitive' WHERE column_name = 'name'",
    "DELETE FROM r WHERE column_name = 'name'", "INSERT INTO r VALUES ('name', 'sensitive')",
    "DELETE FROM r", "CREATE TEMP TABLE r AS SELECT column_name, 'qi' AS role FROM main.r",
    "CREATE OR REPLACE TABLE r AS SELECT role, column_name FROM r",
)


@pytest.mark.sample(2)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", ["anonymize", "anonymize_clusters", "k_anonymity"])
def test_a_change_that_is_not_committed_is_refused(
    con: Connection, call: str, change: str
) -> None:
    con.execute(f"BEGIN; {change}")
    said = refusal_of(con, f"FROM {call}('p', k := 3, roles := 'r')")
    assert said == (
        'The relation of roles "r" has changes that are not committed yet. Commit first.'
    )
    con.execute("ROLLBACK")
    assert columns(con) == ["age", "zip", "flu"]


def test_a_text_that_was_kept_notices_another_decision(con: Connection) -> None:
    ((text,),) = con.execute("FROM anonymize_sql('p', k := 3, roles := 'r')").fetchall()
    assert len(con.execute(text).fetchall()) == 30
    con.execute("UPDATE r SET role = 'identifier' WHERE column_name = 'flu'")
    assert "not committed" in refusal_of(con, text)
