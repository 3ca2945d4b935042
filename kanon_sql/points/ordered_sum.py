"""A sum whose last digit is the same on every machine.

``numpy.sum`` adds in an order that its version and the processor choose. The last digit of a mean
or a variance decides ties between records, and so which rows are one class.
"""

from __future__ import annotations

import numpy as np

from kanon_sql.points.points import Floats

LANES = 1024
"""How many sums are carried at once; a power of two."""


def ordered_sum(values: Floats) -> float:
    """The sum of values, each added to a lane by its place, and the lanes by halves.

    Args:
        values: float64, shape (n,).
    """
    whole = len(values) // LANES * LANES
    lanes = values[:whole].reshape(-1, LANES).sum(axis=0)  # row after row, whatever the processor
    lanes[: len(values) - whole] += values[whole:]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return float(np.asarray(lanes)[0])
