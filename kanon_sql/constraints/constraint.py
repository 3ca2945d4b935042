"""What every class of a release must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from kanon_sql.names import caseless
from kanon_sql.points.sensitive import Counts


class Measure(NamedTuple):
    """A metric of a constraint, as anonymize_metrics tells it.

    Attributes:
        name: the metric.
        expression: SQL over the columns of ``_facts`` (see sql/measure.sql).
        unit: its unit.
        description: what it means.
    """

    name: str
    expression: str
    unit: str
    description: str


@dataclass(frozen=True)
class Constraint:
    """A demand on every class, which all stages ask: the grouping for the least size of a class,
    the enforcement for the classes that break it, the verification for SQL over what is released,
    the metrics for what was asked and reached.

    A constraint is kept by the union of two classes that keep it, so that merging never breaks one.

    Attributes:
        name: its word, as the task carries it.
        measures: its metrics.
    """

    name: ClassVar[str]
    measures: ClassVar[tuple[Measure, ...]] = ()

    @property
    def least_size(self) -> int:
        """No class of fewer rows can keep it, whatever the table."""
        return 1

    def told(self) -> dict[str, Any]:
        """The constraint in values that JSON has."""
        return {"name": self.name, **asdict(self)}


NULLS = ("worst", "value")
"""What a sensitive NULL is: as bad for the class as it can be, or a value as any other."""


@dataclass(frozen=True)
class PrivacyModel(Constraint):
    """A demand on how the values of a sensitive column are spread within each class.

    Attributes:
        option: the option that asks for it.
        column: the sensitive column.
        nulls: what a NULL or NaN is, one of NULLS.
    """

    option: ClassVar[str]

    column: str
    nulls: str = "worst"

    def best(self, table: Counts) -> float:
        """The best value that one class of all rows of the table has, on the scale of the
        threshold; where it isn't good enough, no release is."""
        raise NotImplementedError

    def feasible(self, table: Counts) -> bool:
        """Whether one class of all rows passes."""
        raise NotImplementedError

    def least_class(self, table: Counts) -> int:
        """No class of fewer rows passes, given what all rows have."""
        return self.least_size


def spot_of(column: str, names: Sequence[str]) -> int:
    """Where a column stands among these, whatever the case of the letters."""
    return [caseless(name) for name in names].index(caseless(column))
