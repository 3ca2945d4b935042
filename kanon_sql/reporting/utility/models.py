"""Models that are fitted on the source and on the release, side by side.

There are two: a linear regression of a number, and a logistic regression that tells one label of a
sensitive column from all others. Both leave columns out that fewer than half of the rows of either
table tell, and take the rows that tell all others. Numbers are standardized by the mean and the
standard deviation of the source on both sides, so that their coefficients can be compared. A label
has a column of its own where it has LABEL_ROWS rows or more in either table, and in the source no
fewer than may be told; the most frequent label and all others are what its coefficient is relative
to. A column that follows from others, in the source or in the release, has no coefficient.

Karr, Kohnen, Oganian, Reiter and Sanil (2006), A framework for evaluating the utility of data
altered to protect confidentiality, The American Statistician 60(3), here karr2006, section 4.1.2,
compare by how much the confidence intervals overlap. The scores of both models are those on the
same rows of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon_sql.reporting.distributions import TOLD, to_multiple
from kanon_sql.reporting.readings import Floats
from kanon_sql.reporting.utility.fits import Fit, independent, linear, logistic
from kanon_sql.reporting.utility.told import Coefficient, ModelComparison
from kanon_sql.reporting.utility.variables import Table, Variable, complete

LABEL_ROWS = 10
"""Rows that a label must have to have a coefficient, and rows for each coefficient."""

NORMAL = 1.959963984540054
"""Of the standard normal distribution the quantile of a 95 % confidence interval."""

CERTAIN = 1e-9
"""The share of the variance that a linear regression must leave for its intervals to mean
something: less is rounding."""

LINEAR, LOGISTIC = "linear regression", "logistic regression"

Fitted = Callable[[Floats, Floats], Fit]


@dataclass(frozen=True)
class _Told:
    """How exactly the source is told.

    Attributes:
        least: rows that a label must have, and rows for each coefficient.
        unit, exact: as of ``compare_models``.
    """

    least: int
    unit: int
    exact: bool

    @property
    def digits(self) -> int:
        """Decimals of coefficients."""
        return 4 if self.exact else 2

    def count(self, rows: int) -> int:
        """So many rows of the source, as they are told."""
        return int(to_multiple(rows, self.unit, self.exact))


@dataclass(frozen=True)
class _Design:
    """What a model is fitted on.

    Attributes:
        names: of the columns but the constant.
        source, release: float64, shapes (rows, 1 + names); the constant first.
        targets: of the rows of either.
    """

    names: list[str]
    source: Floats
    release: Floats
    targets: tuple[Floats, Floats]


def compare_models(
    source: Table, release: Table, sensitive: Sequence[str], unit: int, exact: bool,
    predicted: Sequence[str] = (),
) -> Iterator[ModelComparison]:
    """The two models, as far as there are such columns; or one for each column that is named.

    Args:
        source, release: the same columns of both.
        sensitive: the names of those that are sensitive: they are what is said, if possible.
        unit: of what counts of the source are told in multiples, and the least that may be told.
        exact: whether they may be told as they are, and coefficients with four decimals.
        predicted: the columns to predict.
    """
    told = _Told(max(unit, LABEL_ROWS), unit, exact)
    most = [
        all(float(np.mean(each.known)) >= TOLD for each in pair) if len(pair[0].values) else False
        for pair in zip(source, release, strict=True)
    ]
    left_out = tuple(each.name for each, keep in zip(source, most, strict=True) if not keep)
    source, release = (
        complete(tuple(each for each, keep in zip(table, most, strict=True) if keep))
        for table in (source, release)
    )
    for name in predicted or _chosen(source, sensitive):
        if name in left_out:
            yield ModelComparison("regression", name, refused=(
                f"Fewer than half of the rows of source or release show {name}."
            ))
            continue
        fitted = _linear if _of_name(source, name).labels is None else _logistic
        yield replace(fitted(source, release, name, told), left_out=left_out)


def _chosen(source: Table, sensitive: Sequence[str]) -> list[str]:
    """The first number, rather one that varies and is sensitive, and the first sensitive column
    with labels."""
    numbers = sorted(
        (each for each in source if each.labels is None),
        key=lambda each: (not len(each.values) or not np.ptp(each.values) > 0.0,
                          each.name not in sensitive),
    )
    labels = [each for each in source if each.labels is not None and each.name in sensitive]
    return [each.name for each in (*numbers[:1], *labels[:1])]


def _linear(source: Table, release: Table, name: str, told: _Told) -> ModelComparison:
    was, is_ = (_of_name(table, name).values for table in (source, release))
    if not len(was) or not np.ptp(was) > 0.0:
        return ModelComparison(LINEAR, name, refused=(
            f"{name} is the same in all rows of the source that show every column."
        ))
    mean, spread = float(np.mean(was)), float(np.std(was))
    targets = (was - mean) / spread, (is_ - mean) / spread
    design = _design(source, release, name, targets, told.least)
    reason = _too_few(design, told.least)
    if reason:
        return ModelComparison(LINEAR, name, refused=reason)
    was_fit, is_fit = linear(design.source, targets[0]), linear(design.release, targets[1])

    def score(fit: Fit) -> float:
        rest = targets[0] - design.source @ fit.coefficients
        return 1.0 - float(rest @ rest) / float(targets[0] @ targets[0])

    for fit, side, target in (
        (was_fit, design.source, targets[0]), (is_fit, design.release, targets[1]),
    ):
        rest = target - side @ fit.coefficients
        if float(rest @ rest) <= CERTAIN * float(target @ target):
            return ModelComparison(LINEAR, name, refused=(
                "The other columns determine it, so the coefficients have no confidence intervals."
            ))
    return ModelComparison(
        LINEAR, name, _coefficients(design, was_fit, is_fit, told.digits),
        "R², the explained share of the variance", round(score(was_fit), 3),
        round(score(is_fit), 3), 0.0,
        told.count(len(design.source)), len(design.release),
    )


def _logistic(source: Table, release: Table, name: str, told: _Told) -> ModelComparison:
    column = _of_name(source, name)
    assert column.labels is not None
    many = np.bincount(column.values.astype(np.int64), minlength=len(column.labels))
    most = int(many.argmax())
    target = f"{name} = {column.labels[most]}"
    sides = [
        (_of_name(table, name).values == most).astype(np.float64) for table in (source, release)
    ]
    if any(min(each.sum(), len(each) - each.sum()) < told.least for each in sides):
        return ModelComparison(LOGISTIC, name, refused=(
            f"It needs {told.least} rows with the most frequent label of {name} and as many with "
            "all others, in source and release, that show every column."
        ))
    design = _design(source, release, name, (sides[0], sides[1]), told.least, both=True)
    reason = _too_few(design, told.least)
    if reason:
        return ModelComparison(LOGISTIC, target, refused=reason)
    was_fit, is_fit = logistic(design.source, sides[0]), logistic(design.release, sides[1])
    for fit, table in ((was_fit, "source"), (is_fit, "release")):
        if fit.separates:
            return ModelComparison(LOGISTIC, target, refused=(
                f"The other columns determine it in some rows of the {table}, so no finite "
                "coefficients are best."
            ))

    def score(fit: Fit) -> float:
        said = design.source @ fit.coefficients > 0.0
        return float(np.mean(said == (sides[0] > 0.0)))

    share = float(np.mean(sides[0]))
    return ModelComparison(
        LOGISTIC, target, _coefficients(design, was_fit, is_fit, told.digits),
        "share of correct predictions", round(score(was_fit), 3), round(score(is_fit), 3),
        round(max(share, 1.0 - share), 3),
        told.count(len(design.source)), len(design.release),
    )


def _of_name(table: Table, name: str) -> Variable:
    return next(each for each in table if each.name == name)


def _too_few(design: _Design, least: int) -> str:
    """Why a model can't be fitted, if so."""
    if not design.names:
        return "No other column varies enough in source and release."
    rows, columns = min(len(design.source), len(design.release)), design.source.shape[1]
    if rows < least * columns:
        return (
            f"Too few rows show every column: {columns} coefficients need {least * columns}, "
            f"{least} for each."
        )
    return ""


