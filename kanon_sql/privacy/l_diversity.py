"""l-diversity: the sensitive values of a class are many, or none of them is too frequent.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity: privacy beyond
k-anonymity, TKDD 2007, sections 4.1 and 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kanon_sql.errors import DataError, OptionError, shown
from kanon_sql.names import caseless, literal
from kanon_sql.option import option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts
from kanon_sql.privacy.check import OF_KNOWN, Check, Place, fraction
from kanon_sql.privacy.demand import (
    DISTINCT,
    ENTROPY,
    RECURSIVE,
    Demand,
    Tables,
    at_level,
    whole_of,
)
from kanon_sql.privacy.model import (
    BY_COLUMN,
    CALLS,
    NUMBERS,
    WORDS,
    KindOptions,
    PrivacyModel,
    Threshold,
)
from kanon_sql.privacy.rational import SURE, as_fraction
from kanon_sql.sql import statement
from kanon_sql.validators import limit_by_column, one_by_column, threshold

MANY_VALUES = 50
"""The most distinct values of a column with an order of which l says something: 30000 and 30001
are two salaries, and no diversity."""

DIVERSITY_KINDS = {
    "distinct": "requires l different values",
    "entropy": "requires at least the entropy of l equally frequent values",
    "recursive": "requires that the most frequent value occurs less often than c times the l-th "
    "most frequent and all rarer values together",
}
"""By the word of diversity_kind, what l asks for."""

L = Threshold(
    "l", "values",
    "the smallest number of values of a class, as diversity_kind counts them (for 'recursive', see "
    "c)", "at least",
)
C = Threshold(
    "c", "ratio",
    "the largest ratio of the share of the most frequent value of a class to that of the l-th most "
    "frequent and all rarer values together", "below",
)


@dataclass(frozen=True)
class DiversityOptions(KindOptions):
    """How diverse the values of a class are."""

    example: ClassVar[str] = "3"

    l: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(2, 1e9)),
        "The minimum number of values of the sensitive column in each class, counted as "
        "diversity_kind says" + BY_COLUMN % "3", type=NUMBERS, calls=CALLS, common=True,
        proven=True,
    )
    diversity_kind: str | Mapping[str, str] = option(
        "distinct", one_by_column(DIVERSITY_KINDS),
        "The kind of l-diversity: "
        + "; ".join(f"'{name}' {text}" for name, text in DIVERSITY_KINDS.items())
        + ". Give one for all columns, or one by column.",
        type=WORDS, calls=CALLS,
    )
    c: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1e6, above=True)),
        "The factor of the rarer values with diversity_kind 'recursive'" + BY_COLUMN % "3",
        type=NUMBERS, calls=CALLS,
    )

    @staticmethod
    def refuse_odd(
        limits: Mapping[str, Any], said: Mapping[str, Mapping[str, Any]], asked: Any
    ) -> None:
        """An l that its kind doesn't take, and a c where it means nothing."""
        kinds, c = said["diversity_kind"], said["c"]
        for column, limit in limits.items():
            kind = kinds[column]
            if kind == "recursive" and c[column] is None:
                raise OptionError(
                    "diversity_kind 'recursive' needs c. Add it, for example c := 3."
                )
            if kind != "entropy" and limit != int(limit):
                raise OptionError(
                    f"l must be a whole number with diversity_kind {kind!r}. Got {shown(limit)}."
                )
        named = tuple(asked.c) if isinstance(asked.c, Mapping) else ()
        for_nothing = [column for column in named if kinds.get(caseless(column)) != "recursive"]
        if for_nothing or (any(c.values()) and "recursive" not in kinds.values()):
            of = f" of {for_nothing[0]!r}" if for_nothing else ""
            raise OptionError(
                f"c is given, and diversity_kind{of} is not 'recursive'. Add diversity_kind := "
                "'recursive', or leave c out."
            )


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
class Diversity(PrivacyModel):
    """A model that counts values: with a hierarchy, the nodes just above the leaves.

    Attributes:
        kind: the word of diversity_kind.
    """

    option: ClassVar[str] = "l"
    options: ClassVar[type[KindOptions]] = DiversityOptions
    thresholds: ClassVar[tuple[Threshold, ...]] = (L,)
    by_hierarchy: ClassVar[bool] = True
    kind: ClassVar[str]

    @classmethod
    def is_meant(cls, said: Mapping[str, Any]) -> bool:
        """Whether diversity_kind has its word."""
        return bool(said["diversity_kind"] == cls.kind)

    @classmethod
    def by_manifest(cls, column: str) -> Mapping[str, PrivacyModel]:
        """Where it is meant."""
        measuring = super().by_manifest(column)
        return {f"${{diversity_kind}} = {literal(cls.kind)}": each for each in measuring.values()}

    @property
    def rank(self) -> float:
        """l."""
        return float(getattr(self, self.option))

    @property
    def least_size(self) -> int:
        """A row for each of l values or more."""
        return math.ceil(self.rank)

    def refuse_table(self, table: Counts) -> None:
        """Raises DataError for numbers of which hardly any two are equal."""
        column = table.column
        # with a hierarchy l counts the nodes just above the leaves
        if column.ordered and column.values > MANY_VALUES and len(column.levels) < 2:
            raise DataError(
                f"l says nothing about the column {self.column!r}: it has {column.values} distinct "
                f"values with an order, more than {MANY_VALUES}, and neighbours among them are "
                "nearly alike. Ask for t instead, or give the column a hierarchy such as 'bins'."
            )

    def too_few_values(self, table: Counts) -> str:
        """What is said where the column has fewer values than l."""
        values = len(counted(table, self.nulls))
        counted_at = "" if len(table.column.levels) < 2 else " one level up its hierarchy"
        return (
            f"{self.column!r} has {values} different value{'s' * (values != 1)}{counted_at}, so l "
            f"= {self.rank:.9g} can't be kept. "
            + (f"Ask for l of {values} or less." if values > 1 else "Ask for no l of this column.")
        )

    def add_nodes(self, codes: Codes, table: Counts, tables: Tables) -> None:
        """Adds the column of codes that is counted."""
        levels = table.column.levels
        if len(levels) < 2:
            tables.add(codes, whole_of(table))
        else:
            tables.add(*at_level(codes, table, levels[1]))

    def stage_of(self, at: Place) -> str:
        """The number of the stages that are counted."""
        return f"{at.i}_nodes" if at.has_tree else f"{at.i}"

    def ranked(self, at: Place) -> str:
        """The stage of the counts of the values, most frequent last."""
        worst = self.nulls == "worst"
        return statement(
            "models.ranked", i=self.stage_of(at), missing="missing" if worst else "0",
            known=OF_KNOWN if worst else "",
        )


