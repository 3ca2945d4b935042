"""How well a classifier tells the rows of the release from those of the source.

Source: Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for
synthetic data, JRSS A 181(3), here snoke2018, sections 3.1 and 3.2. All rows of both tables get a
score by a logistic regression that tells the release from the source. With N rows, a share c of
them released, pMSE is the mean of (score - c)². If the release came from the distribution that the
source has, such as by a draw with replacement, its expectation would be (p - 1) (1 - c)² c / N, for
p coefficients with the constant. (Two samples of one population differ more, both being random:
then it is 1 / (1 - c) times that.)

The columns of the classifier:

- of a number: the number, standardized, and its square; the middle, where it is a range;
- of labels: one for each label that the report shows but the most frequent, and one for all others;
- one that says that nothing is told, where that is so in some rows;
- of each pair of columns the product of their leads: the number, or whether a row has the most
  frequent label.

Those that follow from others are left out, and don't count in p.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from kanon_sql.reporting.readings import Floats
from kanon_sql.reporting.utility.fits import independent, logistic, probability
from kanon_sql.reporting.utility.told import PropensityError
from kanon_sql.reporting.utility.variables import Table, Variable

PER_COEFFICIENT = 10
"""Rows of both tables that there must be for each coefficient."""


def propensity_error(source: Table, release: Table) -> PropensityError:
    """The pMSE of two tables of the same columns."""
    if not source or min(len(table[0].values) for table in (source, release)) == 0:
        return PropensityError(refused="There are no rows or no columns to compare.")
    released = len(release[0].values)
    total = len(source[0].values) + released
    columns = [
        Variable(one.name, np.concatenate([one.values, other.values]), one.labels)
        for one, other in zip(source, release, strict=True)
    ]
    matrix = np.column_stack([np.ones(total), *_columns(columns)])
    matrix = matrix[:, independent(matrix)]
    coefficients = matrix.shape[1]
    if total < PER_COEFFICIENT * coefficients:
        return PropensityError(refused=(
            f"The classifier needs {PER_COEFFICIENT * coefficients} rows of both tables, "
            f"{PER_COEFFICIENT} per coefficient, and there are {total}."
        ))
    target = np.repeat([0.0, 1.0], [total - released, released])
    share = released / total
    score = probability(matrix @ logistic(matrix, target).coefficients)
    error = float(np.mean((score - share) ** 2))
    expected = (coefficients - 1) * (1.0 - share) ** 2 * share / total
    return PropensityError(
        error, error / (share * (1.0 - share)), error / expected if expected else None,
        coefficients, total,
    )


def _columns(columns: list[Variable]) -> Iterator[Floats]:
    """The columns of the classifier, without the constant."""
    leads = []
    for each in columns:
        known = each.known
        if not known.all():
            yield (~known).astype(np.float64)
        if not known.any():
            continue
        if each.labels is None:
            lead = standardized(each.values)
            yield lead
            yield standardized(lead**2)
        else:
            codes = np.where(known, each.values, -1.0).astype(np.int64)
            many = np.bincount(codes[known], minlength=len(each.labels))
            most = int(many.argmax())
            for place in np.flatnonzero(many).tolist():
                if place != most:
                    yield (codes == place).astype(np.float64)
            lead = (codes == most).astype(np.float64)
        leads.append(lead)
    for one, other in combinations(leads, 2):
        yield standardized(one * other)


def standardized(values: Floats) -> Floats:
    """Values less their mean, over their standard deviation; 0 where there is none, or it is 0."""
    known = ~np.isnan(values)
    spread = float(np.std(values[known])) if known.any() else 0.0
    if not spread > 0.0:
        return np.zeros(len(values))
    return np.where(known, (values - float(np.mean(values[known]))) / spread, 0.0)
