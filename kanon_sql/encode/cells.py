"""Cells as DuckDB hands them over: read by column, checked, and brought into canonical order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import is_categorical, is_numeric
from kanon_sql.encode.order import Hashes, Indices, canonical_order
from kanon_sql.errors import DataError
from kanon_sql.points.points import Codes, Floats, Labels

Mask = npt.NDArray[np.bool_]
AnyCells: TypeAlias = CellColumns | pa.StructArray
"""Cells column by column, or row by row as structs (number, category)."""


def check_types(columns: Sequence[Column]) -> None:
    """Raises DataError for a quasi-identifier that can't be encoded."""
    for column in columns:
        if not is_numeric(column.sql_type) and not is_categorical(column.sql_type):
            if column.sql_type.startswith("TIME"):  # with a zone, or of nanoseconds
                plain = "TIMESTAMPTZ" if column.sql_type.startswith("TIMESTAMP") else "TIME"
                raise DataError(
                    f"The quasi-identifier {column.name!r} has the type {column.sql_type}, which "
                    f"is not taken as a number. CAST it to {plain}, or give it a hierarchy."
                )
            raise DataError(
                f"The quasi-identifier {column.name!r} has the type {column.sql_type}, which has "
                "neither an order nor single values. Put its parts into columns of their own, or "
                "give it another role."
            )


def _column(cells: pa.StructArray, field: str, column: int, width: int) -> pa.Array:
    return cells.field(field).take(pa.array(np.arange(column, len(cells), width)))


def has_numbers(cells: AnyCells, column: int) -> bool:
    """Whether a column may have numbers."""
    return not isinstance(cells, CellColumns) or column in cells.numbers


def has_categories(cells: AnyCells, column: int) -> bool:
    """Whether it may have categories."""
    return not isinstance(cells, CellColumns) or column in cells.words


def number_column(cells: AnyCells, column: int, width: int) -> Floats:
    """The numbers of one of ``width`` columns; NaN where missing, 0.0 for -0.0."""
    if isinstance(cells, CellColumns):
        return cells.numbers[column]
    values = _column(cells, "number", column, width).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) + 0.0


def category_column(cells: AnyCells, column: int, width: int) -> pa.Array:
    """The categories of one of ``width`` columns."""
    if isinstance(cells, CellColumns):
        return cells.words[column]
    return _column(cells, "category", column, width)


def categories_of_both(
    one: AnyCells, other: AnyCells, column: int, width: int
) -> tuple[Labels, Labels]:
    """The categories of a column of both by number, the same for the same one, -1 where missing:
    int64, shape (n,) each."""
    words, others = (
        category_column(cells, column, width).dictionary_encode() for cells in (one, other)
    )
    known = pc.index_in(others.dictionary, words.dictionary).fill_null(-1).to_numpy()
    numbers = np.where(known < 0, len(words.dictionary) + np.arange(len(known)), known)
    codes, of_other = (
        each.indices.fill_null(-1).to_numpy().astype(np.int64) for each in (words, others)
    )
    return codes, np.append(numbers, -1)[of_other]


def refuse(name: str, values: Floats | None, missing: Mask, nulls: str) -> None:
    """Raises DataError, with their number, for infinite values, and NULLs where nulls is
    'error'."""
    infinite = 0 if values is None else int(np.isinf(values).sum())
    refuse_counts(name, infinite, int(missing.sum()), nulls)


def refuse_counts(name: str, infinite: int, missing: int, nulls: str) -> None:
    """The same, of how many there are of each."""
    if infinite:
        raise DataError(
            f"The quasi-identifier {name!r} has {infinite} infinite values. "
            "Replace them by NULL or by a finite value first."
        )
    if nulls == "error" and missing:
        raise DataError(
            f"The quasi-identifier {name!r} has {missing} rows with NULL or NaN, and "
            "nulls is 'error'. Fill them, or choose nulls 'value' or 'suppress'."
        )


@dataclass(frozen=True)
class Cells:
    """The quasi-identifiers of rows, read and checked but not yet placed; in input order.

    Attributes:
        numbers: float64, shape (n,), by the number of each numeric column.
        words: the texts of each other column.
        missing: bool, shape (n, columns).
    """

    numbers: Mapping[int, Floats]
    words: Mapping[int, pa.Array]
    missing: Mask

    @staticmethod
    def of(rows: Rows, columns: Sequence[Column], nulls: str) -> Cells:
        """The cells of the quasi-identifiers. Raises DataError as ``refuse`` does."""
        cells, width = rows.fields["cells"], len(columns)
        numbers: dict[int, Floats] = {}
        words: dict[int, pa.Array] = {}
        missing = np.zeros((rows.count, width), np.bool_)
        for j, column in enumerate(columns):
            if is_numeric(column.sql_type):
                numbers[j] = number_column(cells, j, width)
                missing[:, j] = np.isnan(numbers[j])
            else:
                words[j] = category_column(cells, j, width)
                missing[:, j] = words[j].is_null().to_numpy(zero_copy_only=False)
            refuse(column.name, numbers.get(j), missing[:, j], nulls)
        return Cells(numbers, words, missing)

    def order(self, codes: Mapping[int, Codes], hashes: Sequence[Hashes]) -> Indices:
        """The canonical order."""
        rows, width = self.missing.shape
        return canonical_order(
            [self.numbers[j] if j in self.numbers else codes[j][:, 0] for j in range(width)],
            hashes, rows,
        )
