"""What files beside a ledger refuse, and what doesn't come out."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.blocks import ledger
from kanon_sql.blocks.engine import Part
from kanon_sql.cli.main import main
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.files import beside_ledger, entries, release
from tests.files.ledgers import BLOCK, GIVEN, Begun, K, begin, fill, in_files, second
from tests.support.connections import registered

con = registered(scope="function")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    return begin(tmp_path_factory.mktemp("begun"))


@pytest.mark.slow
def test_a_release_that_breaks_the_promise_does_not_come_out(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(ledger.STAY, "knows_presence", lambda histories, present, k: present)
        with pytest.raises(ReleaseError, match=r"a person with an anonymity set of "
                                               r"[123]|combination"):
            second(begun[0], tmp_path)
    assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as patched:
        # all blocks number their classes alike
        patched.setattr(Part, "call_over", lambda part, block: part.learned.call)
        with pytest.raises(ReleaseError, match="other rows than the release"):
            in_files(tmp_path, 1, str(begun[0] / "two.parquet"), block_rows=BLOCK)
    assert [path.name for path in tmp_path.rglob("*")] == ["ledger"]
    (tmp_path / "ledger").rmdir()
    with monkeypatch.context() as patched:
        patched.setattr(
            beside_ledger, "published_sql", lambda call: "{'age': 1, 'class': '1', 'job': '1'}"
        )
        with pytest.raises(ReleaseError, match="other rows than the release"):
            second(begun[0], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_ledger_that_moves_meanwhile_is_refused(
    con: duckdb.DuckDBPyConnection, begun: Begun, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, _ = begun
    moving = tmp_path / "ledger.parquet"
    con.execute(f"COPY (FROM '{folder}/ledger/1.parquet') TO '{moving}'")
    real = release.release_beside_ledger

    def meanwhile(engine: Any, past_of: Any) -> Any:
        found = real(engine, past_of)
        con.execute(f"COPY (FROM '{folder}/ledger/1.parquet' WHERE class > 1) TO '{moving}'")
        return found

    monkeypatch.setattr(release, "release_beside_ledger", meanwhile)
    with pytest.raises(ReleaseError, match=r"the ledger '.*' changed while it was made"):
        second(folder, tmp_path / "to", ledger=str(moving))
    assert list((tmp_path / "to").iterdir()) == []


@pytest.mark.slow
def test_a_release_that_another_one_overtakes_is_told_so(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one enters the ledger before ours counts what can be linked with it, where the
    sets of persons are no longer what they were decided to be."""
    folder = tmp_path / "both"
    (folder / "ledger").mkdir(parents=True)
    for name in ("two.parquet", "ledger/1.parquet"):
        shutil.copy(begun[0] / name, folder / name)
    second(begun[0], tmp_path / "other")
    real = beside_ledger.EarlierInFiles.entered

    def meanwhile(*given: Any) -> Any:
        shutil.copy(tmp_path / "other" / "2.parquet", folder / "ledger" / "other.parquet")
        return real(*given)

    monkeypatch.setattr(beside_ledger.EarlierInFiles, "entered", meanwhile)
    with pytest.raises(ReleaseError, match=r"the ledger '.*' changed while it was made"):
        second(folder, tmp_path / "to")
    assert list((tmp_path / "to").iterdir()) == []


