"""What is still true: classifiers and models against slow references and what has to come out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.reporting.distributions import Measured, variation
from kanon_sql.reporting.facts import Bar, Distribution
from kanon_sql.reporting.readings import Ranges
from kanon_sql.reporting.utility.assemble import utility_of
from kanon_sql.reporting.utility.fits import independent, linear, logistic, probability
from kanon_sql.reporting.utility.models import compare_models, overlap
from kanon_sql.reporting.utility.propensity import propensity_error
from kanon_sql.reporting.utility.variables import MOST_ROWS, Table, Variable, tables_of

often = settings(max_examples=60, deadline=None)


def number(name: str, before: Any, after: Any) -> Measured:
    sides = [np.asarray(each, np.float64) for each in (before, after)]
    codes = [np.zeros(len(each), np.int64) for each in sides]
    return Measured(name, codes[0], codes[1], (
        Ranges(sides[0], sides[0]), Ranges(sides[1], sides[1])
    ))


def label(name: str, before: Any, after: Any, labels: Sequence[str]) -> Measured:
    sides = [np.asarray(each, np.int64) for each in (before, after)]
    return Measured(name, sides[0], sides[1], groups=(sides[0], sides[1]), labels=tuple(labels))


def people(rows: int, seed: int) -> tuple[Any, Any, Any]:
    """A number, a label that depends on it, and a yes or no that depends on both."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40.0, 12.0, rows)
    job = (rng.random(rows) < probability((age - 40) / 10)).astype(int)
    job = np.minimum(job + 2 * (rng.random(rows) < 0.2), 2)
    ill = (rng.random(rows) < probability((age - 50) / 12)).astype(int)
    return age, job, ill


def both(before: tuple[Any, Any, Any], after: tuple[Any, Any, Any]) -> tuple[Table, Table]:
    return tables_of([
        number("age", before[0], after[0]), label("job", before[1], after[1], "abc"),
        label("ill", before[2], after[2], ["no", "yes"]),
    ])


# the classifier


def test_equal_tables_cannot_be_told_apart() -> None:
    one = people(400, 1)
    found = propensity_error(*both(one, one))
    assert found.error == pytest.approx(0.0, abs=1e-20) and found.ratio == pytest.approx(0.0)
    assert found.refused == "" and found.rows == 800


@pytest.mark.parametrize("rows", [300, 900])
def test_rows_drawn_from_the_source_have_a_ratio_of_about_one(rows: int) -> None:
    """The mean of 60, whose standard deviation is less than a tenth; two samples are beyond."""
    drawn, others = [], []
    for i in range(60):
        source = people(600, 2 * i)
        places = np.random.default_rng(1000 + i).integers(0, 600, rows)
        release = source[0][places], source[1][places], source[2][places]
        drawn.append(propensity_error(*both(source, release)).ratio)
        others.append(propensity_error(*both(source, people(rows, 2 * i + 1))).ratio)
    means = [np.mean([ratio or 0.0 for ratio in ratios]) for ratios in (drawn, others)]
    assert means[0] == pytest.approx(1.0, abs=0.3)
    assert means[1] == pytest.approx((600 + rows) / 600, rel=0.3)


def test_other_tables_are_told_apart() -> None:
    one, other = people(400, 1), people(400, 2)
    moved = (other[0] + 30.0, other[1], other[2])
    near, far = propensity_error(*both(one, other)), propensity_error(*both(one, moved))
    assert near.share is not None and far.share is not None and far.share > 10 * near.share
    assert far.ratio is not None and far.ratio > 10


def test_a_lost_correlation_is_seen() -> None:
    """Each column has the same values as before; only which belong together is lost."""
    one = people(2000, 5)
    turned = (one[0], np.roll(one[1], 1000), np.roll(one[2], 500))
    found = propensity_error(*both(one, turned))
    assert found.ratio is not None and found.ratio > 5


def test_what_is_suppressed_is_told_for_certain() -> None:
    one = people(400, 1)
    found = propensity_error(*both(one, (np.full(400, np.nan), one[1], one[2])))
    assert found.share == pytest.approx(1.0, abs=1e-3)
    assert found.error == pytest.approx(0.25, abs=1e-3)


def test_few_rows_are_refused() -> None:
    one = tuple(each[:6] for each in people(400, 1))
    found = propensity_error(*both(one, one))  # type: ignore[arg-type]
    assert found.error is None and "per coefficient, and there are 12." in found.refused
    nothing = tables_of([])
    assert "no rows or no columns" in propensity_error(*nothing).refused


def test_the_expectation_is_that_of_the_paper() -> None:
    """One number, one square, one constant: p = 3, c = 2/3, N = 300."""
    rng = np.random.default_rng(3)
    source, release = tables_of([number("x", rng.normal(size=100), rng.normal(size=200))])
    found = propensity_error(source, release)
    assert found.error is not None and found.ratio is not None and found.coefficients == 3
    assert found.error / found.ratio == pytest.approx(2 * (1 / 3) ** 2 * (2 / 3) / 300)
    assert found.share == pytest.approx(found.error / (2 / 3 * 1 / 3))


