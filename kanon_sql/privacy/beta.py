"""beta-likeness: no sensitive value gains much in a class, against its share among all rows.

Source: Cao and Karras, Publishing microdata with a robust privacy guarantee, VLDB 2012, definitions
2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kanon_sql.option import option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts
from kanon_sql.privacy.check import Check, Place, fraction
from kanon_sql.privacy.demand import BOUNDED, Demand, Tables, whole_of
from kanon_sql.privacy.model import (
    BY_COLUMN,
    CALLS,
    NUMBERS,
    WORDS,
    KindOptions,
    PrivacyModel,
    Threshold,
)
from kanon_sql.privacy.rational import SURE
from kanon_sql.privacy.shares import least_within, with_missing
from kanon_sql.sql import expression, statement
from kanon_sql.validators import limit_by_column, one_by_column, threshold

BETA_KINDS = {
    "enhanced": "allows a gain of at most beta, and at most -ln p for a value with share p of all "
    "rows",
    "basic": "allows a gain of at most beta",
}
"""By the word of beta_kind, what beta asks for."""

BETA = Threshold(
    "beta", "ratio",
    "the largest gain of a value's share in a class over its share of all released rows, as a "
    "multiple of the latter",
)


@dataclass(frozen=True)
class BetaOptions(KindOptions):
    """How much a value gains in a class."""

    example: ClassVar[str] = "2"

    beta: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1e6, above=True)),
        "The maximum gain of a value's share in a class over its share of all released rows, as a "
        "multiple of the latter (beta-likeness)" + BY_COLUMN % "2", type=NUMBERS, calls=CALLS,
        proven=True,
    )
    beta_kind: str | Mapping[str, str] = option(
        "enhanced", one_by_column(BETA_KINDS),
        "The kind of beta-likeness: "
        + "; ".join(f"'{name}' {text}" for name, text in BETA_KINDS.items())
        + ". Give one for all columns, or one by column.",
        type=WORDS, calls=CALLS,
    )


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(PrivacyModel):
    """beta-likeness: the share of a value in a class is above that among all rows by at most beta
    times the latter, and, of the enhanced kind, by at most -ln p times it. Missing values are a
    value.

    Attributes:
        beta: the bound.
        kind: 'basic' or 'enhanced'.
    """

    name: ClassVar[str] = "beta_likeness"
    option: ClassVar[str] = "beta"
    options: ClassVar[type[KindOptions]] = BetaOptions
    thresholds: ClassVar[tuple[Threshold, ...]] = (BETA,)
    audited_as: ClassVar[str] = "beta"
    of_all_rows: ClassVar[bool] = True

    beta: float
    kind: str = "enhanced"

    @classmethod
    def read(cls, limit: Any, said: Mapping[str, Any], column: str, nulls: str) -> BetaLikeness:
        """Of a kind."""
        return cls(column, nulls, beta=limit, kind=said["beta_kind"])

    @classmethod
    def measuring(
        cls, asked: Any, models: Sequence[PrivacyModel], column: str, nulls: str
    ) -> BetaLikeness:
        """The gain itself, which the basic kind bounds."""
        return cls(column, nulls, beta=cls.nothing, kind="basic")

    @property
    def bounds_values(self) -> bool:
        """By its share of all rows."""
        return True

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
        return least_within(np.zeros(len(shares)), (1.0 + more) * shares, counts)

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """Upper bounds."""
        whole = whole_of(table)
        share = whole / max(table.rows, 1)
        upper = (1.0 + self.beta) * share
        if self.kind == "enhanced":
            most = -np.log(np.where(whole > 0, share, 1.0))
            upper = np.where(self.beta <= most, upper, share * (1.0 + most) * (1.0 - SURE))
            # the only value: a class has no more of it than all rows
            upper[whole == table.rows] = 1.0
        tables.add(codes, whole, upper=upper)
        return Demand(BOUNDED, (1.0, 0.0), worst=False)

    def check(self, at: Place) -> Check:
        """No value with a share that is too far above that among all rows."""
        fits = expression(
            f"models.beta_{self.kind}", beta=self.beta, **fraction(self.beta, 1)
        )
        held = statement("models.held_by_beta", j=at.j, fits=at.asked(fits))
        return Check(statement("models.beta", i=at.i, j=at.j), held=held)
