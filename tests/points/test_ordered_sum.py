"""A sum of which every digit is written down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.points.ordered_sum import LANES, ordered_sum


def slow_sum(values: list[float]) -> float:
    """The same, a value after the other."""
    lanes = [0.0] * LANES
    for place, value in enumerate(values):
        lanes[place % LANES] += value
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[i] + lanes[half + i] for i in range(half)]
    return lanes[0]


@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 1025, 2048, 5000, 20_001])
def test_a_sum_is_that_of_the_reference_to_the_last_bit(n: int) -> None:
    values = np.random.default_rng(n).lognormal(sigma=8.0, size=n)
    assert ordered_sum(values).hex() == slow_sum(values.tolist()).hex()
    assert ordered_sum(np.repeat(values, 2)[::2]).hex() == ordered_sum(values).hex()


@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.integers(1, 200))
def test_a_sum_is_near_the_exact_one(values: list[float], times: int) -> None:
    several = values * times
    exact = sum(map(Fraction, several), Fraction(0))
    most = sum(map(abs, several))
    assert abs(Fraction(ordered_sum(np.array(several))) - exact) <= Fraction(most) / 10**13
