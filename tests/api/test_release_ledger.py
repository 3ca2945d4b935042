"""kanon_sql.release beside a ledger: file and ledger together, or neither."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.api import ledger_entry
from kanon_sql.api import release as writing
from kanon_sql.cli.main import main
from kanon_sql.errors import OptionError, ReleaseError

Connection = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {
    "k": 4, "entity": "id", "quasi_identifiers": ["age", "zip"], "sensitive": ["ill"],
    "ledger": "releases",
}


@pytest.fixture
def con(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.chdir(tmp_path)
    connection = kanon_sql.register(duckdb.connect("people.duckdb"))
    connection.execute(
        "CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 50 AS age, "
        "(12345 + i % 6)::VARCHAR AS zip, 'ill ' || i % 5 AS ill FROM range(60) AS r(i)"
    )
    connection.execute("CREATE VIEW now AS FROM people WHERE id < 40")
    yield connection
    connection.close()


def begin(con: Connection, **more: Any) -> Any:
    return kanon_sql.release(con, "now", to="1.parquet", headroom=1, **CALL, **more)


def go_on(con: Connection, number: int = 2, **more: Any) -> Any:
    con.execute(f"CREATE OR REPLACE VIEW now AS FROM people WHERE id >= {number}")
    return kanon_sql.release(con, "now", to=f"{number}.parquet", **CALL, **more)


def entries(con: Connection) -> list[tuple[int, int]]:
    """Release and rows of each release of the ledger."""
    return con.execute(  # type: ignore[return-value]
        "SELECT release, count(*) FROM releases GROUP BY ALL ORDER BY ALL"
    ).fetchall()


def published(con: Connection, number: int) -> list[Any]:
    return con.execute(
        "SELECT published.age, published.zip, ill FROM releases JOIN people ON entity = id "
        "WHERE release = ? ORDER BY ALL", [number]
    ).fetchall()


@pytest.mark.slow
def test_file_and_ledger_tell_the_same(con: Connection) -> None:
    first = begin(con)
    second = go_on(con)
    assert [done.manifest["release"]["number"] for done in (first, second)] == [1, 2]
    assert entries(con) == [(1, first.rows), (2, second.rows)]
    for number in (1, 2):
        rows = con.execute(f"FROM '{number}.parquet' ORDER BY ALL").fetchall()
        assert rows == published(con, number)
    ((kept,),) = con.execute("SELECT keeps_presence FROM ledger_check('releases', k=4)").fetchall()
    assert kept


def test_a_ledger_is_begun_only_where_that_is_meant(con: Connection) -> None:
    with pytest.raises(OptionError, match="There is no ledger 'releases'"):
        kanon_sql.release(con, "now", to="1.parquet", **CALL)
    assert not Path("1.parquet").exists()


@pytest.mark.parametrize("exists", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_database_that_is_open_for_reading_only_is_told(con: Connection, exists: bool) -> None:
    if exists:
        begin(con)
    con.close()
    with duckdb.connect("people.duckdb", read_only=True) as reading:
        given = CALL if exists else CALL | {"headroom": 1}
        with pytest.raises(OptionError, match="'releases', whose database is open for reading on"):
            kanon_sql.release(reading, "now", to="x.parquet", **given)
        with pytest.raises(OptionError, match="'kept', whose database is open for reading only"):
            kanon_sql.release(reading, "now", to="x.parquet", k=4, private="kept",
                              quasi_identifiers="age", others="drop")
        assert not Path("x.parquet").exists()
        reading.execute("ATTACH 'beside.duckdb' (READ_WRITE)")
        ledger = CALL | {"ledger": "beside.releases", "headroom": 1}
        assert kanon_sql.release(reading, "now", to="x.parquet", **ledger).rows == 40


@pytest.mark.slow
def test_what_can_not_be_entered_into(con: Connection) -> None:
    begin(con)
    con.execute("CREATE VIEW shown AS FROM releases")
    given = CALL | {"ledger": "shown"}
    with pytest.raises(OptionError, match="'shown', which must be a table"):
        kanon_sql.release(con, "now", to="x.parquet", **given)
    given = CALL | {"ledger": con.sql("FROM releases").to_arrow_table()}
    with pytest.raises(OptionError, match="which must be a table of con"):
        kanon_sql.release(con, "now", to="x.parquet", **given)
    with pytest.raises(OptionError, match="which must be a table of con"):
        kanon_sql.release(None, con.sql("FROM now").to_arrow_table(), to="x.parquet", **CALL)
    assert not Path("x.parquet").exists()


@pytest.mark.slow
def test_a_refused_release_leaves_the_ledger_as_it_was(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(con)
    before = entries(con)
    with pytest.raises(OptionError, match="larger k"):
        kanon_sql.release(con, "now", to="2.parquet", **(CALL | {"k": 3}))
    monkeypatch.setattr(writing.PrivatePart, "put", stop)
    with pytest.raises(KeyboardInterrupt):
        go_on(con)
    assert entries(con) == before
    assert not Path("2.parquet").exists()
    assert list(Path().glob(".*.tmp")) == []


def stop(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("how", ["insert", "release"])
def test_a_ledger_that_moved_meanwhile(
    con: Connection, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Somebody else enters the second release, while ours is written."""
    begin(con)
    other = kanon_sql.register(con.cursor())
    other.execute("CREATE OR REPLACE VIEW now AS FROM people WHERE id >= 2")
    write, waiting = writing._write, [True]

    def meanwhile(*given: Any) -> Any:
        manifest = write(*given)
        if waiting and waiting.pop():
            if how == "release":
                kanon_sql.release(other, "now", to="other.parquet", **CALL)
            else:
                call = ", ".join(
                    f"{name} := {value!r}" for name, value in CALL.items()
                )
                other.execute(f"INSERT INTO releases FROM anonymize_ledger('now', {call})")
        return manifest

    monkeypatch.setattr(writing, "_write", meanwhile)
    with pytest.raises(ReleaseError, match="the ledger 'releases' changed while it was made"):
        kanon_sql.release(con, "now", to="2.parquet", **CALL)
    assert not Path("2.parquet").exists()
    assert [number for number, _ in entries(con)] == [1, 2]
    if how == "release":
        assert Path("other.parquet").exists()
    # made again, it goes on from the other one
    monkeypatch.setattr(writing, "_write", write)
    assert go_on(con, 3).manifest["release"]["number"] == 3


