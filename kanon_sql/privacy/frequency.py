"""(alpha, k)-anonymity: no sensitive value has more than a share of a class.

Source: Wong, Li, Fu and Wang, (alpha, k)-anonymity, KDD 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kanon_sql.errors import DataError, OptionError
from kanon_sql.names import literal
from kanon_sql.option import option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts, Floats
from kanon_sql.privacy.check import OF_KNOWN, Check, Place, millionths
from kanon_sql.privacy.demand import BOUNDED, Demand, Tables, whole_of
from kanon_sql.privacy.model import CALLS, NUMBERS, KindOptions, PrivacyModel, Threshold
from kanon_sql.privacy.rational import as_fraction
from kanon_sql.privacy.shares import least_within
from kanon_sql.sql import expression, statement
from kanon_sql.validators import limits_by_value, threshold

ALPHA = Threshold("alpha", "share", "the largest share of a class that a bounded value has")


@dataclass(frozen=True)
class AlphaOptions(KindOptions):
    """How frequent a value of a class may be."""

    example: ClassVar[str] = "0.5"
    by_value: ClassVar[bool] = True

    alpha: float | Mapping[str, Any] | None = option(
        None, limits_by_value(threshold(0, 1, above=True)),
        "The maximum share of a class that a sensitive value may have, above 0. It applies to "
        "every value, or only to sensitive_values if they are given. Give a number, one by value: "
        "MAP {'HIV': 0.1, 'Flu': 0.5}, or one by column: {'disease': 0.5}.",
        type=NUMBERS, calls=CALLS, proven=True,
    )

    @staticmethod
    def limit_of(limit: Any, sensitive_values: tuple[str, ...], columns: int) -> Any:
        """A number, or numbers by value where only some are bounded.

        Raises:
            OptionError: values within values, or sensitive_values of several columns.
        """
        if isinstance(limit, Mapping):
            if any(isinstance(value, Mapping) for value in limit.values()):
                raise OptionError(
                    "alpha has values within values. Give a number for each value of a column, "
                    "such as {'disease': MAP {'HIV': 0.1}}."
                )
            return limit
        if not sensitive_values:
            return limit
        if columns > 1:
            raise OptionError(
                "alpha bounds the sensitive_values, and there are several sensitive columns. Give "
                "a number for each value instead, such as {'disease': MAP {'HIV': 0.1}}."
            )
        return dict.fromkeys(sensitive_values, limit)


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
    options: ClassVar[type[KindOptions]] = AlphaOptions
    thresholds: ClassVar[tuple[Threshold, ...]] = (ALPHA,)
    audited_as: ClassVar[str] = "alpha"
    secrets: ClassVar[tuple[str, ...]] = ("by_value",)

    alpha: float | None = None
    by_value: tuple[tuple[str, float], ...] = ()

    @classmethod
    def read(cls, limit: Any, said: Mapping[str, Any], column: str, nulls: str) -> AlphaFrequency:
        """Of a share for all values, or for each of some."""
        if isinstance(limit, Mapping):
            return cls(column, nulls, by_value=tuple(sorted(limit.items())))
        return cls(column, nulls, alpha=limit)

    @property
    def bounds_values(self) -> bool:
        """Where values have bounds of their own."""
        return bool(self.by_value)

    @property
    def measures_all(self) -> bool:
        """Not where only some values are bounded."""
        return not self.by_value

    @property
    def of_values(self) -> Mapping[str, float]:
        """The bounds of their own."""
        return dict(self.by_value)

    def bounds(self, table: Counts) -> Floats:
        """The bound of each value: float64, shape (m,); 1 without one.

        Raises DataError for a value that the column doesn't have.
        """
        shares = np.full(table.column.values, 1.0 if self.alpha is None else self.alpha)
        places = {word: place for place, word in enumerate(table.column.words)}
        unknown = sum(word not in places for word, _ in self.by_value)
        if unknown:
            raise DataError(
                f"{unknown} of the {len(self.by_value)} values that alpha names are not values of "
                f"the column {self.column!r}. Check how they are written."
            )
        for word, share in self.by_value:
            shares[places[word]] = share
        return shares

    @property
    def least_bound(self) -> float:
        """The bound of missing values that count against the class: they may be any value."""
        shares = [1.0 if self.alpha is None else self.alpha, *(share for _, share in self.by_value)]
        return min(shares)

    def best(self, table: Counts) -> float:
        """The largest share of a bounded value among all rows."""
        bounded = table.values[self.bounds(table) < 1.0]
        most = int(bounded.max(initial=0))
        if self.nulls == "value":
            own = table.missing if self.alpha is not None and self.alpha < 1.0 else 0
            return max(most, own) / max(table.rows, 1)
        return (most + table.missing) / max(table.rows, 1)

    def nearest(self, table: Counts) -> str:
        """A larger share, or none where all rows may have the same value: 1 allows anything."""
        if not self.by_value and self.best(table) == 1.0:
            return f"no {self.option} of this column"
        return super().nearest(table)

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
        present = counts > 0
        return least_within(np.zeros(int(present.sum())), bounds[present], counts[present])

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """Upper bounds."""
        upper = np.append(self.bounds(table), 1.0)
        worst = self.nulls == "worst"
        if not worst and self.alpha is not None:
            upper[-1] = self.alpha
        tables.add(codes, whole_of(table), upper=upper)
        return Demand(BOUNDED, (self.least_bound if worst else 1.0, 0.0), worst=worst)

    def check(self, at: Place) -> Check:
        """No bounded value above its share."""
        worst = self.nulls == "worst"
        plain = "NULL::BIGINT" if self.alpha is None else millionths(self.alpha)
        cases = " ".join(
            f"WHEN {literal(value)} THEN {millionths(share)}" for value, share in self.by_value
        )
        bound = f"CASE label {cases} ELSE {plain} END" if cases else plain
        missing = "missing" if worst else "0"
        fits = at.asked(expression("models.alpha_fits", bound=bound, missing=missing))
        held = statement(
            "models.held_by_alpha", j=at.j, bound=bound, missing=missing, fits=fits,
            known=OF_KNOWN if worst else "",
        )
        return Check(statement(
            "models.alpha", i=at.i, j=at.j, least=millionths(self.least_bound), missing=missing,
        ), held=held)
