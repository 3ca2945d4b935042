"""The SQL face: makes the calls known to a DuckDB connection."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import threading
import weakref
from collections.abc import Iterator
from time import monotonic, sleep

import duckdb

from kanon_sql.duckdb.catalog import ConnectionCatalog
from kanon_sql.duckdb.shared import share
from kanon_sql.errors import KanonError, OptionError, a_type
from kanon_sql.jobs.interrupts import listen
from kanon_sql.names import literal
from kanon_sql.plan.macro_shadowing import HERE, UNLISTED, bound_sql, refuse_changed, shadows_sql
from kanon_sql.plan.macros import PLANNER, macros
from kanon_sql.udfs import FUNCTIONS, Signature, planner
from kanon_sql.udfs.planner import PARAMETERS, CatalogOf, ShadowOf

OLDEST = "1.4.4"
"""The oldest DuckDB that runs our SQL, as pyproject.toml says."""

TOO_OLD = (
    "DuckDB {} is too old: kanon_sql needs DuckDB {} or later. Install one: pip install -U duckdb"
)

BUSY = 10.0
"""Seconds that a call has to stop in, before its connection is given up."""

INSTANCE = "__kanon_instance"

NAME = re.compile(r"(?m)^CREATE OR REPLACE TEMP MACRO (\w+)")
"""The name in the statement of a macro."""

OURS_HIDDEN = f"""
    SELECT system.main.min(function_name) FROM system.main.duckdb_functions()
    WHERE NOT internal AND system.main.lower(function_name) IN ('{INSTANCE}', '{PLANNER}')
"""

UNCOMMITTED = (
    "No other connection knows the calls until the transaction of this one is committed. End it, "
    "and register again with shared=True."
)

NO_CONNECTION = (
    "register takes a connection, and {} is none. Give what duckdb.connect() gives, for example "
    "con = kanon_sql.register(duckdb.connect('my.duckdb'))."
)

Connections = weakref.WeakValueDictionary[int, duckdb.DuckDBPyConnection]

_registered: dict[int, Connections] = {}
"""The registered connections by the number that DuckDB gives them, for each open database by the
number that __kanon_instance() gives."""

_sharing: dict[int, Connections] = {}
"""Those of them that registered for all others."""

_lock = threading.Lock()
"""Held while functions are made: they belong to all connections of a database."""

_made: set[int] = set()
"""The databases that have all functions."""

_sound: set[bytes] = set()
"""What ``_bound`` gave where no macro hid a function."""

_numbers = itertools.count()

_as_made: list[list[tuple[object, ...]]] = []
"""What ``_macros_of`` gives right after the macros were made; the same for all connections."""

_functions: dict[int, list[Signature]] = {}
"""The functions that each database has of its own. DuckDB keeps one alive only as long as the
connection that made it, though other connections of the database go on calling it."""


def _known(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Which of the functions the database has; all in one query, since it lists thousands."""
    names = [*(function.name for function in FUNCTIONS), INSTANCE, PLANNER]
    cursor = con.execute(
        "SELECT function_name FROM system.main.duckdb_functions() "
        "WHERE database_name = 'system' AND system.main.list_contains(?, function_name)",
        [names],
    )
    return {name for (name,) in cursor.fetchall()}


def _create(con: duckdb.DuckDBPyConnection, function: Signature, known: set[str]) -> None:
    """Creates a function, unless the database has it already."""
    if function.name in known:
        return

    def create(maker: duckdb.DuckDBPyConnection) -> None:
        maker.create_function(  # type: ignore[call-overload]
            function.name,
            function.function,
            list(function.parameters),
            function.returns,
            type=function.kind,
            null_handling="special",
            side_effects=function.side_effects,
        )

    try:
        create(con)
    except duckdb.NotImplementedException:
        # the connection remembers a function that a rollback took away
        with con.cursor() as other:
            create(other)


def _refused(con: duckdb.DuckDBPyConnection, name: str) -> str | None:
    """Why a function can't be called without arguments, in DuckDB's word for the kind of error;
    None where it can. It is asked for in a way that fails no transaction of the caller's."""
    ((plan,),) = con.execute(
        f"SELECT system.main.json_serialize_plan('SELECT system.main.{name}()')"
    ).fetchall()
    error: str | None = json.loads(plan).get("error_type")
    return error


