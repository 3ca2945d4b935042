"""What a demand on a whole release is: one on how many classes there are, not on any of them.

Such a demand is a module of this folder and its line in the registry, as a privacy model is: its
option, how many classes it allows, the SQL that checks it on what is released, its metrics and its
refusals. No other module names one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from kanon_sql.errors import DataError
from kanon_sql.privacy.model import Constraint


class Requested(NamedTuple):
    """The metric that tells what was asked.

    Attributes:
        name: the metric.
        unit: its unit.
        description: what it means.
    """

    name: str
    unit: str
    description: str


@dataclass(frozen=True)
class WholeConstraint(Constraint):
    """A demand on all classes together: so many persons are in so many classes at most.

    Fewer classes of the same persons never break it, so that merging repairs it; and it is kept by
    all blocks, or parts, together if each of them keeps it.

    Attributes:
        option: the option that asks for it.
        requested: the metric that tells what was asked.
        reached: the metric that tells what the released rows have, of rows and of persons.
    """

    option: ClassVar[str]
    requested: ClassVar[Requested]
    reached: ClassVar[tuple[str, str]]

    @property
    def limit(self) -> float:
        """What was asked."""
        return float(getattr(self, self.option))

    @property
    def in_words(self) -> str:
        """What was asked, with its option."""
        return f"{self.option} = {getattr(self, self.option)}"

    def most_classes(self, persons: int) -> int:
        """The most classes that so many persons may be in; below 1 where no release keeps it."""
        raise NotImplementedError

    def refusal(self, persons: int, what: str) -> str:
        """What is said of so many rows or persons, of which no release keeps it."""
        raise NotImplementedError

    def refuse(self, persons: int, what: str) -> None:
        """Raises DataError where no release of so many keeps it.

        Args:
            persons: how many there are.
            what: 'rows' or 'persons'.
        """
        if self.most_classes(persons) < 1:
            raise DataError(self.refusal(persons, what))

    def broken_sql(self, classes: str, persons: str) -> str:
        """SQL that says whether so many classes of so many persons break it."""
        raise NotImplementedError

    def keeps(self, reached: float) -> bool:
        """Whether what was reached is what was asked for."""
        return reached <= self.limit * (1 + 1e-9)

    def sentence(self, what: str, method: str) -> str:
        """What is said of a release that breaks it, a format with two places: of the classes and of
        whom there are in them.

        Args:
            what: 'rows' or 'persons'.
            method: the name of the method.
        """
        return (
            f"The release was stopped: {{}} classes of {{}} {what} don't keep {self.in_words}. "
            f"Nothing was released; please report this as a bug of the method {method}."
        )


def read_whole(
    kinds: tuple[type[WholeConstraint], ...], options: Any
) -> tuple[WholeConstraint, ...]:
    """The demands that options ask for; each kind by the option of its name."""
    asked = ((kind, getattr(options, kind.option)) for kind in kinds)
    return tuple(kind(**{kind.option: limit}) for kind, limit in asked if limit is not None)
