"""A column of the source, and the same column of a release, as an audit sees them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from kanon_sql.audit.reading import Floats, Places
from kanon_sql.hierarchies.tree import Tree


@dataclass(frozen=True)
class Domain:
    """A quasi-identifier of the source.

    Attributes:
        name: the column.
        numeric: whether it has numbers, dates or times.
        values: string array, its distinct values but NULL, as DuckDB writes them.
        counts: int64, shape (values,); the rows that have each value.
        nulls: how many rows have NULL.
        numbers: float64, shape (values,), finite, where numeric: the values as numbers, dates as
            days, timestamps and times as microseconds.
        tree: its hierarchy.
        ordered: whether its values have an order, though they are read by their hierarchy.
    """

    name: str
    numeric: bool
    values: pa.Array
    counts: Places
    nulls: int = 0
    numbers: Floats | None = None
    tree: Tree | None = None
    ordered: bool = False


@dataclass(frozen=True)
class PublishedColumn:
    """The same column of the release: distinct texts, NULL among them, and the rows of each.

    Attributes:
        texts: string array.
        counts: int64, shape (texts,).
        left_out: how many rows of the source the release lacks.
        kind: the SQL type of the column in the release.
    """

    texts: pa.Array
    counts: Places
    left_out: int = 0
    kind: str = "VARCHAR"
