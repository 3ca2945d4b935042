"""The SQL face: makes the calls known to a DuckDB connection."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import duckdb

from kanon_sql.relation import Catalog
from kanon_sql.surface import PLANNER, macros
from kanon_sql.udfs import FUNCTIONS, Signature, planner
from kanon_sql.udfs.planner import PARAMETERS, CatalogOf

COLUMNS = """
    SELECT column_name, comment FROM duckdb_columns()
    WHERE lower(table_name) = lower(?) AND lower(schema_name) = lower(?)
      AND lower(database_name) = lower(?)
    ORDER BY column_index
"""

def _create(con: duckdb.DuckDBPyConnection, function: Signature) -> None:
    """Creates a function, unless this database instance has it already."""
    try:
        con.create_function(  # type: ignore[call-overload]
            function.name,
            function.function,
            list(function.parameters),
            function.returns,
            type=function.kind,
            null_handling="special",
            side_effects=function.side_effects,
        )
    except duckdb.NotImplementedException as known:
        if "already created" not in str(known):
            raise


def _catalog_of(con: weakref.ref[duckdb.DuckDBPyConnection]) -> CatalogOf:
    """Reads the catalog by a cursor of its own; holds no connection open."""

    def for_caller(database: str, schema: str) -> Catalog:
        def columns(parts: tuple[str, ...]) -> Mapping[str, str | None] | None:
            place = (*(database, schema)[: 3 - len(parts)], *parts)
            owner = con()
            if owner is None:
                return None
            with owner.cursor() as cursor:
                found = cursor.execute(COLUMNS, [place[2], place[1], place[0]]).fetchall()
            return dict(found) or None

        return columns

    return for_caller


def register(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Makes ``anonymize`` and its companions callable in SQL on this connection.

    Nothing is written to the database: the macros are temporary, and the functions live as long
    as the database is open. Call it once per connection or cursor; calling it again does no harm.

    Returns:
        The connection itself.
    """
    for function in FUNCTIONS:
        _create(con, function)
    plan_call = planner(_catalog_of(weakref.ref(con)))
    _create(con, Signature(PLANNER, plan_call, PARAMETERS, "VARCHAR", "native"))
    for statement in macros():
        con.execute(statement)
    return con
