"""Rows as they come in: some thousands at a time, from all threads of the query.

DuckDB would hold a list of all rows two or three times over until the query ends; here each piece
is brought into the form of the encoding at once, and the rest of it forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import HASHES, CellColumns, Rows

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


class Taken:
    """Rows that are being handed over; ``rows`` gives them when all are there."""

    def __init__(
        self, width: int, numeric: Sequence[int], textual: Sequence[int], asked: Collection[str],
        ordered: Sequence[bool] = (),
    ) -> None:
        """
        Args:
            width: the number of columns.
            numeric: those whose numbers are kept.
            textual: those whose categories are kept.
            asked: which of BESIDE are kept.
            ordered: of each sensitive column that is kept, whether its values are numbers, too.
        """
        self._cells = _Cells("cells", width, numeric, textual)
        secret = range(len(ordered))
        self._secrets = _Cells(
            "secrets", len(ordered), [j for j in secret if ordered[j]], secret
        ) if ordered else None
        self._asked = tuple(asked)
        self._lock = threading.Lock()
        self._pieces: list[dict[str, Any]] = []

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
            self._pieces.append(piece)

    def rows(self) -> Rows:
        """All rows, in the order of their numbers; nothing is left here."""
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
