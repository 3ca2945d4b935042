"""Least squares and logistic regression, without a penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanon_sql.reporting.readings import Floats

DEPENDENT = 1e-9
"""A column whose squared length beside those before it is no more than this share of its own
follows from them."""

STEPS, CLOSE = 50, 1e-10
"""The most steps of Newton's method, and the relative change of the deviance at which it ends."""

STEEPEST = 30.0
"""The largest logarithm of odds that is told from a certain row."""


@dataclass(frozen=True)
class Fit:
    """A model.

    Attributes:
        coefficients, errors: of each column, with standard errors; float64, shape (p,).
        separates: of a logistic regression, whether some rows are told for certain, so that there
            is no finite best coefficient.
    """

    coefficients: Floats
    errors: Floats
    separates: bool = False


def independent(matrix: Floats) -> npt.NDArray[np.bool_]:
    """Which columns don't follow from those before them: bool, shape (p,)."""
    gram = matrix.T @ matrix
    left, own = gram.copy(), np.diag(gram).copy()
    kept = np.zeros(len(own), np.bool_)
    for j in range(len(own)):
        if own[j] <= 0.0 or left[j, j] <= DEPENDENT * own[j]:
            continue
        kept[j] = True
        # what is left of all columns beside this one
        left -= np.outer(left[:, j], left[j]) / left[j, j]
    return kept


def linear(matrix: Floats, target: Floats) -> Fit:
    """Least squares. matrix: float64, shape (n, p), n > p, of independent columns; target: (n,)."""
    inverse = np.linalg.inv(matrix.T @ matrix)
    coefficients = inverse @ (matrix.T @ target)
    rest = target - matrix @ coefficients
    variance = float(rest @ rest) / (len(matrix) - matrix.shape[1])
    return Fit(coefficients, np.sqrt(variance * np.diag(inverse)))


def logistic(matrix: Floats, target: Floats) -> Fit:
    """The maximum of the likelihood, by Newton's method (iteratively reweighted least squares).

    matrix: float64, shape (n, p), of independent columns; target: 0.0 or 1.0, shape (n,).
    """
    coefficients = np.zeros(matrix.shape[1])
    deviance = _deviance(matrix @ coefficients, target)
    information = np.eye(matrix.shape[1])
    for _ in range(STEPS):
        chance = probability(matrix @ coefficients)
        weight = np.maximum(chance * (1.0 - chance), 1e-12)
        information = matrix.T @ (matrix * weight[:, None])
        step = np.linalg.lstsq(information, matrix.T @ (target - chance), rcond=1e-12)[0]
        before = deviance
        for _ in range(STEPS):
            deviance = _deviance(matrix @ (coefficients + step), target)
            if deviance <= before * (1.0 + 1e-12):
                break
            step = step / 2.0
        coefficients = coefficients + step
        if before - deviance <= CLOSE * max(before, 1e-300):
            break
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(information, rcond=1e-12)), 0.0))
    certain = np.abs(matrix @ coefficients).max(initial=0.0) >= STEEPEST / 2.0
    return Fit(coefficients, errors, bool(certain))


def probability(odds: Floats) -> Floats:
    """The probability of logarithms of odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -STEEPEST, STEEPEST))))


def _deviance(odds: Floats, target: Floats) -> float:
    """Twice the negative logarithm of the likelihood."""
    return 2.0 * float(np.sum(np.logaddexp(0.0, np.where(target > 0.0, -odds, odds))))
