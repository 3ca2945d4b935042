"""Codes in the shell: kanon roles --toml writes their hierarchies, and one word applies them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.columns_of_codes import MIXED
from tests.support.shell import Shell

PATIENTS = f"""
    COPY (SELECT 10115 + {MIXED} % 60 * 101 AS zip, 501 + {MIXED} % 60 * 997 AS zip_code,
                 20 + i % 60 AS age, ['flu', 'cough'][1 + i % 2] AS disease
          FROM range(400) AS r(i)) TO 'patients.parquet'
"""


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    duckdb.execute(PATIENTS)


def released(path: str) -> list[tuple[Any, ...]]:
    return duckdb.execute(f"SELECT * FROM '{path}' ORDER BY ALL").fetchall()


GIVEN = ("-k", "4", "--sensitive", "disease", "-q", "zip,zip_code,age", "--effort", "fast",
         "--no-progress")


@pytest.mark.slow
@pytest.mark.usefixtures("patients")
def test_the_file_to_begin_with_has_the_hierarchies_and_runs(shell: Shell) -> None:
    assert shell("roles", "patients.parquet", "--toml") == 0
    text = shell.out
    assert """[tables.patients.hierarchies]
zip = "prefix"
zip_code = { kind = "bins", width = 10, factor = 10, levels = 5 }
""" in text and "age =" not in text.partition("hierarchies]")[2]
    Path("kanon.toml").write_text(text)
    assert shell("run", "kanon.toml") == 0
    assert any(str(row[0]).endswith("*") for row in released("patients_released.parquet"))


@pytest.mark.slow
@pytest.mark.usefixtures("patients")
def test_one_word_applies_them(shell: Shell) -> None:
    kinds = 'zip=prefix', 'zip_code={"kind": "bins", "width": 10, "factor": 10, "levels": 5}'
    stated = [word for kind in kinds for word in ("--hierarchies", kind)]
    assert shell("anonymize", "patients.parquet", *GIVEN, *stated, "-o", "stated.parquet") == 0
    assert shell(
        "anonymize", "patients.parquet", *GIVEN, "--hierarchies", "suggested", "-o", "word.parquet"
    ) == 0
    assert released("stated.parquet") == released("word.parquet")
    Path("kanon.toml").write_text("""
        [tables.p]
        input = "patients.parquet"
        output = "toml.parquet"
        hierarchies = "suggested"

        [tables.p.options]
        k = 4
        quasi_identifiers = ["zip", "zip_code", "age"]
        sensitive = ["disease"]
        effort = "fast"
    """)
    assert shell("run", "kanon.toml") == 0
    assert released("toml.parquet") == released("word.parquet")


@pytest.mark.slow
@pytest.mark.usefixtures("patients")
def test_a_release_records_them_and_is_proven_from_its_source(shell: Shell) -> None:
    assert shell(
        "release", "patients.parquet", *GIVEN, "--hierarchies", "suggested", "-o", "r.parquet",
        "--private", "r.json",
    ) == 0
    assert shell("verify", "r.parquet", "--source", "patients.parquet", "--private", "r.json",
                 "--json") == 0
    told = json.loads(shell.out)
    assert "wrong" not in str(told)
    ((manifest,),) = duckdb.execute(
        "SELECT decode(value) FROM parquet_kv_metadata('r.parquet') WHERE decode(key) = 'kanon'"
    ).fetchall()
    assert set(json.loads(manifest)["hierarchies"]) == {"zip", "zip_code"}


@pytest.mark.usefixtures("patients")
def test_the_notice_is_told_as_it_is_typed(shell: Shell) -> None:
    assert shell("roles", "patients.parquet") == 0
    assert "Say --hierarchies suggested, or give this column 'prefix'." in shell.out
