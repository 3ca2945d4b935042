"""How a function is made known to DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from kanon_sql.errors import OptionError

CELLS = "STRUCT(number DOUBLE, category VARCHAR)[]"
BOXES = 'STRUCT("class" BIGINT, number BIGINT, low DOUBLE, high DOUBLE, closed BOOLEAN)[]'
TREES = "STRUCT(name VARCHAR, paths VARCHAR[][])[]"
TABLES = "STRUCT(name VARCHAR, names VARCHAR[], rows VARCHAR[][])[]"
KEYS = 'STRUCT(name VARCHAR, found STRUCT("row" BIGINT, hash UBIGINT)[])[]'
REFUSAL = "STRUCT(kind VARCHAR, sentence VARCHAR)"
REFUSED = pa.struct([("kind", pa.string()), ("sentence", pa.string())])
"""How a refusal crosses into SQL, which raises it (see sql/macros/refuse.sql)."""

OFTEN = (
    "The call is in a subquery that reads the query around it, so it would run for each row. Store "
    "its result by CREATE TABLE first, and use that table."
)


def once(argument: Any) -> None:
    """Raises OptionError where DuckDB would begin one call for many rows around it."""
    if len(argument) != 1:
        raise OptionError(OFTEN)


def refused(kind: str, sentence: str) -> pa.Array:
    """A refusal, as the one entry of an array."""
    return pa.array([{"kind": kind, "sentence": sentence}], REFUSED)


def not_refused() -> pa.Array:
    """No refusal, as the one entry of an array."""
    return pa.nulls(1, REFUSED)


def whole(argument: Any) -> Any:
    """An argument as one array."""
    return argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument


@dataclass(frozen=True)
class Signature:
    """A function and its SQL types.

    Attributes:
        name: its name in SQL.
        function: what runs.
        parameters: SQL types of its arguments.
        returns: SQL type of its result.
        kind: 'arrow' for whole columns, 'native' for single values.
        side_effects: whether two calls may differ, so that none is folded away.
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    returns: str
    kind: Literal["arrow", "native"] = "arrow"
    side_effects: bool = False
