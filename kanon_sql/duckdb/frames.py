"""What may stand for a table in Python, and as what the result goes back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol
from warnings import catch_warnings, simplefilter

import duckdb
import pyarrow as pa

from kanon_sql.errors import DataError, OptionError, a_type
from kanon_sql.names import caseless


class Columned(Protocol):
    """What has columns, as every frame does, and no name, path or dict."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Frame = TypeVar("Frame", bound=Columned, default=pa.Table)
    Kept = TypeVar("Kept", default=Any)
else:  # Python knows defaults from 3.13 on
    from typing import TypeVar

    Frame, Kept = TypeVar("Frame"), TypeVar("Kept")
"""The kind of frame that comes in and goes back, an Arrow table where none comes in; and the one
that a release is told as."""

Named = str | PathLike[str] | Sequence[str | PathLike[str]] | Mapping[str, Any]
"""What else may stand for a table: its name or path, a list of paths, a dict of columns."""

TAKEN = (
    "Give a Polars, pandas, Arrow or Ibis frame, a dict of columns, a DuckDB relation, or the path "
    "of a file."
)
ADVICE = {
    "ndarray": "An array has no column names. Give a dict of columns, or a frame with names.",
    "generator": "A generator gives its rows once only. Give a frame, or a dict of columns.",
    "Series": "A single column is not a table. Give a frame, as its to_frame() makes.",
    "DuckDBPyConnection":
        "A connection is not a table. Name the table first, and give the connection as con.",
    "NoneType": f"The data is missing. {TAKEN}",
}
"""What is said of some types that are no table."""

SCAN = re.compile(r"SCAN \[(.*)\]$", re.MULTILINE)
"""What a lazy frame of Polars says of the files that it will read."""
ELIDED = re.compile(r"\.\.\. \d+ other sources?$")
"""What it says in place of the paths of many files."""
ZONED = re.compile(r"\bTIME WITH TIME ZONE\b")
"""A type whose zone Arrow forgets, and that pandas doesn't take."""
OF_POLARS = re.compile(rf"{ZONED.pattern}|\bINTERVAL\b")
"""Types that Polars doesn't take."""

UNKEPT = "The column {!r} has the type {}, which a frame doesn't keep as it is. CAST it to VARCHAR."

UNTOLD = "FROM read_parquet(unknown)"
"""A query that reads nobody knows what: of a frame whose files can't be told."""

OBJECTS = "DuckDB can't read the frame. Give each column values of one type that SQL has."

PROBE = "__kanon_column"
UNREADABLE = (duckdb.Error, pa.ArrowException, TypeError, ValueError)
"""What is raised where DuckDB can't read a frame."""

OBJECT = (
    "DuckDB can't read the column {!r} of the frame. Give it values of one type that SQL has, for "
    "example strings, or leave the column out."
)

UNREAD = (
    "The column {!r} can't be read as values of one type. Give it as a list of values of one type."
)


def library(data: Any) -> str:
    """The library that a frame is of: 'polars', 'pandas', 'pyarrow', 'duckdb', 'ibis', or ''."""
    for kind in type(data).__mro__:
        name = kind.__module__.partition(".")[0].lstrip("_")
        if name in ("polars", "pandas", "pyarrow", "duckdb", "ibis"):
            return name
    return ""


def is_frame(value: Any) -> bool:
    """Whether a value has columns; asked of its type, since a lazy frame would look for them."""
    return any(hasattr(type(value), name) for name in ("columns", "column_names"))


def is_column(value: Any) -> bool:
    """Whether a value is a column of a frame; not the index that pandas makes of its names."""
    return library(value) != "" and any(
        kind.__name__ in ("Series", "Array", "ChunkedArray") for kind in type(value).__mro__
    )


DATA = "{} is given as {}, which is data. {}"
LEVELS = "Give a frame of levels for a column, such as {'zip': levels}."
VALUE = "Write the value itself, or the name of a column."


def refuse_data(name: str, value: Any) -> None:
    """Raises OptionError for a frame, or a column of one, that is or is in the value of an option
    which has no use for it: its values would stand in what is said of them."""
    if is_frame(value) or is_column(value):
        hint = LEVELS if name == "hierarchies" else VALUE
        raise OptionError(DATA.format(name, a_type(value), hint))
    for part in value.values() if isinstance(value, Mapping) else (
        value if isinstance(value, (list, tuple)) else ()
    ):
        refuse_data(name, part)