def _instance(con: duckdb.DuckDBPyConnection) -> int | None:
    """The number of the database that the connection belongs to; None of a new one."""
    if _refused(con, INSTANCE) == "catalog":
        return None
    ((number,),) = con.execute(f"SELECT system.main.{INSTANCE}()").fetchall()
    return int(number)


def _make(con: duckdb.DuckDBPyConnection) -> int:
    """Creates the functions in a database that lacks some; its number."""
    # where the first and the last of them are missing, all are
    ends = (FUNCTIONS[0].name, PLANNER)
    is_new = all(_refused(con, name) == "catalog" for name in ends)
    known: set[str] = set() if is_new else _known(con)
    for function in FUNCTIONS:
        _create(con, function, known)
    number = next(_numbers)
    told = Signature(INSTANCE, lambda: number, (), "BIGINT", "native")
    _create(con, told, known)
    instance = _instance(con)
    assert instance is not None
    plan_call = planner(_catalog_of(instance), _shadow_of(instance))
    planned = Signature(PLANNER, plan_call, PARAMETERS, "VARCHAR", "native")
    _functions.setdefault(instance, []).extend((told, planned))
    _create(con, planned, known)
    _made.add(instance)
    for kept in (_registered, _sharing):
        for gone in [one for one, connections in kept.items() if not connections]:
            del kept[gone]
    return instance


_read: list[duckdb.Statement] = []


def _statements(con: duckdb.DuckDBPyConnection) -> list[duckdb.Statement]:
    """The statements that make the macros, read once: reading takes longer than running them."""
    if not _read:
        _read[:] = con.extract_statements(";\n".join(macros()))
    return _read


