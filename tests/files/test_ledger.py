"""Releases in files that go on from those before: what a query promises, in blocks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.files import beside_ledger, entries, ledger, release
from kanon_sql.files.state import State
from tests.files.lakes import bytes_of
from tests.ledger.lives import lives
from tests.ledger.reference import (
    CROWDS,
    Exposure,
    how_many_against_absence,
    shown_against_presence,
)
from tests.support.connections import registered

K, BLOCK = 4, 200
GIVEN: dict[str, Any] = {
    "k": K, "quasi_identifiers": ["age", "class", "Job"], "sensitive": ["person"], "entity": "id",
    "progress": False,
}
"""Columns with names that a ledger, or what reads it, has too."""

con = registered(scope="function")


def fill(
    con: duckdb.DuckDBPyConnection, there: list[int], path: Path, moved: int = 0,
    order: str = "id", nulls: bool = False,
) -> str:
    """The table ``now`` of these persons, of whom those below ``moved`` have another age than
    before; and a file of its rows, in two row groups."""
    random = np.random.default_rng(5)
    ages, zips = random.integers(20, 80, 5000), random.integers(100, 130, 5000)
    jobs, ills = random.integers(3, size=5000), random.integers(9, size=5000)
    con.register("rows_now", pa.table({
        "id": there,
        "age": [None if nulls and p % 29 == 0 else int(ages[p]) + 100 * (p < moved) for p in there],
        "class": [str(zips[p]) for p in there],
        "Job": ["abc"[jobs[p]] for p in there],
        "person": [f"ill {ills[p]}" for p in there],
    }))
    con.execute("CREATE OR REPLACE TABLE now AS FROM rows_now")
    path.parent.mkdir(exist_ok=True)
    con.execute(f"COPY (FROM now ORDER BY {order}) TO '{path}' (ROW_GROUP_SIZE 2048)")
    return str(path)


def in_files(
    folder: Path, number: int, source: str, name: str = "out", **more: Any
) -> Any:
    """Release ``number`` of a ledger of files."""
    (folder / "ledger").mkdir(exist_ok=True)
    options = {**GIVEN, "headroom": 1, **more}
    if number > 1:
        options["ledger"] = f"{folder}/ledger/*.parquet"
    return kanon_sql.anonymize_files(
        source, folder / f"{name}_{number}", ledger_to=folder / f"ledger/{number}.parquet",
        **options,
    )


def rows_of(con: duckdb.DuckDBPyConnection, text: str) -> list[Any]:
    return con.execute(text).fetchall()


def ledger_of(con: duckdb.DuckDBPyConnection, folder: Path) -> list[Exposure]:
    return rows_of(con, f"SELECT release, entity, class FROM '{folder}/ledger/*.parquet'")


@pytest.mark.slow
@pytest.mark.parametrize(("against", "more"), [
    ("presence", {}), ("absence", {}), ("presence", {"representation": "interval"}),
    ("absence", {"hierarchies": {"class": "prefix"}}), ("presence", {"keep_order": True}),
    ("absence", {"class_id": True}), ("presence", {"nulls": "suppress"}),
    ("presence", {"method": "k_member"}),
], ids=str)
def test_releases_in_several_blocks_keep_both_promises(
    con: duckdb.DuckDBPyConnection, against: str, more: dict[str, Any], tmp_path: Path
) -> None:
    blocks = []
    nulls = "nulls" in more
    for number, there in enumerate(lives(7, 2600, 3, False, 0.5), start=1):
        moved = 0 if number < 3 else 6
        source = fill(con, there, tmp_path / "now.parquet", moved, nulls=nulls)
        before = ledger_of(con, tmp_path) if number > 1 else []
        done = in_files(tmp_path, number, source, attacker=f"knows_{against}", block_rows=BLOCK,
                        **more)
        blocks.append(done.metrics["blocks"])
        ledger = ledger_of(con, tmp_path)
        crowds = CROWDS[against](ledger)
        now = {p: c for r, p, c in ledger if r == number}
        assert min(crowds.values()) >= K
        assert min(crowds[p] for p in now) == done.metrics["anonymity_set_min"]
        assert set(now) <= set(there) and len(now) == done.rows
        told = done.metrics
        reasons = ("rows_withheld", "rows_stale", "rows_waiting")
        lacking = sum(p % 29 == 0 for p in there) if nulls else 0
        assert sum(told[name] for name in reasons) + lacking == told["rows_suppressed"]
        assert told["rows_released"] + told["rows_suppressed"] == len(there) == told["rows"]
        # what came out is what the ledger says, of those who are in it
        names = "age, class, \"Job\""
        published = rows_of(
            con, "SELECT published.age, published.class, published.job, person "
            f"FROM '{done.entries}' AS ledger JOIN now ON ledger.entity = now.id"
        )
        out = rows_of(con, f"SELECT {names}, person FROM '{done.path}/*.parquet'")
        assert Counter(map(repr, published)) == Counter(map(repr, out))
        if before:
            again = {p: c for p, c in now.items() if any(p == q for _, q, _ in before)}
            seen = {p: r for r, p, _ in sorted(before)}
            unmoved = [
                p for p in there if (p >= moved or seen.get(p, 0) >= 3)
                and not (nulls and p % 29 == 0)
            ]
            if against == "presence":
                assert again == shown_against_presence(before, unmoved, K)
            else:
                most = how_many_against_absence(before, unmoved, K)
                assert len(again) == sum(most.values())
    assert max(blocks) > 2 and blocks[1] > 1
    ((classes, published, kept, held),) = rows_of(
        con, f"""SELECT (SELECT count(DISTINCT class) FROM '{tmp_path}/ledger/*.parquet'),
                        (SELECT count(DISTINCT (class, published))
                         FROM '{tmp_path}/ledger/*.parquet'),
                        keeps_{against}, releases
                 FROM ledger_check('{tmp_path}/ledger/*.parquet', k := {K})"""
    )
    assert classes == published and kept and held == 3


@pytest.mark.slow
@pytest.mark.parametrize(("against", "more"), [
    ("presence", {}), ("absence", {}), ("presence", {"representation": "interval"}),
    ("presence", {"representation": {"age": "interval", "*": "centroid"}}),
    ("presence", {"hierarchies": {"class": "prefix"}}), ("absence", {"nulls": "suppress"}),
    ("presence", {"representation": "suppress"}), ("presence", {"distance": "loss"}),
    ("presence", {"column_weights": {"age": 3.0}}),
], ids=str)
def test_one_block_is_what_a_query_releases_and_enters(
    con: duckdb.DuckDBPyConnection, against: str, more: dict[str, Any], tmp_path: Path
) -> None:
    for number, there in enumerate(lives(3, 700, 3, True, 0.5), start=1):
        moved = 0 if number < 3 else 6
        source = fill(con, there, tmp_path / "now.parquet", moved, "hash(id)", True)
        done = in_files(tmp_path, number, source, attacker=f"knows_{against}", **more)
        options = {**GIVEN, "attacker": f"knows_{against}", "headroom": 1, **more}
        if number > 1:
            options["ledger"] = "releases"
        plain = kanon_sql.anonymize("now", con=con, **options)
        con.register("plain", plain if isinstance(plain, pa.Table) else plain.to_arrow_table())
        ordered = "SELECT * FROM {} ORDER BY ALL"
        assert rows_of(con, ordered.format(f"'{done.path}/*.parquet'")) == rows_of(
            con, ordered.format("plain")
        )
        told = kanon_sql.anonymize_metrics("now", con=con, **options)
        told = told if isinstance(told, pa.Table) else told.to_arrow_table()
        known = dict(zip(told["metric"].to_pylist(), told["value"].to_pylist(), strict=True))
        for name in (
            "release", "anonymity_set_min", "rows_withheld", "rows_stale", "rows_waiting",
            "rows_joining",
            "rows_released", "k", "classes",
        ):
            assert done.metrics[name] == known[name], name
        entered = kanon_sql.anonymize_ledger("now", con=con, **options)
        con.register(
            "entered", entered if isinstance(entered, pa.Table) else entered.to_arrow_table()
        )
        assert rows_of(con, "FROM entered") == rows_of(con, f"FROM '{done.entries}'")
        # a ledger is begun in files, and gone on with in a query
        con.execute(f"CREATE OR REPLACE TABLE releases AS FROM '{tmp_path}/ledger/*.parquet'")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A ledger with one release, and who is there at the second."""
    folder = tmp_path_factory.mktemp("begun")
    first, second = list(lives(7, 2600, 2, False, 0.5))
    with duckdb.connect() as con:
        in_files(folder, 1, fill(con, first, folder / "one.parquet"), block_rows=BLOCK)
        fill(con, second, folder / "two.parquet")
    return folder, second