@often
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(random: Any) -> None:
    one, other = people(60, 1), people(60, 2)
    places = list(range(60))
    random.shuffle(places)
    turned = tuple(each[places] for each in one)
    assert propensity_error(*both(one, other)) == propensity_error(
        *both(turned, other)  # type: ignore[arg-type]
    )


def test_large_tables_are_sampled_by_what_they_hold() -> None:
    rows = MOST_ROWS + 5
    column = number("x", np.arange(rows)[::-1], np.arange(rows))
    source, release = tables_of([column])
    assert len(source[0].values) == MOST_ROWS
    assert source[0].values.tolist() == release[0].values.tolist()
    assert np.ptp(source[0].values) * 2**16 > rows - 3  # in units of that power


# fits


def slow_logistic(matrix: Any, target: Any) -> Any:
    """The maximum of the likelihood by plain gradient steps."""
    found = np.zeros(matrix.shape[1])
    for _ in range(40_000):
        found = found + 2.0 * matrix.T @ (target - 1 / (1 + np.exp(-matrix @ found))) / len(matrix)
    return found


def test_logistic_is_the_maximum_of_the_likelihood() -> None:
    rng = np.random.default_rng(7)
    matrix = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    target = (rng.random(200) < probability(matrix @ [0.3, 1.0, -0.5])).astype(np.float64)
    fit = logistic(matrix, target)
    assert fit.coefficients == pytest.approx(slow_logistic(matrix, target), abs=1e-6)
    assert not fit.separates


def test_the_errors_of_one_share_are_known() -> None:
    """A constant alone: the logarithm of the odds, with an error of 1 / sqrt(n p (1 - p))."""
    fit = logistic(np.ones((50, 1)), np.repeat([0.0, 1.0], [40, 10]))
    assert fit.coefficients[0] == pytest.approx(math.log(10 / 40))
    assert fit.errors[0] == pytest.approx(1 / math.sqrt(50 * 0.2 * 0.8))


def test_what_is_told_for_certain_is_noticed() -> None:
    x = np.arange(20.0)
    matrix = np.column_stack([np.ones(20), x - x.mean()])
    assert logistic(matrix, (x > 9).astype(np.float64)).separates


def test_least_squares_are_those_of_numpy() -> None:
    rng = np.random.default_rng(8)
    matrix = np.column_stack([np.ones(60), rng.normal(size=(60, 3))])
    target = rng.normal(size=60)
    fit = linear(matrix, target)
    expected, rest, *_ = np.linalg.lstsq(matrix, target, rcond=None)
    assert fit.coefficients == pytest.approx(expected)
    covariance = rest[0] / 56 * np.linalg.inv(matrix.T @ matrix)
    assert fit.errors == pytest.approx(np.sqrt(np.diag(covariance)))


@often
@given(st.integers(0, 2**32 - 1))
def test_independent_columns_have_the_rank_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (12, 6)).astype(np.float64)
    matrix[:, 4] = matrix[:, 0] - 2 * matrix[:, 2]
    kept = independent(matrix)
    rank = np.linalg.matrix_rank(matrix)
    assert kept.sum() == rank == np.linalg.matrix_rank(matrix[:, kept]) and not kept[4]


# models


def test_equal_tables_have_equal_models() -> None:
    one = people(600, 1)
    for model in compare_models(*both(one, one), ["ill"], 5, False):
        assert model.inside == model.overlap == 1.0 and model.refused == ""
        assert model.before == model.after and model.rows_before == model.rows_after == 600
        assert all(each.before == each.after for each in model.coefficients)


def test_coefficients_are_those_of_the_columns() -> None:
    one, other = people(4000, 1), people(4000, 2)
    numbers, labels = compare_models(*both(one, other), ["ill"], 5, True)
    assert (numbers.kind, numbers.target) == ("linear regression", "age")
    assert (labels.kind, labels.target) == ("logistic regression", "ill = no")
    names = [each.name for each in labels.coefficients]
    assert names[0] == "age" and len(names) == 3 and all(n[:6] == "job = " for n in names[1:])
    # 12 years are a standard deviation, and a year tells 1 / 12 of the odds, of "no" less
    age = labels.coefficients[0]
    assert age.before == pytest.approx(-1.0, abs=0.15)
    assert age.after == pytest.approx(-1.0, abs=0.15)
    assert labels.before is not None and labels.after is not None and labels.baseline is not None
    assert labels.before > labels.baseline and labels.before - labels.after < 0.02


def test_a_release_without_relations_has_other_coefficients() -> None:
    one = people(3000, 1)
    lost = (np.roll(one[0], 1500), np.roll(one[1], 700), one[2])
    for model in compare_models(*both(one, lost), ["ill"], 5, False):
        assert model.overlap is not None and model.overlap < 0.5
        assert model.before is not None and model.after is not None
        assert model.before > model.after


