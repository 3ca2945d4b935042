"""Rows, trees and tables as DuckDB hands them over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kanon_sql.points.points import Floats, Labels
from kanon_sql.points.sensitive import SensitiveColumn

FLAT = (pa.Int64Array, pa.UInt64Array, pa.DoubleArray, pa.StringArray, pa.LargeStringArray)
"""What a field is that holds one value per row; all others are lists of some kind."""

HASHES = ("apart", "hash")
"""Seeded hashes by which rows stand that look alike, the first one first: of all that a row has but
for its sensitive values, and of all that it has; 0 or NULL where a row needs none."""


@dataclass(frozen=True)
class CellColumns:
    """The cells of rows, column by column.

    Attributes:
        numbers: float64, shape (n,), by the number of a column; NaN where missing.
        words: texts, by the number of a column; as codes of a dictionary, or plainly.
    """

    numbers: Mapping[int, Floats]
    words: Mapping[int, pa.Array]

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return sum(each.nbytes for each in (*self.numbers.values(), *self.words.values()))

    def only(self, kept: Sequence[int]) -> CellColumns:
        """The cells of some columns, which are numbered anew."""
        return CellColumns(
            {i: self.numbers[j] for i, j in enumerate(kept) if j in self.numbers},
            {i: self.words[j] for i, j in enumerate(kept) if j in self.words},
        )


@dataclass(frozen=True)
class Rows:
    """Rows as DuckDB hands them over.

    Attributes:
        fields: by name, one value per row; cells are CellColumns, or an array of structs (number,
            category), row by row.
        count: number of rows.
    """

    fields: Mapping[str, Any]
    count: int

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return sum(int(field.nbytes) for field in self.fields.values() if field is not None)

    @staticmethod
    def of(argument: Any) -> Rows:
        """From the first value of an argument of type STRUCT(...)[]; NULL is no rows."""
        array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
        structs = array.flatten()
        fields = {}
        for field in structs.type:
            values = structs.field(field.name)
            fields[field.name] = values if isinstance(values, FLAT) else values.flatten()
        return Rows(fields, len(structs))

    @property
    def hashes(self) -> tuple[npt.NDArray[np.uint64], ...]:
        """Those of HASHES that some row needs, 0 for one that needs none: uint64, shape (n,)
        each."""
        columns = []
        for name in HASHES:
            column = self.fields.get(name)
            if column is not None and not isinstance(column, np.ndarray):
                column = column.fill_null(0).to_numpy(zero_copy_only=False)
            if column is not None and column.any():
                columns.append(column)
        return tuple(columns)

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """A field as a numpy array."""
        field = self.fields[name]
        if isinstance(field, np.ndarray):
            return field
        return np.asarray(field.to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    Attributes:
        name: its name.
        sql_type: its SQL type, as DuckDB writes it.
        alike: of the column that says whose row a row is: the columns that pass unchanged and tell
            persons apart as it does.
        known: of a sensitive column: what was learned of it from all rows, where these are a block
            of them.
    """

    name: str
    sql_type: str
    alike: tuple[str, ...] = ()
    known: SensitiveColumn | None = None


def read_columns(argument: Any) -> list[Column]:
    """Columns as DuckDB hands them over, VARCHAR[][]: name and type of each, and those that
    are alike; NULL is none."""
    return [Column(entry[0], entry[1], tuple(entry[2:])) for entry in argument[0].as_py() or []]


@dataclass(frozen=True)
class Labelled:
    """A grouping of numbered rows.

    Attributes:
        rows, labels: row numbers and their labels, int64, shape (n,) each.
        centers: the row numbers of the centers that the method chose, int64, shape (groups,); or
            none, shape (0,).
        cells: where the method divides space: float64, shape (groups, columns, 2), the bounds of
            each group by column, NaN for one without; else None.
        source: the rows as they came, where they are measured yet.
    """

    rows: Labels
    labels: Labels
    centers: Labels
    cells: Floats | None = None
    source: Rows | None = None


def flat_cells(argument: Any) -> pa.Array:
    """The cells of an argument of type VARCHAR[][], row by row; NULL is none."""
    array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
    return array.flatten().flatten().cast(pa.string())


def read_levels(argument: Any) -> dict[str, tuple[pa.Array, ...]]:
    """Hierarchies as DuckDB hands them over, STRUCT(name VARCHAR, paths VARCHAR[][])[]: the labels
    of their leaves level by level, by column name; NULL is none."""
    array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
    levels = {}
    for entry in array.flatten():
        paths = entry["paths"].values
        labels, count = paths.flatten(), len(paths)
        height = len(labels) // count
        levels[entry["name"].as_py()] = tuple(
            labels.take(pa.array(np.arange(level, len(labels), height))) for level in range(height)
        )
    return levels


@dataclass(frozen=True)
class SideTable:
    """A relation beside the one that is anonymized, every value as text.

    Attributes:
        names: its columns.
        columns: string arrays, one for each.
    """

    names: tuple[str, ...]
    columns: tuple[pa.Array, ...]

    @staticmethod
    def of(names: list[str] | None, rows: Any) -> SideTable:
        """From names and rows of cells, a list scalar; a relation without rows is no columns."""
        if not names or not rows.is_valid:
            return SideTable((), ())
        cells = rows.values.flatten()
        columns = tuple(
            cells.take(pa.array(np.arange(c, len(cells), len(names)))).cast(pa.string())
            for c in range(len(names))
        )
        return SideTable(tuple(names), columns)


def read_tables(argument: Any) -> dict[str, SideTable]:
    """Tables as DuckDB hands them over, STRUCT(name VARCHAR, names VARCHAR[], rows VARCHAR[][])[],
    by the option that named them; NULL is none."""
    array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
    return {
        entry["name"].as_py(): SideTable.of(entry["names"].as_py(), entry["rows"])
        for entry in array.flatten()
    }


@dataclass(frozen=True)
class Keys:
    """Some values of a column without a role, with all their rows.

    Attributes:
        name: the column.
        rows: int64, shape (m,); the numbers of these rows, in any order.
        hashes: uint64, shape (m,); of the value of each.
    """

    name: str
    rows: Labels
    hashes: npt.NDArray[np.uint64]


def read_keys(argument: Any) -> list[Keys]:
    """Keys as DuckDB hands them over, STRUCT(name VARCHAR, found STRUCT("row" BIGINT, hash
    UBIGINT)[])[]; columns of which nothing was found are left out, and NULL is none."""
    array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
    return [
        Keys(
            entry["name"].as_py(), *(
                entry["found"].values.field(name).to_numpy() for name in ("row", "hash")
            )
        ) for entry in array.flatten() if entry["found"].is_valid
    ]
