"""Shares of values between bounds: what the models of frequencies have in common."""

from __future__ import annotations

import numpy as np

from kanon_sql.points.sensitive import Counts, Floats, Numbers

MANY = 2_000
"""How many class sizes are looked at, from the least that could pass: beyond them the first that
was not looked at is told, which is a lower bound."""

NEAR = 1e-14
"""As a share of a bound: more than rounding takes from it, so that what fits is found to fit."""


def least_within(lower: Floats, upper: Floats, counts: Numbers) -> int:
    """The least class in which the share of every value is within its bounds.

    Args:
        lower, upper: float64, shape (m,); bounds of shares; a value with no lower one has 0, and
            none has an upper one of 0.
        counts: int64, shape (m,); how many rows of the table have each value, 1 or more.
    """
    needed = lower > 0.0
    # a value that must be there has one row at least; where none must, one has it nevertheless
    widest = upper[needed].min() if needed.any() else upper.max(initial=1.0)
    start = max(int(1.0 / (widest * (1.0 + NEAR))), int(needed.sum()), 1)
    for size in range(start, min(int(counts.sum()), start + MANY) + 1):
        low = np.ceil(lower * size * (1.0 - NEAR))
        high = np.minimum(counts, np.floor(upper * size * (1.0 + NEAR)))
        if (low <= high).all() and low.sum() <= size <= high.sum():
            return size
    return max(min(int(counts.sum()), start + MANY), 1)


def with_missing(table: Counts) -> Numbers:
    """How often each value is there that is, missing ones last as a value: int64, shape
    (values,)."""
    counts = np.append(table.values, table.missing)
    return counts[counts > 0]
