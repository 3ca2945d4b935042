"""Rates and their intervals."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from kanon_sql.attacks.rates import advantage_of, nearer, rate_of


@given(st.integers(1, 3000), st.data())
def test_a_rate_has_the_interval_of_wilson(attacks: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, attacks))
    rate = rate_of(successes, attacks)
    expected = binomtest(successes, attacks).proportion_ci(0.95, method="wilson")
    assert rate.value == successes / attacks
    assert rate.low == pytest.approx(expected.low, abs=1e-12)
    assert rate.high == pytest.approx(expected.high, abs=1e-12)
    assert rate_of(successes, attacks, 4).low <= rate.low <= rate.value <= rate.high


def test_an_advantage_has_the_interval_of_newcombe() -> None:
    # Newcombe 1998, Statistics in Medicine 17: table II, method 10, the examples (a) and (d)
    for (a, m), (b, n), low, high in (
        ((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090),
    ):
        found = advantage_of(rate_of(a, m), rate_of(b, n))
        assert found.value == pytest.approx(a / m - b / n)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.slow
def test_the_interval_of_an_advantage_holds_in_19_of_20_trials() -> None:
    draws = np.random.default_rng(1)
    for p, q, m, n in ((0.5, 0.4, 300, 300), (0.9, 0.8, 1000, 200), (0.02, 0.01, 2000, 2000)):
        held = 0
        for a, b in zip(draws.binomial(m, p, 2000), draws.binomial(n, q, 2000), strict=True):
            found = advantage_of(rate_of(float(a), m), rate_of(float(b), n))
            held += found.low <= p - q <= found.high
        assert 0.93 <= held / 2000 <= 0.98


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20),
       st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_who_is_nearer_is_counted_over_all_pairs(inside: list[int], outside: list[int]) -> None:
    wins = sum(
        1.0 if a < b else 0.5 if a == b else 0.0 for a, b in product(inside, outside)
    )
    rate = nearer(np.array(inside, float), np.array(outside, float))
    assert rate.value == pytest.approx(wins / len(inside) / len(outside))
    assert rate.low <= rate.value <= rate.high


@pytest.mark.slow
def test_the_interval_of_who_is_nearer_holds_in_19_of_20_trials() -> None:
    draws = np.random.default_rng(2)
    truth = 0.5 * (1.0 + math.erf(0.3 / 2.0))  # two normal variables whose means differ by 0.3
    held = 0
    for _ in range(1000):
        rate = nearer(draws.normal(0.0, 1.0, 150), draws.normal(0.3, 1.0, 200))
        held += rate.low <= truth <= rate.high
    assert 0.93 <= held / 1000 <= 0.97
