"""Rows as they come in: some thousands at a time, from all threads of the query.

DuckDB would hold a list of all rows two or three times over until the query ends; here each piece
is brought into the form of the encoding at once, and the rest of it forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import HASHES, CellColumns, Rows
from kanon_sql.errors import DataError

LOOK = 500_000
"""Rows after which it is looked again how much memory is free."""

CELL = 50
"""Bytes that most groupings take for each cell beside the rows that were handed over, about:
10,000,000 rows of four columns took 2.7 GB in all, of which 0.9 were there by then."""

BLOCKS = (
    "Release files by kanon anonymize -o with a folder, or by anonymize_files, which work block by "
    "block"
)

BESIDE = ("label", "extra")
"""What a method may ask for beside the cells."""


class _Cells:
    """What is kept of a list of cells per row, and how it is put together."""

    def __init__(
        self, field: str, width: int, numeric: Sequence[int], textual: Sequence[int]
    ) -> None:
        """
        Args:
            field: what the pieces call them.
            width: the number of columns.
            numeric: those whose numbers are kept.
            textual: those whose categories are kept.
        """
        self._field, self._width = field, width
        self._numeric, self._textual = list(numeric), list(textual)

    def take(self, piece: dict[str, Any], cells: Any) -> None:
        """Puts list<struct<number: double, category: string>>, a list of ``width`` per row, into
        a piece."""
        # copies: a view of one array of a piece keeps all that DuckDB handed over with it
        structs = cells.flatten()
        if self._numeric:
            values = structs.field("number").to_numpy(zero_copy_only=False)
            for j in self._numeric:
                piece[f"{self._field} {j}"] = values[j :: self._width] + 0.0  # no -0.0
        if self._textual:
            words = structs.field("category")
            piece[self._field] = pa.concat_arrays([words, words[:0]])

    def together(self, pieces: Sequence[dict[str, Any]]) -> CellColumns:
        """The cells of all pieces, which are rid of them."""
        numbers = {
            j: _together(pieces, f"{self._field} {j}", np.float64) for j in self._numeric
        }
        words = _texts([piece.pop(self._field) for piece in pieces if self._field in piece])
        columns = {
            j: words.take(pa.array(np.arange(j, len(words), self._width))).dictionary_encode()
            for j in self._textual
        }
        return CellColumns(numbers, columns)


def _size(size: float) -> str:
    """A size in bytes, in words."""
    return f"{size / 1e9:.1f} GB" if size >= 0.05e9 else f"{size / 1e6:.1f} MB"


class RowBuffer:
    """Rows that are being handed over; ``rows`` gives them when all are there."""

    def __init__(
        self, width: int, numeric: Sequence[int], textual: Sequence[int], asked: Collection[str],
        ordered: Sequence[bool] = (), free: Callable[[], int | None] = lambda: None,
        expected: int | None = None, limit: int | None = None, memory: float = 1.0,
    ) -> None:
        """
        Args:
            width: the number of columns.
            numeric: those whose numbers are kept.
            textual: those whose categories are kept.
            asked: which of BESIDE are kept.
            ordered: of each sensitive column that is kept, whether its values are numbers, too.
            free: how many bytes may be taken yet; None where nobody knows.
            expected: how many rows will come; None where nobody knows.
            limit: how many bytes the caller leaves to the query; None for all.
            memory: how much the grouping takes, as a multiple of CELL.
        """
        self._cells = _Cells("cells", width, numeric, textual)
        secret = range(len(ordered))
        self._secrets = _Cells(
            "secrets", len(ordered), [j for j in secret if ordered[j]], secret
        ) if ordered else None
        self._asked = tuple(asked)
        self._lock = threading.Lock()
        self._pieces: list[dict[str, Any]] = []
        self._width, self._free, self._memory = width, free, memory
        self._count = self._looked = 0
        self._refused = None if expected is None else self._beyond(expected, limit)

    @property
    def refuses(self) -> bool:
        """Whether no row has to come, since memory doesn't suffice."""
        return self._refused is not None

    def take(
        self, number: Any, hashes: Sequence[Any], cells: Any, beside: Mapping[str, Any]
    ) -> None:
        """Takes a piece of m rows in.

        Args:
            number: the number of each row, int64, ascending.
            hashes: those of HASHES, uint64; NULL where a row needs none.
            cells: list<struct<number: double, category: string>>, a list of ``width`` per row.
            beside: by the names of BESIDE, one value per row; and secrets, the cells of the
                sensitive columns.
        """
        piece: dict[str, Any] = {"row": number.to_numpy().copy()}
        for name, hashed in zip(HASHES, hashes, strict=True):
            if hashed.null_count < len(hashed):
                piece[name] = hashed.fill_null(0).to_numpy().copy()
        self._cells.take(piece, cells)
        if self._secrets is not None:
            self._secrets.take(piece, beside["secrets"])
        for name in self._asked:
            piece[name] = beside[name].take(pa.array(np.arange(len(number))))
        with self._lock:
            self._count += len(number)
            if self._count - self._looked >= LOOK and self._refused is None:
                self._looked = self._count
                self._refused = self._too_many()
            if self._refused is None:
                self._pieces.append(piece)
            else:  # the rows that come yet are let go, and the work refuses
                self._pieces.clear()

    def _need(self, rows: int) -> float:
        """The bytes that the grouping of so many rows takes beside them, about."""
        return rows * self._width * CELL * self._memory

    def _beyond(self, rows: int, limit: int | None) -> DataError | None:
        """What is said of rows that haven't come yet, and for which memory won't suffice."""
        need, free = self._need(rows), self._free()
        if limit is not None and need > limit and (free is None or limit <= free):
            available, else_ = f"memory_limit is {_size(limit)}", "raise memory_limit"
        elif free is not None and need > free:
            available, else_ = f"{_size(free)} are free", "free memory"
        else:
            return None
        return DataError(
            f"{rows:,} rows need about {_size(need)} of additional memory, and {available}. "
            f"{BLOCKS}, or {else_}."
        )

    def _too_many(self) -> DataError | None:
        """What is said where the rows that are here already need more memory than is free."""
        free, need = self._free(), self._need(self._count)
        if free is None or need <= free:
            return None
        return DataError(
            f"{self._count:,} rows and more need about {_size(need)} of additional memory, and "
            f"{_size(free)} are free. {BLOCKS}, or free memory."
        )

    def rows(self) -> Rows:
        """All rows, in the order of their numbers; nothing is left here.

        Raises:
            DataError: memory doesn't suffice for them.
        """
        if self._refused is not None:
            raise self._refused
        with self._lock:
            pieces, self._pieces = self._pieces, []
        # threads hand pieces over in any order
        pieces.sort(key=lambda piece: int(piece["row"][0]) if len(piece["row"]) else 0)
        hashed = [name for name in HASHES if any(name in piece for piece in pieces)]
        for name in hashed:
            for piece in pieces:
                piece.setdefault(name, np.zeros(len(piece["row"]), np.uint64))
        number = _together(pieces, "row", np.int64)
        count = len(number)
        fields: dict[str, Any] = {"row": number, "cells": self._cells.together(pieces)}
        if self._secrets is not None:
            fields["secrets"] = self._secrets.together(pieces)
        for name in hashed:
            fields[name] = _together(pieces, name, np.uint64)
        for name in self._asked:
            fields[name] = _texts([piece.pop(name) for piece in pieces])
        return Rows(fields, count)


def _together(pieces: Sequence[dict[str, Any]], name: str, kind: Any) -> Any:
    """A field of all pieces, which are rid of it: shape (n,)."""
    parts = [piece.pop(name) for piece in pieces]
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def _texts(parts: Sequence[pa.Array]) -> pa.Array:
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())