def plain(value: Any) -> Any:
    """An option's value as Python has it, without what numpy, pandas or Polars put around it."""
    if isinstance(value, Mapping):
        return {plain(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else list(value)
    if isinstance(value, PathLike):
        return fspath(value)
    for name in ("tolist", "to_list", "to_pylist", "as_py"):
        unwrap = getattr(value, name, None)
        if unwrap is not None and not hasattr(value, "column_names"):
            return unwrap()
    return value


def relation_name(data: Any) -> str | list[str] | None:
    """The name, path or list of paths that the data is; None where it is a frame."""
    if isinstance(data, (str, PathLike)):
        return str(fspath(data))
    if isinstance(data, (list, tuple)) and data and all(
        isinstance(path, (str, PathLike)) for path in data
    ):
        return [str(fspath(path)) for path in data]
    return None


def table_of(data: Any) -> Any:
    """A frame that DuckDB scans, its columns named by different texts.

    Args:
        data: a Polars (also lazy), pandas, Arrow or Ibis frame, a dict of columns, a DuckDB
            relation, or anything that gives Arrow data (__arrow_c_stream__).

    Raises:
        OptionError: anything else.
        DataError: a frame that can't be taken as it is.
    """
    kind = type(data).__name__
    if kind in ADVICE:
        raise OptionError(ADVICE[kind])
    package = library(data)
    if package == "duckdb" and isinstance(data, duckdb.DuckDBPyRelation):
        refuse_unkept(data)
        frame = data.to_arrow_table()
    elif package == "polars":
        frame = data.collect() if hasattr(data, "collect") else data
        for name, dtype in zip(frame.columns, map(str, frame.dtypes), strict=True):
            if dtype == "Object":  # DuckDB would take addresses for values
                raise DataError(OBJECT.format(name))
    elif package == "ibis" and hasattr(data, "to_pyarrow") and hasattr(data, "columns"):
        frame = data.to_pyarrow()
    elif package == "pandas" and hasattr(data, "columns"):
        frame = _checked_pandas(data)
    elif isinstance(data, Mapping):
        frame = _table_of_columns(data)
    elif package == "pyarrow" and hasattr(data, "to_table"):  # a dataset
        frame = data.to_table()
    elif isinstance(data, pa.RecordBatch):
        frame = pa.Table.from_batches([data])
    elif isinstance(data, pa.Table):
        frame = data
    elif hasattr(data, "toArrow"):  # of Spark, whose stream knows no time zone
        frame = data.toArrow()
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        frame = pa.RecordBatchReader.from_stream(data).read_all()
    else:
        raise OptionError(f"A value of type {kind} is not a table. {TAKEN}")
    _check_names(_names_of(frame))
    return frame


def unreadable(con: duckdb.DuckDBPyConnection, frame: Any) -> DataError:
    """What is said of a frame, as of ``table_of``, that the connection can't read: of the first
    column that it can't read alone."""
    for name in _names_of(frame):
        try:
            one = frame.select([name]) if isinstance(frame, pa.Table) else frame[[name]]
            con.register(PROBE, one)
        except UNREADABLE:
            return DataError(OBJECT.format(name))
        finally:
            with suppress(duckdb.Error):
                con.unregister(PROBE)
    return DataError(OBJECTS)


def files_of(data: Any) -> list[str]:
    """What a frame that isn't read yet will read: paths of files, and queries of DuckDB."""
    package = library(data)
    with suppress(Exception):  # what can't be told is no reason to refuse the frame
        if package == "duckdb":
            return [str(data.sql_query())]
        if package == "pyarrow" and hasattr(data, "to_table"):
            return [str(path) for path in getattr(data, "files", ())]
        if package == "polars" and hasattr(data, "explain"):
            return _scanned(data)
    return []


def _scanned(frame: Any) -> list[str]:
    """The paths and patterns that a lazy frame of Polars will read."""
    scans = SCAN.findall(frame.explain(optimized=False))
    if not any(map(ELIDED.search, scans)):
        return [path.strip() for scan in scans for path in (scan, *scan.split(","))]
    with suppress(Exception):  # a part that has no such form, such as a function of Python
        with catch_warnings():
            simplefilter("ignore")  # Polars says that this form may change
            plan = json.loads(frame.serialize(format="json"))
        return [text for text in _texts_in(plan) if text]
    return [UNTOLD]


def _texts_in(tree: Any) -> Iterator[str]:
    """All texts in what Polars tells as JSON."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, (dict, list)):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _texts_in(part)


def _names_of(frame: Any) -> list[Any]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def _check_names(names: list[Any]) -> None:
    """Raises DataError where columns can't be told apart by a text each."""
    if not names:
        raise DataError("The frame has no columns. Give one with the columns to release.")
    if not all(isinstance(name, str) for name in names):
        raise DataError(
            "The frame has column names that are not strings. Rename them, for example by "
            "frame.columns = [str(name) for name in frame.columns]."
        )
    if "" in names:
        raise DataError("The frame has a column whose name is empty. Rename it.")
    lowered = [caseless(name) for name in names]
    for name in names:
        if lowered.count(caseless(name)) > 1:
            raise DataError(
                f"The frame has two columns named {name!r} (capitals don't count). Rename one."
            )


def _checked_pandas(data: Any) -> Any:
    """The frame, whose index says nothing: what it says would be lost."""
    if getattr(data.columns, "nlevels", 1) > 1:
        raise DataError(
            "The columns of the frame have names of several levels. Join them to one name each "
            "first."
        )
    if type(data.index).__name__ != "RangeIndex" or data.index.name is not None:
        raise DataError(
            "The frame has an index, which a release doesn't keep. Make it a column by "
            "reset_index(), or leave it out by reset_index(drop=True)."
        )
    return data


def _table_of_columns(data: Mapping[Any, Any]) -> pa.Table:
    """A dict of columns as an Arrow table."""
    _check_names(list(data))
    columns = {}
    for name, values in data.items():
        try:
            if isinstance(values, (str, bytes)):
                raise TypeError
            columns[name] = pa.array(values)
        except (TypeError, ValueError, pa.ArrowException):
            raise DataError(UNREAD.format(name)) from None
    if len({len(values) for values in columns.values()}) > 1:
        raise DataError("The columns of the dict have different lengths. Give them the same.")
    return pa.table(columns)


def lasting(data: Any) -> Any:
    """What can be looked at again and again: a name or a path as it is, anything else as table_of
    takes it. A reader gives its rows once, and a query asked twice may give two answers."""
    return data if relation_name(data) is not None else table_of(data)


def count_of(frame: Any) -> int:
    """The rows of a frame as ``way_back`` makes it."""
    if library(frame) == "polars":
        return int(frame.lazy().collect().height)
    if library(frame) == "ibis":
        return int(frame.to_pyarrow().num_rows)
    return int(frame.num_rows) if isinstance(frame, pa.Table) else len(frame)


def refuse_unkept(relation: Any, unkept: re.Pattern[str] = ZONED) -> None:
    """Raises DataError for a column of a type that a frame would give other values."""
    for name, sql_type in zip(relation.columns, map(str, relation.types), strict=True):
        if unkept.search(sql_type):
            raise DataError(UNKEPT.format(name, sql_type))


def way_back(data: Any, con: duckdb.DuckDBPyConnection | None) -> Callable[[Any], Any]:
    """What makes of a result, a DuckDB relation, the kind of frame that the data is.

    Args:
        data: what came in.
        con: the caller's connection, if one was given; a relation goes back on it, else on
            DuckDB's default connection.

    It raises DataError where such a frame would not keep the result.
    """
    made = _way_back(data, con)

    def frame(result: Any) -> Any:
        refuse_unkept(result, OF_POLARS if library(data) == "polars" else ZONED)
        return made(result)

    return frame


def _way_back(data: Any, con: duckdb.DuckDBPyConnection | None) -> Callable[[Any], Any]:
    """The same of results that such a frame keeps."""
    package = library(data)
    if package == "polars":
        if hasattr(data, "collect"):
            return lambda result: result.pl().lazy()
        return lambda result: result.pl()
    if package == "ibis":
        memtable = import_module("ibis").memtable
        return lambda result: memtable(result.to_arrow_table())
    if package == "pandas":
        return lambda result: result.df()
    if package == "duckdb":
        maker: Any = duckdb if con is None else con
        return lambda result: maker.from_arrow(result.to_arrow_table())
    return lambda result: result.to_arrow_table()
