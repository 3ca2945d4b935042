"""Places that are no files, and who may read a file that is replaced."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from tests.support.shell import Shell

ROLES = ("-q", "age,zip", "-s", "disease", "--others", "drop")
GIVEN = {
    "k": 4, "quasi_identifiers": ["age", "zip"], "sensitive": ["disease"], "others": "drop",
    "seed": 1,
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("command", [
    ("anonymize", "patients.parquet", "-k", "4", *ROLES, "--format", "csv"),
    ("release", "patients.parquet", "-k", "4", *ROLES),
    ("hierarchy", "patients.parquet", "age", "bins", "--format", "csv"),
])
def test_a_pipe_is_not_replaced(command: tuple[str, ...], patients: Path, shell: Shell) -> None:
    os.mkfifo("pipe")
    assert shell(*command, "-o", "pipe") == 2
    assert "names 'pipe', which is not a regular file" in shell.err
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert sorted(path.name for path in Path().iterdir()) == ["patients.parquet", "pipe"]


def test_nor_is_one_that_a_private_part_names(patients: Path) -> None:
    os.mkfifo("private.json")
    with pytest.raises(OptionError, match="which is not a regular file"):
        kanon_sql.release("patients.parquet", to="out.parquet", private="private.json", **GIVEN)
    assert stat.S_ISFIFO(Path("private.json").stat().st_mode)
    assert not Path("out.parquet").exists()


def test_who_may_read_a_file_may_read_the_one_that_replaces_it(patients: Path) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE(Path(name).stat().st_mode)

    for permitted in (0o600, 0o664):
        for name in ("out.parquet", "private.json"):
            Path(name).write_bytes(b"old")
            Path(name).chmod(permitted)
        kanon_sql.release("patients.parquet", to="out.parquet", private="private.json", **GIVEN)
        assert duckdb.sql("SELECT count(*) FROM 'out.parquet'").fetchall() == [(60,)]
        assert json.loads(Path("private.json").read_text())["format"] == 1
        # what is secret is its owner's, whoever might read what was there
        assert (mode("out.parquet"), mode("private.json")) == (permitted, 0o600)
