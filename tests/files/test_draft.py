"""The folder that a run works in: one run's, never a part of the input, and nothing is lost where a
run is killed while the output gets its name."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError, OptionError
from kanon_sql.files import draft, engine
from tests.files.lakes import OPTIONS, bytes_of, make_lake

GIVEN: dict[str, Any] = {**OPTIONS, "block_rows": 700, "threads": 1}


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_lake(tmp_path_factory.mktemp("lake"), 3000)


@pytest.fixture(scope="module")
def whole(lake: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole") / "out"
    kanon_sql.anonymize_files(lake, folder, **GIVEN)
    return bytes_of(folder)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["before the output goes", "before it comes", "before the draft"])
def test_a_run_killed_while_it_ends_has_lost_nothing(
    step: str, lake: str, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    kanon_sql.anonymize_files(lake, out, **{**GIVEN, "k": 9})
    old, real, renamed = bytes_of(out), Path.rename, []

    def renaming(self: Path, target: Any) -> Any:
        renamed.append(target)
        if len(renamed) > ["before the output goes", "before it comes"].index(step):
            raise Stopped
        return real(self, target)

    def stopping(_: Path) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        if step == "before the draft":
            patch.setattr(draft, "removed", stopping)
        else:
            patch.setattr(Path, "rename", renaming)
        with pytest.raises(Stopped):
            kanon_sql.anonymize_files(lake, out, overwrite=True, **GIVEN)
    if step != "before the draft":
        # any run puts the old output back, though it asks for something else
        with pytest.raises(OptionError, match="not empty"):
            kanon_sql.anonymize_files(lake, out, **GIVEN)
        assert bytes_of(out) == old
    again = kanon_sql.anonymize_files(lake, out, overwrite=True, **GIVEN)
    assert bytes_of(out) == whole and again.rows == 3000
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_what_another_run_left_is_no_part_of_the_output(
    lake: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    left = tmp_path / "out.kanon-draft" / "out"
    left.mkdir(parents=True)
    shutil.copy(next(Path(lake).parent.glob("*.parquet")), left / "part-00007.parquet")
    kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    assert bytes_of(tmp_path / "out") == whole


@pytest.mark.slow
def test_no_folder_of_the_user_is_taken_away(lake: str, tmp_path: Path) -> None:
    out, own = tmp_path / "out", tmp_path / "out.old"
    own.mkdir()
    (own / "precious.txt").write_text("mine", encoding="utf-8")
    for _ in range(2):
        kanon_sql.anonymize_files(lake, out, overwrite=True, **GIVEN)
    assert (own / "precious.txt").read_text(encoding="utf-8") == "mine"


def test_the_input_is_never_written_over(tmp_path: Path) -> None:
    own = make_lake(tmp_path / "lake", 3000)
    before = bytes_of(tmp_path / "lake")
    with pytest.raises(OptionError, match="is among the files that are read"):
        kanon_sql.anonymize_files(own, tmp_path / "lake", overwrite=True, **GIVEN)
    assert bytes_of(tmp_path / "lake") == before
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


@pytest.mark.slow
def test_the_output_is_never_read_as_input(tmp_path: Path) -> None:
    make_lake(tmp_path / "lake", 3000)
    pattern, out = f"{tmp_path}/lake/**/*.parquet", tmp_path / "lake" / "out"
    with pytest.raises(OptionError, match="would read what is written"):
        kanon_sql.anonymize_files(pattern, out, **GIVEN)
    assert not (tmp_path / "lake" / "out.kanon-draft").exists()
    # a pattern that reads no folders below may have the output there
    kanon_sql.anonymize_files(f"{tmp_path}/lake/*.parquet", out, **GIVEN)
    assert kanon_sql.anonymize_files(
        f"{tmp_path}/lake/*.parquet", out, overwrite=True, **GIVEN
    ).rows == 3000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such lock")
def test_two_runs_do_not_write_one_output(
    lake: str, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real, tried = tmp_path / "out", engine.release_block, []

    def meanwhile(*given: Any) -> Any:
        if not tried:
            tried.append(True)
            for more in ({}, {"resume": False}, {"k": 6}):
                with pytest.raises(OptionError, match="Another run writes"):
                    kanon_sql.anonymize_files(lake, out, **{**GIVEN, **more})
        return real(*given)

    monkeypatch.setattr(engine, "release_block", meanwhile)
    kanon_sql.anonymize_files(lake, out, **GIVEN)
    assert tried and bytes_of(out) == whole


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
def test_nobody_else_may_read_a_draft(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    real = engine.release_block
    monkeypatch.setattr(engine, "release_block", lambda *given: (
        seen.append((tmp_path / "out.kanon-draft").stat().st_mode & 0o777), real(*given)
    )[1])
    kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    assert set(seen) == {0o700}
    (tmp_path / "other").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def stopped_at(lake: Any, out: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    """A run that ends when all its blocks are done."""
    def stopping(*_: Any) -> Any:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(engine.Files, "write", stopping)
        with pytest.raises(Stopped):
            kanon_sql.anonymize_files(lake, out, **{**GIVEN, **more})


@pytest.mark.slow
def test_hierarchies_that_changed_are_not_gone_on_with(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def levels(label: str) -> None:
        with duckdb.connect() as con:
            con.execute(
                f"COPY (SELECT DISTINCT country AS level0, {label} AS level1, '*' AS level2 "
                f"FROM '{lake}' WHERE country IS NOT NULL) TO '{tmp_path}/levels.parquet'"
            )

    more = {"hierarchies": {"country": str(tmp_path / "levels.parquet")}}
    levels("left(country, 1)")
    stopped_at(lake, tmp_path / "out", monkeypatch, **more)
    levels("'to ' || right(country, 1)")
    with pytest.raises(OptionError, match="the hierarchies changed"):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **more, **GIVEN)
    levels("left(country, 1)")
    assert kanon_sql.anonymize_files(lake, tmp_path / "out", **more, **GIVEN).rows == 3000


@pytest.mark.slow
def test_files_of_any_name_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "joe's"
    make_lake(tmp_path / "lake", 3000)
    shutil.copytree(tmp_path / "lake", folder)
    files = [str(path) for path in sorted(folder.glob("*.parquet"))]
    stopped_at(files, tmp_path / "out", monkeypatch)
    with duckdb.connect() as con:
        again = files[0].replace("'", "''")
        con.execute(f"CREATE TABLE t AS FROM '{again}'")
        con.execute(
            f"COPY (SELECT * REPLACE (age + 1 AS age) FROM t) TO '{again}' (FORMAT parquet)"
        )
    with pytest.raises(OptionError, match="the input changed"):
        kanon_sql.anonymize_files(files, tmp_path / "out", **GIVEN)


@pytest.mark.parametrize(("to", "said"), [
    ("/", "the root of a file system"), ("o[1]", "reads as a pattern"), ("no/such/out",
                                                                         "Make it first"),
    ("", "to is not given"),
])
def test_folders_that_cannot_be_written(
    to: str, said: str, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=said):
        kanon_sql.anonymize_files(lake, to, **GIVEN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_too_little_memory_is_one_sentence_and_its_draft_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lake: str, whole: dict[str, bytes]
) -> None:
    real = engine.release_block

    def short(con: Any, request: Any, call: Any, learned: Any, block: Any, to: Path) -> Any:
        if block.first == 2:
            raise duckdb.OutOfMemoryException("Out of Memory Error: 'a value'\n\nPossible ...")
        return real(con, request, call, learned, block, to)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "release_block", short)
        with pytest.raises(DataError, match="The memory is too little") as refused:
            kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    assert "\n" not in str(refused.value) and "a value" not in str(refused.value)
    assert (tmp_path / "out.kanon-draft" / "state.json").exists()
    kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    assert bytes_of(tmp_path / "out") == whole


def test_a_damaged_file_is_one_sentence_and_leaves_no_draft(tmp_path: Path) -> None:
    own = make_lake(tmp_path / "lake", 3000)
    path = sorted((tmp_path / "lake").glob("*.parquet"))[1]
    data = bytearray(path.read_bytes())
    data[200:900] = bytes(700)
    path.write_bytes(bytes(data))
    with pytest.raises(DataError) as refused:
        kanon_sql.anonymize_files(own, tmp_path / "out", **GIVEN)
    assert "\n" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


@pytest.mark.slow
def test_an_input_that_grows_meanwhile_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, real = make_lake(tmp_path / "lake", 3000), engine.spool

    def growing(*given: Any) -> Any:
        shutil.copy(tmp_path / "lake" / "part-0.parquet", tmp_path / "lake" / "z.parquet")
        return real(*given)

    monkeypatch.setattr(engine, "spool", growing)
    with pytest.raises(DataError, match="changed while they were read"):
        kanon_sql.anonymize_files(own, tmp_path / "out", **GIVEN)
    assert not (tmp_path / "out.kanon-draft").exists()
