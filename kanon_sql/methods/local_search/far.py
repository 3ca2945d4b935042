"""How far records are from all."""

from __future__ import annotations

import numpy as np

from kanon_sql.points.ordered_sum import ordered_sum
from kanon_sql.points.points import Floats, Points


def far_from_all(points: Points) -> Floats:
    """How far each record is from the mean of all, squared, but for what is the same for all."""
    gaps = np.zeros(len(points))
    for column in points.numeric.T:
        gaps += (column - ordered_sum(column) / len(points)) ** 2
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        gaps = gaps - 2.0 * scale * (np.bincount(codes) / len(points))[codes]
    return np.asarray(gaps)
