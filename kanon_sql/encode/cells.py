"""Cells as DuckDB hands them over: read by column, checked, and brought into canonical order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import is_categorical, is_numeric
from kanon_sql.errors import DataError
from kanon_sql.points.content_order import mixed
from kanon_sql.points.points import Codes, Floats

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


def check_types(columns: Sequence[Column]) -> None:
    """Raises DataError for a quasi-identifier that can't be encoded."""
    for column in columns:
        if not is_numeric(column.sql_type) and not is_categorical(column.sql_type):
            raise DataError(
                f"The quasi-identifier {column.name!r} has the type {column.sql_type}, which has "
                "neither an order nor single values. Put its parts into columns of their own, or "
                "give it another role."
            )


def _canonical_order(columns: Sequence[pl.Series], hashes: npt.NDArray[np.uint64]) -> Indices:
    """Positions by the columns, then by the hash.

    Rows that are equal in all columns of the relation have equal hashes. Left so, equal sensitive
    values would lie side by side and end in one class; so the i-th copy of a row gets a hash of
    (hash, i).
    """
    frame = pl.DataFrame([s.alias(f"column_{i}") for i, s in enumerate(columns)])
    frame = frame.with_columns(pl.Series("hash", hashes))
    order = frame.select(pl.arg_sort_by(frame.columns)).to_series().to_numpy().astype(np.int64)
    ordered = frame[order]
    block = ordered.drop("hash").select(
        pl.struct(pl.all()).rle_id() if columns else pl.lit(0)
    ).to_series().to_numpy()
    block = np.broadcast_to(block, (len(order),))
    sorted_hashes = hashes[order]
    repeats = (sorted_hashes[1:] == sorted_hashes[:-1]) & (block[1:] == block[:-1])
    if not repeats.any():
        return order
    starts = np.flatnonzero(np.concatenate([[True], ~repeats]))
    copy = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    salted = mixed(sorted_hashes + copy.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return order[np.lexsort((salted, block))]


def _column(cells: pa.StructArray, field: str, column: int, width: int) -> pa.Array:
    return cells.field(field).take(pa.array(np.arange(column, len(cells), width)))


def number_column(cells: CellColumns | pa.StructArray, column: int, width: int) -> Floats:
    """The numbers of one of ``width`` columns; NaN where missing, 0.0 for -0.0."""
    if isinstance(cells, CellColumns):
        return cells.numbers[column]
    values = _column(cells, "number", column, width).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) + 0.0


def category_column(cells: CellColumns | pa.StructArray, column: int, width: int) -> pa.Array:
    """The categories of one of ``width`` columns."""
    if isinstance(cells, CellColumns):
        return cells.words[column]
    return _column(cells, "category", column, width)


def refuse(name: str, values: Floats | None, missing: Mask, nulls: str) -> None:
    """Raises DataError, with their number, for infinite values, and NULLs where nulls is
    'error'."""
    if values is not None and np.isinf(values).any():
        raise DataError(
            f"The quasi-identifier {name!r} has {int(np.isinf(values).sum())} infinite values. "
            "Replace them by NULL or by a finite value first."
        )
    if nulls == "error" and missing.any():
        raise DataError(
            f"The quasi-identifier {name!r} has {int(missing.sum())} rows with NULL or NaN, and "
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

    def order(self, codes: Mapping[int, Codes], hashes: npt.NDArray[np.uint64]) -> Indices:
        """The canonical order."""
        width = self.missing.shape[1]
        return _canonical_order(
            [
                pl.Series(self.numbers[j] if j in self.numbers else codes[j][:, 0])
                for j in range(width)
            ],
            hashes,
        )
