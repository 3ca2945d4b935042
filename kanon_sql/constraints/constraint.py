"""What every class of a release must keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Labels, Points

Mask = npt.NDArray[np.bool_]


class Measure(NamedTuple):
    """A metric of a constraint, as anonymize_metrics tells it.

    Attributes:
        name: the metric.
        expression: SQL over the columns of ``_facts`` (see sql/calls/metrics.sql).
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
        """No class of fewer rows can keep it."""
        return 1

    @property
    def needs_sensitive(self) -> bool:
        """Whether it asks for the codes of sensitive columns."""
        return False

    def broken(self, points: Points, labels: Labels) -> Mask:
        """Which classes break it: bool, shape (groups,). Records labelled -1 are in no class."""
        raise NotImplementedError

    @property
    def broken_sql(self) -> str:
        """SQL that is true where a released class breaks it, over the rows of ``_check``, one for
        each combination of released values."""
        raise NotImplementedError

    @property
    def found_sql(self) -> str:
        """SQL of what the sentence tells of the class that breaks it."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """What is said of a release that breaks it, a format with one place for ``found_sql``; it
        may name the {method}."""
        raise NotImplementedError

    def told(self) -> dict[str, Any]:
        """The constraint in values that JSON has."""
        return {"name": self.name, **asdict(self)}
