"""What a user gives as a name: it is never SQL, stands in messages as it is, and where it can't be
a name the message says what can."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.cli.main import COMMANDS

PEOPLE = {"age": [34, 36, 35, 71, 70, 72], "flu": [True, False, True, True, False, True]}


def kanon(place: Path, *typed: str) -> tuple[int, str]:
    """Status and stderr of a command in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "kanon_sql", *typed], cwd=place, capture_output=True, text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("given", ["x.duckdb", Path("x.duckdb"), None, 5])
def test_register_says_what_to_give(given: object) -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"Give what duckdb\.connect\(\) gives, for"):
        kanon_sql.register(given)  # type: ignore[arg-type]


@pytest.mark.sample(2)
@pytest.mark.parametrize("query", [
    "SELECT * FROM t", "select age from t;", "FROM t", "WITH a AS (FROM t) FROM a", "(SELECT 1)",
    "SELECT * FROM 'a.parquet'", "read_parquet('a.parquet')", " SELECT 1",
])
def test_a_query_is_no_relation_and_may_be_a_view(query: str) -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT 1 AS age")
    with pytest.raises(duckdb.InvalidInputException, match="Make it a view or a CTE"):
        con.execute("FROM anonymize(?, k := 5)", [query])
    for given in (con, None):
        with pytest.raises(kanon_sql.OptionError, match="Make it a view or a CTE"):
            kanon_sql.anonymize(query, con=given, k=5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["select", "from t", "values (1)", "from.t", "read_csv('x')"])
def test_a_table_whose_name_reads_as_a_query_is_a_table(name: str) -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute(f'CREATE TABLE "{name}" AS SELECT unnest([1, 2]) AS age')
    assert con.execute("SELECT k FROM k_anonymity(?)", [name]).fetchall() == [(1,)]
    assert kanon_sql.k_anonymity(name, con=con)["k"].to_pylist() == [1]


@pytest.mark.slow
def test_a_file_whose_name_begins_as_a_query_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "select all.csv").write_text("age\n1\n1\n", encoding="utf-8")
    assert kanon_sql.k_anonymity(str(tmp_path / "select all.csv"))["k"].to_pylist() == [2]
    assert kanon(tmp_path, "audit", "select all.csv", "-k", "2")[0] == 0


@pytest.mark.parametrize("method", ["datafly", "incognito", "Incognito", "OLA", "samarati"])
def test_what_others_call_full_domain_leads_there(method: str) -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"not known\. Did you mean 'full_domain'\?"):
        kanon_sql.anonymize(PEOPLE, k=3, sensitive="flu", method=method)  # type: ignore[arg-type]


SIGNS = "a\x1b[31m\nb\u202e"
SHOWN = r"a\x1b[31m\nb\u202e"


@pytest.mark.slow
def test_signs_that_a_terminal_would_obey_are_written_out(tmp_path: Path) -> None:
    with pytest.raises(kanon_sql.OptionError) as refused:
        kanon_sql.anonymize({SIGNS: [1, 2]}, k=2, sensitive=["zzzzz"])
    assert SHOWN in str(refused.value) and str(refused.value).isprintable()
    for typed in (
        ("audit", SIGNS, "-k", "2"), ("audit", "a.csv", f"--{SIGNS}"), ("roles", f"{SIGNS}.csv"),
        (SIGNS,), ("hierarchy", "a.csv", SIGNS),
    ):
        status, said = kanon(tmp_path, *typed)
        assert status == 2 and said.removesuffix("\n").isprintable(), said
    con = kanon_sql.register(duckdb.connect())
    con.execute(f'CREATE TABLE t AS SELECT 1 AS "{SIGNS}", 2 AS age')
    with pytest.raises(duckdb.InvalidInputException) as told:
        con.execute("FROM anonymize('t', k := 1, quasi_identifiers := ['age'])")
    assert SIGNS not in str(told.value) and r"a\u001b[31m\nb" in str(told.value).lower()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["audit", "roles", "risk", "verify"])
def test_a_path_with_an_equals_sign_is_told_as_it_is(tmp_path: Path, command: str) -> None:
    assert command in COMMANDS
    status, said = kanon(tmp_path, command, "lake/day=2024-03-01/a.parquet")
    assert status == 2 and "'lake/day=2024-03-01/a.parquet'" in said


def test_the_memory_is_a_text_and_no_statement(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n1\n", encoding="utf-8")
    stolen = tmp_path / "stolen.csv"
    memory = f"4GB'; COPY (SELECT 1) TO '{stolen}'; SET memory_limit = '4GB"
    with pytest.raises(kanon_sql.OptionError, match="memory is"):
        kanon_sql.anonymize_files(
            tmp_path / "a.csv", tmp_path / "out", memory=memory, k=2, quasi_identifiers=["age"]
        )
    assert not stolen.exists()


@pytest.mark.slow
def test_the_name_of_a_table_is_no_statement(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS age")
        con.execute('CREATE SCHEMA s; CREATE VIEW s."my view" AS FROM t')
    stolen = tmp_path / "stolen.csv"
    for name in (f"t; COPY (FROM t) TO '{stolen}'", "(SELECT 1)", "read_csv('b.csv')", "nope"):
        status, said = kanon(tmp_path, "audit", f"a.duckdb::{name}", "-k", "1")
        assert status == 2 and re.search("not a table|no table|as a query", said), said
    assert not stolen.exists()
    for name in ("t", "T", "main.t", 's."my view"', "s.my view", '"t"'):
        assert kanon(tmp_path, "audit", f"a.duckdb::{name}", "-k", "1") == (0, "")