@pytest.mark.parametrize(("before", "after", "said"), [
    (lambda n: n[0] * 0, lambda n: n[0], "is the same in all rows"),
    (lambda n: n[0], lambda n: n[0], ""),
    (lambda n: n[2] * 1.0, lambda n: n[2] * 1.0, "determine it"),
])
def test_what_cannot_be_fitted_is_said(before: Any, after: Any, said: str) -> None:
    one = people(300, 1)
    tables = tables_of([
        number("age", before(one), after(one)), label("ill", one[2], one[2], ["no", "yes"])
    ])
    model = next(iter(compare_models(*tables, ["ill"], 5, False)))
    assert model.target == "age" and (said in model.refused if said else model.refused == "")


def test_few_rows_have_no_models() -> None:
    one = tuple(each[:19] for each in people(300, 1))
    for model in compare_models(*both(one, one), ["ill"], 5, False):  # type: ignore[arg-type]
        assert model.refused and not model.coefficients and model.inside is None


def test_columns_that_are_not_told_are_left_out() -> None:
    one = people(600, 1)
    hidden = (np.where(np.arange(600) < 400, np.nan, one[0]), one[1], one[2])
    models = list(compare_models(*both(one, hidden), ["ill"], 5, False))
    assert [model.target for model in models] == ["ill = no"]
    assert models[0].left_out == ("age",)
    assert {each.name[:3] for each in models[0].coefficients} == {"job"}


def test_labels_of_few_rows_have_no_coefficient() -> None:
    one = people(600, 1)
    rare = one[1].copy()
    rare[:12] = 3
    tables = tables_of([
        number("age", one[0], one[0]), label("job", rare, rare, "abcd"),
    ])
    names = [
        [each.name for each in next(iter(compare_models(*tables, [], unit, False))).coefficients]
        for unit in (5, 13)
    ]
    assert "job = d" in names[0] and "job = d" not in names[1]


def test_without_show_values_little_of_the_source_is_told() -> None:
    one = tuple(each[:303] for each in people(400, 1))
    for model in compare_models(*both(one, one), ["ill"], 5, False):  # type: ignore[arg-type]
        assert model.rows_before == 305 and model.rows_after == 303
        for each in model.coefficients:
            assert each.before == round(each.before, 2) and each.overlap == round(each.overlap, 2)


@pytest.mark.parametrize(("one", "other", "wanted"), [
    ((0.0, 1.0), (0.0, 1.0), 1.0), ((0.0, 1.0), (2.0, 3.0), 0.0), ((0.0, 2.0), (1.0, 3.0), 0.5),
    ((0.0, 4.0), (1.0, 2.0), 0.625), ((1.0, 1.0), (1.0, 1.0), 1.0), ((1.0, 1.0), (0.0, 2.0), 0.0),
])
def test_overlap(one: tuple[float, float], other: tuple[float, float], wanted: float) -> None:
    assert overlap(one, other) == overlap(other, one) == wanted


# words


def test_variation_is_what_would_have_to_move() -> None:
    assert variation([10, 10], [10, 10], 5, True) == 0.0
    assert variation([10, 0], [0, 30], 5, True) == 1.0
    assert variation([10, 30, 0], [20, 10, 10], 5, True) == pytest.approx(0.5)
    assert variation([100, 101], [102, 99], 5, True) == pytest.approx(2 / 201)
    assert variation([100, 101], [102, 99], 5, False) == 0.0
    assert variation([], [], 5, True) is None and variation([1], [0], 5, True) is None


def test_words_are_those_of_the_metrics() -> None:
    bars = (Bar("a", 100.0, 90.0), Bar("b", 100.0, 110.0))
    metrics = {
        "rows_released": (200.0, None), "information_loss": (7.23899, "x"),
        "information_loss_bound": (4.06623, "at most 1.79 times"),
        "mean_error (age)": (2.0354, "off by 2 on average"), "changed_cells (age)": (0.76, "no"),
        "mean_error (sex)": (None, None),
        "changed_cells (sex)": (0.03, "3 of 100 rows carry another value than their own"),
        "changed_cells (job)": (0.001, "fewer than 1 of 100 rows carry another value"),
    }
    places = [
        Distribution("sex", bars, Bar("", 0.0, 0.0), variation=0.05)
    ]
    found = utility_of(["age", "sex", "job", "gone"], [], [], places, metrics, 5, False)
    assert [each.sentence for each in found.columns] == [
        "age is off by 2 on average.",
        "sex: about 2 of 100 rows carry another value than their own.",
        "job: fewer than 3 of 100 rows carry another value.", "",
    ]
    assert [each.variation for each in found.columns] == [None, 0.05, None, None]
    assert [each.changed for each in found.columns] == [0.75, 0.025, 0.0, None]
    assert (found.loss, found.loss_bound) == (7.24, 4.07)
    assert found.propensity is None and found.models == ()
    exact = utility_of(["sex"], [], [], places, metrics, 5, True)
    assert exact.columns[0].changed == 0.03 and "sex: 3 of 100" in exact.columns[0].sentence
    assert exact.loss == 7.23899


def test_a_variable_knows_what_it_tells() -> None:
    assert Variable("x", np.array([1.0, np.nan]), None).known.tolist() == [True, False]