def _macros_of(con: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    """A digest of our macros as the connection has them."""
    names = [name for each in _statements(con) for name in NAME.findall(each.query)]
    return con.execute(
        "SELECT system.main.count(*), system.main.bit_xor(system.main.hash("
        "function_name, parameters, parameter_types, macro_definition)) "
        "FROM system.main.duckdb_functions() "
        "WHERE database_name = 'temp' AND system.main.list_contains(?, function_name)",
        [names],
    ).fetchall()


def _candidates(instance: int, caller: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connections from which a cursor for a caller may come: its own, which nobody closes while
    it runs our planner; those that are to stay open for all; and any other."""
    known = _registered.get(instance, Connections())
    own, sharing = known.get(caller), _sharing.get(instance, Connections())
    if own is not None:
        yield own
    yield from sharing.values()
    yield from known.values()


def _cursor(instance: int, caller: int, path: str = "") -> duckdb.DuckDBPyConnection:
    """A cursor of a database, to be closed; with the search path of a caller."""
    for con in list(_candidates(instance, caller)):
        with contextlib.suppress(duckdb.ConnectionException):
            opened = con.cursor()
            # names are the caller's, and must not find the variables of this function; where the
            # configuration is locked, none is looked up that is in no catalog
            with contextlib.suppress(duckdb.InvalidInputException):
                opened.execute("SET SESSION python_enable_replacements = false")
            if path:
                opened.execute(f"SET SESSION search_path = {literal(path)}")
            return opened
    raise KanonError("The connection is closed. Register another one.")


def _catalog_of(instance: int) -> CatalogOf:
    """Reads the catalog of a database by cursors of its own; keeps no connection open."""
    return lambda caller, path: ConnectionCatalog(lambda: _cursor(instance, caller, path))


def _bound(con: duckdb.DuckDBPyConnection) -> bytes | None:
    """A digest of what the names of the functions mean here; None where DuckDB doesn't tell."""
    asked = "SELECT system.main.json_serialize_plan(?)"
    try:
        ((plan,),) = con.execute(asked, [bound_sql()]).fetchall()
    except (duckdb.BinderException, duckdb.CatalogException):
        return None
    refused = plan.startswith('{"error":true')
    return None if refused else hashlib.blake2b(plan.encode()).digest()


def _shadow(con: duckdb.DuckDBPyConnection, database: str, path: str) -> str | None:
    try:
        row = con.execute(shadows_sql(literal(database), literal(path))).fetchone()
    except (duckdb.BinderException, duckdb.CatalogException):
        raise OptionError(UNLISTED) from None
    return None if row is None else row[0]


def _shadow_of(instance: int) -> ShadowOf:
    """The macro that hides a function of ours, as far as it is committed. All functions of the
    database are listed for a query that runs only where their names may mean something else than
    at a time when nothing was found: it lists them itself, and nothing comes out but by that."""

    def for_caller(caller: int, database: str, path: str, runs: bool) -> str | None:
        with _cursor(instance, caller, path) as con:
            con.begin()  # both look at the same macros
            bound = _bound(con) if runs else None
            if bound in _sound:
                return None
            shadow = _shadow(con, database, path)
            if shadow is None and bound is not None:
                _sound.add(bound)
            return shadow

    return for_caller


def refuse_old(version: str = duckdb.__version__) -> None:
    """Raises OptionError where DuckDB is too old for our SQL."""
    numbers = re.findall(r"\d+", version)[:3]
    if [int(number) for number in numbers] < [int(number) for number in OLDEST.split(".")]:
        raise OptionError(TOO_OLD.format(version, OLDEST))


def register(
    con: duckdb.DuckDBPyConnection, shared: bool | str = False
) -> duckdb.DuckDBPyConnection:
    """Registers ``anonymize`` and the other SQL functions on this connection.

    Nothing is written to the database: the macros are temporary, and the functions exist as long
    as the database is open. Call it once per connection or cursor; calling it again is safe.

    Args:
        con: the connection or cursor.
        shared: whether all other connections of the same open database also get the functions, as
            ``kanon.anonymize(...)``, from an attached in-memory database of macros. Keep ``con``
            open as long as they use them. A string is another name for that database.

    Returns:
        The connection itself.

    Raises:
        OptionError: DuckDB is too old, or con is not a connection. A macro of the database or
            another database has a name that is needed. With shared, an open transaction hides the
            functions from other connections.
    """
    refuse_old()
    if not hasattr(con, "execute"):
        raise OptionError(NO_CONNECTION.format(a_type(con)))
    try:
        instance = _register(con)
        if shared:
            with con.cursor() as other:
                if _refused(other, PLANNER) == "catalog":
                    raise OptionError(UNCOMMITTED)
            share(con, instance, shared)
            _sharing.setdefault(instance, Connections())[_number_of(con)] = con
    except (duckdb.BinderException, duckdb.CatalogException):
        for query in (shadows_sql(*HERE), OURS_HIDDEN):
            for (name,) in con.execute(query).fetchall():
                refuse_changed(name, "")
        raise
    return con


def close(con: duckdb.DuckDBPyConnection) -> None:
    """Closes the only connection of a database, and keeps nothing of either. A call that another
    thread still makes on it, after an interrupt, is stopped."""
    end = monotonic() + BUSY
    while True:
        with contextlib.suppress(duckdb.ConnectionException):  # it may be closed
            con.interrupt()
        try:
            con.close()
            break
        except duckdb.OperationalError:  # DuckDB 2.0.1 refuses where those before wait
            if monotonic() > end:
                raise
            sleep(0.01)
    with _lock:
        for instance, known in list(_registered.items()):
            if any(one is con for one in known.values()):
                _made.discard(instance)
                for kept in (_registered, _sharing, _functions):
                    kept.pop(instance, None)


def _register(con: duckdb.DuckDBPyConnection) -> int:
    listen()
    with _lock:
        instance = _instance(con)
        if instance is None or instance not in _made:
            instance = _make(con)
        known, number = _registered.setdefault(instance, Connections()), _number_of(con)
        again = number in known
        known[number] = con
        statements = _statements(con)
    # to look whether all are there still takes less than half of the time to make them
    if again and _as_made and _macros_of(con) == _as_made[0]:
        return instance
    for statement in statements:
        con.execute(statement)
    if again and not _as_made:
        _as_made.append(_macros_of(con))
    return instance


def _number_of(con: duckdb.DuckDBPyConnection) -> int:
    """The number that DuckDB gives a connection."""
    ((number,),) = con.execute("SELECT system.main.current_connection_id()").fetchall()
    return int(number)