@dataclass(frozen=True, kw_only=True)
class DistinctDiversity(Diversity):
    """At least l distinct values in each class; a missing value is none of them.

    Attributes:
        l: the least number of values.
    """

    name: ClassVar[str] = "distinct_l_diversity"
    kind: ClassVar[str] = "distinct"
    audited_as: ClassVar[str] = "l_distinct"
    nothing: ClassVar[float] = 2
    whole: ClassVar[bool] = True

    l: int

    @classmethod
    def read(
        cls, limit: Any, said: Mapping[str, Any], column: str, nulls: str
    ) -> DistinctDiversity:
        """Of a whole l."""
        return cls(column, nulls, l=int(limit))

    def best(self, table: Counts) -> float:
        """The number of values."""
        return float(len(counted(table, self.nulls)))

    def feasible(self, table: Counts) -> bool:
        """Whether there are that many."""
        return self.best(table) >= self.l

    def refusal(self, table: Counts) -> str:
        """How many values there are."""
        return self.too_few_values(table)

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """l values."""
        self.add_nodes(codes, table, tables)
        return Demand(DISTINCT, (float(self.l), 0.0), worst=self.nulls == "worst")

    def check(self, at: Place) -> Check:
        """The number of values."""
        own = "" if self.nulls == "worst" else " + CASE WHEN missing > 0 THEN 1 ELSE 0 END"
        return Check(statement("models.distinct", i=self.stage_of(at), l=self.l, missing=own))


