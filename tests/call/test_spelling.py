"""How a call may be written, and what it says when it is written wrongly."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection


def rows_of(con: Connection, relation: str, options: str = "k=5") -> int:
    """Released rows of a relation; each class of released values has five or more."""
    found = con.execute(f"SELECT * FROM anonymize({relation}, {options})").fetchall()
    assert min(Counter(found).values()) >= 5
    return len(found)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["'patients'", "patients", "'main.patients'", "main.patients",
                                  "'memory.main.patients'", "'\"patients\"'", "'PATIENTS'"])
def test_a_table_by_any_spelling_of_its_name(con: Connection, name: str) -> None:
    assert rows_of(con, name) == 60


@pytest.mark.sample(1)
@pytest.mark.parametrize("identifier", [
    'my schema"."t', "a.b", "it's", 'say "hi"', "select", "Übergrößen", " lead", "100%", "a;b",
    "{x}", "$x", "x.parquet", "x -- y", "__kanon", "_source", "source", "_labels",
])
def test_every_legal_identifier_names_a_table(con: Connection, identifier: str) -> None:
    quoted = '"' + identifier.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE {quoted} AS FROM patients")
    as_text = "'" + identifier.replace("'", "''") + "'"
    assert rows_of(con, as_text) == 60
    assert rows_of(con, "'" + quoted.replace("'", "''") + "'") == 60


def test_a_qualified_name_with_spaces_quoted_whole_or_inside(con: Connection) -> None:
    con.execute('CREATE SCHEMA "my schema"; CREATE TABLE "my schema"."t" AS FROM patients')
    assert rows_of(con, "'\"my schema\".\"t\"'") == 60
    assert rows_of(con, "'my schema\".\"t'") == 60
    assert rows_of(con, "'my schema.t'") == 60


@pytest.mark.slow
def test_every_legal_column_name(con: Connection) -> None:
    names = ['a "b"', "it's", "a.b", "select", "Ü", "{k}", "${k}", "_source", "__kanon", "count"]
    columns = ", ".join(
        'age + {} AS "{}"'.format(i, name.replace('"', '""')) for i, name in enumerate(names)
    )
    con.execute(f"CREATE TABLE odd AS SELECT {columns} FROM patients")
    result = con.execute("FROM anonymize('odd', k=5)")
    assert [column[0] for column in result.description or ()] == names
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names[1:])
    for role, others in (("quasi_identifiers", ", others='release'"), ("sensitive", "")):
        result = con.execute(f"FROM anonymize('odd', k=5, {role}=[{quoted}]{others})")
        assert [column[0] for column in result.description or ()] == names
        found = con.execute(f"FROM k_anonymity('odd', {role}=[{quoted}])").fetchall()
        assert len(found) == (len(names) - 1 if role == "sensitive" else 1)


@pytest.mark.slow
def test_columns_named_like_the_parts_of_the_query(con: Connection) -> None:
    names = ["passed", "radius", "num_points", "cells", "columns", "label", "grouped", "k", "row",
             "class", "size", "hash", "center", "moment", "_check", "_released", "rows", "x"]
    columns = ", ".join(f'(i * {j + 3}) % 20 AS "{name}"' for j, name in enumerate(names))
    con.execute(f"CREATE TABLE odd AS SELECT {columns} FROM range(40) AS r(i)")
    for roles in ("", ", sensitive=['x', 'radius', 'passed']",
                  ", quasi_identifiers=['x', 'k'], others='release'"):
        result = con.execute(f"FROM anonymize('odd', k=4{roles})")
        assert [column[0] for column in result.description or ()] == names
        assert len(result.fetchall()) == 40
        metrics = con.execute(
            f"SELECT value FROM anonymize_metrics('odd', detail=true, k=4{roles}) WHERE metric = "
            f"'k'"
        ).fetchall()
        assert metrics[0][0] >= 4
    shown = "k=4, identifiers=['radius', 'num_points']"
    for roles in ("", ", sensitive=['x', 'passed']",
                  ", quasi_identifiers=['x', 'k'], others='drop'"):
        clusters = con.execute(f"FROM anonymize_clusters('odd', {shown}{roles})").fetchall()
        assert 0 < len(clusters) <= 10


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["radius", "num_points", "Num_Points"])
@pytest.mark.parametrize(
    ("source", "roles"),
    [("odd", ""), ("odd", "quasi_identifiers=['{}'], sensitive=['x'], "),
     ("odd", "quasi_identifiers=['x'], sensitive=['{}'], "), ("w", ""),
     ("w", "sensitive=['{}'], "), ("w", "quasi_identifiers=['{}'], sensitive=['x'], "),
     ("w", "identifiers=['x'], ")],
)
def test_columns_named_as_the_clusters_name_theirs_are_refused(
    con: Connection, name: str, source: str, roles: str
) -> None:
    """By the planner, or by the query where the columns of a CTE are known to it only."""
    con.execute(f'CREATE TABLE odd AS SELECT i % 5 AS "{name}", i % 7 AS x FROM range(40) AS r(i)')
    call = f"WITH w AS (FROM odd) FROM anonymize_clusters('{source}', {roles.format(name)}k=4)"
    sentence = f"The relation has a column '{name}', a name that the query needs for itself. Rename"
    with pytest.raises(duckdb.Error) as caught:
        con.execute(call)
    assert sentence in str(caught.value)
    # what is no part of the clusters may have any name, and so may all columns of a release
    for given in (f"identifiers=['{name}']", f"identifiers=['{name}'], quasi_identifiers=['x']"):
        clusters = con.execute(
            f"WITH w AS (FROM odd) FROM anonymize_clusters('{source}', {given}, k=4)"
        )
        assert [column[0] for column in clusters.description or ()] == ["x", "num_points", "radius"]
    released = con.execute(f"WITH w AS (FROM odd) FROM anonymize('{source}', k=4)")
    assert [column[0] for column in released.description or ()] == [name, "x"]


def test_views_temporary_tables_and_ctes(con: Connection) -> None:
    con.execute("CREATE VIEW v AS FROM patients WHERE age < 40")
    con.execute("CREATE TEMP TABLE t AS FROM patients WHERE age >= 40")
    assert rows_of(con, "'v'") + rows_of(con, "'t'") == 60
    found = con.execute(
        "WITH young AS (FROM patients WHERE age < 40) SELECT * FROM anonymize('young', k=5)"
    ).fetchall()
    assert len(found) == rows_of(con, "'v'")


def test_an_uncommitted_table(con: Connection) -> None:
    con.execute("BEGIN")
    con.execute("CREATE TABLE fresh AS FROM patients")
    assert rows_of(con, "'fresh'") == 60
    con.execute("ROLLBACK")


@pytest.mark.slow
def test_files_and_globs(con: Connection, tmp_path: Path) -> None:
    con.execute(f"COPY patients TO '{tmp_path}/a.parquet'")
    con.execute(f"COPY patients TO '{tmp_path}/b.parquet'")
    con.execute(f"COPY patients TO '{tmp_path}/c.csv'")
    assert rows_of(con, f"'{tmp_path}/a.parquet'") == 60
    assert rows_of(con, f"'{tmp_path}/*.parquet'") == 120
    assert rows_of(con, f"'{tmp_path}/c.csv'") == 60


def test_a_python_variable(con: Connection) -> None:
    frame = con.execute("FROM patients").fetchall()
    people = pa.table({"age": [row[1] for row in frame], "job": [row[3] for row in frame]})
    assert people.num_rows == 60
    assert len(con.execute("FROM anonymize('people', k=5)").fetchall()) == 60


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [
    "k=5", "k := 5", "k=5, method='mdav'", "k := 5, method := 'mdav'", "k=5, method := 'mdav'",
    "method='mdav', k := 5", "K=5", "k=2+3", "k=5::BIGINT", "k=getvariable('five')",
    "k := getvariable('five')", "k=5, gamma=0.2, method='v_mdav'",
    "k=5, column_weights={'age': 2, 'zip': 0.5}", "k=5, column_weights := {'age': 2}",
    "k=5, column_weights=MAP {'age': 2}", "k=5, quasi_identifiers=['age', 'zip'], others='release'",
    "k=5, quasi_identifiers='age', others := 'release'",
    "k=5, sensitive=['disease'], identifiers=['name']",
    "k=5, seed=9223372036854775807", "k=5, class_id=false, keep_order=true", "k=5, nulls='error'",
])
def test_options_in_every_form(con: Connection, options: str) -> None:
    con.execute("SET VARIABLE five = 5")
    base = "sensitive := ['disease', 'name', 'job']"
    if not any(role in options for role in ("quasi", "sensitive")):
        options += f", {base}"
    found = con.execute(f"SELECT age, zip FROM anonymize('patients', {options})").fetchall()
    assert len(found) == 60


def test_both_forms_mean_the_same(con: Connection) -> None:
    positional = con.execute(
        "FROM anonymize('patients', k=5, method='v_mdav', gamma=0.3, "
        "column_weights={'age': 2, 'zip': 3}, "
        "quasi_identifiers=['age', 'zip'], others='release', seed=4, class_id=true)"
    ).fetchall()
    named = con.execute(
        "FROM anonymize('patients', k := 5, method := 'v_mdav', gamma := 0.3, seed := 4, "
        "column_weights := {'age': 2, 'zip': 3}, quasi_identifiers := ['age', 'zip'], "
        "others := 'release', class_id := true)"
    ).fetchall()
    assert positional == named


def test_prepared_parameters(con: Connection) -> None:
    for sql, values in (
        ("FROM anonymize(?, k=?)", ["patients", 5]),
        ("FROM anonymize($1, k := $2, method := $3)", ["patients", 5, "mdav"]),
    ):
        assert len(con.execute(sql, values).fetchall()) == 60
    con.execute("PREPARE release AS SELECT * FROM anonymize('patients', k := 5)")
    assert len(con.execute("EXECUTE release").fetchall()) == 60


def test_a_prepared_statement_takes_its_values_later(con: Connection) -> None:
    con.execute("PREPARE later AS SELECT * FROM anonymize($1, k := $2)")
    assert len(con.execute("EXECUTE later('patients', 5)").fetchall()) == 60
    assert refusal_of(con, "EXECUTE later('patients', 61)").startswith("There are 60 rows")


@pytest.mark.slow
def test_around_a_call(con: Connection, tmp_path: Path) -> None:
    call = "anonymize('patients', k=5)"
    con.execute(f"CREATE VIEW v AS FROM {call}; CREATE TABLE t AS FROM {call}")
    con.execute(f"COPY (FROM {call}) TO '{tmp_path}/r.parquet'")
    for source in ("v", "t", f"'{tmp_path}/r.parquet'"):
        assert con.execute(f"SELECT count(*) FROM {source}").fetchone() == (60,)
    joined = f"SELECT count(*) FROM {call} AS a, anonymize('patients', k=6) AS b"
    assert con.execute(joined).fetchone() == (3600,)
    assert con.execute(f"EXPLAIN FROM {call}").fetchall()
    described = con.execute(f"DESCRIBE FROM {call}").fetchall()
    assert [row[0] for row in described] == ["name", "age", "zip", "job", "disease"]


def test_a_stored_view_works_again_after_register(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with kanon_sql.register(duckdb.connect(path)) as con:
        con.execute("CREATE TABLE t AS SELECT i % 4 AS a FROM range(20) r(i)")
        con.execute("CREATE VIEW v AS FROM anonymize('t', k=5)")
    with duckdb.connect(path) as con:
        with pytest.raises(duckdb.Error):
            con.execute("FROM v")
        kanon_sql.register(con)
        assert len(con.execute("FROM v").fetchall()) == 20


ANY: Any = None
REFUSED = {
    "'patients'": "k is not given. Say how many rows must share each combination of "
    "quasi-identifiers, for example k=5.",
    "'patients', k=0": "k must be a whole number of 1 or more. Got 0.",
    "'patients', k=-3": "k must be a whole number of 1 or more. Got -3.",
    "'patients', k=2.5": "k must be a whole number of 1 or more. Got 2.5.",
    "'patients', k='five'": "k must be a whole number of 1 or more. Got 'five'.",
    "'patients', k=true": "k must be a whole number of 1 or more. Got True.",
    "'patients', k=5, k=6": "The option 'k' is given twice. Give it once.",
    "'patients', k=5, k := 6": "The option 'k' is given twice. Give it once.",
    "'patients', 5": "An argument after the relation is not of the form name=value. Give each "
    "option by its name, for example k=5.",
    "'patients', k>5": "An argument after the relation is not of the form name=value. Give each "
    "option by its name, for example k=5.",
    "'patients', k=5, method='mdav_sta'": "The method 'mdav_sta' is not known. Did you mean "
    "'mdav_star'?",
    "'patients', k=5, methd='mdav'": "anonymize has no option 'methd'. Did you mean 'method'?",
    "'patients', k=5, nulls='drop'": ANY,
    "'patients', k=5, representation='centre'": "The representation 'centre' is not known. Did "
    "you mean 'centroid'?",
    "'patients', k=5, gamma=-1, method='v_mdav'": "gamma must be 'best' or a number from 0 to "
    "1e+09. Got -1.",
    "'patients', k=5, gamma=0.5": "The method 'auto' takes no gamma. Leave it out, or use "
    "v_mdav.",
    "'patients', k=5, seed=-1": "seed must be a whole number of 0 or more. Got -1.",
    "'patients', k=5, class_id='yes'": "class_id must be true or false. Got 'yes'.",
    "'patients', k=5, column_weights=3": ANY,
    "'patients', k=5, column_weights={'age': -1}": ANY,
    "'patients', k=5, column_weights={'agee': 1}": "column_weights names the column 'agee', which "
    "is not a quasi-identifier. Did you mean 'age'?",
    "'patients', k=5, quasi_identifiers=['age', 'AGE']": "quasi_identifiers names the column "
    "'age' twice. Name it once.",
    "'patients', k=5, quasi_identifiers=['age'], sensitive=['Age']": "The column 'Age' is given "
    "as quasi_identifier and as sensitive. Give it one role.",
    "'patients', k=5, sensitive=['name', 'age', 'zip', 'job', 'disease']": "No column is left as "
    "a quasi-identifier. Name at least one in quasi_identifiers.",
    "'patients', k=61": "There are 60 rows to anonymize, fewer than k = 61. Lower k, or release "
    "nothing.",
    "'', k=5": ANY,
    "k := 5": "The relation is missing. Give a table, view, file or variable first, for example "
    "'patients'.",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("arguments", REFUSED)
def test_what_is_wrong_is_said_in_one_line(con: Connection, arguments: str) -> None:
    said = refusal_of(con, f"SELECT * FROM anonymize({arguments})")
    expected = REFUSED[arguments]
    assert said == expected if expected else said.endswith((".", "?"))
    assert "person" not in said


def test_an_empty_relation(con: Connection) -> None:
    con.execute("CREATE TABLE nobody AS FROM patients LIMIT 0")
    assert refusal_of(con, "FROM anonymize('nobody', k=5)").startswith("There are no rows")
    assert con.execute("SELECT k, \"rows\", classes FROM k_anonymity('nobody')").fetchall() == [
        (None, 0, 0)
    ]


@pytest.mark.slow
def test_infinite_values_are_counted_not_shown(con: Connection) -> None:
    for kind in ("DOUBLE", "FLOAT", "DATE", "TIMESTAMP"):
        value = {"DATE": "'2020-01-01'", "TIMESTAMP": "'2020-01-01'"}.get(kind, "'7'")
        con.execute(
            f"CREATE OR REPLACE TABLE far AS SELECT CASE WHEN i < 2 THEN 'infinity' ELSE {value} "
            f"END::{kind} AS x, i AS y FROM range(9) r(i)"
        )
        said = refusal_of(con, "FROM anonymize('far', k=2)")
        assert said == (
            "The quasi-identifier 'x' has 2 infinite values. Replace them by NULL or by a finite "
            "value first."
        )
        assert len(con.execute("FROM anonymize('far', k=2, sensitive=['x'])").fetchall()) == 9


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "value",
    ["[i]", "{'a': i}", "MAP {i: 1}", "INTERVAL (i) DAY", "[i]::INT[1]", "'10:00:00+01'::TIMETZ",
     "'101'::BIT"],
)
def test_types_without_order_or_single_values_are_refused_but_pass(
    con: Connection, value: str
) -> None:
    con.execute(f"CREATE TABLE nested AS SELECT i % 3 AS a, {value} AS x FROM range(12) r(i)")
    said = refusal_of(con, "FROM anonymize('nested', k=3)")
    assert said.startswith("The quasi-identifier 'x' has the type ")
    passed = con.execute("SELECT x FROM anonymize('nested', k=3, sensitive=['x'])").fetchall()
    assert sorted(map(str, passed)) == sorted(
        map(str, con.execute("SELECT x FROM nested").fetchall())
    )


def test_the_sql_is_shown_and_runs_again(con: Connection) -> None:
    arguments = "'patients', k=5, sensitive=['disease'], class_id=true"
    (sql,) = con.execute(f"FROM anonymize_sql({arguments})").fetchone() or ("",)
    assert con.execute(sql).fetchall() == con.execute(f"FROM anonymize({arguments})").fetchall()


def test_methods_are_listed_from_the_registry(con: Connection) -> None:
    from kanon_sql.methods import METHODS

    listed = con.execute("SELECT method, source FROM anonymize_methods()").fetchall()
    assert listed == [(method.name, method.source) for method in METHODS.values()]


def test_the_methods_of_the_first_table_are_those_with_a_use(con: Connection) -> None:
    """The five that docs/which-method.md shows first are what the column ``use`` singles out."""
    page = (Path(__file__).parents[2] / "docs" / "which-method.md").read_text()
    table = page.split("\n\n| you want | use |", 1)[1].split("\n\n", 1)[0]
    shown = re.findall(r"\| `(\w+)`", table)
    uses = con.execute(
        "SELECT use, method FROM anonymize_methods() "
        "WHERE use NOT IN ('from the papers', 'one column')"
    ).fetchall()
    assert sorted(method for _, method in uses) == sorted(shown) and len(shown) == 5
    assert dict(uses)["default"] == "mdav_star" and len(dict(uses)) == 5
