"""What every grouping method works on: points in the embedding of the quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """n records in canonical order.

    A nominal attribute with frequencies p over its categories is a set of equidistant points
    (aggarwal2006, section 1): one-hot vectors, scaled. They are never written out; the category
    code and the scale say all that a distance needs.

    Attributes:
        numeric: float64, shape (n, d), C-contiguous; standardized coordinates.
        codes: int32, shape (n, c), C-contiguous; category codes 0 .. m-1 per nominal attribute.
        scale: float64, shape (c,); squared length of a one-hot vector per nominal attribute, so
            that two different categories are 2 * scale apart (squared).
    """

    numeric: Floats
    codes: Codes
    scale: Floats

    def __len__(self) -> int:
        return int(self.numeric.shape[0])

    @staticmethod
    def of(numeric: Any, codes: Any = None, scale: Any = None) -> Points:
        """Points from anything array-like; without codes all attributes are numeric."""
        matrix = np.ascontiguousarray(numeric, dtype=np.float64)
        if codes is None:
            codes, scale = np.zeros((len(matrix), 0), np.int32), np.zeros(0)
        return Points(
            matrix,
            np.ascontiguousarray(codes, dtype=np.int32),
            np.ascontiguousarray(scale, dtype=np.float64),
        )


@dataclass(frozen=True)
class Grouping:
    """The result of a method.

    Attributes:
        labels: int64, shape (n,); the group of each record, groups numbered as they were made.
        facts: what the method decided on its own, to be reported (v_mdav: the gamma used).
    """

    labels: Labels
    facts: dict[str, float]
