"""A bound on the mean prosecutor risk, beside the largest one that k bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.option import option
from kanon_sql.privacy.rational import as_fraction
from kanon_sql.privacy.whole import Requested, WholeConstraint
from kanon_sql.validators import risk


@dataclass(frozen=True)
class AverageRiskOptions:
    """The option that asks for it."""

    max_average_risk: float | None = option(
        None, risk,
        "The maximum mean prosecutor risk over the released rows: classes / rows, or with entity "
        "classes / persons. Classes are merged, the smallest first, until few enough are left. k "
        "still holds for each class.",
        type="DOUBLE", common=True, topic="models", proven=True,
    )


@dataclass(frozen=True)
class AverageRisk(WholeConstraint):
    """The mean over the released rows of 1 / rows of the class is at most the bound.

    That sum over the rows of a class is 1, so that the mean is classes / rows. Of persons who have
    several rows it is classes / persons: where the rows of a person are in several classes, the
    chances in all of them are summed, which is no less than the chance to find any of the rows.

    Source: El Emam 2013, Guide to the De-Identification of Personal Health Information.

    Attributes:
        max_average_risk: the bound, above 0 and up to 1.
    """

    name: ClassVar[str] = "average_risk"
    option: ClassVar[str] = "max_average_risk"
    requested: ClassVar[Requested] = Requested(
        "average_risk_requested", "probability", "the requested max_average_risk"
    )
    reached: ClassVar[tuple[str, str]] = ("prosecutor_risk_mean", "prosecutor_risk_mean_persons")

    max_average_risk: float

    def most_classes(self, persons: int) -> int:
        """So many times the bound, rounded down."""
        return int(as_fraction(self.max_average_risk) * persons)

    def refusal(self, persons: int, what: str) -> str:
        """That even one class has too high a risk."""
        return (
            f"One class of all {persons} {what} has a mean risk of 1 / {persons}, above "
            f"{self.in_words}. Ask for a higher max_average_risk, or release nothing."
        )

    def broken_sql(self, classes: str, persons: str) -> str:
        """In whole numbers."""
        exact = as_fraction(self.max_average_risk)
        return (
            f"{classes}::HUGEINT * {exact.denominator}::HUGEINT "
            f"> {persons}::HUGEINT * {exact.numerator}::HUGEINT"
        )