def second(folder: Path, to: Path, **more: Any) -> Any:
    """The second release of the ledger, with all that it writes in a folder of its own."""
    to.mkdir(exist_ok=True)
    options = {
        **GIVEN, "ledger": f"{folder}/ledger/*.parquet", "block_rows": BLOCK,
        "ledger_to": to / "2.parquet", **more,
    }
    return kanon_sql.anonymize_files(more.pop("source", folder / "two.parquet"), to / "out", **{
        name: value for name, value in options.items() if name != "source"
    })


@pytest.fixture(scope="module")
def whole(begun: tuple[Path, list[int]], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bytes of the second release, and of what it enters."""
    to = tmp_path_factory.mktemp("whole")
    done = second(begun[0], to)
    assert done.metrics["blocks"] > 1 and done.metrics["rows_joining"] > 0
    return bytes_of(to / "out"), (to / "2.parquet").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_neither_threads_nor_the_order_of_the_rows_change_a_byte(
    con: duckdb.DuckDBPyConnection, begun: tuple[Path, list[int]], whole: Any, threads: int,
    tmp_path: Path,
) -> None:
    folder, there = begun
    source = fill(con, there, tmp_path / "two.parquet", order=f"hash(id + {threads})")
    shuffled = tmp_path / "shuffled.parquet"
    con.execute(f"COPY (FROM '{folder}/ledger/1.parquet' ORDER BY hash(entity)) TO '{shuffled}'")
    second(folder, tmp_path, source=source, threads=threads, ledger=str(shuffled))
    assert (bytes_of(tmp_path / "out"), (tmp_path / "2.parquet").read_bytes()) == whole


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_run_that_stops_at_every_step_ends_with_the_same_bytes(
    before: bool, begun: tuple[Path, list[int]], whole: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, steps, stops = State.done, [], 0

    def stopping(self: State, step: str, found: Any) -> Any:
        if step in steps:
            return real(self, step, found)
        steps.append(step)
        if not before:
            real(self, step, found)
        raise Stopped

    monkeypatch.setattr(State, "done", stopping)
    while not (tmp_path / "out").exists():
        try:
            second(begun[0], tmp_path, threads=1)
        except Stopped:
            stops += 1
            assert not (tmp_path / "2.parquet").exists() and stops < 40
    assert {"ledger", "entered"} <= set(steps)
    assert (bytes_of(tmp_path / "out"), (tmp_path / "2.parquet").read_bytes()) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.parquet", "out"]


@pytest.mark.slow
def test_entries_of_a_release_that_has_no_name_yet_are_taken_back(
    begun: tuple[Path, list[int]], whole: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[bytes] = []

    def killed(work: Path, *_: Any) -> None:
        entered.append((tmp_path / "2.parquet").read_bytes())
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(release, "named", killed)
        with pytest.raises(Stopped):
            second(begun[0], tmp_path)
    assert not (tmp_path / "2.parquet").exists() and not (tmp_path / "out").exists()
    # where the process was killed it stays, and the same call takes it back
    (tmp_path / "2.parquet").write_bytes(entered[0])
    second(begun[0], tmp_path)
    assert (bytes_of(tmp_path / "out"), (tmp_path / "2.parquet").read_bytes()) == whole
    # it stays what it is when another release would be written there
    with pytest.raises(OptionError, match="which exists"):
        second(begun[0], tmp_path, overwrite=True)
    assert (tmp_path / "2.parquet").read_bytes() == whole[1]


@pytest.mark.slow
def test_few_newcomers_wait_and_none_are_no_block(
    con: duckdb.DuckDBPyConnection, begun: tuple[Path, list[int]], tmp_path: Path
) -> None:
    folder, _ = begun
    known = [p for (p,) in rows_of(con, f"SELECT entity FROM '{folder}/ledger/*.parquet'")]
    few = list(range(4000, 4003))
    told = {}
    for name, there in {"none": known, "few": [*known, *few]}.items():
        source = fill(con, sorted(there), tmp_path / f"{name}.parquet")
        told[name] = second(folder, tmp_path / name, source=source).metrics
    assert told["none"]["blocks"] == 0 and told["none"]["rows_released"] == len(known)
    assert told["few"]["blocks"] == 1 and told["few"]["rows_joining"] == 3
    first = in_files(
        tmp_path, 1, fill(con, known, tmp_path / "now.parquet"), attacker="knows_absence"
    )
    assert first.rows == len(known)
    source = fill(con, sorted([*known, *few]), tmp_path / "now.parquet")
    waits = in_files(tmp_path, 2, source, attacker="knows_absence").metrics
    assert waits["rows_waiting"] == 3 == waits["rows_suppressed"] and waits["blocks"] == 0


@pytest.mark.slow
def test_a_release_that_breaks_the_promise_does_not_come_out(
    begun: tuple[Path, list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(ledger.STAY, "knows_presence", lambda histories, present, k: present)
        with pytest.raises(ReleaseError, match=r"a person with an anonymity set of [123]|combination"):
            second(begun[0], tmp_path)
    assert list(tmp_path.iterdir()) == []
    real = ledger.Past.learned_by
    with monkeypatch.context() as patched:
        # all blocks number their classes alike
        patched.setattr(ledger.Past, "learned_by", lambda self, rows, largest, going_on: real(
            self, rows, 1000, going_on
        ))
        with pytest.raises(ReleaseError, match="other rows than the files"):
            in_files(tmp_path, 1, str(begun[0] / "two.parquet"), block_rows=BLOCK)
    assert [path.name for path in tmp_path.rglob("*")] == ["ledger"]
    (tmp_path / "ledger").rmdir()
    with monkeypatch.context() as patched:
        patched.setattr(
            beside_ledger, "published_sql", lambda call: "{'age': 1, 'class': '1', 'job': '1'}"
        )
        with pytest.raises(ReleaseError, match="other rows than the files"):
            second(begun[0], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_moves_meanwhile_is_refused(
    con: duckdb.DuckDBPyConnection, begun: tuple[Path, list[int]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, _ = begun
    moving = tmp_path / "ledger.parquet"
    con.execute(f"COPY (FROM '{folder}/ledger/1.parquet') TO '{moving}'")
    real = release.release_beside_ledger

    def meanwhile(engine: Any) -> Any:
        found = real(engine)
        con.execute(f"COPY (FROM '{folder}/ledger/1.parquet' WHERE class > 1) TO '{moving}'")
        return found

    monkeypatch.setattr(release, "release_beside_ledger", meanwhile)
    with pytest.raises(ReleaseError, match=r"the ledger '.*' changed while it was made"):
        second(folder, tmp_path / "to", ledger=str(moving))
    assert list((tmp_path / "to").iterdir()) == []


REFUSED: list[tuple[dict[str, Any], type[KanonError], str]] = [
    ({"ledger_to": None}, OptionError, "ledger_to is not given"),
    ({"ledger": None}, OptionError, "ledger_to is given, and nothing says"),
    ({"ledger": None, "headroom": 1, "ledger_to": None}, OptionError, "ledger_to is not given"),
    ({"ledger_to": "out.csv"}, OptionError, "Name one that ends in .parquet"),
    ({"ledger_to": "s3://b/2.parquet"}, OptionError, "no Parquet file|can't be a Parquet file"),
    ({"ledger_to": "none/2.parquet"}, OptionError, "There is no folder"),
    ({"ledger": "none.parquet"}, OptionError, "none.parquet"),
    ({"ledger": "two"}, OptionError, "not a table, view, file or variable"),
    ({"l": 2}, OptionError, "'l' with a ledger looks at all rows at once"),
    ({"k": 3}, OptionError, "made with a larger k than 3"),
    ({"attacker": "knows_absence"}, OptionError, "kept against another attacker"),
    ({"quasi_identifiers": ["age", "class"], "others": "drop"}, OptionError, "none in this call"),
    ({"representation": "interval"}, OptionError, "publish in another form"),
    ({"method": "mondrian"}, OptionError, "mondrian"),
    ({"within": ["person"]}, OptionError, "within"),
    ({"entity": None}, OptionError, "no column identifies the person of each row"),
]


@pytest.mark.parametrize(("more", "kind", "said"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_can_not_go_on_is_refused(
    begun: tuple[Path, list[int]], more: dict[str, Any], kind: type[KanonError], said: str,
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
    con: duckdb.DuckDBPyConnection, begun: tuple[Path, list[int]], tmp_path: Path
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


def test_a_person_with_two_rows_is_refused(
    con: duckdb.DuckDBPyConnection, begun: tuple[Path, list[int]], tmp_path: Path
) -> None:
    folder, there = begun
    source = fill(con, [*there, there[0]], tmp_path / "two.parquet")
    with pytest.raises(DataError, match="several rows for one person"):
        second(folder, tmp_path / "to", source=source)
    with pytest.raises(DataError, match="several rows for one person"):
        in_files(tmp_path, 1, source)


def test_what_is_told_of_a_ledger_stands_in_no_file_of_the_release(
    begun: tuple[Path, list[int]],
) -> None:
    told = (begun[0] / "out_1" / "_metrics.json").read_text(encoding="utf-8")
    assert "anonymity_set_min" in told and "rows_withheld" not in told
    assert (begun[0] / "ledger" / "1.parquet").stat().st_mode & 0o077 == 0
    assert entries.ENTRIES not in {path.name for path in (begun[0] / "out_1").iterdir()}

