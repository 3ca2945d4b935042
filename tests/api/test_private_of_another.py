"""A file with the private part of one release is not replaced by that of another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.support.shell import Shell

CALL: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}
SAID = (
    "private names 'mine.json', which has the private part of another release. Name another file, "
    "or delete it if that release needs no proof."
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(con: duckdb.DuckDBPyConnection, to: str) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with pytest.raises(kanon_sql.OptionError) as caught:
        # that there are too few rows is found out later
        kanon_sql.release("patients", con=con, to=to, private="mine.json", **{**CALL, "k": 61})
    assert str(caught.value) == SAID
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_the_private_part_of_another_release_stays(con: duckdb.DuckDBPyConnection) -> None:
    Path("there").mkdir()
    done = kanon_sql.release("patients", con=con, to="one.parquet", private="mine.json", **CALL)
    assert done.private is not None and done.private["file"] == "one.parquet"
    for to in ("two.parquet", "there/one.parquet"):
        refused(con, to)
    kanon_sql.release("patients", con=con, to="two.parquet", private="other.json", **CALL)
    refused(con, "two.parquet")


@pytest.mark.slow
def test_a_release_that_is_made_again_gets_its_private_part(
    con: duckdb.DuckDBPyConnection,
) -> None:
    def again(to: str) -> None:
        kanon_sql.release("patients", con=con, to=to, private="mine.json", **CALL)
        found = kanon_sql.verify(to, con=con, source="patients", private="mine.json")
        assert found.ok, found.sentence

    Path("mine.json").write_text('{"of": "no release"}')
    Path("there").mkdir()
    again("there/one.parquet")
    again("there/../there/one.parquet")
    # nobody asked for a private part meanwhile, or the file is gone
    kanon_sql.release("patients", con=con, to="there/one.parquet", **CALL)
    again("there/one.parquet")
    Path("there/one.parquet").unlink()
    again("there/one.parquet")
    # the file alone was moved
    shutil.move("there/one.parquet", "one.parquet")
    again("one.parquet")
    # an earlier version, which did not tell the file
    held = json.loads(Path("mine.json").read_text())
    del held["file"]
    Path("mine.json").write_text(json.dumps(held))
    refused(con, "there/one.parquet")
    again("one.parquet")


def test_the_shell_refuses_it_too(patients: Path, shell: Shell) -> None:
    call = ("-k", "4", "-i", "name", "-s", "disease", "--private", "mine.json")
    assert shell("release", "patients.parquet", "-o", "one.parquet", *call) == 0
    assert shell("release", "patients.parquet", "-o", "one.parquet", *call) == 0
    assert shell("release", "patients.parquet", "-o", "two.parquet", *call) == 2
    assert shell.err == f"kanon: {SAID}\n"
    assert not Path("two.parquet").exists()
