"""How frequent a sensitive value of a class may be: at most a share, or near its share of all
rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanon_sql.constraints.constraint import PrivacyModel
from kanon_sql.constraints.rational import SURE, as_fraction
from kanon_sql.errors import DataError
from kanon_sql.points.sensitive import Counts, Floats, Numbers

MANY = 2_000
"""How many class sizes are looked at, from the least that could pass: beyond them the first that
was not looked at is told, which is a lower bound."""

NEAR = 1e-14
"""As a share of a bound: more than rounding takes from it, so that what fits is found to fit."""


def _least_within(lower: Floats, upper: Floats, counts: Numbers) -> int:
    """The least class in which the share of every value is within its bounds.

    Args:
        lower, upper: float64, shape (m,); bounds of shares; a value with no lower one has 0.
        counts: int64, shape (m,); how many rows of the table have each value, 1 or more.
    """
    needed = lower > 0.0
    # a value that must be there has one row at least; where none must, one has it nevertheless
    widest = upper[needed].min() if needed.any() else upper.max(initial=1.0)
    start = max(int(1.0 / (widest * (1.0 + NEAR))) if widest > 0.0 else 1, int(needed.sum()), 1)
    for size in range(start, min(int(counts.sum()), start + MANY) + 1):
        low = np.ceil(lower * size * (1.0 - NEAR))
        high = np.minimum(counts, np.floor(upper * size * (1.0 + NEAR)))
        if (low <= high).all() and low.sum() <= size <= high.sum():
            return size
    return max(min(int(counts.sum()), start + MANY), 1)


@dataclass(frozen=True, kw_only=True)
class AlphaFrequency(PrivacyModel):
    """(alpha, k)-anonymity: no sensitive value has more than the share alpha of a class. Missing
    values count as the value that is most frequent against its bound.

    Source: Wong, Li, Fu and Wang, (alpha, k)-anonymity, KDD 2006.

    Attributes:
        alpha: the share, of each value that has none of its own; None where only those with one of
            their own are held to a bound.
        by_value: values, as texts, with bounds of their own.
    """

    name: ClassVar[str] = "alpha_k_anonymity"
    option: ClassVar[str] = "alpha"

    alpha: float | None = None
    by_value: tuple[tuple[str, float], ...] = ()

    def bounds(self, table: Counts) -> Floats:
        """The bound of each value: float64, shape (m,); 1 without one.

        Raises DataError for a value that the column doesn't have.
        """
        found = np.full(table.column.values, 1.0 if self.alpha is None else self.alpha)
        places = {word: place for place, word in enumerate(table.column.words)}
        unknown = sum(word not in places for word, _ in self.by_value)
        if unknown:
            raise DataError(
                f"{unknown} of the {len(self.by_value)} values that alpha names are no values of "
                f"the column {self.column!r}. Check how they are written."
            )
        for word, share in self.by_value:
            found[places[word]] = share
        return found

    @property
    def least_bound(self) -> float:
        """The bound of missing values that count against the class: they may be any value."""
        given = [1.0 if self.alpha is None else self.alpha, *(share for _, share in self.by_value)]
        return min(given)

    def best(self, table: Counts) -> float:
        """The largest share of a bounded value among all rows."""
        bounded = table.values[self.bounds(table) < 1.0]
        most = int(bounded.max(initial=0))
        if self.nulls == "value":
            own = table.missing if self.alpha is not None and self.alpha < 1.0 else 0
            return max(most, own) / max(table.rows, 1)
        return (most + table.missing) / max(table.rows, 1)

    def feasible(self, table: Counts) -> bool:
        """Whether every value keeps its bound, exactly."""
        pairs = [*zip(table.values.tolist(), self.bounds(table).tolist(), strict=True)]
        if self.nulls == "value":
            pairs.append((table.missing, 1.0 if self.alpha is None else self.alpha))
        else:
            pairs = [(count + table.missing, bound) for count, bound in pairs]
            pairs.append((table.missing, self.least_bound))
        return all(
            count <= as_fraction(bound) * table.rows for count, bound in pairs if bound < 1.0
        )

    def least_class(self, table: Counts) -> int:
        """The least class whose rows fit under the bounds: without missing values, which only add
        to what has to fit."""
        bounds, counts = self.bounds(table), table.values
        if (bounds >= 1.0).all():
            return 1
        if self.nulls == "value":
            bounds = np.append(bounds, 1.0 if self.alpha is None else self.alpha)
            counts = np.append(counts, table.missing)
        there = counts > 0
        return _least_within(np.zeros(int(there.sum())), bounds[there], counts[there])


def with_missing(table: Counts) -> Numbers:
    """How often each value is there that is, missing ones last as a value: int64, shape
    (values,)."""
    counts = np.append(table.values, table.missing)
    return counts[counts > 0]


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(PrivacyModel):
    """delta-disclosure privacy: the logarithm of a value's share of a class over its share of all
    rows is between -delta and delta, for every value of the table. Missing values are a value.

    Over the values that a class has, as some define it, the union of two classes that pass could
    fail; so every value of the table has to be in every class.

    Source: Brickell and Shmatikov, The cost of privacy, KDD 2008, definition 2.

    Attributes:
        delta: the bound.
    """

    name: ClassVar[str] = "delta_disclosure"
    option: ClassVar[str] = "delta"

    delta: float

    def best(self, table: Counts) -> float:
        """0: one class has the shares of all rows."""
        return 0.0

    def feasible(self, table: Counts) -> bool:
        """Always, since delta is above 0."""
        return self.delta > 0.0

    def least_class(self, table: Counts) -> int:
        """The least class with a row of each value, the rarest of which is not too frequent."""
        counts = with_missing(table)
        shares = counts / max(table.rows, 1)
        lower = math.exp(-self.delta) * shares * (1.0 + SURE)
        return _least_within(lower, math.exp(self.delta) * shares * (1.0 - SURE), counts)


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(PrivacyModel):
    """beta-likeness: the share of a value in a class is above that among all rows by at most beta
    times the latter, and, of the enhanced kind, by at most -ln p times it. Missing values are a
    value.

    Source: Cao and Karras, Publishing microdata with a robust privacy guarantee, VLDB 2012,
    definitions 2 and 3.

    Attributes:
        beta: the bound.
        kind: 'basic' or 'enhanced'.
    """

    name: ClassVar[str] = "beta_likeness"
    option: ClassVar[str] = "beta"

    beta: float
    kind: str = "enhanced"

    def best(self, table: Counts) -> float:
        """0: one class has the shares of all rows."""
        return 0.0

    def feasible(self, table: Counts) -> bool:
        """Always."""
        return True

    def least_class(self, table: Counts) -> int:
        """The least class whose rows fit under the bounds."""
        counts = with_missing(table)
        shares = counts / max(table.rows, 1)
        more = np.full(len(shares), self.beta)
        if self.kind == "enhanced":
            more = np.minimum(more, -np.log(shares))
        return _least_within(np.zeros(len(shares)), (1.0 + more) * shares, counts)
