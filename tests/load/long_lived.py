"""A thousand varied calls in one process: what it holds stays level."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import kanon_sql
from kanon_sql.duckdb import register, shared
from kanon_sql.errors import KanonError
from kanon_sql.jobs import job
from kanon_sql.stages import block, labels, remembered
from tests.load.outcome import Outcome
from tests.load.process import Held, held
from tests.load.questions import ROLES, ROWS, Connection, connection

WARM = 200
"""Calls after which nothing may grow any more."""

GROWTH = 1.05
"""How much more memory there may be at the end."""

ROUND = 20
"""What is asked comes again after so many calls, about other rows."""

QUASI = ["age", "income", "zip", "seen"]
SENSITIVE = ["job", "disease"]


def rows(number: int, large: bool = False) -> pa.Table:
    """A table that no call has had before; of two sizes."""
    size = 900 + number % 13 if large or number % 2 else 120 + number % 7
    with duckdb.connect() as con:
        return con.sql(
            f"SELECT * REPLACE (age + {number} AS age) FROM ({ROWS.format(size)})"
        ).to_arrow_table()


def in_sql(form: str) -> Callable[[Connection, Path, int], object]:
    """A call in SQL on one connection; its table is new each time."""

    def call(con: Connection, folder: Path, number: int) -> object:
        table = rows(number)
        con.register("given", table)
        try:
            return con.execute(form.format(ROLES)).fetchall()
        finally:
            con.unregister("given")

    return call


def in_python(name: str, **options: object) -> Callable[[Connection, Path, int], object]:
    """A call in Python, on a connection of its own."""

    def call(con: Connection, folder: Path, number: int) -> object:
        asked = {"quasi_identifiers": QUASI, "sensitive": SENSITIVE, **options}
        return getattr(kanon_sql, name)(rows(number), **asked)

    return call


def attacked(con: Connection, folder: Path, number: int) -> object:
    """The attacks on a release."""
    return kanon_sql.evidence(rows(number, large=True), k=4, method="mondrian", progress=False,
                              quasi_identifiers=QUASI, sensitive=SENSITIVE)


def stored(con: Connection, folder: Path, number: int) -> object:
    """A release in a file, which is then verified."""
    target = folder / f"released_{number}.parquet"
    kanon_sql.release(rows(number), to=target, k=4, quasi_identifiers=QUASI, sensitive=SENSITIVE,
                      progress=False, method="mdav_plus")
    assert kanon_sql.verify(target).ok
    return None


def in_blocks(con: Connection, folder: Path, number: int) -> object:
    """A file, released in blocks."""
    source = folder / f"given_{number}.parquet"
    pq.write_table(rows(number), source)
    return kanon_sql.anonymize_files(
        source, folder / f"blocks_{number}", k=4, quasi_identifiers=QUASI, sensitive=SENSITIVE,
        progress=False, method="mdav_plus",
    )


def given_up(con: Connection, folder: Path, number: int) -> object:
    """A release of which only the first row is fetched."""
    table = rows(number)
    with kanon_sql.register(con.cursor()) as cursor:
        cursor.register("given", table)
        return cursor.execute(
            f"FROM anonymize('given', k := 4, method := 'mondrian', {ROLES})"
        ).fetchone()


ASKED: tuple[Callable[[Connection, Path, int], object], ...] = (
    in_sql("FROM anonymize('given', k := 5, method := 'mdav_plus', {})"),
    in_sql("FROM anonymize('given', k := 4, method := 'mondrian', "
           "representation := 'interval', {})"),
    in_sql("FROM anonymize('given', k := 3, method := 'k_member', suppress := 0.1, "
           "hierarchies := {{'zip': 'prefix'}}, {})"),
    in_sql("FROM anonymize('given', k := 3, method := 'r_gather', l := {{'job': 2}}, {})"),
    in_sql("FROM anonymize_metrics('given', k := 5, method := 'mdav_plus', detail := true, {})"),
    in_sql("FROM anonymize_clusters('given', k := 6, method := 'mdav_plus', {})"),
    in_sql("FROM anonymize_roles('given', {})"),
    in_sql("FROM anonymize_sql('given', k := 5, {})"),
    in_sql("FROM anonymize('given', k := 5, method := 'mdva', {})"),  # refused
    in_sql("FROM anonymize('given', k := 5000, method := 'mondrian', {})"),  # refused
    given_up,
    in_python("anonymize", k=5, method="mdav_plus", progress=False),
    in_python("anonymize", k=4, method="mondrian", t={"job": 0.6}, seed=1, progress=False),
    in_python("anonymize", k=4, method="mondrain", progress=False),  # refused
    in_python("k_anonymity"),
    in_python("anonymize_risk", k=3),
    in_python("anonymize_manifest", k=3, method="mondrian", progress=False),
    attacked,
    stored,
    in_blocks,
)
assert len(ASKED) == ROUND


def bounded() -> list[str]:
    """The caches that are over their bounds of docs/architecture.md."""
    kept = sum(len(each.grouping.labels) for each in remembered._kept.values())
    found = {
        "remembered labels": kept > remembered.ROOM,
        "running jobs": len(job._jobs) > 0,
        "facts of blocks": len(block._kept) > 0,
        "waiting labels": sum(each.nbytes for each in labels._held.values()) > labels.ROOM,
    }
    return [name for name, is_over in found.items() if is_over]


def asked_in_one_process(calls: int = 1000, warm: int = WARM) -> Outcome:
    """The calls in turn; the most that was held late is compared with the most held early."""
    outcome = Outcome("one process")
    assert calls >= warm + ROUND
    early: list[Held] = []
    late: list[Held] = []
    refused = 0
    with TemporaryDirectory() as name, connection() as con:
        for number in range(calls):
            ask = ASKED[number % ROUND]
            try:
                ask(con, Path(name), number)
            except (KanonError, duckdb.InvalidInputException):
                refused += 1
            except Exception as error:
                outcome.find(f"call {number}: {type(error).__name__}: {error}")
            outcome.calls += 1
            if warm - ROUND <= number < warm:
                early.append(held())
            if number >= calls - ROUND:
                late.append(held())
        over = bounded()
        time.sleep(0.2)
    _judge(outcome, early, late)
    outcome.findings += [f"{each}: over their bound" for each in over]
    if refused != 3 * (calls // ROUND):
        outcome.find(f"{refused} calls were refused, and 3 of {ROUND} should be")
    known = len(register._registered) + len(shared._homes)
    outcome.facts.append(f"{refused} refused as they should be, {known} databases still known")
    return outcome


def _judge(outcome: Outcome, early: list[Held], late: list[Held]) -> None:
    before, after = (max(each.mebibytes for each in some) for some in (early, late))
    outcome.facts.append(
        f"{before:.0f} then {after:.0f} MiB ({100 * (after / before - 1):+.1f} %)"
    )
    if after > GROWTH * before:
        outcome.find(f"memory grew from {before:.0f} to {after:.0f} MiB")
    for what in ("descriptors", "threads"):
        first, last = (max(getattr(each, what) for each in some) for some in (early, late))
        outcome.facts.append(f"{first} then {last} {what}")
        if last > first:
            outcome.find(f"{what} grew from {first} to {last}")
