"""Sensitive columns: from cells to codes, which no distance looks at.

Values are told apart by their texts, as SQL tells them apart; numbers serve for their order, since
doubles round large integers, decimals and late microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import Taxonomy, has_order
from kanon_sql.errors import DataError
from kanon_sql.names import caseless
from kanon_sql.points.points import Codes, Floats
from kanon_sql.points.sensitive import Numbers, SensitiveColumn


def fit_sensitive(
    rows: Rows, columns: Sequence[Column], trees: Mapping[str, Taxonomy]
) -> tuple[SensitiveColumn, ...]:
    """Learns the values of the sensitive columns and their order.

    Args:
        rows: of the fields secrets, CellColumns: the number of each value that has one, and its
            text, which is NULL where the value is NULL or NaN.
        columns: their names and types, in the order of the cells.
        trees: hierarchies by column name in lower case; each has all values as leaves.
    """
    cells = rows.fields.get("secrets")
    return () if cells is None else tuple(
        column.known or _fit(column, cells, j, trees.get(caseless(column.name)))
        for j, column in enumerate(columns)
    )


def learned_column(
    column: Column, words: Sequence[str], numbers: Floats, rows: Numbers, missing: int,
    tree: Taxonomy | None,
) -> SensitiveColumn:
    """A sensitive column as it was learned from all rows, for a block of them.

    Args:
        column: its name and type.
        words: its m values as texts, in any order.
        numbers: float64, shape (m,); as numbers, where the type has an order.
        rows: int64, shape (m,); how many rows have each.
        missing: how many have none.
        tree: its hierarchy, if it has one.
    """
    learned = _of_values(column, words, numbers, tree)
    spots = {word: i for i, word in enumerate(words)}
    counts = rows[np.array([spots[word] for word in learned.words], np.int64)]
    return replace(learned, table=np.append(counts, missing).astype(np.int64))


def sensitive_codes(rows: Rows, columns: Sequence[SensitiveColumn]) -> Codes:
    """The codes of the values, as in SensitiveColumn: int32, shape (n, columns), C-contiguous.

    Args:
        rows: as in ``fit_sensitive``.
        columns: what was learned.

    Raises:
        DataError: a value that was not learned.
    """
    cells: CellColumns = rows.fields["secrets"]
    codes = np.empty((rows.count, len(columns)), np.int32)
    for j, column in enumerate(columns):
        encoded = _encoded(cells.words[j])
        ranks = pc.index_in(encoded.dictionary, pa.array(column.words, pa.string()))
        if ranks.null_count:
            raise DataError(
                f"The sensitive column {column.name!r} has values that the encoding doesn't know. "
                "Fit it to all rows first."
            )
        spots = encoded.indices.fill_null(len(ranks)).to_numpy(zero_copy_only=False)
        codes[:, j] = np.append(ranks.to_numpy(zero_copy_only=False), column.values)[spots]
    return codes


def _encoded(words: pa.Array) -> pa.DictionaryArray:
    """Texts as codes of a dictionary, which they may be already."""
    return words if isinstance(words, pa.DictionaryArray) else words.dictionary_encode()


def _fit(column: Column, cells: CellColumns, j: int, tree: Taxonomy | None) -> SensitiveColumn:
    encoded = _encoded(cells.words[j])
    known: list[str] = encoded.dictionary.to_pylist()
    numbers = np.zeros(len(known))
    if has_order(column.sql_type):
        valid = encoded.indices.is_valid().to_numpy(zero_copy_only=False)
        numbers[encoded.indices.drop_null().to_numpy()] = cells.numbers[j][valid]
    return _of_values(column, known, numbers, tree)


def _of_values(
    column: Column, known: Sequence[str], numbers: Floats, tree: Taxonomy | None
) -> SensitiveColumn:
    if not has_order(column.sql_type):
        words = sorted(known)
        return SensitiveColumn(column.name, tuple(words), levels=_levels(words, tree))
    order = _by_size(known, numbers, column.sql_type)
    words = [known[spot] for spot in order]
    return SensitiveColumn(
        column.name, tuple(words), True, numbers[order], _levels(words, tree)
    )


def _by_size(words: Sequence[str], numbers: Floats, sql_type: str) -> list[int]:
    """The places of values in ascending order; those that are equal as doubles by their texts: of
    days and times the texts are in order where they differ by microseconds."""
    order: list[int] = np.argsort(numbers, kind="stable").tolist()
    sizes = numbers[order]
    starts = [0, *(np.flatnonzero(sizes[1:] != sizes[:-1]) + 1).tolist(), len(order)]
    of_time = sql_type.startswith(("DATE", "TIME"))

    def size(spot: int) -> Any:
        return words[spot] if of_time else Decimal(words[spot])

    for lo, hi in pairwise(starts):
        if hi - lo > 1:
            order[lo:hi] = sorted(order[lo:hi], key=size)
    return order


def _levels(words: Sequence[str], tree: Taxonomy | None) -> Codes:
    """The nodes of values at each level below the root: int32, shape (height, values); height 0
    without a hierarchy."""
    if tree is None:
        return np.zeros((0, len(words)), np.int32)
    leaves = pc.index_in(pa.array(words, pa.string()), tree.levels[0])
    nodes = [level.take(leaves).dictionary_encode().indices for level in tree.levels[:-1]]
    return np.array([codes.to_numpy() for codes in nodes], np.int32).reshape(len(nodes), len(words))
