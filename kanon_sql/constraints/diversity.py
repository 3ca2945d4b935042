"""l-diversity: the sensitive values of a class are many, or none of them is too frequent.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity: privacy beyond
k-anonymity, TKDD 2007, sections 4.1 and 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanon_sql.constraints.constraint import PrivacyModel
from kanon_sql.constraints.rational import SURE, as_fraction
from kanon_sql.points.sensitive import Counts


def counted(table: Counts, nulls: str) -> list[int]:
    """How often each value is there that is, the most frequent first; missing values count for the
    most frequent, or as a value of their own. Empty where no value is known.

    With a hierarchy, what is counted are its nodes just above the leaves: of numbers of which
    hardly any two are equal, many are easily there, and say nothing.
    """
    rows, levels = table.values, table.column.levels
    if len(levels) > 1:
        rows = np.bincount(levels[1], weights=rows).astype(np.int64)
    counts = sorted((int(n) for n in rows if n > 0), reverse=True)
    if nulls == "value":
        return sorted([*counts, *([table.missing] if table.missing else [])], reverse=True)
    return [counts[0] + table.missing, *counts[1:]] if counts else []


@dataclass(frozen=True, kw_only=True)
class DistinctDiversity(PrivacyModel):
    """At least l distinct values in each class; a missing value is none of them.

    Attributes:
        l: the least number of values.
    """

    name: ClassVar[str] = "distinct_l_diversity"
    option: ClassVar[str] = "l"

    l: int

    @property
    def least_size(self) -> int:
        """A row for each value."""
        return self.l

    def best(self, table: Counts) -> float:
        """The number of values."""
        return float(len(counted(table, self.nulls)))

    def feasible(self, table: Counts) -> bool:
        """Whether there are that many."""
        return self.best(table) >= self.l


def entropy_of(counts: list[int]) -> float:
    """The entropy of a histogram, in nats; 0 of none."""
    rows = sum(counts)
    return math.log(rows) - sum(n * math.log(n) for n in counts) / rows if rows else 0.0


@dataclass(frozen=True, kw_only=True)
class EntropyDiversity(PrivacyModel):
    """The values of each class have at least the entropy of l equally frequent ones.

    Attributes:
        l: how many; it need not be whole.
    """

    name: ClassVar[str] = "entropy_l_diversity"
    option: ClassVar[str] = "l"

    l: float

    @property
    def least_size(self) -> int:
        """A row for each of the values, of which there are l or more."""
        return math.ceil(self.l)

    def best(self, table: Counts) -> float:
        """The number of equally frequent values with the entropy of all rows; 0 without values."""
        counts = counted(table, self.nulls)
        return math.exp(entropy_of(counts)) if counts else 0.0

    def feasible(self, table: Counts) -> bool:
        """Whether it is l: plainly so where all values are equally frequent."""
        counts = counted(table, self.nulls)
        if counts and counts[0] == counts[-1] and len(counts) >= self.l:
            return True
        return bool(counts) and entropy_of(counts) >= math.log(self.l) + SURE


@dataclass(frozen=True, kw_only=True)
class RecursiveDiversity(PrivacyModel):
    """(c, l)-diversity: the most frequent value of a class is less frequent than c times all of the
    l-th most frequent and the rarer ones together.

    Attributes:
        l: from which value on they are counted together.
        c: how much they count.
    """

    name: ClassVar[str] = "recursive_l_diversity"
    option: ClassVar[str] = "l"

    l: int
    c: float

    @property
    def least_size(self) -> int:
        """A row for each of l values."""
        return self.l

    def passes(self, counts: list[int]) -> bool:
        """Whether a histogram does, the most frequent value first."""
        return bool(counts) and counts[0] < as_fraction(self.c) * sum(counts[self.l - 1 :])

    def best(self, table: Counts) -> float:
        """The c above which all rows pass: infinite with fewer than l values."""
        counts = counted(table, self.nulls)
        tail = sum(counts[self.l - 1 :])
        return counts[0] / tail if tail else math.inf

    def feasible(self, table: Counts) -> bool:
        """Whether c is above that."""
        return self.passes(counted(table, self.nulls))

    def least_class(self, table: Counts) -> int:
        """The least class in which the values are as evenly many as they can be."""
        values = len(counted(table, self.nulls))
        for size in range(self.l, values + 1):
            if self.passes([1] * size):
                return size
        return max(values, self.l)
