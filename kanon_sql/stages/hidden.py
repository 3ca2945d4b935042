"""What is left of a relation where columns that look like identifiers take no part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.looks import without
from kanon_sql.hierarchies.tree import Tree


def without_hidden(
    rows: Rows, columns: Sequence[Column], trees: Mapping[str, Tree], hidden: Collection[str]
) -> tuple[Rows, list[Column], dict[str, Tree]]:
    """The rows, the quasi-identifiers and their hierarchies, without some columns."""
    kept, left = without(rows, columns, hidden)
    return kept, left, {name: tree for name, tree in trees.items() if name not in hidden}
