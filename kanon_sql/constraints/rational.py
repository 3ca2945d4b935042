"""Thresholds as fractions, so that what is checked of whole counts is exact."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

DECIMALS = 6
"""Digits after the point that a threshold may have: so that products with counts stay exact."""


def as_fraction(threshold: float) -> Fraction:
    """The fraction that a threshold means as it is written: 0.15 is 3/20, not the double nearest
    to it."""
    return Fraction(Decimal(repr(threshold)))
