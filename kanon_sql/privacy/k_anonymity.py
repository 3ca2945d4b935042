"""k-anonymity: every combination of released quasi-identifiers is shared by k rows or more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.privacy.model import Constraint, Measure


@dataclass(frozen=True)
class KAnonymity(Constraint):
    """Classes of k rows or more.

    Source: Samarati and Sweeney 1998.

    Attributes:
        k: the least rows of a class.
    """

    name: ClassVar[str] = "k_anonymity"
    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("k_requested", "${k}", "rows", "the requested k"),
        Measure(
            "k", "smallest", "rows",
            "the k that holds, counted on the released values; at least k_requested",
        ),
    )

    k: int

    @property
    def least_size(self) -> int:
        """The k."""
        return self.k

    @property
    def broken_sql(self) -> str:
        """A released combination with fewer than k rows, over the rows of ``_check``."""
        return f"min(__kanon_size) < {self.k}"

    @property
    def worst_sql(self) -> str:
        """The rows of the smallest one."""
        return "min(__kanon_size)"

    @property
    def sentence(self) -> str:
        """Its size, and that it is a bug: the method promised k."""
        return (
            "The release was stopped: a class of released values has {} rows, fewer than k = "
            f"{self.k}. Nothing was released; please report this as a bug of the method {{method}}."
        )
