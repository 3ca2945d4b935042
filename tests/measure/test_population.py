"""Estimates of a population, against their definitions, published vectors and known populations."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import hyp2f1
from scipy.stats import nbinom

from kanon_sql.data import adult
from kanon_sql.measure.population import individual_risk, pitman, zayatz


def one(rows: float, people: float) -> float:
    return float(individual_risk(np.array([rows]), np.array([people]))[0])


# Of test_indivRisk.R of sdcMicro, method 'exact': classes of the weights 18, 39 and 51, of 92 and
# 8, and of one row each; then of its data with missing values, where f and the sum of the weights
# are those of all rows that may be equal.
VECTORS = [
    (3, 108.0, 0.01355297), (1, 45.5, 0.08579129), (1, 17.0, 0.17707583), (2, 100.0, 0.01877883),
    (1, 123.5, 0.03931625), (4, 125.0, 0.010504889), (2, 56.0, 0.032466112),
    (3, 151.0, 0.009756889), (5, 208.0, 0.005962551),
]


@pytest.mark.parametrize(("rows", "people", "risk"), VECTORS)
def test_individual_risk_is_that_of_sdcmicro(rows: int, people: float, risk: float) -> None:
    assert one(rows, people) == pytest.approx(risk, abs=5e-9)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 20, 40, 63, 64, 65, 100])
@pytest.mark.parametrize("share", [0.9999, 0.8, 0.51, 0.5, 0.49, 0.2, 0.03])
def test_individual_risk_is_the_mean_of_one_over_the_people(rows: int, share: float) -> None:
    """The negative binomial distribution counts the people beside the rows."""
    others = np.arange(0, int(rows / share * 12) + 4000)
    expected = float((nbinom.pmf(others, rows, share) / (others + rows)).sum())
    assert one(rows, rows / share) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("share", [0.9, 0.4, 0.1, 0.001])
def test_individual_risk_is_the_hypergeometric_function(rows: int, share: float) -> None:
    expected = share**rows / rows * hyp2f1(rows, rows, rows + 1, 1 - share)
    assert one(rows, rows / share) == pytest.approx(float(expected), rel=1e-7)


def test_individual_risk_of_a_sample_that_is_the_population() -> None:
    rows = np.array([1.0, 2.0, 64.0, 1e6])
    assert individual_risk(rows, rows) == pytest.approx(1.0 / rows, rel=1e-15)


def test_individual_risk_falls_with_the_people_and_the_rows() -> None:
    people = np.geomspace(100.0, 1e7, 500)
    for rows in (1.0, 5.0, 63.0, 64.0, 99.0):
        assert (np.diff(individual_risk(np.full(500, rows), people)) < 0).all()
    few = np.arange(1.0, 200.0)
    assert (individual_risk(few, np.full(199, 1e5)) > 0).all()


def sizes_of(classes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    found = sorted(Counter(classes).items())
    sizes, counts = zip(*found, strict=True)
    return np.array(sizes, np.int64), np.array(counts, np.int64)


@pytest.mark.parametrize("classes", [[1, 1, 2, 3], [1] * 5 + [4], [1, 7, 7], [1, 1]])
@pytest.mark.parametrize("people", [20, 57, 16])
def test_zayatz_is_its_formula(classes: list[int], people: int) -> None:
    n, ones = sum(classes), classes.count(1)

    def seen(i: int) -> Fraction:
        """The chance that one of i people is among n of all."""
        return Fraction(i * math.comb(people - i, n - 1), math.comb(people, n))

    unique = Fraction(ones) * seen(1) / sum(map(seen, classes))
    expected = float(ones * unique / Fraction(n, people))
    assert zayatz(*sizes_of(classes), float(people)) == pytest.approx(expected, rel=1e-9)


def log_likelihood(theta: float, alpha: float, classes: list[int]) -> float:
    """Pitman's sampling formula, factor by factor."""
    if not (0.0 < alpha < 1.0 and theta > 0.0):
        return -math.inf
    n, u = sum(classes), len(classes)
    return float(
        np.log(theta + np.arange(1, u) * alpha).sum() - np.log(theta + np.arange(1, n)).sum()
        + sum(np.log(np.arange(1, size) - alpha).sum() for size in classes)
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
def test_pitman_has_the_parameters_of_the_largest_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta, alpha, classes = 5.0 + 40 * rng.random(), 0.2 + 0.6 * rng.random(), []
    for i in range(600):  # the formula as an urn
        new = (theta + len(classes) * alpha) / (theta + i)
        if rng.random() < new:
            classes.append(1)
        else:
            weights = np.array(classes) - alpha
            classes[int(rng.choice(len(classes), p=weights / weights.sum()))] += 1
    best = minimize(
        lambda x: -log_likelihood(math.exp(x[0]), x[1], classes), [2.0, 0.5],
        method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000},
    )
    theta, alpha, people = math.exp(best.x[0]), float(best.x[1]), 5000
    # a person is alone where all later ones find another class
    later = np.arange(1, people)
    expected = people * math.exp(np.log((theta + alpha + later - 1) / (theta + later)).sum())
    assert pitman(*sizes_of(classes), float(people)) == pytest.approx(expected, rel=1e-4)


def test_pitman_knows_nothing_where_all_or_none_are_unique() -> None:
    assert pitman(*sizes_of([1] * 50), 1000.0) is None
    assert pitman(*sizes_of([2] * 50), 1000.0) is None
    assert zayatz(*sizes_of([2] * 50), 1000.0) is None
    # a population of fewer people than rows is none
    assert pitman(*sizes_of([1, 1, 2]), 3.0) is None and zayatz(*sizes_of([1, 1, 2]), 3.0) is None


@pytest.mark.parametrize(("percent", "near"), [(5, 0.06), (10, 0.06), (20, 0.06), (50, 0.06)])
def test_pitman_is_near_the_population_uniques_of_adult(percent: int, near: float) -> None:
    """On average over samples; of all rows, 14,021 are unique in the eight quasi-identifiers."""
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS FROM read_parquet(?)", [adult()])
    rows = con.execute('SELECT hash(COLUMNS(* EXCLUDE ("salary-class"))) FROM t').fetchnumpy()
    classes = np.unique(np.stack(list(rows.values()), 1), axis=0, return_inverse=True)[1].ravel()
    truth = int((np.bincount(classes) == 1).sum())
    assert truth == 14021
    found, by_size = [], []
    for seed in range(6):
        drawn = np.random.default_rng(seed).choice(
            classes, len(classes) * percent // 100, replace=False
        )
        sizes, counts = np.unique(np.bincount(drawn), return_counts=True)
        known = sizes > 0
        args = sizes[known].astype(np.int64), counts[known].astype(np.int64)
        found.append(pitman(*args, float(len(classes))))
        by_size.append(zayatz(*args, float(len(classes))))
    assert np.mean(np.array(found, float)) == pytest.approx(truth, rel=near)
    # Zayatz takes the classes of the sample for those of the population
    assert np.mean(np.array(by_size, float)) > truth
