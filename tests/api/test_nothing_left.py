"""A run that fails or is stopped leaves no file, whole or in part, and no draft: by every door that
tests/api/test_release.py and tests/files/test_resume.py don't stop at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.blocks import driver
from kanon_sql.cli import targets
from kanon_sql.errors import DataError
from kanon_sql.files import engine
from tests.support.shell import Shell

Connection = duckdb.DuckDBPyConnection
CALL = ("-k", "4", "-i", "name", "-s", "disease", "-m", "mdav_plus", "--quiet")
FILES: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["a", "b"], "sensitive": ["s"], "progress": False,
}
PLACES = [
    ("out.parquet",), ("out.csv.gz",), ("new.duckdb::t",), ("parts", "--partition-by", "disease"),
    ("-", "--format", "parquet"),
]


def left() -> list[str]:
    """All that lies in the working folder, hidden or not."""
    return sorted(str(path) for path in Path().rglob("*"))


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A connection with a table, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(
            "CREATE TABLE long AS SELECT hash(i) % 9973 AS a, hash(i + 1) % 9967 AS b, i % 7 AS s "
            "FROM range(2000) AS r(i)"
        )
        yield con


@pytest.mark.sample(1)
@pytest.mark.parametrize("place", [
    "'out.parquet' (FORMAT parquet)", "'out.parquet' (FORMAT parquet, USE_TMP_FILE true)",
    "'parts' (FORMAT parquet, PARTITION_BY (s))",
])
@pytest.mark.parametrize("stopped", [True, False], ids=["interrupted", "refused"])
def test_copy(place: str, stopped: bool, long: Connection) -> None:
    asked = "method := 'best', refine_steps := 100000000000" if stopped else "k := 2001"
    if stopped:
        asked += ", k := 5"
    text = f"COPY (FROM anonymize('long', {asked}, sensitive := ['s'])) TO {place}"
    timer = threading.Timer(1, long.interrupt)
    if stopped:
        timer.start()
    with pytest.raises(duckdb.InterruptException if stopped else duckdb.Error):
        long.execute(text)
    timer.cancel()
    # DuckDB makes the folder of partitions before the query runs; nothing lies in it
    assert left() in ([], ["parts"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place[0])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left"), MemoryError])
def test_the_shell_when_all_is_written_but_for_the_name(
    place: tuple[str, ...], failure: Any, patients: Path, shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = targets.bound
    written = []

    def failing(con: Connection, text: str) -> Any:
        found = real(con, text)
        if text.startswith(("COPY", "CREATE OR REPLACE TABLE")):
            written.append(left())
            raise failure
        return found

    monkeypatch.setattr(targets, "bound", failing)
    try:
        assert shell("anonymize", str(patients), *CALL, "-o", *place) != 0
    except BaseException as raised:
        if not isinstance(raised, MemoryError):
            raise
    assert written and left() == ["patients.parquet"]


def _at(step: str) -> Callable[[pytest.MonkeyPatch, BaseException], None]:
    def patch(patching: pytest.MonkeyPatch, failure: BaseException) -> None:
        def fail(*_: Any) -> Any:
            raise failure
        where = {"write": engine.Files, "learn": driver}.get(step, engine)
        patching.setattr(where, step, fail)
    return patch


@pytest.mark.sample(1)
@pytest.mark.parametrize("step", ["survey", "learn", "spool", "release_block", "write"])
def test_files_that_are_refused_leave_no_draft(
    step: str, long: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    long.execute("COPY long TO 'long.parquet' (FORMAT parquet)")
    _at(step)(monkeypatch, DataError("It can't be released."))
    with pytest.raises(DataError, match=r"It can't be released\."):
        kanon_sql.anonymize_files("long.parquet", "out", **FILES)
    assert left() == ["long.parquet"]


def test_files_that_are_refused_by_the_query_leave_no_draft(long: Connection) -> None:
    long.execute("COPY long TO 'long.parquet' (FORMAT parquet)")
    with pytest.raises(DataError, match="fewer than k = 3000"):
        kanon_sql.anonymize_files("long.parquet", "out", **{**FILES, "k": 3000})
    assert left() == ["long.parquet"]


@pytest.mark.slow
def test_a_draft_is_kept_where_there_was_no_room(
    long: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    long.execute("COPY long TO 'long.parquet' (FORMAT parquet)")
    with monkeypatch.context() as patch:
        _at("write")(patch, OSError(28, "No space left on device"))
        with pytest.raises(DataError, match=r"The disk of .* is full"):
            kanon_sql.anonymize_files("long.parquet", "out", **FILES)
    assert "out.kanon-draft/state.json" in left()
    kanon_sql.anonymize_files("long.parquet", "out", **FILES)
    assert [name for name in left() if "draft" in name] == []
