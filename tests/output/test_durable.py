"""What is on the disk before a file gets its name, and what is put back where it gets none."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.duckdb.session import UNBEGUN, Session
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.files.draft import named
from kanon_sql.files.state import State
from kanon_sql.output.whole import beside

GIVEN: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "zip"], "sensitive": ["disease"], "entity": "name",
    "others": "drop",
    "method": "mdav_plus", "seed": 3,
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is synchronized and named, in its order."""
    if sys.platform != "linux":
        pytest.skip("asks Linux for the name of what is open")
    seen: list[tuple[str, str]] = []
    sync = os.fsync

    def fsync(opened: int) -> None:
        seen.append(("sync", Path(f"/proc/self/fd/{opened}").readlink().name))
        sync(opened)

    monkeypatch.setattr(os, "fsync", fsync)
    for kind in ("replace", "rename"):
        real = getattr(Path, kind)

        def naming(self: Path, to: Path, real: Any = real) -> Any:
            seen.append(("name", Path(to).name))
            return real(self, to)

        monkeypatch.setattr(Path, kind, naming)
    return seen


def test_a_file_has_its_bytes_before_its_name(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    with beside(tmp_path / "o.csv") as draft:
        Path(draft).write_text("a")
    assert calls == [("sync", "rows"), ("name", "o.csv"), ("sync", tmp_path.name)]


def test_so_has_a_folder(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    work = tmp_path / "o.kanon-draft"
    (work / "out").mkdir(parents=True)
    (work / "out" / "part-00000.parquet").write_text("a")
    named(work, tmp_path / "o", {})
    place = calls.index(("name", "o"))
    assert {("sync", "part-00000.parquet"), ("sync", "_metrics.json"), ("sync", "out")} <= set(
        calls[:place]
    )
    assert calls[place + 1:] == [("sync", tmp_path.name)]
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def test_a_step_is_noted_when_what_it_made_is_there(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "rows").write_text("a")
    State(tmp_path, {}).done("spool 0", [], tmp_path / "spool")
    place = calls.index(("name", "state.json"))
    assert {("sync", "rows"), ("sync", "spool"), ("sync", tmp_path.name)} <= set(calls[:place])


def test_a_folder_that_gets_no_lock_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def full(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith(".tmp"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(DataError, match="is full"), beside(tmp_path / "o.csv"):
        pytest.fail("begun")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_may_open_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise duckdb.IOException('Cannot open file "/proc/self/cgroup": Too many open files')

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(DataError) as refused:
        Session(None)
    assert str(refused.value) == UNBEGUN


@pytest.fixture
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file gets the name of the release."""
    real = Path.replace

    def denied(self: Path, to: Path) -> Any:
        if Path(to).name == "o.parquet":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return real(self, to)

    monkeypatch.setattr(Path, "replace", denied)


@pytest.mark.slow
@pytest.mark.parametrize("before", [None, {"seed": 1}])
def test_the_private_part_of_the_release_that_stays_stays(
    before: Any, con: duckdb.DuckDBPyConnection, tmp_path: Path, unnamed: None
) -> None:
    private = tmp_path / "o.json"
    if before is not None:
        private.write_text(json.dumps(before))
    with pytest.raises(DataError, match="Permission denied"):
        kanon_sql.release(
            "patients", con=con, to=tmp_path / "o.parquet", private=private, **GIVEN
        )
    assert [json.loads(path.read_text()) for path in tmp_path.iterdir()] == (
        [] if before is None else [before]
    )


@pytest.mark.slow
def test_a_ledger_has_no_release_that_got_no_name(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, unnamed: None
) -> None:
    def release(to: str, **more: Any) -> None:
        kanon_sql.release("patients", con=con, to=tmp_path / to, ledger="seen", **more, **GIVEN)

    with pytest.raises(DataError, match="Permission denied"):
        release("o.parquet", headroom=1)
    with pytest.raises(OptionError, match="There is no ledger"):
        release("a.parquet")
    release("a.parquet", headroom=1)
    entered = con.execute("FROM seen ORDER BY ALL").fetchall()
    with pytest.raises(DataError, match="Permission denied"):
        release("o.parquet")
    assert con.execute("FROM seen ORDER BY ALL").fetchall() == entered
    release("b.parquet")
    assert con.execute("SELECT max(release) FROM seen").fetchone() == (2,)


def test_a_ledger_that_cant_be_set_right_is_told(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanon_sql.api.ledger_entry import Entered, LedgerEntry
    from kanon_sql.call.relation import Relation

    con.execute("CREATE TABLE seen AS SELECT 1 AS release")
    entry = LedgerEntry(Relation("seen", ("seen",)), False)
    with (
        pytest.raises(ReleaseError, match="Delete the rows of release 1 there"),
        Entered(con, entry, "o.parquet") as entered,
    ):
        entered.is_committed()
        con.execute("INSERT INTO seen VALUES (2)")  # another release went on from it
        raise OSError(errno.EACCES, "Permission denied")
    assert con.execute("SELECT count(*) FROM seen").fetchone() == (2,)


def test_a_ledger_that_the_disk_refuses_has_not_changed() -> None:
    from kanon_sql.api.ledger_entry import LedgerEntry, unmoved
    from kanon_sql.call.relation import Relation

    entry = LedgerEntry(Relation("seen", ("seen",)), False)
    for text, kind, said in (
        ("TransactionContext Error: Conflict on update!", ReleaseError, "changed while it was"),
        ("TransactionContext Error: Failed to commit: Could not set lock on file", DataError,
         "can't be written"),
    ):
        with pytest.raises(kind, match=said), unmoved(entry):
            raise duckdb.TransactionException(text)


def test_a_draft_whose_removal_fails_once_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = os.unlink, []

    def once(path: Any, **named: Any) -> None:
        if not failed:
            failed.append(path)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        real(path, **named)

    with pytest.raises(KeyboardInterrupt), beside(tmp_path / "o.csv") as draft:
        Path(draft).write_text("half")
        monkeypatch.setattr(os, "unlink", once)
        raise KeyboardInterrupt
    assert failed and list(tmp_path.iterdir()) == []
