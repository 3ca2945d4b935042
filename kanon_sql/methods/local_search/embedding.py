"""Records as points of a space, in which a search looks for neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.points.points import LossPoints, Points, rows_at

STRETCH = 4.0
"""By how much squares of numbers are stretched to be like the numbers themselves."""


def embedded(points: Points, members: Any = slice(None)) -> Points:
    """Some of the records as points whose squared distances are much like the losses of two.

    Of LossPoints two codes are as far apart as their loss; two numbers x and y, for a domain of
    size 1, STRETCH (x - y)^2 instead of abs(x - y). Missing values are moved closer, above the
    domain. Of others it is what is lost already.

    Args:
        points: n records.
        members: int64, shape (m,); those that are wanted, all without it.
    """
    numeric, codes = rows_at(points.numeric, members), rows_at(points.codes, members)
    if not isinstance(points, LossPoints):
        return Points.of(numeric, codes, points.scale)
    cap = np.where(points.cap > 0.0, points.cap, 1.0)
    near = np.minimum(numeric, 1.5 * cap) * np.sqrt(STRETCH / cap)
    return Points.of(near, codes, points.scale / 2.0)
