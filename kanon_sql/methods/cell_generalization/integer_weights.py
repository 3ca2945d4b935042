"""Edge weights as whole numbers, so that factors can be compared exactly.

The weight of an edge (aggarwal2005, section 4) is a sum of weight / height, over the columns of
codes in which its ends differ. These are fractions, of which floats know little: three thirds are
not one. So the intended fractions are recovered, and all are counted in their largest common unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from kanon_sql.points.points import LossPoints

LARGEST = 2**24
"""The most units that an edge weighs. A solver in floats still tells one unit of it apart."""
SIMPLE = 10**6
"""The largest denominator of a weight that is taken for what the user meant."""


@dataclass(frozen=True)
class WholeWeights:
    """Points whose scales are whole numbers.

    Attributes:
        points: the same records; scale holds whole numbers, float64, shape (c,).
        low, high: an edge that weighs W here weighs from low * W to high * W there. The two are
            equal, and the numbers exact, unless the fractions need more than LARGEST units; the
            scales are then rounded, to 1 or more.
    """

    points: LossPoints
    low: Fraction
    high: Fraction


def _meant(scale: float, height: int) -> Fraction:
    """The fraction that a scale stands for: a weight, simple if that can be, over the height."""
    weight = Fraction(scale * height).limit_denominator(SIMPLE)
    return weight / height if float(weight) / height == scale else Fraction(scale)


def whole_weights(points: LossPoints) -> WholeWeights:
    """The same records, with each scale a whole number of the largest unit that fits all."""
    _, attribute, heights = np.unique(points.first, return_inverse=True, return_counts=True)
    fractions = [
        _meant(scale, height)
        for scale, height in zip(points.scale.tolist(), heights[attribute].tolist(), strict=True)
    ]
    constant = [len(np.unique(codes)) < 2 for codes in points.codes.T]  # these never cost anything
    fractions = [
        Fraction(0) if alike else fraction
        for alike, fraction in zip(constant, fractions, strict=True)
    ]
    common = lcm(*(fraction.denominator for fraction in fractions))
    counts = [int(fraction * common) for fraction in fractions]
    unit = Fraction(gcd(*counts) or 1, common)
    counts = [int(fraction / unit) for fraction in fractions]
    low = high = unit
    # half of LARGEST leaves room for the scales that are rounded up to 1
    if sum(counts) > LARGEST:
        per = sum(counts) // (LARGEST // 2)
        counts = [max(1, round(Fraction(count, per))) if count else 0 for count in counts]
        ratios = [f / count for f, count in zip(fractions, counts, strict=True) if count]
        low, high = min(ratios), max(ratios)
    whole = replace(points, scale=np.array(counts, np.float64))
    return WholeWeights(whole, low, high)


def is_binary(points: LossPoints) -> bool:
    """Whether no column of codes has more than two different codes."""
    return all(len(np.unique(codes)) <= 2 for codes in points.codes.T)
