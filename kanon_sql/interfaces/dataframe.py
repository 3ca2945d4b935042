"""The Python face: the same query, over a frame or a file in place of a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import quoted
from kanon_sql.errors import DataError, OptionError, ReleaseError, did_you_mean
from kanon_sql.interfaces.duckdb import register
from kanon_sql.plan.query import plan

FRAME = "frame"
RELATIONS = ("release", "adjacency", "places")
"""Options that name a relation, in whose place a frame may stand."""


def _open(data: Any) -> tuple[duckdb.DuckDBPyConnection, str]:
    """A connection that holds the data as a relation, and the relation's name."""
    con = register(duckdb.connect())
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


def _refused(error: duckdb.Error) -> Exception:
    """The sentence inside a DuckDB error, as one of our errors."""
    text = str(error).partition("\n\nLINE ")[0].partition(": ")[2]
    return ReleaseError(text) if "release was stopped" in text else DataError(text)


def _columns(con: duckdb.DuckDBPyConnection, relation: str) -> Mapping[str, str | None]:
    try:
        described = con.sql(f"FROM {quoted(relation)}").columns
    except duckdb.Error as error:
        raise OptionError(str(error).partition("\n\nLINE ")[0].partition(": ")[2]) from None
    return dict.fromkeys(described)


def run(call: str, data: Any, options: Mapping[str, Any]) -> Any:
    """Runs one of the SQL calls on a frame or file.

    Args:
        call: the SQL call, such as 'anonymize'.
        data: a Polars, pandas or Arrow frame, or the path of a Parquet, CSV or JSON file.
        options: as in SQL.

    Raises:
        OptionError, DataError, ReleaseError: as the SQL call, in the same words.
    """
    con, relation = _open(data)
    with con:
        columns = _columns(con, relation)
        for option in (o for o in OPTIONS.values() if o.roles and options.get(o.name) is not None):
            named = option.read(options[option.name])
            for name in [named] if isinstance(named, (str, float)) else named:
                if isinstance(name, float):  # a facility_cost may be a number
                    continue
                if name.lower() not in map(str.lower, columns):
                    raise OptionError(
                        f"{option.name} names the column {name!r}, which doesn't exist. "
                        f"{did_you_mean(name, columns)}"
                    )
        column = options.get("column_name")
        if column is not None and str(column).lower() not in map(str.lower, columns):
            raise OptionError(
                f"The column {column!r} doesn't exist. {did_you_mean(column, columns)}"
            )
        held = _relations(con, options)
        known = {relation: columns}
        text = plan(call, relation, held, lambda parts: known.get(parts[-1]))
        try:
            return _like(data, con.sql(text))
        except (duckdb.CatalogException, duckdb.IOException) as error:
            raise OptionError(str(error).partition("\n")[0].partition(": ")[2]) from None
        except duckdb.InvalidInputException as error:
            raise _refused(error) from None


def _face(call: str, promise: str) -> Callable[..., Any]:
    """A Python function for one SQL call, documented from the registry."""
    taken = [option for option in OPTIONS.values() if call in option.calls]

    def face(data: Any, /, **options: Any) -> Any:
        return run(call, data, options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    face.__name__ = face.__qualname__ = call
    face.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY),
            *(inspect.Parameter(o.name, keyword, default=o.default) for o in taken),
        ]
    )
    lines = [f"    {o.name}: {o.description} Default: {o.default_text}." for o in taken]
    face.__doc__ = "\n".join(
        [
            promise,
            "",
            "Args:",
            "    data: a Polars, pandas or Arrow frame, or the path of a file that DuckDB reads.",
            *lines,
            "",
            "Returns:",
            "    A frame of the kind that came in; an Arrow table for a file.",
            "",
            "Raises:",
            "    OptionError, DataError, ReleaseError: see kanon_sql.errors.",
        ]
    )
    return face


anonymize = _face("anonymize", "The released rows: each combination shared by k rows or more.")
anonymize_clusters = _face("anonymize_clusters", "One row per published cluster.")
anonymize_metrics = _face("anonymize_metrics", "One row per metric of the release.")
anonymize_suppressed = _face(
    "anonymize_suppressed", "The rows that the release leaves out: row numbers of the source."
)
anonymize_audit = _face(
    "anonymize_audit", "Metrics of any release, ours or not, held against its source."
)
anonymize_sql = _face("anonymize_sql", "The SQL text that anonymize runs, as a frame of one row.")
k_anonymity = _face("k_anonymity", "The audit of any table, released by us or not.")


def hierarchy(data: Any, column: str, /, **options: Any) -> Any:
    """The level table of a column: level0 (its values) .. levelN, to inspect, edit and pass back.

    Args:
        data: a Polars, pandas or Arrow frame, or the path of a file that DuckDB reads.
        column: the column.
        options: kind, and the options of that kind, as in SQL (kanon_sql.kinds.KINDS lists them).

    Returns:
        A frame of the kind that came in; an Arrow table for a file.

    Raises:
        OptionError, DataError: as the SQL call, in the same words.
    """
    return run("hierarchy", data, {"column_name": column, **options})
