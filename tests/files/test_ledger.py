"""Releases in files that go on from those before: what a query promises, in blocks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from kanon_sql.files import release
from kanon_sql.files.state import State
from tests.files.lakes import bytes_of
from tests.files.ledgers import (
    BLOCK,
    GIVEN,
    Begun,
    K,
    begin,
    fill,
    in_files,
    ledger_of,
    rows_of,
    second,
)
from tests.ledger.lives import lives
from tests.ledger.reference import CROWDS, how_many_against_absence, shown_against_presence
from tests.support.connections import registered

con = registered(scope="function")


@pytest.mark.slow
@pytest.mark.parametrize(("against", "more"), [
    ("presence", {}), ("absence", {}), ("presence", {"representation": "interval"}),
    ("absence", {"hierarchies": {"class": "prefix"}}), ("presence", {"keep_order": True}),
    ("absence", {"class_id": True}), ("presence", {"nulls": "suppress"}),
    ("presence", {"method": "k_member"}), ("presence", {"headroom": "auto"}),
    ("absence", {"headroom": "auto"}),
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
    ("presence", {"column_weights": {"age": 3.0}}), ("presence", {"headroom": "auto"}),
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
        told = kanon_sql.anonymize_metrics("now", con=con, detail=True, **options)
        told = told if isinstance(told, pa.Table) else told.to_arrow_table()
        known = dict(zip(told["metric"].to_pylist(), told["value"].to_pylist(), strict=True))
        for name in (
            "release", "anonymity_set_min", "rows_withheld", "rows_stale", "rows_waiting",
            "rows_joining",
            "rows_released", "k", "classes",
            *(("headroom", "churn", "withheld_expected") if "headroom" in more else ()),
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
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    return begin(tmp_path_factory.mktemp("begun"))


@pytest.fixture(scope="module")
def whole(begun: Begun, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bytes of the second release, and of what it enters."""
    to = tmp_path_factory.mktemp("whole")
    done = second(begun[0], to)
    assert done.metrics["blocks"] > 1 and done.metrics["rows_joining"] > 0
    return bytes_of(to / "out"), (to / "2.parquet").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_neither_threads_nor_the_order_of_the_rows_change_a_byte(
    con: duckdb.DuckDBPyConnection, begun: Begun, whole: Any, threads: int,
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
    before: bool, begun: Begun, whole: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, steps, stops = State.done, [], 0

    def stopping(self: State, step: str, found: Any, *made: Any) -> Any:
        if step in steps:
            return real(self, step, found, *made)
        steps.append(step)
        if not before:
            real(self, step, found, *made)
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
    begun: Begun, whole: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    con: duckdb.DuckDBPyConnection, begun: Begun, tmp_path: Path
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
