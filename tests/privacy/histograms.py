"""Random tables of one sensitive column and classes of them, for all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kanon_sql.points.sensitive import Codes, Counts, SensitiveColumn
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from tests.privacy.reference import Levels, passes, value

NUMBERS = (-3.0, -1.5, 0.0, 0.25, 4.0, 4.5, 11.0, 100.0)
"""Values with gaps of all kinds; as hierarchies have them, with nodes of several of them."""
KINDS = (
    "distinct", "entropy", "recursive", "equal", "ordered", "numeric", "hierarchy", "alpha",
    "by_value", "delta", "basic", "enhanced",
)


def levels_of(many: int) -> Levels:
    """A hierarchy of the first numbers: leaves, pairs, and fours."""
    return tuple({NUMBERS[i]: i >> shift for i in range(many)} for shift in range(3))


def column_of(many: int, hierarchy: bool) -> SensitiveColumn:
    """A sensitive column of the first numbers."""
    levels = np.array([[i >> shift for i in range(many)] for shift in range(3)], np.int32)
    return SensitiveColumn(
        "x", tuple(str(number) for number in NUMBERS[:many]), True, np.array(NUMBERS[:many]),
        levels.reshape(3, many) if hierarchy else np.zeros((0, many), np.int32),
    )


def codes_of(values: Sequence[Any]) -> Codes:
    """The codes of values in such a column, of which all but the last of NUMBERS may be known."""
    return np.array([NUMBERS.index(v) if v is not None else -1 for v in values], np.int32)


@dataclass(frozen=True)
class Table:
    """All rows of one sensitive column.

    Attributes:
        many: of how many numbers.
        values: the value of each row, None for a missing one.
    """

    many: int
    values: tuple[Any, ...]

    def column(self, kind: str) -> SensitiveColumn:
        """The column; with the hierarchy where a model goes by it."""
        return column_of(self.many, kind == "hierarchy")

    def levels(self, kind: str) -> Levels:
        """The hierarchy of the reference."""
        return levels_of(self.many) if kind == "hierarchy" else ()

    def codes(self) -> Codes:
        """The code of each row: int32, shape (n,)."""
        found = codes_of(self.values)
        return np.where(found < 0, self.many, found).astype(np.int32)

    def counts(self, kind: str) -> Counts:
        """How often each value is there."""
        return Counts.of(self.column(kind), self.codes())

    def passes(self, kind: str, model: PrivacyModel, own: Sequence[Any]) -> bool:
        """What the reference says of a class of these rows."""
        return passes(model, own, self.values, self.levels(kind))

    def value(self, kind: str, model: PrivacyModel, own: Sequence[Any]) -> float:
        """What it has by the reference."""
        return float(value(model, own, self.values, self.levels(kind)))


def model_of(kind: str, threshold: float, nulls: str, rank: int = 2) -> PrivacyModel:
    """A model of a kind; ``threshold`` is l, c, t, alpha, delta or beta; ``rank`` is l beside c."""
    if kind == "distinct":
        return DistinctDiversity(column="x", nulls=nulls, l=round(threshold))
    if kind == "entropy":
        return EntropyDiversity(column="x", nulls=nulls, l=threshold)
    if kind == "recursive":
        return RecursiveDiversity(column="x", nulls=nulls, l=rank, c=threshold)
    if kind == "alpha":
        return AlphaFrequency(column="x", nulls=nulls, alpha=threshold)
    if kind == "by_value":
        return AlphaFrequency(column="x", nulls=nulls, by_value=((str(NUMBERS[0]), threshold),))
    if kind == "delta":
        return DeltaDisclosure(column="x", nulls=nulls, delta=threshold)
    if kind in ("basic", "enhanced"):
        return BetaLikeness(column="x", nulls=nulls, beta=threshold, kind=kind)
    return Closeness(column="x", nulls=nulls, t=threshold, distance=kind)


THRESHOLDS: dict[str, tuple[float, ...]] = {
    "distinct": (2, 3, 4), "entropy": (2, 1.5, 2.5, 3), "recursive": (0.5, 1, 1.5, 2, 3),
    "alpha": (0.5, 0.333333, 0.4, 0.75, 0.6), "by_value": (0.5, 0.2, 0.333333, 0.75),
    "delta": (0.5, 1, 0.2, 2), "basic": (0.5, 1, 0.25, 2), "enhanced": (0.5, 1, 0.25, 2),
}
"""Thresholds at which small classes have ties, the first ones above all."""
T = (0.5, 0.25, 0.1, 0.2, 0.333333, 0.05, 0.75, 0.0)


@st.composite
def models(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> tuple[str, PrivacyModel]:
    """A kind, and a model of it."""
    kind = draw(st.sampled_from(kinds))
    threshold = draw(st.sampled_from(THRESHOLDS.get(kind, T)))
    nulls = draw(st.sampled_from(("worst", "value")))
    return kind, model_of(kind, threshold, nulls, draw(st.sampled_from((2, 3))))


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 30, least_rows: int = 1) -> Table:
    """A table of one to eight values, some of which no row may have, with missing ones or
    without."""
    many = draw(st.integers(1, len(NUMBERS)))
    rows = draw(st.integers(least_rows, most_rows))
    seed = draw(st.integers(0, 10**6))
    share = draw(st.sampled_from((0.0, 0.0, 0.1, 0.5)))
    rng = np.random.default_rng(seed)
    # some values are rare, and others frequent
    weights = rng.dirichlet(np.full(many, draw(st.sampled_from((0.5, 3.0)))))
    found = rng.choice(many, rows, p=weights)
    missing = rng.random(rows) < share
    return Table(
        many, tuple(None if gone else NUMBERS[i] for i, gone in zip(found, missing, strict=True))
    )
