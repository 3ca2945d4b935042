"""The people of a population, on the axes of the records: whom a class covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Labels


@dataclass(frozen=True)
class Population:
    """The people of a population, and the records that are to be held against them.

    Values are numbered by column, those with an order in their order; a missing one is -1.

    Attributes:
        own: int64, shape (n, q); of the records in canonical order.
        cells: int64, shape (m, q); of people, alike ones once.
        many: int64, shape (m,); how many people are alike.
        ordered: for each column, whether its values have an order.
    """

    own: Labels
    cells: Labels
    many: Labels
    ordered: tuple[bool, ...]

    def covered(self, records: Labels) -> int:
        """How many people a class covers.

        Args:
            records: int64, shape (size,); those of the class.
        """
        left = np.arange(len(self.many))
        for j, ordered in enumerate(self.ordered):
            values, theirs = self.own[records, j], self.cells[left, j]
            known = values[values >= 0]
            if ordered and len(known):
                fits = (theirs >= known.min()) & (theirs <= known.max())
            else:
                fits = _among(theirs, known)
            if len(known) < len(values):
                fits |= theirs < 0
            left = left[fits]
        return int(self.many[left].sum())


def _among(values: Labels, known: Labels) -> npt.NDArray[np.bool_]:
    """Whether each value is one of those that are known."""
    most = int(max(values.max(initial=-1), known.max(initial=-1))) + 2
    held = np.zeros(most, np.bool_)
    held[known] = True
    return np.asarray(held[values])
