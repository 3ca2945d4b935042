"""A release in a folder such as year=2026 is what it is elsewhere: no folder is a column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.cli.main import main
from kanon_sql.data import adult

CALL: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "sex"], "sensitive": ["occupation"], "others": "drop",
    "method": "k_member", "hierarchies": {"sex": "flat"},
}
SHELL = (
    "-k", "5", "-q", "age,sex", "-s", "occupation", "--others", "drop", "-m", "k_member",
    "--hierarchies", "sex=flat",
)


def _release(to: str) -> None:
    with duckdb.connect() as con:
        kanon_sql.release(kanon_sql.register(con), "source.parquet", to=to, **CALL)


def _files(to: str) -> None:
    kanon_sql.anonymize_files("source.parquet", to, progress=False, block_rows=200, **CALL)


def _shell(*words: str) -> Callable[[str], None]:
    def run(to: str) -> None:
        assert main([words[0], "source.parquet", "-o", to, *words[1:], *SHELL]) == 0
    return run


DOORS: dict[str, tuple[Callable[[str], None], str]] = {
    "release": (_release, "out.parquet"), "kanon release": (_shell("release"), "out.parquet"),
    "kanon anonymize, a file": (_shell("anonymize", "--quiet"), "out.parquet"),
    "kanon anonymize, partitions": (
        _shell("anonymize", "--quiet", "--partition-by", "occupation"), "parts"
    ),
    "anonymize_files": (_files, "age=99"),
}


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_release_in_a_folder_with_a_value_in_its_name_is_that_of_any_folder(
    door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    duckdb.execute(f"COPY (FROM '{adult()}' LIMIT 500) TO 'source.parquet' (FORMAT parquet)")
    write, name = DOORS[door]
    hive, plain = Path("year=2026") / "sex=Nobody", Path("plain")
    for folder in (hive, plain):
        folder.mkdir(parents=True)
        write(str(folder / name))
    made = sorted(path.relative_to(hive) for path in hive.rglob("*.parquet"))
    assert made and made == sorted(path.relative_to(plain) for path in plain.rglob("*.parquet"))
    for path in made:
        assert pq.ParquetFile(hive / path).read().equals(pq.ParquetFile(plain / path).read())
        if "release" in door:
            assert kanon_sql.verify(hive / path).ok
