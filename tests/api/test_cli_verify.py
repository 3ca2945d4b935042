"""`kanon release` and `kanon verify`: a release, its proof, and the exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from kanon_sql.cli.main import main

Connection = duckdb.DuckDBPyConnection


@pytest.mark.slow
def test_release_and_verify_in_the_shell(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    con.sql("FROM patients").write_parquet("patients.parquet")
    assert main([
        "release", "patients.parquet", "--to", "out.parquet", "--private", "mine.json", "--k", "4",
        "--identifiers", "name", "--sensitive", "disease,job", "--l", '{"disease": 2}',
        "--hierarchies", '{"age": {"kind": "bins", "width": 10}}', "--class-id",
        "--suppress", "0.05",
    ]) == 0
    assert capsys.readouterr().err.splitlines()[-1].startswith(
        "kanon: 60 rows in out.parquet, 14 classes of 4 or more, information loss "
    )
    assert main(["verify", "out.parquet"]) == 0
    assert capsys.readouterr().out.startswith("out.parquet: ok. ")
    assert main([
        "verify", "out.parquet", "--source", "patients.parquet", "--private", "mine.json"
    ]) == 0
    assert "proven by the file, its source and the private part" in capsys.readouterr().out
    fewer = pq.read_table("out.parquet").slice(1)
    with pq.ParquetWriter("forged.parquet", fewer.schema, store_schema=False) as forged:
        forged.write_table(fewer)
        forged.add_key_value_metadata(fewer.schema.metadata)
    assert main(["verify", "forged.parquet"]) == 1
    assert "wrong. The file has 59 rows" in capsys.readouterr().out
    assert main(["verify", "nowhere.parquet"]) == 2
    assert main(["release", "patients.parquet", "--to", "out.parquet"]) == 2
    assert capsys.readouterr().err.startswith("kanon: There is no file 'nowhere.parquet'.")


@pytest.mark.slow
def test_a_table_of_a_database_file_in_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE people AS SELECT i % 3 AS age FROM range(12) AS r(i)")
    given = ["--database", "our.duckdb"]
    assert main(["release", "people", "--to", "out.parquet", "--k", "4", "--private", "parts",
                 *given]) == 0
    with duckdb.connect("our.duckdb") as con:
        ((private,),) = con.execute("SELECT private FROM parts").fetchall()
    assert main(["verify", "out.parquet", "--source", "people", "--private", private, *given]) == 0
    assert main(["release", "people", "--to", "out.parquet", "--k", "4", "--database", "."]) == 2
    assert "DuckDB can't open '.'" in capsys.readouterr().err


def test_a_verification_is_explained_in_sentences(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    con.sql("FROM patients").write_parquet("patients.parquet")
    assert main([
        "release", "patients.parquet", "--to", "out.parquet", "--private", "mine.json", "--k", "4",
        "--identifiers", "name", "--sensitive", "disease", "--l", "2",
        "--quasi-identifiers", "age,zip,job",
    ]) == 0
    assert main(["verify", "out.parquet", "--explain"]) == 0
    alone = capsys.readouterr().out
    assert "- Each combination of quasi-identifiers is in 4 rows or more, counted" in alone
    assert re.search(r"- The worst class has l \(disease\) = [23]; 2 was requested\.", alone)
    assert "- The file alone doesn't prove" in alone
    assert main(["verify", "out.parquet", "--explain", "--source", "patients.parquet",
                 "--private", "mine.json"]) == 0
    whole = capsys.readouterr().out
    assert "- The source was released again" in whole and "doesn't prove" not in whole
    table = pq.read_table("out.parquet")
    with pq.ParquetWriter("forged.parquet", table.schema, store_schema=False) as forged:
        forged.write_table(table.slice(1))
        forged.add_key_value_metadata(pq.read_metadata("out.parquet").metadata)
    assert main(["verify", "forged.parquet", "--explain"]) == 1
    assert "- Wrong: " in capsys.readouterr().out
