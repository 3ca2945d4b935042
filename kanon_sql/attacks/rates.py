"""Rates of success and their differences, with intervals."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata

from kanon_sql.attacks.facts import Rate

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95


def z_of(comparisons: int) -> float:
    """The deviation of an interval that holds for so many comparisons at once (Bonferroni)."""
    return float(ndtri(1.0 - (1.0 - CONFIDENCE) / 2.0 / comparisons))


def rate_of(successes: float, attacks: int, comparisons: int = 1) -> Rate:
    """The share of attacks that succeeded, with the score interval of Wilson 1927.

    Args:
        successes: how many succeeded; a guess among ties counts by its chance.
        attacks: how many there were, at least one.
        comparisons: how many intervals are to hold at once.
    """
    z, share = z_of(comparisons), successes / attacks
    middle = (successes + z * z / 2.0) / (attacks + z * z)
    half = z / (attacks + z * z) * math.sqrt(
        max(successes * (attacks - successes), 0.0) / attacks + z * z / 4.0
    )
    # rounding must not put an end on the wrong side
    return Rate(share, min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share))


def advantage_of(inside: Rate, control: Rate) -> Rate:
    """By how much the success on people of a release is above that on people outside, with the
    hybrid score interval of Newcombe 1998 (method 10).

    Args:
        inside: the success on people of the release.
        control: the success on people outside.
    """
    value = inside.value - control.value
    below = math.hypot(inside.value - inside.low, control.high - control.value)
    above = math.hypot(inside.high - inside.value, control.value - control.low)
    return Rate(value, value - below, value + above)


def nearer(inside: Floats, outside: Floats) -> Rate:
    """The chance that of two people, one inside and one outside, the one inside is nearer; of equal
    distances a half. The interval is that of DeLong, DeLong and Clarke-Pearson 1988.

    Args:
        inside, outside: the distances, float64, shapes (m,) and (n,).
    """
    m, n = len(inside), len(outside)
    both = rankdata(np.concatenate([inside, outside]))
    # how many of the others are nearer, ties counting a half
    first = 1.0 - (both[:m] - rankdata(inside)) / n
    second = (both[m:] - rankdata(outside)) / m
    value = float(first.mean())
    spread = float(first.var(ddof=1)) / m if m > 1 else 1.0
    spread += float(second.var(ddof=1)) / n if n > 1 else 1.0
    half = z_of(1) * math.sqrt(spread)
    return Rate(value, max(value - half, 0.0), min(value + half, 1.0))
