"""Sensitive columns, as what every class must keep sees them: codes, counts, and an order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kanon_sql.errors import DataError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column of m values. The code of a value is its rank, from 0 to m - 1: numbers,
    dates and times by their size, all else by its text. NULL and NaN are coded m.

    Attributes:
        name: its name.
        words: the m values as texts (as __kanon_key gives them), by which options name them.
        ordered: whether its type has an order: numbers, dates and times.
        numbers: float64, shape (m,), ascending; the values as numbers, where the type has an order,
            else shape (0,).
        levels: int32, shape (height, m); with a hierarchy, the node of each value at every level
            below the root, the leaves first; else shape (0, m).
        table: int64, shape (m + 1,); where the records are a block of many, the rows of all blocks
            that have each value, and last those that have none; else None.
    """

    name: str
    words: tuple[str, ...]
    ordered: bool = False
    numbers: Floats = field(default_factory=lambda: np.zeros(0))
    levels: Codes = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    table: Numbers | None = None

    @property
    def values(self) -> int:
        """m."""
        return len(self.words)


@dataclass(frozen=True)
class Counts:
    """How often each value of a sensitive column is there.

    Attributes:
        column: the column.
        values: int64, shape (m,); rows by the code of their value.
        missing: rows with NULL or NaN.
    """

    column: SensitiveColumn
    values: Numbers
    missing: int

    @property
    def rows(self) -> int:
        """All of them."""
        return int(self.values.sum()) + self.missing

    @staticmethod
    def of(column: SensitiveColumn, codes: Codes) -> Counts:
        """How often each value is among the codes: int32, shape (n,), as in SensitiveColumn."""
        counts = np.bincount(codes, minlength=column.values + 1).astype(np.int64)
        return Counts(column, counts[:-1], int(counts[-1]))

    @staticmethod
    def overall(column: SensitiveColumn, codes: Codes) -> Counts:
        """How often each value is among all rows: those of the codes, unless these are of a block
        of many."""
        if column.table is None:
            return Counts.of(column, codes)
        return Counts(column, column.table[:-1], int(column.table[-1]))


def refuse_strangers(entity: str, rows: int) -> None:
    """Raises DataError for rows of nobody: so many in which the column ``entity`` is missing."""
    if rows:
        raise DataError(
            f"The column {entity!r} is NULL in {rows} {'row' if rows == 1 else 'rows'}, which "
            "belong to no person. Fill it, or leave these rows out."
        )
