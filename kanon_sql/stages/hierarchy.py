"""Reads one hierarchy: the values of a column in, the paths of their leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import SideTable
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.build import built_in
from kanon_sql.hierarchies.kinds import BY_TYPE, ROOT, kind_by_type
from kanon_sql.hierarchies.tables import read_tree
from kanon_sql.hierarchies.tree import check_values


def read_hierarchy(
    values: Any, sql_type: str | None, names: Any, rows: Any, spec: Mapping[str, Any]
) -> pa.Array:
    """The paths of a hierarchy's leaves, root last: list<string>, one per leaf.

    Args:
        values: list of the distinct values of the column, as text, with how many rows have each,
            one entry.
        sql_type: the SQL type of the column.
        names, rows: column names and rows of the relation that holds the levels, or that the kind
            is made from, one entry each.
        spec: column, show_values, and relation or the kind and its options.

    Raises:
        DataError: the hierarchy is none, or values are missing from it.
    """
    known = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    structs, column = known.flatten(), spec["column"]
    known, counts = structs.field("value").cast(pa.string()), structs.field("count")
    counts, known = counts.filter(known.is_valid()), known.drop_null()
    numbers = is_numeric(sql_type or "NULL")
    table = SideTable.of(names[0].as_py(), rows[0])
    if "relation" in spec:
        if not table.names:
            raise DataError(
                f"The hierarchy of {column!r}, {spec['relation']}, has no rows. Give a table with "
                "a row for each value, or leave the column out of hierarchies."
            )
        tree = read_tree(
            column, table.names, table.columns, spec["show_values"], numbers=numbers
        )
    else:
        chosen = {n: v for n, v in spec.items() if n not in ("column", "kind", "show_values")}
        kind = spec["kind"]
        if kind == BY_TYPE:
            kind = kind_by_type(sql_type or "", numbers)
        tree = built_in(column, kind, chosen, known, numbers, counts, table)
    check_values(column, tree, known, spec["show_values"])
    count, height = len(tree.levels[0]), len(tree.levels)
    if count == 0:  # nothing but NULL: a tree of its root alone
        return pa.array([[None, ROOT]], pa.list_(pa.string()))
    labels = pa.concat_arrays(list(tree.levels)).take(
        pa.array(np.arange(count * height).reshape(height, count).T.ravel())
    )
    bounds = pa.array(np.arange(0, count * height + 1, height), pa.int32())
    return pa.ListArray.from_arrays(bounds, labels)
