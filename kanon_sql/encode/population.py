"""A population, numbered together with the records that are to be held against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import CellColumns, Column, Rows, SideTable
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.errors import DataError
from kanon_sql.names import caseless
from kanon_sql.points.people import Population
from kanon_sql.points.points import Floats, Labels, rows_at

TIMES = ("DATE", "TIME")
"""How the types of dates and times begin, which count in units of their own."""


def read_people(
    table: SideTable, rows: Rows, columns: Sequence[Column], order: Labels
) -> Population:
    """The people of a population.

    Args:
        table: how many people are alike, and the number and the text of each cell; its names tell
            the column in lower case, and its type. Without people it has no columns.
        rows: n records, of which the cells are read.
        columns: their quasi-identifiers, as the cells of both have them.
        order: int64, shape (n,); the place of each canonical record in the rows.

    Raises:
        DataError: a column of the population has a type that can't be compared.
    """
    cells: CellColumns = rows.fields["cells"]
    ordered = tuple(is_numeric(column.sql_type) for column in columns)
    if not table.columns:
        empty = np.zeros((0, len(columns)), np.int64)
        own = np.zeros((len(order), len(columns)), np.int64)
        return Population(own, empty, np.zeros(0, np.int64), ordered)
    numbered, places = [], {name: i for i, name in enumerate(table.names) if i % 2}
    for j, column in enumerate(columns):
        at = places[caseless(column.name)]
        number, text = table.columns[at], table.columns[at + 1]
        _refuse_type(column, table.names[at + 1])
        numbered.append(
            _numbers(cells.numbers[j], number.cast(pa.float64())) if ordered[j]
            else _words(cells.words[j], text)
        )
    own = np.column_stack([mine for mine, _ in numbered])
    theirs = np.column_stack([other for _, other in numbered])
    many = table.columns[0].cast(pa.int64()).to_numpy(zero_copy_only=False)
    return Population(rows_at(own, order), theirs, np.asarray(many), ordered)


def _refuse_type(column: Column, theirs: str) -> None:
    """Raises DataError where values of two types can't be compared."""
    own = column.sql_type
    times = own.startswith(TIMES) or theirs.startswith(TIMES)
    if own == theirs or (not times and is_numeric(own) == is_numeric(theirs)):
        return
    if not is_numeric(own) and not theirs:  # compared as texts
        return
    raise DataError(
        f"The column {column.name!r} is {own} in the relation and {theirs} in the population. Cast "
        "it to the same type in both."
    )


def _numbers(own: Floats, theirs: Any) -> tuple[Labels, Labels]:
    """The numbers of both, counted in their order."""
    other = theirs.to_numpy(zero_copy_only=False).astype(np.float64)
    both = np.concatenate([own, other])
    known = ~np.isnan(both)
    numbers = np.full(len(both), -1, np.int64)
    # + 0.0: -0.0 is 0.0
    numbers[known] = np.unique(both[known] + 0.0, return_inverse=True)[1].reshape(-1)
    return numbers[: len(own)], numbers[len(own):]


def _words(own: Any, theirs: Any) -> tuple[Labels, Labels]:
    """The texts of both, numbered in any order."""
    plain = [each.dictionary_decode() if isinstance(each, pa.DictionaryArray) else each
             for each in (own, theirs)]
    both = pa.concat_arrays([each.cast(pa.string()) for each in plain])
    codes = pc.fill_null(both.dictionary_encode().indices, -1)
    numbers = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers[: len(own)], numbers[len(own):]
