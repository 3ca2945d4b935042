"""The least class in which the shares of values are within bounds, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_sql.privacy.shares import least_within


@pytest.mark.parametrize(("lower", "upper", "rows", "least"), [
    ([0.0, 0.0], [0.5, 0.5], [3, 3], 2), ([0.0, 0.0], [0.5, 0.5], [3, 1], 2),
    ([0.2, 0.2], [0.5, 0.8], [9, 9], 2), ([0.3, 0.1], [0.4, 0.9], [9, 9], 3),
    # a value that must be there once, in a class of five or more
    ([0.1, 0.1], [0.2, 1.0], [1, 9], 5),
    # exactly so many rows: a share that is no double
    ([0.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [1, 1, 1], 3), ([1 / 3, 0.0], [1.0, 1.0], [9, 9], 1),
    ([1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.5], [9, 9, 9], 3),
])
def test_the_least_class_within_bounds(
    lower: list[float], upper: list[float], rows: list[int], least: int
) -> None:
    found = least_within(np.array(lower), np.array(upper), np.array(rows, np.int64))
    assert found == least


def test_beyond_many_sizes_the_last_is_a_lower_bound() -> None:
    # no fraction of a small denominator is as near to the golden ratio
    golden = (5.0**0.5 - 1.0) / 2.0
    lower, upper = np.array([golden - 1e-8, 0.0]), np.array([golden + 1e-8, 1.0])
    assert least_within(lower, upper, np.array([10**6, 10**6], np.int64)) == 2_001
    assert least_within(lower - 1e-5, upper + 1e-5, np.array([10**6, 10**6], np.int64)) == 233
    rare = np.array([1e-5, 0.5]), np.array([1.5e-5, 1.0]), np.array([9, 10**6], np.int64)
    assert least_within(*rare) == 66_667
    # none: all rows, or as many sizes as are looked at
    never = np.array([0.6, 0.6])
    assert least_within(never, never + 0.1, np.array([5, 5], np.int64)) == 10
    assert least_within(never, never + 0.1, np.array([5_000, 5_000], np.int64)) == 2_002
    assert least_within(np.zeros(0), np.zeros(0), np.zeros(0, np.int64)) == 1
