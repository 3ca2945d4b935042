"""k persons in every class, where the rows of a person may be in several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.constraints.constraint import PrivacyModel
from kanon_sql.points.sensitive import Counts


@dataclass(frozen=True, kw_only=True)
class EntityShare(PrivacyModel):
    """No person has more than one k-th of the rows of a class, so that each has k persons or more.
    To count persons alone wouldn't do: all rows but k - 1 could be one person's.

    Its column is the one that says whose row a row is, which is nobody's sensitive value, and is
    never missing. A sum of rows that are one k-th of their classes at most is one k-th of their
    union at most, so that unions keep it.

    Attributes:
        k: the least persons of a class.
    """

    name: ClassVar[str] = "entity_share"
    option: ClassVar[str] = "entity_rows"

    k: int

    @property
    def least_size(self) -> int:
        """One row of each of k persons."""
        return self.k

    def most(self, table: Counts) -> int:
        """The rows of the person who has the most."""
        return int(table.values.max(initial=0))

    def best(self, table: Counts) -> float:
        """The largest share that a person has of all rows."""
        return self.most(table) / max(table.rows, 1)

    def feasible(self, table: Counts) -> bool:
        """Whether nobody has more than one k-th of all rows."""
        return self.most(table) * self.k <= table.rows