def at_once(con: Connection, ledger: str, number: int, **more: Any) -> list[Any]:
    """Releases of two threads that begin together: the number of each, or why it was refused."""
    barrier, found = threading.Barrier(2), list[Any]()

    def work(one: int) -> None:
        with con.cursor() as own:
            barrier.wait()
            try:
                done = kanon_sql.release(
                    own, "people", to=f"{number}_{one}.parquet", **(CALL | {"ledger": ledger}),
                    **more,
                )
                found.append(done.manifest["release"]["number"])
            except ReleaseError as error:
                found.append(str(error))

    threads = [threading.Thread(target=work, args=(one,)) for one in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "file", "attached"])
def test_releases_at_once_are_entered_one_after_another(
    con: Connection, tmp_path: Path, where: str
) -> None:
    """Of threads that release at the same time each number is entered once, whatever they meet
    of each other; who is refused leaves no file."""
    ledger = "releases" if where == "file" else "led.releases"
    if where != "file":
        con.execute(f"ATTACH '{':memory:' if where == 'memory' else 'led.duckdb'}' AS led")
    numbers: list[int] = []
    for round_ in range(1, 4):
        found = at_once(con, ledger, round_, **({"headroom": 1} if round_ == 1 else {}))
        released = [number for number in found if isinstance(number, int)]
        assert released, found
        assert all("changed while it was made" in each for each in set(found) - {*released})
        assert len(list(tmp_path.glob(f"{round_}_*.parquet"))) == len(released)
        numbers += released
        if where == "file" and round_ == 1:
            con.execute("ALTER TABLE releases ADD PRIMARY KEY (release, entity)")
    assert sorted(numbers) == [*range(1, len(numbers) + 1)]
    rows = con.execute(f"SELECT count(*), count(DISTINCT (release, entity)) FROM {ledger}")
    assert rows.fetchall() == [(60 * len(numbers),) * 2]
    check = con.execute(f"SELECT rows_doubled, keeps_presence FROM ledger_check('{ledger}', k=4)")
    assert check.fetchall() == [(0, True)]
    # and nothing else is left in its database
    tables = con.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL")
    assert tables.fetchall() == [("people",), ("releases",)]


