"""What a ledger says of persons: in which class each was, release by release.

Persons with equal histories are alike in all that follows, so everything is told by history: how
many persons have it, and how many of these are there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanon_sql.points.points import Labels

Step = tuple[int, int]
"""A release and the class in which somebody was then."""

NEWCOMER = -1
"""Stands for the history of persons who were never released."""


@dataclass(frozen=True)
class Histories:
    """The different histories of a ledger.

    Attributes:
        steps: of each history its steps, releases ascending; none is empty.
        persons: int64, shape (h,); how many persons of the ledger have each.
    """

    steps: tuple[tuple[Step, ...], ...]
    persons: Labels

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def last_class(self) -> Labels:
        """The class in which each was last: int64, shape (h,)."""
        return np.array([steps[-1][1] for steps in self.steps], dtype=np.int64)

    @property
    def last_release(self) -> int:
        """The number of the last release; 0 without any."""
        return max((steps[-1][0] for steps in self.steps), default=0)

    @property
    def largest_class(self) -> int:
        """The largest number of a class; 0 without any."""
        return max((number for steps in self.steps for _, number in steps), default=0)


def read_histories(texts: Sequence[str]) -> tuple[Histories, Labels]:
    """Histories from one text per person, such as '1:17 2:17 4:17'; and which each person has,
    int64, shape (persons,)."""
    known, numbers, counts = np.unique(
        np.array(texts, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    steps = tuple(
        tuple((int(release), int(number)) for release, _, number in (
            step.partition(":") for step in text.split(" ")
        ))
        for text in known.tolist()
    )
    return Histories(steps, counts.astype(np.int64)), numbers.reshape(-1).astype(np.int64)
