"""k persons in every class, where the rows of a person may be in several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts, refuse_strangers
from kanon_sql.privacy.check import Check, Place
from kanon_sql.privacy.demand import BOUNDED, Demand, Tables, whole_of
from kanon_sql.privacy.model import PrivacyModel
from kanon_sql.sql import statement


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
    of_entity: ClassVar[bool] = True

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

    def refuse_table(self, table: Counts) -> None:
        """Raises DataError for rows of nobody."""
        refuse_strangers(self.column, table.missing)

    def refusal(self, table: Counts) -> str:
        """Who has too many rows."""
        return (
            f"No release has {self.k} persons in every class, none of them with more than one "
            f"{self.k}th of its rows: one person of the column {self.column!r} has "
            f"{self.most(table)} of all {table.rows} rows. Lower k, or use "
            "entity_rows='together'."
        )

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """An upper bound of one k-th."""
        whole = whole_of(table)
        tables.add(codes, whole, upper=np.full(len(whole), 1.0 / self.k))
        return Demand(BOUNDED, (1.0, 0.0), worst=False)

    def check(self, at: Place) -> Check:
        """Nobody above one k-th."""
        return Check(statement("models.entity", i=at.i, k=self.k))
