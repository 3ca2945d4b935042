"""Hierarchies of the built-in kinds, made from a column's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import polars as pl
import pyarrow as pa

from kanon_sql.encode.arrow import SideTable
from kanon_sql.hierarchies import from_counts, from_values
from kanon_sql.hierarchies.from_values import keys
from kanon_sql.hierarchies.kinds import KINDS, check_kind
from kanon_sql.hierarchies.tree import Tree, arrange, as_series


def _function(module: ModuleType, kind: str) -> Callable[..., list[Any]]:
    """What makes the level columns of a kind: the function of its name."""
    function: Callable[..., list[Any]] = getattr(module, kind)
    return function


def built_in(
    column: str,
    kind: str,
    options: Mapping[str, Any],
    values: pa.Array,
    ordered: bool,
    counts: pa.Array | None = None,
    table: SideTable | None = None,
) -> Tree:
    """The hierarchy of a kind over a column's values.

    Args:
        column: the column's name; messages name it.
        kind: one of KINDS.
        options: of the kind, checked or as given.
        values: the values, as text, in any order.
        ordered: whether the column has an ordered type (numbers, dates): then values are read by
            their key, so that 39.0 is 39.
        counts: how many rows have each value; 1 unless given. Only some kinds look at them.
        table: the relation that the kind is made from, if it needs one.

    Raises:
        OptionError: as check_kind.
        DataError: values that the kind can't take, with their number.
    """
    checked = check_kind(column, {**options, "kind": kind})
    texts = as_series(values)
    if not KINDS[kind].by_rows:
        texts = texts.drop_nulls()
        distinct = (keys(texts) if ordered else texts).unique()
        levels = _function(from_values, kind)(column, distinct, ordered, checked)
        return arrange(levels, KINDS[kind].in_order)
    sizes = pl.Series(counts.to_numpy()) if counts is not None else pl.repeat(
        1, len(texts), dtype=pl.Int64, eager=True
    )
    frame = pl.DataFrame({"value": keys(texts) if ordered else texts, "size": sizes})
    frame = frame.drop_nulls("value").group_by("value").agg(pl.col("size").sum()).sort("value")
    return arrange(_function(from_counts, kind)(column, frame, table, checked))
