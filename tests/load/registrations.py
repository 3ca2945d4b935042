"""Registering and forgetting a thousand times: connections, cursors, shared macros and frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa

import kanon_sql
from kanon_sql.duckdb import register, shared
from tests.load.outcome import Outcome
from tests.load.process import Held, held
from tests.load.questions import ROLES, ROWS, Connection, connection

WARM = 0.5
"""The share of the turns after which nothing may grow any more. Of 1,000 turns in a new process the
first 200 took 33 MiB, the next 500 another 25, and the last 300 gave 2 back."""

GROWTH = 1.05
"""How much more memory there may be at the end."""

CALL = f"SELECT count(*) FROM anonymize('given', k := 5, method := 'mondrian', {ROLES})"
ROWS_GIVEN = 60
OFTEN = 25
"""In each of so many turns one calls."""


def a_database(con: Connection, table: pa.Table, calls: bool) -> Any:
    """A new database, registered and closed."""
    with kanon_sql.register(duckdb.connect()) as own:
        own.register("given", table)
        return own.execute(CALL).fetchall()[0] if calls else None


def a_cursor(con: Connection, table: pa.Table, calls: bool) -> Any:
    """A cursor of one database, registered and closed."""
    with kanon_sql.register(con.cursor()) as own:
        own.register("given", table)
        return own.execute(CALL).fetchall()[0] if calls else None


def for_all(con: Connection, table: pa.Table, calls: bool) -> Any:
    """Macros for all connections, attached and detached."""
    kanon_sql.register(con, shared="calls")
    with con.cursor() as own:
        own.register("given", table)
        call = CALL.replace("FROM anonymize", "FROM calls.anonymize")
        count = own.execute(call).fetchall()[0] if calls else None
    con.execute("DETACH calls")
    return count


def a_frame(con: Connection, table: pa.Table, calls: bool) -> Any:
    """A frame of the caller's, registered, released and unregistered."""
    con.register("given", table)
    try:
        return con.execute(CALL).fetchall()[0] if calls else None
    finally:
        con.unregister("given")


def in_python(con: Connection, table: pa.Table, calls: bool) -> Any:
    """A call of Python's, which makes a database of its own."""
    rows = kanon_sql.k_anonymity(
        table, quasi_identifiers=["age", "income", "zip", "seen"], sensitive=["job", "disease"],
    )["rows"]
    return (rows[0].as_py(),) if calls else None


TURNS: tuple[Callable[[Connection, pa.Table, bool], Any], ...] = (
    a_database, a_cursor, for_all, a_frame, in_python,
)


def known() -> int:
    """How many databases and connections the process keeps."""
    return sum(map(len, (register._registered, register._sharing, shared._homes)))


def of_the_user() -> int:
    """How many databases of the user it keeps two functions for, also once they are closed: it
    can't know whether a connection that never registered still has them open."""
    return len(register._functions)


def registered_often(times: int = 1000) -> Outcome:
    """Each way in turn so many times, with a call now and then."""
    outcome = Outcome("registrations")
    early: Held | None = None
    early_known = 0
    with connection() as con:
        with duckdb.connect() as other:
            table = other.sql(ROWS.format(ROWS_GIVEN)).to_arrow_table()
        in_python(con, table, False)  # the first one opens a database that the process keeps
        first = of_the_user()
        for number in range(times):
            calls = number % OFTEN == 0
            for turn in TURNS:
                try:
                    count = turn(con, table, calls)
                except Exception as error:
                    outcome.find(f"{turn.__name__}: {type(error).__name__}: {error}")
                    continue
                outcome.calls += 1
                if calls and count != (ROWS_GIVEN,):
                    outcome.find(f"{turn.__name__}: {count} rows, and not {ROWS_GIVEN}")
            if number == int(times * WARM):
                early, early_known = held(), known()
        late, late_known, kept = held(), known(), of_the_user() - first
    assert early is not None
    outcome.facts += [
        f"{early.mebibytes:.0f} then {late.mebibytes:.0f} MiB "
        f"({100 * (late.mebibytes / early.mebibytes - 1):+.1f} %)",
        f"{early.descriptors} then {late.descriptors} descriptors",
        f"{early.threads} then {late.threads} threads",
        f"{early_known} then {late_known} databases and connections known",
        f"two functions kept for each of {kept} databases",
    ]
    if late.mebibytes > GROWTH * early.mebibytes:
        outcome.find(f"memory grew from {early.mebibytes:.0f} to {late.mebibytes:.0f} MiB")
    if late.descriptors > early.descriptors or late.threads > early.threads:
        outcome.find("open descriptors or threads grew")
    if late_known > early_known:
        outcome.find(f"what is known of databases grew from {early_known} to {late_known}")
    if kept > times:
        outcome.find(f"functions are kept for {kept} databases, and the user opened {times}")
    return outcome
