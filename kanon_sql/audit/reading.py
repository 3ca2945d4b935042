"""What one published value was understood as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """A published value, understood.

    Attributes:
        loss: 0 .. 1.
        members: int64, the places of its values in Domain.values; their number stands for NULL.
        bits: the entropy of the source's values among the members, by their rows.
        kind: 'values', 'suppressed', 'point' or 'unread'.
        ambiguous: whether the text may mean something else as well.
    """

    loss: float
    members: Places
    bits: float
    kind: str = "values"
    ambiguous: bool = False


def entropy(counts: Floats) -> float:
    """Bits of a value drawn among rows, by the rows of each value."""
    rows = counts[counts > 0.0]
    many = float(rows.sum())
    if len(rows) < 2:
        return 0.0
    return max(float(np.log2(many) - np.sum(rows * np.log2(rows)) / many), 0.0)
