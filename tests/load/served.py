"""Fifty clients of one ``kanon serve``, on this machine."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

import duckdb

from kanon_sql.errors import OptionError
from kanon_sql.serve.extension import served_connection
from tests.load.outcome import Outcome
from tests.load.process import held
from tests.load.questions import Connection, connection, digest
from tests.serve.conftest import Server, ended, files_in, started

REQUESTS = 2000
"""The most that one client sends."""

PAUSE = 0.02
"""Seconds between two of them."""

WAITING = 300.0
"""Seconds after the end that the last answers may take."""

GROWTH = 1.05
"""How much more the server may hold at the end than when it was warm."""

WARM = 60
"""Calls of each client, on average, after which it is: each of its 280 threads keeps memory."""

LEAST = 40
"""Looks at its memory, of which the first and the last quarter are compared."""

CALLS = [
    f"'patients', k={k}, method='{method}', representation='{shown}'"
    for k in (5, 8) for method in ("mdav_plus", "mondrian", "k_member")
    for shown in ("centroid", "interval")
]
REFUSED = {"reader": "SELECT 7", "analyst": "FROM kanon.anonymize('patients', k=2)"}
HERE = "sensitive := ['job'], quasi_identifiers := ['age', 'sex']"


def expected_of(folder: Path) -> dict[tuple[str, str], str]:
    """What each right is answered to each text: as files and calls of this process give it."""
    told: dict[tuple[str, str], str] = {}
    with connection() as con:
        con.execute(f"ATTACH '{folder / 'our.duckdb'}' AS our (READ_ONLY)")
        con.execute("CREATE VIEW patients AS SELECT age, sex, job FROM our.people")
        for text in CALLS:
            rows = con.execute(f"FROM anonymize({text}, {HERE}) ORDER BY ALL").fetchall()
            told["analyst", f"FROM kanon.anonymize({text})"] = digest(rows)
        for name, source in (("patients", "our.patients_released"),
                             ("on_disk", f"'{folder / 'on_disk.parquet'}'")):
            told["reader", f"FROM {name}"] = digest(
                con.execute(f"FROM {source} ORDER BY ALL").fetchall()
            )
    told |= dict.fromkeys(REFUSED.items(), "Authorization failed")
    return told


def asked(con: Connection, server: Server, right: str, text: str, token: str | None) -> str:
    """A digest of what the server answers, or that it refused."""
    try:
        query = server.query(right, text, token)
        return digest(con.execute(f"FROM {query} ORDER BY ALL").fetchall())
    except duckdb.Error as error:
        for refused in ("Authorization failed", "Authentication failed"):
            if refused in str(error):
                return refused
        return f"{type(error).__name__}: {error}"


def asked_by_clients(seconds: float, count: int = 50, seed: int = 0) -> Outcome:
    """Each client asks at random until the time is up, and at least once."""
    outcome = Outcome("served")
    try:
        served_connection().close()
    except OptionError as missing:
        outcome.left_out = str(missing)
        return outcome
    with TemporaryDirectory() as name:
        folder = Path(name)
        files_in(folder)
        server = started(folder)
        try:
            _ask(server, expected_of(folder), seconds, count, seed, outcome)
        finally:
            status = ended(server)
        if status != 0:
            outcome.find(f"the server ended with status {status}")
        told = (folder / "log.jsonl").read_text(encoding="utf-8")
        if "CANARY" in told or "nurse" in told:
            outcome.find("the log of the server has a value of the source")
        outcome.facts.append(f"{count} clients, {len(told.splitlines()):,} lines of log")
    return outcome


def _ask(
    server: Server, expected: dict[tuple[str, str], str], seconds: float, count: int, seed: int,
    outcome: Outcome,
) -> None:
    choices = list(expected)

    def work(number: int) -> None:
        random, con = Random(seed * 1000 + number), served_connection()
        for _ in range(REQUESTS):
            right, text = random.choice(choices)
            if random.random() < 0.05:
                got = asked(con, server, right, text, "wrong")
                outcome.compare(f"{right} without a token", got, "Authentication failed")
            else:
                got = asked(con, server, right, text, None)
                outcome.compare(f"{right}: {text}", got, expected[right, text])
            if random.random() < 0.05:
                con.close()
                con = served_connection()
            if time.monotonic() > end:
                break
            time.sleep(PAUSE)
        con.close()

    end = time.monotonic() + seconds
    running = [threading.Thread(target=work, args=[i], daemon=True) for i in range(count)]
    for thread in running:
        thread.start()
    while outcome.calls < WARM * count and any(thread.is_alive() for thread in running):
        time.sleep(0.5)
    before, looks = held(server.process.pid), []
    while any(thread.is_alive() for thread in running) and time.monotonic() < end:
        looks.append(held(server.process.pid).mebibytes)
        time.sleep(0.5)
    for thread in running:
        thread.join(max(0.0, end + WAITING - time.monotonic()))
    waiting = sum(thread.is_alive() for thread in running)
    if waiting:
        outcome.find(f"{waiting} clients still wait {WAITING:.0f} s after the end")
    after = held(server.process.pid)
    outcome.facts.append(
        f"the server held {before.mebibytes:.0f} then {after.mebibytes:.0f} MiB, "
        f"{before.descriptors} then {after.descriptors} descriptors"
    )
    if after.descriptors > before.descriptors:
        outcome.find("the server has more open descriptors at the end")
    if len(looks) < LEAST:
        outcome.facts.append("too few calls to judge the memory")
        return
    first, last = (median(part) for part in (looks[: len(looks) // 4], looks[-len(looks) // 4:]))
    outcome.facts.append(f"{first:.0f} then {last:.0f} MiB while it answered")
    if last > GROWTH * first:
        outcome.find("the memory of the server grew")
