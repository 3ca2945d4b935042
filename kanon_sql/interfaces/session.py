"""What the faces share: a connection over the caller's data, names checked, refusals as ours.

A face turns what its user has into one call of ``run``, and has no logic of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import quoted
from kanon_sql.errors import (
    DataError,
    KanonError,
    OptionError,
    ReleaseError,
    did_you_mean,
)
from kanon_sql.interfaces.catalog import FrameCatalog
from kanon_sql.interfaces.duckdb import register
from kanon_sql.plan.query import plan

FRAME = "frame"
RELATIONS = tuple(name for name, option in OPTIONS.items() if option.relation)
"""Options that name a relation, in whose place a frame may stand."""


def _open(data: Any) -> tuple[duckdb.DuckDBPyConnection, str]:
    """A connection that holds the data as a relation, and the relation's name."""
    con = register(duckdb.connect())
    con.execute(TELL_KIND)
    if isinstance(data, str):
        return con, data
    if hasattr(data, "collect"):  # a Polars LazyFrame
        data = data.collect()
    names = [str(name) for name in getattr(data, "column_names", None) or data.columns]
    lowered = [name.lower() for name in names]
    for name in names:
        if lowered.count(name.lower()) > 1:
            raise DataError(
                f"The frame has two columns named {name!r} (capitals don't count). Rename one."
            )
    con.register(FRAME, data)
    return con, FRAME


def _hold(con: duckdb.DuckDBPyConnection, name: str, given: Any) -> Any:
    """A frame, or a list of rows, given as an option becomes a relation of the connection; its
    name, or the option."""
    if isinstance(given, duckdb.DuckDBPyRelation):  # it belongs to another connection
        given = given.to_arrow_table()
    if isinstance(given, (list, tuple)) and given and all(
        isinstance(pair, (list, tuple)) and len(pair) == len(given[0]) for pair in given
    ):
        names = [f"column_{i}" for i in range(1, len(given[0]) + 1)]
        given = pa.table(dict(zip(names, map(list, zip(*given, strict=True)), strict=True)))
    if hasattr(given, "collect"):  # a Polars LazyFrame
        given = given.collect()
    if not hasattr(given, "columns") and not hasattr(given, "column_names"):
        return given
    con.register(name, given)
    return name


def _relations(con: duckdb.DuckDBPyConnection, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, where frames may stand for names of relations."""
    held = {
        name: _hold(con, name, given) if name in RELATIONS else given
        for name, given in options.items()
    }
    if isinstance(held.get("hierarchies"), Mapping):
        held["hierarchies"] = {
            column: _hold_hierarchy(con, f"hierarchy_{i}", given)
            for i, (column, given) in enumerate(held["hierarchies"].items(), start=1)
        }
    return held


def _hold_hierarchy(con: duckdb.DuckDBPyConnection, name: str, given: Any) -> Any:
    """The name of a frame of levels; a kind with names for the frames that it is made from."""
    if not isinstance(given, Mapping):
        return _hold(con, name, given)
    return {
        option: _hold(con, f"{name}_{option}", value) if option in RELATIONS else value
        for option, value in given.items()
    }


def _like(data: Any, result: duckdb.DuckDBPyRelation) -> Any:
    """The result as the kind of frame that came in; an Arrow table where a file did."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "polars":
        return result.pl()
    if kind == "pandas":
        return result.df()
    return result.to_arrow_table()


TELL_KIND = """
    CREATE OR REPLACE TEMP MACRO __kanon_refuse(kind, sentence)
    AS error(concat(kind, ': ', sentence))
"""
"""Has a refusal bring its class out of the query; connections of others are told the sentence."""

KINDS = {kind.__name__: kind for kind in (KanonError, OptionError, DataError, ReleaseError)}


def _refused(error: duckdb.Error) -> Exception:
    """The refusal inside a DuckDB error, of the class as which it was raised; what DuckDB itself
    refuses is about the data."""
    text = str(error).partition("\n\nLINE ")[0].partition(": ")[2]
    kind, _, sentence = text.partition(": ")
    return KINDS[kind](sentence) if kind in KINDS else DataError(text)


def _columns(con: duckdb.DuckDBPyConnection, relation: str) -> Mapping[str, str | None]:
    try:
        described = con.sql(f"FROM {quoted(relation)}").columns
    except duckdb.Error as error:
        raise OptionError(str(error).partition("\n\nLINE ")[0].partition(": ")[2]) from None
    return dict.fromkeys(described)


def _refuse_unknown(columns: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raises OptionError for an option that names a column which the relation doesn't have."""
    known = list(map(str.lower, columns))
    for option in OPTIONS.values():
        if not option.columns or options.get(option.name) is None:
            continue
        named = option.read(options[option.name])
        for name in [named] if isinstance(named, (str, float)) else named:
            if isinstance(name, str) and name.lower() not in known:  # a cost may be a number
                raise OptionError(
                    f"{option.name} names the column {name!r}, which doesn't exist. "
                    f"{did_you_mean(name, columns)}"
                )
    column = options.get("column_name")
    if column is not None and str(column).lower() not in known:
        raise OptionError(f"The column {column!r} doesn't exist. {did_you_mean(column, columns)}")


def run(call: str, data: Any, options: Mapping[str, Any]) -> Any:
    """Runs one of the SQL calls on a frame or file.

    Args:
        call: the SQL call, such as 'anonymize'.
        data: a Polars, pandas or Arrow frame, or the path of a Parquet, CSV or JSON file.
        options: as in SQL.

    Returns:
        A frame of the kind that came in; an Arrow table for a file.

    Raises:
        OptionError, DataError, ReleaseError: as the SQL call, in the same words.
    """
    con, relation = _open(data)
    with con:
        columns = _columns(con, relation)
        _refuse_unknown(columns, options)
        held = _relations(con, options)
        known = {relation: columns}
        text = plan(call, relation, held, FrameCatalog(con, known))
        try:
            return _like(data, con.sql(text))
        except (duckdb.CatalogException, duckdb.IOException) as error:
            raise OptionError(str(error).partition("\n")[0].partition(": ")[2]) from None
        except duckdb.InvalidInputException as error:
            raise _refused(error) from None
