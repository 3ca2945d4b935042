"""The audit of a whole release: rows of the source and of the release in, facts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.audit.published import Domain, Published, audit_column
from kanon_sql.audit.text import values_as_numbers
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.kernel.watch import Watch

Columns = Sequence[Column]


def _column(cells: pa.Array, width: int, j: int) -> pa.Array:
    """One of ``width`` columns of the cells of all rows, row by row."""
    return cells.take(pa.array(np.arange(j, len(cells), width)))


def _counted(values: pa.Array) -> tuple[pa.Array, Any, int]:
    """The distinct values but NULL, sorted, the rows of each, and the rows with NULL."""
    counts = values.value_counts()
    words, rows = counts.field("values"), counts.field("counts").to_numpy()
    known = pc.is_valid(words).to_numpy(zero_copy_only=False)
    order = pc.sort_indices(words.filter(pa.array(known))).to_numpy()
    kept = words.filter(pa.array(known)).take(pa.array(order))
    return kept, rows[known][order].astype(np.int64), int(rows[~known].sum())


def audit_rows(
    source: pa.Array,
    columns: Columns,
    release: pa.Array,
    released: Columns,
    weights: Mapping[str, float],
    trees: Mapping[str, Tree],
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Total-IL and the entropy of a release, from its published values.

    Args:
        source, release: the cells of all rows as text, row by row.
        columns, released: name and SQL type of their columns, in the order of the cells.
        weights: of the columns that don't count 1.
        trees: hierarchies by column name.
        watch: may stop it.

    Returns:
        total_il (cells, suppressed rows included), ncp (0 .. 1), entropy_loss (bits per released
        cell), unread, points (cells), and attributes: name and ncp of each.

    Raises:
        OptionError: a quasi-identifier that the release doesn't have.
        DataError: a source without rows, or a release with more rows than the source.
        StoppedError: the watch was asked to stop.
    """
    check = (watch or Watch()).check
    if not columns:
        raise DataError("The source has no rows, so there is nothing to audit. Check its name.")
    width = len(columns)
    rows, kept = len(source) // width, len(release) // max(len(released), 1)
    if kept > rows:
        raise DataError(
            f"The release has {kept} rows, its source {rows}. Check that they belong together."
        )
    place = {column.name.lower(): j for j, column in enumerate(released)}
    hierarchies = {name.lower(): tree for name, tree in trees.items()}
    counting = {name.lower(): weight for name, weight in weights.items()}
    names = [column.name for column in columns]
    for name in weights:
        if name.lower() not in map(str.lower, names):
            raise OptionError(
                f"weights names the column {name!r}, which is no quasi-identifier. "
                f"{did_you_mean(name, names)}"
            )
    total = bits = weight_of_all = 0.0
    unread = points = 0
    attributes = []
    for j, column in enumerate(columns):
        check()
        name = column.name
        if released and name.lower() not in place:
            raise OptionError(
                f"The release has no column {name!r}, which is a quasi-identifier of the source. "
                f"{did_you_mean(name, [c.name for c in released])}"
            )
        values, counts, nulls = _counted(_column(source, width, j))
        tree = hierarchies.get(name.lower())
        numeric = is_numeric(column.sql_type) and tree is None
        domain = Domain(
            name, numeric, values, counts, nulls,
            values_as_numbers(values.to_pylist(), column.sql_type, check) if numeric else None,
            tree,
        )
        texts, shown, hidden = pa.array([], pa.string()), np.zeros(0, np.int64), 0
        if released:
            texts, shown, hidden = _counted(_column(release, len(released), place[name.lower()]))
        if hidden:
            texts = pa.concat_arrays([texts, pa.nulls(1, texts.type)])
            shown = np.append(shown, hidden)
        found = audit_column(domain, Published(texts, shown), check)
        weight = counting.get(name.lower(), 1.0)
        lost = found.total + rows - kept
        total, weight_of_all = total + weight * lost, weight_of_all + weight
        bits, unread, points = bits + found.entropy, unread + found.unread, points + found.points
        attributes.append({"name": name, "ncp": lost / rows})
    return {
        "total_il": total,
        "ncp": total / (rows * weight_of_all) if weight_of_all > 0.0 else 0.0,
        "entropy_loss": bits / (kept * width) if kept else 0.0,
        "unread": unread,
        "points": points,
        "attributes": attributes,
    }
