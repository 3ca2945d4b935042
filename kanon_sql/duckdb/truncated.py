"""Frames whose times are finer than DuckDB takes them: it would cut them off without a word."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa

from kanon_sql.duckdb.frames import library
from kanon_sql.errors import DataError
from kanon_sql.names import quoted

CUT = (
    "The column {!r} of the frame has nanoseconds, which DuckDB reads as {}, without them. Round "
    "it to microseconds, or give it as a number."
)


def refuse_truncated(con: duckdb.DuckDBPyConnection, name: str, frame: Any) -> None:
    """Raises DataError for a column of a frame that would lose nanoseconds.

    Args:
        con: the connection that reads the frame.
        name: the frame's name there.
        frame: as ``frames.table_of`` takes it.
    """
    schema = con.sql(f"FROM {quoted(name)}")
    for column, kind in zip(schema.columns, map(str, schema.types), strict=True):
        if ("TIME" in kind or "INTERVAL" in kind) and "_NS" not in kind and _is_finer(
            _as_arrow(frame, column)
        ):
            raise DataError(CUT.format(column, kind))


def _as_arrow(frame: Any, column: str) -> pa.ChunkedArray | None:
    """A column of a frame; None where Arrow has no type for it."""
    values = frame[column] if library(frame) != "pyarrow" else frame.column(column)
    with suppress(pa.ArrowException, TypeError, ValueError):
        if hasattr(values, "infer_objects"):  # of pandas, where objects may be times
            values = values.infer_objects()
        if library(frame) == "polars":
            values = values.to_arrow()
        made = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
        return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])
    return None


def _is_finer(values: pa.ChunkedArray | None) -> bool:
    """Whether any value has a part of a microsecond."""
    if values is None:
        return False
    if pa.types.is_interval(values.type):
        return any(map(_has_nanoseconds, values.chunks))
    coarse = _in_microseconds(values.type)
    if coarse == values.type:
        return False
    if pa.types.is_nested(values.type):  # whose parts a slice leaves whole
        values = values.take(pa.array(range(len(values))))
    try:
        values.cast(coarse)
    except pa.ArrowInvalid:
        return True
    return False


def _has_nanoseconds(intervals: pa.Array) -> bool:
    """Whether an interval of months, days and nanoseconds has a part of a microsecond."""
    return any(each.nanoseconds % 1000 for each in intervals.drop_null().to_pylist())


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    """A type whose nanoseconds are microseconds."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pa.types.is_list(kind):
        return pa.list_(_in_microseconds(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_in_microseconds(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_in_microseconds(each.type)) for each in kind])
    return kind
