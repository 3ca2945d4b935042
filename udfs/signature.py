"""How a function is made known to DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

CELLS = "STRUCT(number DOUBLE, category VARCHAR)[]"
TREES = "STRUCT(name VARCHAR, paths VARCHAR[][])[]"
TABLES = "STRUCT(name VARCHAR, names VARCHAR[], rows VARCHAR[][])[]"


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
