"""What a sample says of the population that it is drawn from: how likely a row is found there, and
how many people are the only ones of their kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, gammaln

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

TERMS = 64
"""Of the series: the last is below 2^-64 of the first."""


def individual_risk(rows: Floats, people: Floats) -> Floats:
    """The chance that a row is matched to the right person, of classes that have ``rows`` rows
    here and ``people`` estimated people in the population: float64, shape (n,).

    Source: Benedetti and Franconi, Statistical and technological solutions for controlled data
    dissemination, 1998: the mean of 1 / F, where F is negative binomial given f = rows, with the
    success p = f / people; it is p^f / f 2F1(f, f; f + 1; 1 - p), here not approximated for any f.

    By the integral p int_0^1 v^(f - 1) / (p + (1 - p) v) dv it is a series of positive terms, which
    converges fast for large f and for p above one half; for smaller f and p, r(f + 1) =
    p / (1 - p) (1 / f - r(f)) from r(1) = p / (1 - p) ln(1 / p), where errors shrink.
    """
    sampled = np.minimum(rows / people, 1.0)
    rest = 1.0 - sampled
    risks = np.empty(len(rows))
    term = 1.0 / rows
    total = term.copy()
    for j in range(TERMS):
        term = term * rest * (j + 1.0) / (rows + j + 1.0)
        total += term
    risks = sampled * total
    small = (sampled <= 0.5) & (rows < TERMS)
    if small.any():
        odds = sampled[small] / rest[small]
        risk = odds * -np.log(sampled[small])
        size = rows[small]
        for f in range(1, int(size.max())):
            risk = np.where(size > f, odds * (1.0 / f - risk), risk)
        risks[small] = risk
    return np.asarray(risks, dtype=np.float64)


def zayatz(sizes: Integers, classes: Integers, people: float) -> float | None:
    """Unique people in the population, as if its classes were as large as those of the sample;
    None where nothing is unique in the sample.

    Source: Zayatz, Estimation of the percent of unique population elements on a microdata file
    using the sample, US Bureau of the Census, 1991: P(one of i is sampled) is hypergeometric.

    Args:
        sizes: the class sizes that occur, int64, shape (s,).
        classes: how many classes have each, int64, shape (s,).
        people: how many there are in the population.
    """
    n = float((sizes * classes).sum())
    ones = float(classes[sizes == 1].sum())
    if not ones or people < n:
        return None
    chosen = sizes[sizes <= people - n + 1]
    logs = (
        np.log(chosen) + _choose(people - chosen, n - 1.0) - _choose(np.float64(people), n)
    )
    seen = float((classes[sizes <= people - n + 1] * np.exp(logs)).sum())
    of_one = n / people
    return ones * (ones * of_one / seen) / of_one


def _choose(n: Any, k: float) -> Any:
    """The logarithm of a binomial coefficient."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


class _Pitman:
    """The likelihood of Pitman's sampling formula, at 0 < alpha < 1 and theta > 0."""

    def __init__(self, sizes: Integers, classes: Integers) -> None:
        self.sizes = sizes.astype(np.float64)
        self.classes = classes.astype(np.float64)
        self.n = float((self.sizes * self.classes).sum())
        self.u = float(self.classes.sum())

    def by_theta(self, theta: float, alpha: float) -> float:
        """Its derivative by theta: sum over 0 < i < u of 1 / (theta + i alpha), less that over
        0 < i < n of 1 / (theta + i)."""
        ratio = theta / alpha
        return float(
            (digamma(ratio + self.u) - digamma(ratio + 1.0)) / alpha
            - (digamma(theta + self.n) - digamma(theta + 1.0))
        )

    def by_alpha(self, theta: float, alpha: float) -> float:
        """Its derivative by alpha: sum over 0 < i < u of i / (theta + i alpha), less that over all
        classes of sizes j and 0 < i < j of 1 / (i - alpha)."""
        ratio = theta / alpha
        first = (
            self.u - 1.0 - ratio * (digamma(ratio + self.u) - digamma(ratio + 1.0))
        ) / alpha
        inner = digamma(self.sizes - alpha) - digamma(1.0 - alpha)
        return float(first - (self.classes * inner).sum())

    def best_theta(self, alpha: float) -> float:
        """The theta at which the likelihood is largest, given alpha; 0 where it falls from there,
        inf where it doesn't end to grow."""
        low, high = 1e-9, 1.0
        if self.by_theta(low, alpha) <= 0.0:
            return 0.0
        while self.by_theta(high, alpha) > 0.0:
            low, high = high, high * 4.0
            if high > 1e18:
                return math.inf
        for _ in range(200):
            middle = math.sqrt(low * high)
            if not low < middle < high:
                break
            if self.by_theta(middle, alpha) > 0.0:
                low = middle
            else:
                high = middle
        return math.sqrt(low * high)


def pitman(sizes: Integers, classes: Integers, people: float) -> float | None:
    """Unique people in the population, by Pitman's sampling formula; None where no parameters fit,
    as where all rows are unique, or none.

    Source: Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment,
    Journal of Official Statistics 17(4), 2001: theta and alpha of the largest likelihood, and the
    expected classes of size 1 among ``people``.

    Args:
        sizes: the class sizes that occur, int64, shape (s,).
        classes: how many classes have each, int64, shape (s,).
        people: how many there are in the population.
    """
    likelihood = _Pitman(sizes, classes)
    if likelihood.n == likelihood.u or people < likelihood.n or not (sizes == 1).any():
        return None
    low, high = 1e-9, 1.0 - 1e-9
    for _ in range(60):
        alpha = 0.5 * (low + high)
        theta = likelihood.best_theta(alpha)
        if math.isinf(theta):
            low = alpha  # so many classes as only a larger alpha explains
        elif likelihood.by_alpha(theta, alpha) > 0.0:
            low = alpha
        else:
            high = alpha
    alpha = 0.5 * (low + high)
    theta = likelihood.best_theta(alpha)
    if not 0.0 < theta < math.inf or alpha > 1.0 - 1e-6:
        return None
    logs = (
        math.log(people)
        + gammaln(theta + 1.0) - gammaln(theta + alpha)
        + gammaln(theta + alpha + people - 1.0) - gammaln(theta + people)
    )
    return float(math.exp(logs))
