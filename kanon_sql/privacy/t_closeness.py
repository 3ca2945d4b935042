"""t-closeness: the sensitive values of a class are distributed nearly as those of all rows.

Source: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity,
ICDE 2007, sections 4.1 to 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from kanon_sql.errors import DataError, OptionError
from kanon_sql.names import caseless
from kanon_sql.option import option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts, Numbers, SensitiveColumn
from kanon_sql.privacy.check import KNOWN, Check, Place, fraction
from kanon_sql.privacy.demand import EQUAL, NUMERIC, ORDERED, Demand, Tables, at_level, whole_of
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
from kanon_sql.sql import expression, statement
from kanon_sql.validators import THRESHOLD_DECIMALS, limit_by_column, one_by_column, threshold

DISTANCES = {
    "equal": "1 for any two values",
    "ordered": "their difference in rank / largest difference in rank",
    "numeric": "their difference / largest difference",
    "hierarchy": "height of their lowest common ancestor / height of the hierarchy",
}
"""What a row costs that is moved to another value."""

MANY = 1_000
"""The largest class size that is looked at for the least that could pass: it is a lower bound, and
what is above it need not be known."""

ROUNDED = 1e-14
"""More than rounding adds to a distance, so that a bound stays one."""

LARGEST = 4e18
"""What sums of whole numbers stay below, or they are taken as doubles, and SQL has the last
word."""

T = Threshold("t", "share", "the largest distance of a class from all released rows")


@dataclass(frozen=True)
class ClosenessOptions(KindOptions):
    """How near a class is to all rows."""

    example: ClassVar[str] = "0.2"
    audited: ClassVar[tuple[str, ...]] = ("closeness",)

    t: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1)),
        "The maximum earth mover's distance, from 0 to 1, between the sensitive values of a class "
        "and those of all released rows (t-closeness)" + BY_COLUMN % "0.2",
        type=NUMBERS, calls=CALLS, common=True, proven=True,
    )
    closeness: str | Mapping[str, str] | None = option(
        None, one_by_column(DISTANCES),
        "The cost of moving a row to another value, for t: "
        + "; ".join(f"'{name}' is {text}" for name, text in DISTANCES.items())
        + ". Give one for all columns, or one by column.",
        type=WORDS, calls=CALLS,
        default_text="'hierarchy' for columns with one, 'ordered' for numbers, dates and times, "
        "else 'equal'",
    )

    @staticmethod
    def refuse_audit(asked: Any) -> None:
        """A distance by a hierarchy."""
        said = asked.closeness
        if "hierarchy" in (said.values() if isinstance(said, Mapping) else (said,)):
            raise OptionError(
                "closeness 'hierarchy' needs a hierarchy, and k_anonymity takes none. Choose "
                "another."
            )


@dataclass(frozen=True, kw_only=True)
class Closeness(PrivacyModel):
    """The earth mover's distance between the values of a class and those of all rows is at most t.

    A missing value is a value of its own, and as far from every other as two values can be.

    Attributes:
        t: the bound.
        distance: the ground distance, one of DISTANCES; None: 'hierarchy' for a column with one,
            'ordered' for numbers, dates and times, 'equal' for all else.
    """

    name: ClassVar[str] = "t_closeness"
    option: ClassVar[str] = "t"
    options: ClassVar[type[KindOptions]] = ClosenessOptions
    thresholds: ClassVar[tuple[Threshold, ...]] = (T,)
    audited_as: ClassVar[str] = "t"
    of_all_rows: ClassVar[bool] = True
    by_hierarchy: ClassVar[bool] = True

    t: float
    distance: str | None = None

    @classmethod
    def read(cls, limit: Any, said: Mapping[str, Any], column: str, nulls: str) -> Closeness:
        """With its ground distance."""
        return cls(column, nulls, t=limit, distance=said["closeness"])

    @classmethod
    def measuring(
        cls, asked: Any, models: Sequence[PrivacyModel], column: str, nulls: str
    ) -> Closeness:
        """By the ground distance that was said."""
        said = asked.closeness
        if isinstance(said, str) and any(isinstance(model, Closeness) for model in models):
            said = None  # it is said of the columns for which t is asked
        if isinstance(said, Mapping):
            by_column = {caseless(name): word for name, word in said.items()}
            said = by_column.get(caseless(column))
        return cls(column, nulls, t=cls.nothing, distance=said)

    @classmethod
    def by_manifest(cls, column: str) -> Mapping[str, PrivacyModel]:
        """By the ground distance; where none was said, by that of the values."""
        unsaid = {"ordered": "ordered", "equal": "NOT ordered", "numeric": "false"}
        return {
            f"CASE ${{closeness}} WHEN '' THEN {by_values} ELSE ${{closeness}} = '{word}' END":
                cls(column, t=cls.nothing, distance=word) for word, by_values in unsaid.items()
        }

    @property
    def goes_by_hierarchy(self) -> bool:
        """Not where another ground distance was said."""
        return self.distance in (None, "hierarchy")

    @property
    def without_hierarchy(self) -> str | None:
        """Of the distance by a hierarchy."""
        if self.distance != "hierarchy":
            return None
        return (
            f"closeness 'hierarchy' needs a hierarchy of the column {self.column!r}. Add it to "
            "hierarchies, or choose another closeness."
        )

    def distance_of(self, column: SensitiveColumn) -> str:
        """The ground distance of a column."""
        if self.distance is not None:
            return self.distance
        if len(column.levels):
            return "hierarchy"
        return "ordered" if column.ordered else "equal"

    def best(self, table: Counts) -> float:
        """0: one class has the distribution of all rows."""
        return 0.0

    def exact(self, table: Counts) -> bool:
        """Whether the distance of a class is compared in whole numbers: also of a single value,
        where it is plainly 0."""
        distance = self.distance_of(table.column)
        if table.missing == 0 and np.count_nonzero(table.values) <= 1:
            return True
        if distance == "ordered":
            return self.nulls == "value" or table.missing == 0
        return distance != "numeric"

    def feasible(self, table: Counts) -> bool:
        """Always; but for t = 0 where distances are rounded, so that none is plainly 0."""
        return self.exact(table) or self.t > SURE

    def reached(self, table: Counts) -> str:
        """0, as far as numbers that are rounded tell."""
        return "has t = 0 up to rounding"

    def nearest(self, table: Counts) -> str:
        """The least t that isn't 0."""
        return f"t of {10.0 ** -THRESHOLD_DECIMALS:.6f} or more"

    def in_shares(self, table: Counts) -> bool:
        """Of t = 0; but where distances are rounded."""
        return self.t == 0.0 and self.exact(table)

    def least_class(self, table: Counts) -> int:
        """The size of the least class that passes, or MANY where that is less and t isn't 0; of a
        hierarchy, and where numbers are rounded, a lower bound."""
        if self.in_shares(table):
            return table.rows // max(math.gcd(*table.values.tolist(), table.missing), 1)
        sizes = range(1, min(table.rows, MANY) + 1)
        passes = self._in_tree(table) if self._alike(table) else self._on_line(table)
        return next(filter(passes, sizes), max(len(sizes), 1))

    def _alike(self, table: Counts) -> bool:
        return self.distance_of(table.column) in ("equal", "hierarchy")

    def _in_tree(self, table: Counts) -> Callable[[int], bool]:
        """Whether a class of a size could pass, by the equal distances at all levels.

        No class is nearer to the table at any level than the shares of the table, rounded to whole
        rows by largest remainders. One class need not be the nearest at all levels.
        """
        rows, t, levels = table.rows, as_fraction(self.t), list(table.column.levels)
        if self.distance_of(table.column) == "equal":
            levels = [np.arange(table.column.values)]
        counts = [
            np.append(np.bincount(nodes, weights=table.values).astype(np.int64), table.missing)
            for nodes in levels
        ]

        def passes(size: int) -> bool:
            above = sum(_rounded(each, size, rows) for each in counts)
            return above <= t * len(counts) * size * rows

        return passes

    def _on_line(self, table: Counts) -> Callable[[int], bool]:
        """Whether a class of a size could pass, by ranks or numbers.

        No class is nearer than the medians of as many equal slices of the table: below each gap it
        has the multiple of 1 / size that is nearest to the share of the table.
        """
        present = table.values > 0
        counts, gaps = table.values[present], np.ones(max(int(present.sum()) - 1, 0))
        if self.distance_of(table.column) == "numeric":
            gaps = np.diff(table.column.numbers[present])
        elif self.nulls == "value" and table.missing:
            # a missing value is the last one of the order
            counts, gaps = np.append(counts, table.missing), np.ones(len(counts))
        below, known = np.cumsum(counts)[:-1], int(counts.sum())
        if self.exact(table):
            t, longest = as_fraction(self.t), len(gaps)
            return lambda size: _off(below, size, known).sum() <= t * longest * size * known

        @cache
        def rest(size: int) -> float:
            if size == 0 or len(gaps) == 0:
                return 0.0
            return float((_off(below, size, known) * (gaps / gaps.sum())).sum() / (size * known))

        most, share = self.t - SURE + ROUNDED, (table.rows - known) / table.rows

        def passes(size: int) -> bool:
            if table.rows == known:
                return rest(size) <= most
            missing = np.arange(max(size - known, 0), min(size, table.missing) + 1)
            near = missing[np.abs(missing / size - share) <= most]
            return any(
                abs(n / size - share) + min(1.0 - n / size, 1.0 - share) * rest(size - n) <= most
                for n in near.tolist()
            )

        return passes

    def refuse_table(self, table: Counts) -> None:
        """Raises DataError for a ground distance that the column has not."""
        column, name, distance = table.column, self.column, self.distance_of(table.column)
        if distance in ("ordered", "numeric") and not column.ordered:
            raise DataError(
                f"The closeness {distance!r} needs an order of the values, and the column {name!r} "
                "has none: it holds no numbers, dates or times. Choose 'equal' or 'hierarchy'."
            )
        if distance == "hierarchy" and not len(column.levels):
            raise DataError(
                f"The closeness 'hierarchy' needs a hierarchy, and the column {name!r} has none. "
                "Give it one in hierarchies, or choose another closeness."
            )
        if distance == "numeric" and np.isinf(column.numbers).any():
            raise DataError(
                f"The closeness 'numeric' needs finite numbers, and the column {name!r} has "
                "infinite ones. Replace them by NULL, or choose 'ordered'."
            )

    def by_slices(self, column: SensitiveColumn, cheap: bool) -> bool:
        """If it wants values in every class that may be far from each other, where no order makes
        one stand for its neighbours; with an order where it is cheap."""
        return cheap or self.distance_of(column) in ("equal", "hierarchy")

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """The distance, in whole numbers where there are."""
        column, t = table.column, as_fraction(self.t)
        distance, whole = self.distance_of(column), whole_of(table)
        if distance == "equal":
            tables.add(codes, whole)
            return Demand(EQUAL, (self.t, 0.0), t, worst=False)
        if distance == "hierarchy":
            for nodes in column.levels:
                tables.add(*at_level(codes, table, nodes))
            return Demand(EQUAL, (self.t, 0.0), t, worst=False)
        as_value = self.nulls == "value" and distance == "ordered"
        # values that no row of the table has are none of its values
        present = np.flatnonzero(whole > 0 if as_value else whole[:-1] > 0)
        ranks = np.cumsum(whole > 0) - 1
        many = len(present)
        ranks[~(whole > 0)] = 0
        if as_value:
            # a missing value is the last one in the order, so that none is missing
            counts, codes = np.append(whole[present], 0), ranks[codes].astype(np.int32)
            sizes = len(present)
        else:
            ranks[-1] = many
            counts = np.append(whole[present], table.missing)
            codes, sizes = ranks[codes].astype(np.int32), many
        place = np.arange(sizes + 1, dtype=np.float64) / max(sizes - 1, 1)
        if distance == "numeric" and many > 1:
            numbers = column.numbers[present]
            place = np.append((numbers - numbers[0]) / (numbers[-1] - numbers[0]), 1.0)
        place[-1] = place[-2] if sizes else 0.0
        tables.add(codes, counts, place)
        rows = float(table.rows)
        exact = distance == "ordered" and counts[-1] == 0 and sizes * rows * rows < LARGEST
        return Demand(ORDERED if exact else NUMERIC, (self.t, 0.0), t, worst=not as_value)

    @property
    def unordered(self) -> str | None:
        """Of the distances by an order."""
        if self.distance not in ("ordered", "numeric"):
            return None
        return (
            f"The closeness {self.distance!r} needs an order of the values, and the column "
            f"{self.column!r} has none: it holds no numbers, dates or times. Choose 'equal'."
        )

    def check(self, at: Place) -> Check:
        """The distance, by the type of the column where none was said."""
        if at.has_tree and self.goes_by_hierarchy:
            of_all = (
                f"system.main.sum(rows_of) OVER (PARTITION BY {at.parts['part']}depth, node)"
            )
            if at.in_block:
                of_all = expression("blocks.nodes", i=at.i)
            return Check(statement(
                "models.hierarchy", i=at.i, of_all=of_all, **fraction(self.t), **at.parts
            ))
        if self.distance in ("ordered", "numeric"):
            return self._along_line(at)
        equal = Check(
            statement("models.equal", i=at.i, j=at.j, **fraction(self.t)),
            held=statement("models.held_by_equal", j=at.j),
        )
        return equal if self.distance == "equal" else self._along_line(at, equal)

    def _along_line(self, at: Place, equal: Check | None = None) -> Check:
        i, j, parts = at.i, at.j, at.parts
        by_rank = self.distance != "numeric"
        as_value = by_rank and self.nulls == "value"
        known = "" if as_value else KNOWN
        if self.distance is None:
            # without an order nothing is moved along a line
            ordered = f"(SELECT {parts['ordered_of']} FROM __kanon_whole_{i})"
            known += f"{' AND' if known else ' WHERE'} {ordered}"
        position = "0" if by_rank else expression("models.position", i=i, **parts)
        line = statement("models.line", i=i, j=j, known=known, position=position, **parts)
        ranks = "ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent))"
        text = statement(
            "models.model_line", i=i, j=j, t=self.t, **fraction(self.t),
            exact="absent = 0 AND steps > 0" if by_rank else "false",
            known=f"CASE WHEN steps > 0 THEN {ranks} END" if by_rank else "gaps",
            missing="0" if as_value else "missing", absent="0" if as_value else "missing",
            added=" + CASE WHEN missing > 0 THEN 1 ELSE 0 END" if as_value else "",
            **parts,
        )
        if equal is None:
            return Check(text, (line,))
        text = statement("models.by_type", i=i, ordered=text, equal=equal.text, **parts)
        return Check(text, (line,), equal.held)


def _rounded(counts: Numbers, size: int, rows: int) -> int:
    """How far above their shares of ``size`` rows the counts are that are nearest to them, in rows
    of the table: each is a share rounded down or, where the remainder is largest, up."""
    over = np.sort(size * counts % rows)[::-1]
    up = over[: int(over.sum()) // rows]
    return len(up) * rows - int(up.sum())


def _off(below: Numbers, size: int, rows: int) -> Numbers:
    """How far the shares below each gap are from the nearest multiple of 1 / size, in rows of the
    table times size: int64, shape (gaps,)."""
    over = size * below % rows
    return np.minimum(over, rows - over)
