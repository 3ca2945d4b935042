"""The audit in plain SQL says what the calls say, to the last digit, on random tables."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from kanon_sql.plan.audit_macros import audit_macros
from tests.support.connections import registered
from tests.support.random_tables import SIMPLE, VALUES, table
from tests.support.shell import Shell

con = registered()


def test_the_file_is_made_of_the_sql_of_the_calls() -> None:
    """GOLDEN=write renews it."""
    file = Path(str(files("kanon_sql.sql"))) / "kanon_audit.sql"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(audit_macros(), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == audit_macros()


def row_of(con: Any, query: str) -> dict[str, str]:
    """The only row of a query, as text: NaN equals itself."""
    result = con.execute(query)
    names = [column[0] for column in result.description]
    (row,) = result.fetchall()
    return dict(zip(names, map(repr, row), strict=True))


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(200))
def test_classes_are_those_of_k_anonymity(con: Any, plain: Any, seed: int) -> None:
    random = Random(seed)
    columns = random.sample([*VALUES], random.randint(1, 4))
    for each in (con, plain):
        each.execute(table(Random(seed), "t", columns))
    k = random.choice(["", ", k := 2", ", k := 5"])
    query = f"FROM k_anonymity('t', quasi_identifiers := {columns}{k})"
    assert row_of(plain, query) == row_of(con, query)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(200))
def test_models_are_those_of_k_anonymity(con: Any, plain: Any, seed: int) -> None:
    random = Random(seed)
    secret, *columns = random.sample(SIMPLE, random.randint(2, 4))
    for each in (con, plain):
        each.execute(table(Random(seed), "t", [secret, *columns]))
    measured = row_of(plain, f"FROM privacy_models('t', {columns}, '{secret}')")
    row = row_of(
        con, f"FROM k_anonymity('t', quasi_identifiers := {columns}, sensitive := ['{secret}'])"
    )
    assert measured == {name: row[name] for name in measured}
    assert {"l_distinct", "l_entropy", "t", "alpha"} <= set(measured)


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(100))
def test_risk_is_that_of_anonymize_risk(con: Any, plain: Any, seed: int) -> None:
    random = Random(seed)
    columns = random.sample(SIMPLE, random.randint(1, 3))
    for each in (con, plain):
        each.execute(table(Random(seed), "t", columns))
        each.execute(table(Random(seed + 1), "people", columns[::-1]))
        each.execute("INSERT INTO people BY NAME FROM t")
    k = random.choice(["", ", k := 2", ", k := 5"])
    row = row_of(plain, f"FROM k_map('t', 'people', {columns}{k})")
    metrics = dict(con.execute(
        f"SELECT metric, value FROM anonymize_risk('t', quasi_identifiers := {columns}, "
        f"population := 'people'{k})"
    ).fetchall())
    assert row and {name: float(x) if x != "None" else None for name, x in row.items()} == {
        name: metrics[name] for name in row
    }


def test_a_population_may_have_its_columns_in_another_order(plain: Any) -> None:
    plain.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS a, 2 AS b")
    plain.execute("CREATE OR REPLACE TABLE p AS SELECT 2 AS \"B\", 1 AS a FROM range(9)")
    ((people, short),) = plain.execute(
        "SELECT k_map, population_short FROM k_map('t', 'p', ['a', 'b'])"
    ).fetchall()
    assert (people, short) == (9, 0)


@pytest.mark.parametrize(("query", "said"), [
    ("k_anonymity('t', 'a')", "Write it as ['age', 'zip']"),
    ("privacy_models('t', 'a', 'b')", "Write it as ['age', 'zip']"),
    ("k_map('t', 't', 'a')", "Write it as ['age', 'zip']"),
    ("k_anonymity('t', ['a', 'zip'])", 'Column "zip" was selected but was not found'),
    ("privacy_models('t', ['a'], 'zip')", 'Column "zip" was selected but was not found'),
    ("k_anonymity('none', ['a'])", "Table with name none does not exist"),
    ("k_anonymity('t', [])", "COLUMNS expects"),
])
def test_what_is_not_understood_is_refused(plain: Any, query: str, said: str) -> None:
    plain.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS a, 2 AS b")
    with pytest.raises(duckdb.Error) as error:
        plain.execute(f"FROM {query}").fetchall()
    assert said in str(error.value)


def test_the_shell_prints_the_file(shell: Shell) -> None:
    assert shell("sql", "--audit-macros") == 0
    assert shell.out == audit_macros()
    for more in (["-k", "5"], ["t.parquet"], ["-c", "SELECT 1"], ["--database", "a.duckdb"]):
        assert shell("sql", "--audit-macros", *more) == 2
        assert shell.err.startswith("kanon: --audit-macros takes no other argument.")
