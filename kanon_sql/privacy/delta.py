"""delta-disclosure privacy: each sensitive value has nearly the share in a class that it has among
all rows.

Source: Brickell and Shmatikov, The cost of privacy, KDD 2008, definition 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from kanon_sql.option import option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts
from kanon_sql.privacy.check import Check, Place
from kanon_sql.privacy.demand import BOUNDED, Demand, Tables, whole_of
from kanon_sql.privacy.model import (
    BY_COLUMN,
    CALLS,
    NUMBERS,
    KindOptions,
    PrivacyModel,
    Threshold,
)
from kanon_sql.privacy.rational import SURE
from kanon_sql.privacy.shares import least_within, with_missing
from kanon_sql.sql import expression, statement
from kanon_sql.validators import limit_by_column, threshold

DELTA = Threshold(
    "delta", "",
    "the largest absolute logarithm of a value's share of a class over its share of all released "
    "rows",
)


@dataclass(frozen=True)
class DeltaOptions(KindOptions):
    """How near the shares of a class are to those of all rows."""

    example: ClassVar[str] = "1.5"

    delta: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 100, above=True)),
        "The maximum absolute logarithm of a value's share of a class over its share of all "
        "released rows, for every value that occurs in them (delta-disclosure privacy)"
        + BY_COLUMN % "1.5", type=NUMBERS, calls=CALLS, proven=True,
    )


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(PrivacyModel):
    """delta-disclosure privacy: the logarithm of a value's share of a class over its share of all
    rows is between -delta and delta, for every value of the table. Missing values are a value.

    Over the values that a class has, as some define it, the union of two classes that pass could
    fail; so every value of the table has to be in every class.

    Attributes:
        delta: the bound.
    """

    name: ClassVar[str] = "delta_disclosure"
    option: ClassVar[str] = "delta"
    options: ClassVar[type[KindOptions]] = DeltaOptions
    thresholds: ClassVar[tuple[Threshold, ...]] = (DELTA,)
    audited_as: ClassVar[str] = "delta"
    of_all_rows: ClassVar[bool] = True

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
        return least_within(lower, math.exp(self.delta) * shares * (1.0 - SURE), counts)

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """Lower and upper bounds, of every value."""
        whole = whole_of(table)
        share = whole / max(table.rows, 1)
        lower = math.exp(-self.delta) * share * (1.0 + SURE)
        tables.add(codes, whole, upper=math.exp(self.delta) * share * (1.0 - SURE), lower=lower)
        present = Fraction(int(np.sum(whole > 0)))
        return Demand(BOUNDED, (1.0, float(lower.sum())), present, worst=False)

    def check(self, at: Place) -> Check:
        """Every value, with a share near that among all rows."""
        fits = at.asked(expression("models.delta_fits", delta=self.delta))
        held = statement("models.held_by_delta", j=at.j, fits=fits)
        return Check(statement("models.delta", i=at.i, j=at.j, **at.parts), held=held)
