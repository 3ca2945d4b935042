"""What a run of files leaves that is refused in its midst: no draft, and the output of before."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError
from kanon_sql.files import draft, release
from kanon_sql.files.draft import named
from kanon_sql.output.faults import AGAIN

GIVEN: dict[str, Any] = {"k": 5, "quasi_identifiers": ["age"], "progress": False}


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "in.parquet"
    duckdb.execute(f"COPY (SELECT i % 40 AS age FROM range(200) AS r(i)) TO '{path}'")
    return str(path)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "in.parquet")


def fails(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def test_an_output_that_gets_no_name_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, target, real = tmp_path / "o.kanon-draft", tmp_path / "o", Path.rename
    (work / "out").mkdir(parents=True)
    target.mkdir()
    (target / "old").write_text("a release of before")

    def denied(self: Path, to: Path) -> Any:
        return fails() if self.name == "out" else real(self, to)

    monkeypatch.setattr(Path, "rename", denied)
    with pytest.raises(PermissionError):
        named(work, target, {})
    assert [path.name for path in target.iterdir()] == ["old"]


def test_the_old_output_is_never_taken_away_with_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "o.kanon-draft"
    (work / "before").mkdir(parents=True)
    (work / "before" / "old").write_text("a release of before")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fails)
        draft.removed(work, tmp_path / "o")
    assert (work / "before" / "old").exists()
    draft.removed(work, tmp_path / "o")
    assert left(tmp_path) == ["o"]


def test_a_draft_that_gets_no_lock_is_not_left(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(PermissionError), draft.locked(tmp_path / "o"):
        pytest.fail("begun")
    assert left(tmp_path) == []


@pytest.mark.parametrize("error", [
    duckdb.IOException("Could not read from file"), OSError(errno.EIO, os.strerror(errno.EIO)),
])
def test_what_fails_before_the_first_step_leaves_no_draft(
    error: Exception, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(release, "input_digest", broken)
    with pytest.raises(DataError):
        kanon_sql.anonymize_files(source, tmp_path / "o", **GIVEN)
    assert left(tmp_path) == []


@pytest.mark.slow
def test_what_fails_at_the_last_step_leaves_no_draft(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "named", fails)
    with pytest.raises(DataError, match="Permission denied") as refused:
        kanon_sql.anonymize_files(source, tmp_path / "o", **GIVEN)
    assert AGAIN not in str(refused.value)
    assert left(tmp_path) == []


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_a_lack_of_memory_of_python_is_told_and_can_be_gone_on_from(
    error: Exception, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(release, "release_in_blocks", broken)
    with pytest.raises(DataError) as refused:
        kanon_sql.anonymize_files(source, tmp_path / "o", **GIVEN)
    assert str(refused.value) == release.LITTLE_FOR_BLOCKS
    assert left(tmp_path) == ["o.kanon-draft"]


def test_an_error_of_ours_is_not_taken_for_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(release, "release_in_blocks", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        kanon_sql.anonymize_files(source, tmp_path / "o", **GIVEN)
