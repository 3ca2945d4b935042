"""A file of a release holds the values of collated columns as they are: release, write, verify and
the command line take them, and say what they say of the same rows without a collation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.relation import Relation
from kanon_sql.plan.manifest import fingerprint_sql
from tests.support.shell import Shell

Connection = duckdb.DuckDBPyConnection

COLLATIONS = ("NOCASE", "NOACCENT", "NOCASE.NOACCENT")
ROLES: dict[str, dict[str, Any]] = {
    "sensitive": {"quasi_identifiers": ["age"], "sensitive": ["s"], "others": "drop"},
    "quasi": {"quasi_identifiers": ["age", "s"], "others": "drop"},
    "others": {"quasi_identifiers": ["age"], "others": "release"},
    "within": {"quasi_identifiers": ["age"], "within": ["s"], "others": "drop"},
    "joined": {
        "quasi_identifiers": ["age"], "within": ["s"], "others": "drop", "small_parts": "join"
    },
    "entity": {"quasi_identifiers": ["age"], "entity": "p", "sensitive": ["s"], "others": "drop"},
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def create(con: Connection, collation: str) -> None:
    """A table whose texts differ in case or accent, and a view that has them inside of others."""
    of = f"VARCHAR COLLATE {collation}" if collation else "VARCHAR"
    con.execute(f"CREATE OR REPLACE TABLE t (p {of}, age INTEGER, s {of}, o {of})")
    con.execute("""
        INSERT INTO t SELECT ['p', 'P'][1 + i % 2] || i // 4, 20 + i % 10,
            ['abc', 'ABC', 'é', 'e', 'É'][1 + i % 5], ['x', 'X', NULL][1 + i % 3]
        FROM range(60) AS r(i)
    """)
    con.execute(
        "CREATE OR REPLACE VIEW inside AS SELECT age, [s, o] AS s, {'a': s, 'b': [o]} AS o FROM t"
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ROLES)
@pytest.mark.parametrize("collation", COLLATIONS)
def test_a_release_is_written_and_verified(con: Connection, collation: str, name: str) -> None:
    digests = []
    for each in ("", collation):
        create(con, each)
        done = kanon_sql.release(con, "t", to="t.parquet", k=3, seed=1, **ROLES[name])
        again = kanon_sql.verify("t.parquet", con=con, source="t", private=done.private)
        assert again.ok
        kanon_sql.release(con, "t", k=3, seed=1, **ROLES[name]).write("u.parquet")
        assert kanon_sql.verify("u.parquet").ok
        digests.append((done.manifest["release"], done.private["input_sha256"]))
        for path in ("t.parquet", "u.parquet"):
            Path(path).unlink()
    assert digests[0][0]["rows_sha256"] == digests[1][0]["rows_sha256"]


@pytest.mark.parametrize("collation", COLLATIONS)
def test_values_inside_of_others_are_written(con: Connection, collation: str) -> None:
    create(con, collation)
    options = {"k": 3, "quasi_identifiers": ["age"], "sensitive": ["s", "o"]}
    kanon_sql.release(con, "inside", to="i.parquet", **options)
    assert kanon_sql.verify("i.parquet").ok
    kanon_sql.release(con, "inside", **options).write("j.parquet")
    assert kanon_sql.verify("j.parquet").ok


@pytest.mark.parametrize("column", ["s", "[s]", "{'a': s}", "{'a': [{'b': s}]}"])
def test_a_fingerprint_tells_letters_apart(con: Connection, column: str) -> None:
    marks = []
    for values in ("('a'), ('A')", "('A'), ('a')", "('a'), ('a')"):
        con.execute("CREATE OR REPLACE TABLE f (s VARCHAR COLLATE NOCASE)")
        con.execute(f"INSERT INTO f VALUES {values}")
        rows = Relation(f"(SELECT {column} AS x FROM f)", ("f",))
        marks.append(con.execute(fingerprint_sql(rows)).fetchall())
    assert marks[0] == marks[1] != marks[2]


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_the_command_line_writes_them(shell: Shell, form: str) -> None:
    with duckdb.connect("in.duckdb") as con:
        create(con, "NOCASE")
    said = ("-k", "3", "--quasi-identifiers", "age", "--sensitive", "s", "--others", "drop")
    assert shell("anonymize", "in.duckdb::t", "-o", f"out.{form}", *said) == 0, shell.err
    proven = ("release", "in.duckdb::t", "-o", "proven.parquet", "--private", "own.json")
    assert shell(*proven, *said) == 0, shell.err
    assert shell("verify", "proven.parquet", "--source", "in.duckdb::t", "--private",
                 "own.json") == 0, shell.err
    with duckdb.connect() as con:
        found = con.execute(f"SELECT s, count(*) FROM 'out.{form}' GROUP BY s ORDER BY s")
        assert found.fetchall() == [(each, 12) for each in ("ABC", "abc", "e", "É", "é")]
