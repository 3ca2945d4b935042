"""Macros for every connection of an open database: in a database of their own beside the user's,
in memory, so that nothing is written; a temporary macro has one connection that knows it."""

from __future__ import annotations

import contextlib
import threading

import duckdb

from kanon_sql.errors import OptionError
from kanon_sql.names import literal, quoted
from kanon_sql.plan.macros import HOME, macros

MARK = "__kanon_home"
TAKEN = (
    "The connection already has a database named {0!r}, where the shared macros would go. Detach "
    "it, attach it under another name, or name another place for the macros, for example "
    "shared='{0}_calls'."
)
NO_NAME = (
    "shared takes True, or the name of a new database for the macros. Give a name without quotes "
    "that DuckDB does not use."
)

_homes: dict[int, set[str]] = {}
"""The databases of macros that we attached, in lower case, by instance."""

_lock = threading.Lock()


def share(con: duckdb.DuckDBPyConnection, instance: int, shared: bool | str) -> None:
    """Makes the macros for every connection of the database that a connection belongs to.

    Args:
        con: one of them. It is not changed, nor is a transaction that it is in.
        instance: the number of the database.
        shared: the name of the database of macros; of True it is HOME.

    Raises:
        OptionError: another database has the name.
    """
    home = _home(shared)
    with _lock, con.cursor() as maker:
        known = _homes.setdefault(instance, set())
        if _is_there(maker, home):
            if home.lower() in known and _is_ours(maker, home):
                return
            raise OptionError(TAKEN.format(home))
        # also where the user's database is open for reading only
        maker.execute(f"ATTACH ':memory:' AS {quoted(home)} (READ_WRITE)")
        try:
            maker.begin()
            for text in macros(home):
                maker.execute(text)
            maker.execute(f"CREATE MACRO {quoted(home)}.main.{MARK}() AS {instance}")
            maker.commit()
        except duckdb.Error:
            with contextlib.suppress(duckdb.Error):
                maker.rollback()
            maker.execute(f"DETACH {quoted(home)}")
            raise
        known.add(home.lower())


def _home(shared: bool | str) -> str:
    """The name of the database of macros."""
    if shared is True:
        return HOME
    if not isinstance(shared, str) or not shared.isidentifier() or shared.lower() in (
        "temp", "system", "memory", "main", "pg_catalog", "information_schema"
    ):
        raise OptionError(NO_NAME)
    return shared


def _is_there(con: duckdb.DuckDBPyConnection, home: str) -> bool:
    return bool(con.execute(
        "SELECT database_name FROM system.main.duckdb_databases() "
        f"WHERE system.main.lower(database_name) = {literal(home.lower())}"
    ).fetchall())


def _is_ours(con: duckdb.DuckDBPyConnection, home: str) -> bool:
    try:
        con.execute(f"SELECT {quoted(home)}.main.{MARK}()")
    except (duckdb.CatalogException, duckdb.BinderException):
        return False
    return True
