"""kanon run: releases of one file that would be written over each other are refused before any."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import Shell

TABLE = """\
[tables.{0}]
input = "patients.parquet"
options = {{ k = 4, quasi_identifiers = ["age", "zip"], others = "drop" }}
{1}
"""


def described(first: str, second: str) -> None:
    Path("kanon.toml").write_text(TABLE.format("a", first) + TABLE.format("b", second))


@pytest.mark.parametrize(("first", "second", "said"), [
    ('output = "out.csv"', 'output = "out.csv"', "The table 'a' writes 'out.csv', too."),
    ('output = "out.csv"', 'output = "here/../out.csv"', "The table 'a' writes 'out.csv', too."),
    ('output = "out.csv"', 'output = "linked/out.csv"', "The table 'a' writes 'out.csv', too."),
    ('output = "new.duckdb::t"', 'output = "new.duckdb::main.T"',
     "The table 'a' writes 'new.duckdb::t', too."),
    ('output = "a.parquet"\nprivate = "mine.json"', 'output = "b.parquet"\nprivate = "./mine.json"',
     "The table 'a' writes 'mine.json', too."),
    ('output = "a.parquet"\nprivate = "mine.json"', 'output = "mine.json"',
     "The table 'a' writes 'mine.json', too."),
    ('output = "a/"\nledger_to = "entries.parquet"', 'output = "b/"\nledger_to = "entries.parquet"',
     "The table 'a' writes 'entries.parquet', too."),
    ('output = "out/"', 'output = "out"\npartition_by = "zip"',
     "The table 'a' writes 'out/', too."),
    ('output = "out/"', 'output = "out/b.csv"',
     "'out/b.csv' and 'out/', which the table 'a' writes, are one inside the other."),
    ('output = "out/b/"', 'output = "out/"',
     "'out/' and 'out/b/', which the table 'a' writes, are one inside the other."),
])
def test_two_releases_in_one_place_are_refused(
    first: str, second: str, said: str, patients: Path, shell: Shell
) -> None:
    Path("here").mkdir()
    Path("out").mkdir()
    Path("linked").symlink_to(".")
    described(first, second)
    before = sorted(Path.cwd().rglob("*"))
    for more in ((), ("--overwrite",), ("--dry-run",)):
        assert shell("run", *more) == 2
        assert shell.err.startswith("kanon: kanon.toml, line "), shell.err
        assert shell.err.endswith(f": {said} Name another place.\n"), shell.err
        assert sorted(Path.cwd().rglob("*")) == before


@pytest.mark.slow
def test_one_of_them_and_tables_of_one_file_are_made(patients: Path, shell: Shell) -> None:
    described('output = "out.csv"', 'output = "out.csv"')
    assert shell("run", "kanon.toml", "a", "a") == 0
    assert shell.err.count("rows in out.csv") == 1
    described('output = "new.duckdb::a"', 'output = "new.duckdb::b"')
    assert shell("run") == 0, shell.err


@pytest.mark.slow
def test_partitions_of_one_folder_may_be_those_of_two_tables(
    patients: Path, shell: Shell
) -> None:
    parted = 'output = "out"\npartition_by = "job"'
    described(parted, parted)
    text = Path("kanon.toml").read_text().replace('"zip"]', '"zip"], within = "job"')
    for name, job in (("a", "Nurse"), ("b", "Cook")):
        Path(f"{name}.csv").write_text("age,zip,job\n" + f"30,1000,{job}\n" * 9)
        text = text.replace("patients.parquet", f"{name}.csv", 1)
    Path("kanon.toml").write_text(text)
    assert shell("run") == 2
    assert not Path("out").exists()
    assert shell("run", "--overwrite") == 0, shell.err
    assert {each.name for each in Path("out").iterdir()} == {"job=Nurse", "job=Cook"}