def _design(
    source: Table, release: Table, target: str, targets: tuple[Floats, Floats], least: int,
    both: bool = False,
) -> _Design:
    """The columns of both; ``both``: whether a label must have rows of either target."""
    names: list[str] = []
    sides = [np.ones(len(targets[0]))], [np.ones(len(targets[1]))]
    for was, is_ in zip(source, release, strict=True):
        if was.name == target:
            continue
        if was.labels is None:
            spread = float(np.std(was.values)) if len(was.values) else 0.0
            if spread > 0.0:
                names.append(was.name)
                for side, each in zip(sides, (was, is_), strict=True):
                    side.append((each.values - float(np.mean(was.values))) / spread)
            continue
        many = np.bincount(was.values.astype(np.int64), minlength=len(was.labels))
        for place in np.argsort(-many, kind="stable")[1:].tolist():
            marks = [(each.values == place).astype(np.float64) for each in (was, is_)]
            if all(_enough(mark, rows, least, both)
                   for mark, rows in zip(marks, targets, strict=True)):
                names.append(f"{was.name} = {was.labels[place]}")
                for side, mark in zip(sides, marks, strict=True):
                    side.append(mark)
    matrices = [np.column_stack(side) for side in sides]
    kept = independent(matrices[0])
    kept[kept] = independent(matrices[1][:, kept])
    return _Design(
        [name for name, keep in zip(names, kept[1:].tolist(), strict=True) if keep],
        np.ascontiguousarray(matrices[0][:, kept]), np.ascontiguousarray(matrices[1][:, kept]),
        targets,
    )


def _enough(mark: Floats, target: Floats, least: int, both: bool) -> bool:
    """Whether a label, and what is not it, have so many rows; and some of either target."""
    rows = float(mark.sum())
    if not least <= rows <= len(mark) - least:
        return False
    hits = float(mark @ target)
    return not both or LABEL_ROWS / 2 <= hits <= rows - LABEL_ROWS / 2


def _coefficients(
    design: _Design, was: Fit, is_: Fit, digits: int
) -> tuple[Coefficient, ...]:
    """The coefficients of both fits, without the constant's."""
    found = []
    for j, name in enumerate(design.names, start=1):
        one, other = (
            (float(fit.coefficients[j] - NORMAL * fit.errors[j]),
             float(fit.coefficients[j] + NORMAL * fit.errors[j]))
            for fit in (was, is_)
        )
        found.append(Coefficient(
            name, round(float(was.coefficients[j]), digits) + 0.0,
            round(float(is_.coefficients[j]), digits) + 0.0,
            one[0] <= float(is_.coefficients[j]) <= one[1],
            round(overlap(one, other), 2),
        ))
    return tuple(found)


def overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """What two intervals have in common, as the mean share of either: 0 .. 1 (karr2006)."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    lengths = [high - low for low, high in (one, other)]
    if min(lengths) <= 0.0:
        # an exact fit: of points, equal or not
        return float(common >= 0.0 and max(lengths) <= 0.0)
    return max(0.0, sum(common / length for length in lengths) / 2.0)
