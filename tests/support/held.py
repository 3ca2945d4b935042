"""Random records with sensitive columns, and models of them that one class of all keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kanon_sql.points.points import Labels
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DistinctDiversity,
    PrivacyModel,
)

COLUMNS = (
    SensitiveColumn("ill", ("a", "b", "c", "d"), False, np.zeros(0)),
    SensitiveColumn("pay", tuple(f"{x}.0" for x in range(9)), True, np.arange(9.0)),
)
"""A column without an order, and numbers."""

MODELS: dict[str, tuple[PrivacyModel, ...]] = {
    "distinct": (DistinctDiversity(column="ill", l=3),),
    "equal": (Closeness(column="ill", t=0.25, distance="equal"),),
    "ordered": (Closeness(column="pay", t=0.15, distance="ordered"),),
    "alpha": (AlphaFrequency(column="ill", alpha=0.7),),
    "beta": (BetaLikeness(column="ill", beta=1.5, kind="basic"),),
    "two": (
        DistinctDiversity(column="ill", l=2), Closeness(column="pay", t=0.2, distance="numeric")
    ),
}
"""By name; skewed values as below keep them all as one class."""


def with_sensitive(points: Any, seed: int, missing: bool = True) -> Any:
    """The same records with codes of both columns: skewed, and some of them missing."""
    rng, n = np.random.default_rng(seed), len(points)
    ill = rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])
    pay = np.minimum(rng.geometric(0.3, n) - 1, 8)
    ill[: min(n, 4)] = np.arange(min(n, 4))
    pay[: min(n, 2)] = (0, 8)[: min(n, 2)]
    if missing:
        ill[rng.random(n) < 0.04], pay[rng.random(n) < 0.04] = 4, 9
    codes = np.ascontiguousarray(np.column_stack([ill, pay]), np.int32)
    return replace(points, sensitive=codes, sensitive_columns=COLUMNS)


def classes(labels: Labels) -> list[Labels]:
    """The records of each class."""
    return [np.flatnonzero(labels == group) for group in np.unique(labels[labels >= 0])]


def as_sets(labels: Any, rows: Sequence[int] | None = None) -> set[frozenset[int]]:
    """Classes as sets of records."""
    names = range(len(labels)) if rows is None else rows
    found: dict[int, set[int]] = {}
    for name, label in zip(names, np.asarray(labels).tolist(), strict=True):
        if label >= 0:
            found.setdefault(label, set()).add(int(name))
    return set(map(frozenset, found.values()))


def values_of(points: Any, column: str, rows: Any = None) -> list[Any]:
    """The sensitive values of records, None where one is missing, as the reference takes them."""
    spot = [each.name for each in COLUMNS].index(column)
    known = COLUMNS[spot].numbers.tolist() if COLUMNS[spot].ordered else list(COLUMNS[spot].words)
    codes = points.sensitive[:, spot] if rows is None else points.sensitive[rows, spot]
    return [*[known[code] if code < len(known) else None for code in codes.tolist()]]
