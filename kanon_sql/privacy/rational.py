"""Thresholds as fractions, so that what is checked of whole counts is exact."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

DECIMALS = 6
"""Digits after the point that a threshold may have: so that products with counts stay exact."""

SURE = 1e-12
"""By how much what is rounded must keep away from its bound, where it isn't plainly a fraction: an
entropy above its own, a distance below t, a frequency within, as a share of the bound. What
rounding can't tell apart is refused."""


def as_fraction(threshold: float) -> Fraction:
    """The fraction that a threshold means as it is written: 0.15 is 3/20, not the double nearest
    to it."""
    return Fraction(Decimal(repr(threshold)))
