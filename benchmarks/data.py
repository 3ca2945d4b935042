"""Records made up for the benchmarks, always the same."""

from __future__ import annotations

import numpy as np

from kanon_sql.methods import Points

MIXED = (8, 1000)
"""Categories of the nominal attributes of the mixed data, besides six numbers."""


def numbers(n: int, d: int) -> Points:
    """Standard normal records in canonical order."""
    values = np.random.default_rng([n, d]).standard_normal((n, d))
    return Points.of(values[np.argsort(values[:, 0], kind="stable")])


def mixed(n: int) -> Points:
    """Six standard normal attributes and two nominal ones, in canonical order."""
    rng = np.random.default_rng([n, 0])
    values = rng.standard_normal((n, 6))
    values = values[np.argsort(values[:, 0], kind="stable")]
    codes = np.column_stack([rng.integers(0, m, n) for m in MIXED])
    shares = [np.bincount(column) / n for column in codes.T]
    return Points.of(values, codes, [1.0 / (1.0 - float(np.sum(p**2))) for p in shares])


def points(kind: str, n: int, d: int) -> Points:
    """Records of a kind, 'numbers' or 'mixed'."""
    return mixed(n) if kind == "mixed" else numbers(n, d)
