"""Where searches take place: the points, and the axes along which boxes bound their distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Codes, Floats

Bits = npt.NDArray[np.uint64]


class Space(NamedTuple):
    """What every search takes: n records, d numeric attributes, c categorical ones, p axes.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: half the squared distance of two categories: float64, shape (c,).
        apart: the squared distance of two categories: float64, shape (c,).
        axes: coordinates in which boxes lie: float64, shape (n, p).
        sets: the category of each record as a set, see category_sets: uint64, shape (n, c).
        turn: axes = numeric @ turn up to rounding, the identity where the axes are the
            attributes: float64, shape (d, p).
        slack: how much a distance along axes may be above the true one, 0.0 where they are equal.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    apart: Floats
    axes: Floats
    sets: Bits
    turn: Floats
    slack: float


def category_sets(codes: Any) -> Any:
    """Each category as a set of one bit of 64: uint64, shape (n, c)."""
    return np.uint64(1) << (codes.astype(np.uint64) & np.uint64(63))