def entropy_of(counts: list[int]) -> float:
    """The entropy of a histogram, in nats; 0 of none."""
    rows = sum(counts)
    return math.log(rows) - sum(n * math.log(n) for n in counts) / rows if rows else 0.0


@dataclass(frozen=True, kw_only=True)
class EntropyDiversity(Diversity):
    """The values of each class have at least the entropy of l equally frequent ones.

    Attributes:
        l: how many; it need not be whole.
    """

    name: ClassVar[str] = "entropy_l_diversity"
    kind: ClassVar[str] = "entropy"
    audited_as: ClassVar[str] = "l_entropy"
    nothing: ClassVar[float] = 2.0

    l: float

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

    def nearest(self, table: Counts) -> str:
        """None below 2, from where on l is asked for."""
        return super().nearest(table) if self.best(table) >= 2.0 else "no l of this column"

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """The entropy of l."""
        self.add_nodes(codes, table, tables)
        return Demand(ENTROPY, (float(self.l), 0.0), worst=self.nulls == "worst")

    def check(self, at: Place) -> Check:
        """The entropy of the counts."""
        text = statement("models.entropy", i=self.stage_of(at), l=self.l)
        return Check(text, (self.ranked(at),))


@dataclass(frozen=True, kw_only=True)
class RecursiveDiversity(Diversity):
    """(c, l)-diversity: the most frequent value of a class is less frequent than c times all of the
    l-th most frequent and the rarer ones together.

    Attributes:
        l: from which value on they are counted together.
        c: how much they count.
    """

    name: ClassVar[str] = "recursive_l_diversity"
    kind: ClassVar[str] = "recursive"
    thresholds: ClassVar[tuple[Threshold, ...]] = (L, C)
    audited_as: ClassVar[str] = "c"

    l: int
    c: float

    @classmethod
    def read(
        cls, limit: Any, said: Mapping[str, Any], column: str, nulls: str
    ) -> RecursiveDiversity:
        """Of a whole l, and c."""
        return cls(column, nulls, l=int(limit), c=said["c"])

    @classmethod
    def measuring(
        cls, asked: Any, models: Sequence[PrivacyModel], column: str, nulls: str
    ) -> RecursiveDiversity:
        """From the l of the column on, or the second value."""
        own = (
            model for model in models
            if isinstance(model, Diversity) and caseless(model.column) == caseless(column)
        )
        # of a whole l at least
        rank = next((math.floor(model.rank) for model in own), 2)
        return cls(column, nulls, l=rank, c=1.0)

    @classmethod
    def by_manifest(cls, column: str) -> Mapping[str, PrivacyModel]:
        """Nothing, since the SQL holds l."""
        return {}

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

    def reached(self, table: Counts) -> str:
        """On the scale of c."""
        return f"needs c above {self.best(table):.9g}"

    def nearest(self, table: Counts) -> str:
        """On the scale of c."""
        return f"c above {self.best(table):.9g}, or for a lower l"

    def refusal(self, table: Counts) -> str:
        """As that of others; of few values, that no c would do."""
        few = math.isinf(self.best(table))
        return self.too_few_values(table) if few else super().refusal(table)

    def least_class(self, table: Counts) -> int:
        """The least class in which the values are as evenly many as they can be."""
        values = len(counted(table, self.nulls))
        for size in range(self.l, values + 1):
            if self.passes([1] * size):
                return size
        return max(values, self.l)

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """(c, l)."""
        self.add_nodes(codes, table, tables)
        return Demand(
            RECURSIVE, (self.l, self.c), as_fraction(self.c), worst=self.nulls == "worst"
        )

    def check(self, at: Place) -> Check:
        """The most frequent value against the tail."""
        text = statement(
            "models.recursive", i=self.stage_of(at), l=self.l, **fraction(self.c)
        )
        return Check(text, (self.ranked(at),))