@pytest.mark.slow
def test_of_two_that_enter_a_ledger_at_once_one_is_refused(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that the ledger is what it was, before one of them enters it."""
    folder = tmp_path / "both"
    (folder / "ledger").mkdir(parents=True)
    for name in ("two.parquet", "ledger/1.parquet"):
        shutil.copy(begun[0] / name, folder / name)
    real, barrier, said = entries.Entering.refuse_moved, threading.Barrier(2), list[str]()

    def look(entering: entries.Entering) -> None:
        real(entering)
        with suppress(threading.BrokenBarrierError):  # the other one waits for its turn
            barrier.wait(10)

    def work(name: str) -> None:
        try:
            second(folder, tmp_path / name, ledger_to=folder / f"ledger/{name}.parquet")
        except ReleaseError as error:
            said.append(str(error))

    monkeypatch.setattr(entries.Entering, "refuse_moved", look)
    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 1 and "changed while it was made" in said[0]
    assert len(list((folder / "ledger").iterdir())) == 2
    assert sorted(len(list((tmp_path / name).iterdir())) for name in "ab") == [0, 1]


REFUSED: list[tuple[dict[str, Any], type[KanonError], str]] = [
    ({"ledger_to": None}, OptionError, "ledger_to is not given"),
    ({"ledger": None}, OptionError, "ledger_to is given, and nothing says"),
    ({"ledger": None, "headroom": 1, "ledger_to": None}, OptionError, "ledger_to is not given"),
    ({"ledger_to": "out.csv"}, OptionError, "Name one that ends in .parquet"),
    ({"ledger_to": "s3://b/2.parquet"}, OptionError, "can't be a Parquet file|not a Parquet file"),
    ({"ledger_to": "none/2.parquet"}, OptionError, "There is no folder"),
    ({"ledger": "none.parquet"}, OptionError, "none.parquet"),
    ({"ledger": "two"}, OptionError, "not a table, view, file or variable"),
    ({"l": 2}, OptionError, "was made with other privacy models"),
    ({"k": 3}, OptionError, "made with a larger k than 3"),
    ({"attacker": "knows_absence"}, OptionError, "kept against another attacker"),
    ({"quasi_identifiers": ["age", "class"], "others": "drop"}, OptionError, "none in this call"),
    ({"representation": "interval"}, OptionError, "publish in another form"),
    ({"method": "mondrian"}, OptionError, "mondrian"),
    ({"within": ["person"]}, OptionError, "within"),
    ({"entity": None}, OptionError, "no column identifies the person"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("more", "kind", "said"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_can_not_go_on_is_refused(
    begun: Begun, more: dict[str, Any], kind: type[KanonError], said: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {name: value for name, value in more.items() if value is not None}
    options = {**GIVEN, "ledger": f"{begun[0]}/ledger/*.parquet", "ledger_to": "2.parquet", **given}
    for name, value in more.items():
        if value is None:
            del options[name]
    if more.get("entity", "") is None:
        options["others"] = "drop"
    with pytest.raises(kind, match=said):
        kanon_sql.anonymize_files(begun[0] / "two.parquet", "out", **options)
    assert list(tmp_path.iterdir()) == []


def test_neither_the_folder_nor_the_input_gets_the_entries(
    con: duckdb.DuckDBPyConnection, begun: Begun, tmp_path: Path
) -> None:
    folder, there = begun
    with pytest.raises(OptionError, match="must not get the ledger"):
        second(folder, tmp_path, ledger_to=tmp_path / "out" / "2.parquet")
    source = fill(con, there, tmp_path / "lake" / "two.parquet")
    with pytest.raises(OptionError, match="ledger_to"):
        second(
            folder, tmp_path, source=str(Path(source).parent / "*.parquet"),
            ledger_to=Path(source).with_name("2.parquet"),
        )


@pytest.mark.slow
def test_the_shell_names_the_file_of_the_entries(
    begun: Begun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = [
        "anonymize", str(begun[0] / "two.parquet"), "--quasi-identifiers", "age,class,Job",
        "--sensitive", "person", "--entity", "id", "-k", str(K),
        "--ledger", f"{begun[0]}/ledger/*.parquet", "--ledger-to", str(tmp_path / "2.parquet"),
    ]
    assert main([*typed, "-o", str(tmp_path / "out.parquet")]) == 2
    assert "--ledger-to is for -o as a folder" in capsys.readouterr().err
    assert main([*typed, "-o", f"{tmp_path}/out/", "--quiet"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.parquet", "out"]


def test_a_person_with_two_rows_is_refused(
    con: duckdb.DuckDBPyConnection, begun: Begun, tmp_path: Path
) -> None:
    folder, there = begun
    source = fill(con, [*there, there[0]], tmp_path / "two.parquet")
    with pytest.raises(DataError, match="several rows for one person"):
        second(folder, tmp_path / "to", source=source)
    with pytest.raises(DataError, match="several rows for one person"):
        in_files(tmp_path, 1, source)


def test_what_is_told_of_a_ledger_stands_in_no_file_of_the_release(
    begun: Begun,
) -> None:
    told = (begun[0] / "out_1" / "_metrics.json").read_text(encoding="utf-8")
    assert "anonymity_set_min" in told and "rows_withheld" not in told
    assert (begun[0] / "ledger" / "1.parquet").stat().st_mode & 0o077 == 0
    assert entries.ENTRIES not in {path.name for path in (begun[0] / "out_1").iterdir()}
