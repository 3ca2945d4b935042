"""Ctrl-C while DuckDB runs a query: DuckDB 2.0 itself doesn't hear it, so the connection is told by
a thread that does. SIGTERM, by which systems end what runs, stops a command in the same way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from kanon_sql.jobs.interrupts import count_as_ctrl_c, heard, listen

if TYPE_CHECKING:  # kanon --help needs no database
    import duckdb

TURN = 0.1
"""Seconds between two looks."""

_open: list[duckdb.DuckDBPyConnection] = []
"""The connections that are told."""

_terminated = False


def stop_at_sigterm() -> None:
    """From now on SIGTERM stops a command as Ctrl-C does: without that the system would end the
    process, with what is half written still there."""
    count_as_ctrl_c(signal.SIGTERM)
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: Any) -> NoReturn:
    global _terminated
    _terminated = True
    raise KeyboardInterrupt


def was_terminated() -> bool:
    """Whether it was SIGTERM that stopped the command."""
    return _terminated


@contextmanager
def stoppable(con: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose query ends at Ctrl-C; it is closed at the end."""
    _open.append(con)
    try:
        yield con
    finally:
        _open.remove(con)
        con.close()


@contextmanager
def watching() -> Iterator[None]:
    """Listens to Ctrl-C meanwhile."""
    listen()
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=[over, heard()], daemon=True, name="kanon")
    watch.start()
    try:
        yield
    finally:
        over.set()


def _watch(over: threading.Event, before: int) -> None:
    while not over.wait(TURN):
        if heard() > before:
            before = heard()
            if not _open:
                continue
            import duckdb

            for con in list(_open):
                with suppress(duckdb.Error):
                    con.interrupt()
