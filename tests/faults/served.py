"""``kanon serve``: a door that releases, then answers, and ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from tests.faults.doors import AN_ERROR, CITY, DOORS, NAME, Door, State, digest, made, typed
from tests.load.process import alive
from tests.serve.conftest import free_port

K = 5
LIMIT = 40.0
"""Seconds after which it is ended, whatever it has answered."""
TURN = 0.02
"""Seconds between two looks whether it listens."""

CONFIG = """
[tables.one]
input = "source/our.duckdb::made"
output = "out/one.parquet"
options = {{ k = {k}, method = "mdav_plus", seed = 3 }}
roles = {{ age = "quasi_identifier", city = "quasi_identifier", ill = "sensitive", \
name = "identifier" }}
"""
CALL = "FROM kanon.anonymize('one', k={k}, method='mdav_plus')"
TIMES = 3
"""How often each question is asked."""


def _prepare() -> None:
    from kanon_sql.serve.tokens import add_token

    with made() as con:
        con.execute("ATTACH 'source/our.duckdb' AS ours")
        con.execute("CREATE TABLE ours.made AS FROM made")
    Path("kanon.toml").write_text(CONFIG.format(k=K))
    tokens = {
        right: add_token(Path("source/our.tokens"), right, right)
        for right in ("reader", "analyst")
    }
    Path("tokens.json").write_text(json.dumps(tokens))
    Path("out/one.parquet").write_text("a release of before")


port = cache(free_port)
"""Of all servers of this command, which run one after the other."""


def _words(_: int) -> list[str]:
    return ["serve", "source/our.duckdb", "--port", str(port()), "--log", "out/log.jsonl"]


def _warm() -> None:
    """What a server loads, in this process, which must not serve itself: it ends with it."""
    import kanon_sql
    from kanon_sql.cli import main  # noqa: F401
    from kanon_sql.cli.commands import serve  # noqa: F401
    from kanon_sql.serve.extension import served_connection

    port()
    served_connection().close()
    with duckdb.connect("source/our.duckdb", read_only=True) as con:
        kanon_sql.release(
            "made", con=con, to="out/warm.parquet", k=K, quasi_identifiers=["age", "city"],
            sensitive=["ill"], identifiers=["name"], method="mdav_plus", seed=4,
        )


def _state(place: Path) -> State:
    log = place / "out/log.jsonl"
    text = log.read_text(errors="replace") if log.is_file() else ""
    lines = text.splitlines()
    broken = [line for line in lines[:-1] if not _is_json(line)]
    if broken or NAME in text or CITY in text:
        return {"one.parquet": digest(place / "out/one.parquet"), "log": f"broken {broken[:1]}"}
    return {"one.parquet": digest(place / "out/one.parquet"), "log": None}


def _is_json(line: str) -> bool:
    with suppress(ValueError):
        return isinstance(json.loads(line), dict)
    return False


# --- who asks ------------------------------------------------------------------------------------


def asks(number: int, place: Path) -> list[str]:
    """Asks a server once it listens, and then tells it to end.

    Args:
        number: its process.
        place: where it works.

    Returns:
        What is wrong of its answers.
    """
    found: list[str] = []
    # a server that lacks what it needs for a thread may never answer
    late = threading.Timer(LIMIT, _end, [number])
    late.start()
    if _listens(number):
        tokens = json.loads((place / "tokens.json").read_text())
        for _ in range(TIMES):
            found += _asked(place, tokens)
    late.cancel()
    _end(number)
    return found


def _end(number: int) -> None:
    if alive(number):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)


def _listens(number: int) -> bool:
    """Whether the last of both servers listens, before the process ends."""
    until = time.monotonic() + LIMIT
    while alive(number) and time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("localhost", port() + 1), timeout=2.0):
            return True
        time.sleep(TURN)
    return False


def _asked(place: Path, tokens: dict[str, str]) -> Iterator[str]:
    from kanon_sql.serve.extension import served_connection

    for right, text, at in (
        ("reader", "FROM one", port()), ("analyst", CALL.format(k=K), port() + 1),
    ):
        query = f"quack_query('quack:localhost:{at}', '{_doubled(text)}', token := ?)"
        try:
            with served_connection() as con:
                rows = con.execute(f"FROM {query} ORDER BY ALL", [tokens[right]]).fetchall()
        except duckdb.Error as error:
            told = str(error)
            yield f"the {right} got a value: {told[:300]}" if _tells(told) else (
                f"{AN_ERROR} of the {right}: {told[:300]}"
            )
            continue
        if wrong := _wrong(right, rows, place):
            yield wrong


def _doubled(text: str) -> str:
    return text.replace("'", "''")


def _tells(text: str) -> bool:
    return NAME in text or CITY in text


def _wrong(right: str, rows: list[Any], place: Path) -> str | None:
    """What is wrong of an answer."""
    if right == "reader":
        with duckdb.connect() as con:
            path = place / "out/one.parquet"
            held = con.execute(f"FROM read_parquet('{path}') ORDER BY ALL").fetchall()
        return None if rows == held else "the reader got other rows than the release has"
    answer = _ANSWERS.setdefault(right, rows)
    return None if rows == answer else f"an analyst got {len(rows)} rows, other than before"


_ANSWERS: dict[str, list[Any]] = {}
"""The first answer to a call, which is made of the same table by all servers."""

SERVE = Door(
    "serve", _prepare, typed(_words), _state, ("out/one.parquet",), shell=_words,
    logs=("out/log.jsonl",), steps=True, asks=asks, warm=_warm,
)
ALL = {**DOORS, SERVE.name: SERVE}
