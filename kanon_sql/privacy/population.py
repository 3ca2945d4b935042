"""What a demand is that holds the classes against a population: one on how many of its people each
class may be about.

A person may be meant by a class if each quasi-identifier of the person lies in what the rows of the
class cover: between the least and the greatest value of numbers, dates and times, and among the
values of all others. A missing value is covered by a missing value only. The union of two classes
covers what each of them does, so that unions keep the demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kanon_sql.errors import DataError
from kanon_sql.privacy.model import Constraint
from kanon_sql.privacy.whole import Requested


@dataclass(frozen=True)
class PopulationConstraint(Constraint):
    """A demand on the people of the population that each class covers.

    Attributes:
        option: the option that asks for it.
        requested: the metric that tells what was asked.
        reached: the metric that tells what the released classes have.
    """

    option: ClassVar[str]
    requested: ClassVar[Requested]
    reached: ClassVar[Requested]

    @property
    def limit(self) -> int:
        """The least people that a class covers."""
        return int(getattr(self, self.option))

    def refuse(self, people: int) -> None:
        """Raises DataError where one class of all rows covers fewer people.

        Args:
            people: how many it covers.
        """
        if people < self.limit:
            raise DataError(
                f"The values of all rows together cover only {people} people of the population, "
                f"fewer than {self.option} = {self.limit}. Name the right population, or lower "
                f"{self.option}."
            )

    def broken_sql(self, people: str) -> str:
        """SQL that says whether so many people are too few."""
        return f"{people} < {self.limit}"

    def sentence(self, method: str) -> str:
        """What is said of a release that breaks it, a format with one place: of the people."""
        return (
            "The release was stopped: a class of released values covers {} people of the "
            f"population, fewer than {self.option} = {self.limit}. Nothing was released; please "
            f"report this as a bug of the method {method}."
        )


def read_population(
    kinds: tuple[type[PopulationConstraint], ...], options: Any
) -> tuple[PopulationConstraint, ...]:
    """The demands that options ask for; each kind by the option of its name."""
    asked = ((kind, getattr(options, kind.option)) for kind in kinds)
    return tuple(kind(**{kind.option: limit}) for kind, limit in asked if limit is not None)