@pytest.mark.slow
@pytest.mark.parametrize("order", ["before", "after"])
def test_of_two_that_are_not_yet_seen_one_enters(
    con: Connection, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    """The other one enters the ledger, and ends its transaction while ours waits to end: the look
    from outside can't see it."""
    begin(con)
    moved, other = ledger_entry._refuse_moved, kanon_sql.register(con.cursor())
    said: list[str] = []

    def meanwhile(*given: Any) -> None:
        monkeypatch.setattr(ledger_entry, "_refuse_moved", moved)
        if order == "after":
            moved(*given)
        with pytest.raises(ReleaseError, match="changed while it was made") as refused:
            kanon_sql.release(other, "now", to="other.parquet", **CALL)
        said.append(str(refused.value))
        if order == "before":
            moved(*given)

    monkeypatch.setattr(ledger_entry, "_refuse_moved", meanwhile)
    assert go_on(con).manifest["release"]["number"] == 2
    assert said and not Path("other.parquet").exists()
    assert [number for number, _ in entries(con)] == [1, 2]
    assert go_on(con, 3).manifest["release"]["number"] == 3


@pytest.mark.slow
def test_a_temporary_ledger_goes_on_and_is_not_begun(con: Connection) -> None:
    given = CALL | {"ledger": "temp.releases"}
    with pytest.raises(OptionError, match=r"'temp\.releases', which must be"):
        kanon_sql.release(con, "now", to="1.parquet", headroom=1, **given)
    call = ", ".join(f"{name} := {value!r}" for name, value in CALL.items() if name != "ledger")
    con.execute(f"CREATE TEMP TABLE releases AS FROM anonymize_ledger('now', {call})")
    assert go_on(con).manifest["release"]["number"] == 2
    assert [number for number, _ in entries(con)] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("begins", [True, False])
def test_ctrl_c_after_the_file_has_its_name_leaves_its_entry(
    con: Connection, monkeypatch: pytest.MonkeyPatch, begins: bool
) -> None:
    """The file, its private part and its entry are there together, and then Ctrl-C is raised."""
    if not begins:
        begin(con)
    replace, pressed = Path.replace, []
    # a shell that begins the tests in the background ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press(draft: Path, to: Path) -> Path:
        path = replace(draft, to)
        if path.suffix == ".parquet":
            pressed.append(path.name)
            os.kill(os.getpid(), signal.SIGINT)
        return path

    monkeypatch.setattr(Path, "replace", press)
    with pytest.raises(KeyboardInterrupt):
        (begin if begins else go_on)(con, private="private.json")
    last = 1 if begins else 2
    assert pressed == [f"{last}.parquet"]
    assert [number for number, _ in entries(con)] == [*range(1, last + 1)]
    assert kanon_sql.verify(f"{last}.parquet").ok
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_in_the_shell(con: Connection) -> None:
    begin(con)
    con.close()  # the shell opens the file itself
    given = ["--k", "4", "--entity", "id", "--quasi-identifiers", "age,zip", "--sensitive", "ill"]
    done = main([
        "release", "people", "--database", "people.duckdb", "--to", "2.parquet",
        "--ledger", "releases", *given,
    ])
    assert done == 0
    with duckdb.connect("people.duckdb") as again:
        assert [number for number, _ in entries(again)] == [1, 2]


@pytest.mark.slow
def test_an_earlier_release_is_proven_by_the_ledger_as_it_was(con: Connection) -> None:
    begin(con)
    done = go_on(con)
    source = con.sql("FROM now").to_arrow_table()
    go_on(con, 3)
    con.register("then", source)
    found = kanon_sql.verify("2.parquet", source="then", private=done.private, con=con)
    verdicts = {each.entry: each.verdict for each in found.findings}
    assert "wrong" not in verdicts.values()
    assert verdicts["again"] == "proven"
