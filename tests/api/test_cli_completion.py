"""Columns of the table that is named are completed, by what the table says of itself."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.shell import Shell


@pytest.fixture
def tables(patients: Path) -> None:
    """The patients in a file and in a DuckDB file."""
    with duckdb.connect("our.duckdb") as con:
        con.execute(f"CREATE TABLE patients AS FROM '{patients}'")
    Path("two").mkdir()
    Path("two/part.parquet").write_bytes(patients.read_bytes())


ALL = ["name", "age", "zip", "job", "disease"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("words", "found"), [
    ("kanon anonymize patients.parquet --quasi-identifiers ", ALL),
    ("kanon anonymize patients.parquet -k 5 -q a", ["age"]),
    ("kanon anonymize patients.parquet -k 5 -q A", ["age"]),
    ("kanon anonymize patients.parquet -q age,", [f"age,{n}" for n in ALL if n != "age"]),
    ("kanon anonymize patients.parquet -q age,z", ["age,zip"]),
    ("kanon anonymize our.duckdb::patients -s d", ["disease"]),
    ("kanon anonymize our.duckdb --table patients -s d", ["disease"]),
    ("kanon anonymize patients --database our.duckdb -s d", ["disease"]),
    ("kanon anonymize two/ -s d", ["disease"]),
    ("kanon risk patients.parquet -s d", ["disease"]),
    ("kanon anonymize patients.parquet --column-weights a", ["age="]),
    ("kanon anonymize nobody.parquet -q ", []), ("kanon anonymize -q ", []),
    ("kanon anonymize - -q ", []), ("kanon anonymize s3://bucket/a.parquet -q ", []),
])
def test_columns_are_completed(
    words: str, found: list[str], tables: None, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(str(path) for path in Path().rglob("*"))
    monkeypatch.setenv("_KANON_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    shell()
    assert [line.partition(",")[2] for line in shell.out.splitlines() if line] == found
    assert shell.err == ""
    assert sorted(str(path) for path in Path().rglob("*")) == before
