"""Registered connections of our own, which calls without a connection use one after the other.

To open one and to register on it takes longer than a small call. Only what reads relations and
writes nothing may give one back; whatever sets something up has one of its own.
"""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import suppress
from pathlib import Path

import duckdb

from kanon_sql.duckdb.register import close, register
from kanon_sql.names import quoted

MOST = 2
"""How many are kept: a release reads its file by a second one."""

LEFT = """
    SELECT 'TABLE', table_name FROM duckdb_tables()
    UNION ALL SELECT 'VIEW', view_name FROM duckdb_views() WHERE NOT internal
"""
LOADED = """
    SELECT count(*), current_setting('temp_directory') FROM duckdb_extensions()
    WHERE loaded AND install_mode IS DISTINCT FROM 'STATICALLY_LINKED'
"""
"""Extensions beside those that DuckDB is built with: httpfs and its like read secrets once. And the
folder that DuckDB makes where it lacks memory, and removes when it is closed."""

_kept: list[duckdb.DuckDBPyConnection] = []
_lock = threading.Lock()


def opened() -> duckdb.DuckDBPyConnection:
    """A registered connection of our own, to a database in memory."""
    con = register(duckdb.connect())
    # ours shows how far a call is; DuckDB's would be a second one in notebooks
    # (without ipywidgets DuckDB refuses the setting, and shows none)
    with suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con


def taken() -> duckdb.DuckDBPyConnection:
    """One that was kept, or a new one."""
    with _lock:
        if _kept:
            return _kept.pop()
    con = opened()
    # a file may be another one by the next call
    con.execute("SET enable_external_file_cache = false")
    return con


def give_back(con: duckdb.DuckDBPyConnection) -> None:
    """Keeps a connection for the next call, with nothing in its database, or closes it."""
    try:
        extensions, folder = con.execute(LOADED).fetchall()[0]
        lasts = extensions == 0 and not (folder and Path(folder).exists())
        for kind, name in con.execute(LEFT).fetchall():
            con.execute(f"DROP {kind} {quoted(name)}")
        with _lock:
            if lasts and len(_kept) < MOST:
                _kept.append(con)
                return
    except duckdb.Error:
        pass  # it is closed as any other
    close(con)


def close_kept() -> None:
    """Closes those that are kept."""
    with _lock:
        gone, _kept[:] = _kept[:], []
    for con in gone:
        close(con)


if hasattr(os, "register_at_fork"):  # a child has none of DuckDB's threads
    os.register_at_fork(before=close_kept)
atexit.register(close_kept)
