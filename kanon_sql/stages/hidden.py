"""What is left of a relation where columns that look like identifiers take no part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.encode.looks import without
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.points.content_order import mixed


def without_hidden(
    rows: Rows, columns: Sequence[Column], trees: Mapping[str, Tree], hidden: Collection[str]
) -> tuple[Rows, list[Column], dict[str, Tree]]:
    """The rows, the quasi-identifiers and their hierarchies, without some columns."""
    if hidden and "apart" in rows:
        rows = Rows({**rows.fields, "apart": _told_apart(rows, columns, hidden)}, rows.count)
    kept, left = without(rows, columns, hidden)
    return kept, left, {name: tree for name, tree in trees.items() if name not in hidden}


def _told_apart(rows: Rows, columns: Sequence[Column], hidden: Collection[str]) -> Any:
    """The hash of all that isn't sensitive, with the values of the hidden columns: no cell tells
    rows apart by them any more, and what tells rows apart must not be their sensitive values."""
    cells, width = rows.fields["cells"], len(columns)
    found = rows.numbers("apart")
    for j, column in enumerate(columns):
        if column.name not in hidden:
            continue
        if is_numeric(column.sql_type):
            ranks = np.unique(number_column(cells, j, width), return_inverse=True)[1]
        else:
            words = category_column(cells, j, width).cast(pa.string())
            ranks = pc.rank(words, tiebreaker="dense").to_numpy()
        found = mixed(found + mixed(ranks.reshape(-1).astype(np.uint64)))
    return found
