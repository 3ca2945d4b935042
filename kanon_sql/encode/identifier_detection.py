"""What the values of a column look like, where nobody said what the column is.

A column that looks like an identifier takes no part in the grouping and comes out as NULL: its most
frequent value in a class, or the value that passes, would be a person's own. Of 50 values or more,
these look like one:

- texts, where more than half of the rows have one that fewer than ``least`` rows have: k where a
  class releases one value, 2 where it releases all its values, and 5 (or k, if that is less) where
  the column passes unchanged;
- integers that are all different and number the rows, with no more than a gap for four numbers.

What anonymize_roles suggests as identifier is by the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import is_categorical, is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.names import caseless
from kanon_sql.points.points import Floats, Labels

LEAST_ROWS = 50
"""Fewer values say nothing by being all different."""
FEW = 20
"""Integers of no more values than these may be codes."""
LOOKED_AT = 1000
"""Values among which so many integers are looked for first."""
NEARLY = 0.9
"""The share of the persons that a column tells apart from which on it is spoken of."""
OF_A_SET = 2
"""A value that fewer rows have is a person's own in a set of values, too."""
INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
EXACT = 2.0**53


@dataclass(frozen=True)
class Looks:
    """What a column looks like.

    Attributes:
        identifier: like an identifier.
        coded: integers of few values, which may be codes.
        values, distinct: how many values that are not NULL it has, and how many different ones.
    """

    identifier: bool = False
    coded: bool = False
    values: int = 0
    distinct: int = 0


@dataclass(frozen=True)
class Profile:
    """What SQL counts of a column (see __kanon_profile in sql/macros/columns.sql).

    Attributes:
        name, sql_type: of the column.
        rows, values, distinct: its rows, values that are not NULL, and different ones of these.
        common: how many rows have a value that so many rows have as a class releases, or more.
        low, high: the least and the largest of its integers.
    """

    name: str
    sql_type: str
    rows: int
    values: int
    distinct: int
    common: int = 0
    low: int | None = None
    high: int | None = None

    @staticmethod
    def of(column: Column, struct: Mapping[str, Any]) -> Profile:
        """Of a column, from the struct of SQL, as JSON."""
        ends = [None if struct[end] is None else int(struct[end]) for end in ("low", "high")]
        return Profile(
            column.name, column.sql_type, struct["rows"], struct["values"], struct["distinct"],
            struct["common"], *ends
        )


@dataclass(frozen=True)
class OfPersons:
    """What SQL counts of a column by persons (see __kanon_of_persons in sql/macros/columns.sql).

    Attributes:
        persons: those who have a value.
        distinct: different values.
        common: those who have a value that so many persons have as a class releases, or more.
        agree: whether no two rows of a person have different values.
        several: persons with several values.
    """

    persons: int
    distinct: int
    common: int
    agree: bool
    several: int

    def like_entity(self, share: float) -> bool:
        """Whether it tells that share of the persons apart, and never a person from itself."""
        enough = self.persons >= LEAST_ROWS and self.distinct >= share * self.persons
        return self.agree and enough

    def is_entity(self, sql_type: str) -> bool:
        """Whether it is withheld where nobody gave it a role, and it would pass unchanged."""
        numbered = bool(INTEGER.fullmatch(sql_type)) and self.several >= LEAST_ROWS
        if is_categorical(sql_type) and sql_type != "BOOLEAN":
            return self.like_entity(0.0) and 2 * self.common < self.persons
        return self.like_entity(1.0) and numbered

    def of(self, profile: Profile) -> Profile:
        """The profile of one row of each person, where it is the same in all of them."""
        if not self.agree:
            return profile
        return replace(
            profile, rows=self.persons, values=self.persons, distinct=self.distinct,
            common=self.common,
        )


def judge(profile: Profile) -> Looks:
    """What a column looks like, by what is counted of it."""
    count, distinct = profile.values, profile.distinct
    if count < LEAST_ROWS:
        return Looks()
    if is_categorical(profile.sql_type) and profile.sql_type != "BOOLEAN":
        return Looks(2 * profile.common < count, False, count, distinct)
    if not INTEGER.fullmatch(profile.sql_type) or profile.low is None or profile.high is None:
        return Looks()
    numbers_rows = distinct == count and 4 * (profile.high - profile.low) < 5 * count
    return Looks(numbers_rows, 1 < distinct <= FEW, count, distinct)


def look(
    column: Column, numbers: Floats | None, texts: pa.Array | None, least: int = OF_A_SET
) -> Looks:
    """What a column looks like, by its values.

    Args:
        column: its name and type.
        numbers: float64, the values of a numeric column, NaN where missing.
        texts: those of any other column, plainly or as codes of a dictionary of no others.
        least: a text that fewer rows have is a person's own.
    """
    low = high = None
    common = 0
    if numbers is None:
        assert texts is not None
        codes = texts.dictionary_encode()  # as it is, where it came so
        rows, count, distinct = len(texts), len(texts) - texts.null_count, len(codes.dictionary)
        having = np.bincount(codes.indices.drop_null().to_numpy(), minlength=1)
        common = int(having[having >= least].sum())
    else:
        rows, known = len(numbers), numbers[~np.isnan(numbers)]
        if not INTEGER.fullmatch(column.sql_type) or len(known) < LEAST_ROWS:
            return Looks()
        count = len(known)
        low, high = int(known.min()), int(known.max())
        if max(abs(low), abs(high)) >= EXACT:
            # doubles can't tell such integers apart, but a range as wide as there are rows tells
            slack = 2 * int(np.spacing(float(max(abs(low), abs(high)))))
            if abs(high - low - (len(known) - 1)) <= slack < len(known) / 2:
                return Looks(True, values=len(known), distinct=len(known))
        if 4 * (high - low) >= 5 * len(known) and len(np.unique(known[:LOOKED_AT])) > FEW:
            return Looks(values=len(known))  # neither an identifier nor codes: not worth counting
        distinct = pc.count_distinct(pa.array(known)).as_py()
    return judge(Profile(column.name, column.sql_type, rows, count, distinct, common, low, high))


@dataclass(frozen=True)
class Suspects:
    """The columns of a relation that are to be spoken of.

    Attributes:
        hidden: those that look like an identifier and that nobody gave a role.
        notices: what is said of them, and of others.
    """

    hidden: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def hidden_notice(name: str) -> str:
    """What is said of a column that comes out as NULL."""
    return (
        f"The column {name!r} looks like an identifier and has no role, so it is released as NULL. "
        f"Drop it by identifiers=[{name!r}], or generalize it after all by "
        f"quasi_identifiers=[{name!r}, ...]."
    )


def key_notice(name: str, entity: str) -> str:
    """What is said of a column that passes unchanged and tells persons apart as the entity does."""
    return (
        f"The column {name!r} identifies nearly all persons, as {entity!r} does, and it is "
        f"released unchanged. If an attacker may know it, drop it by "
        f"identifiers=[{name!r}], or generalize it by quasi_identifiers=[{name!r}, ...]."
    )


def notices_of(
    name: str, looks: Looks, named: bool, generalized: bool = True
) -> tuple[str, ...]:
    """What is said of a column, by what it looks like.

    Args:
        name: the column.
        looks: what it looks like.
        named: whether somebody gave it its role: then that isn't questioned.
        generalized: whether it is a quasi-identifier.
    """
    if looks.identifier and not named:
        return (hidden_notice(name),)
    if looks.coded and generalized:
        return (
            f"The quasi-identifier {name!r} holds integers, and only {looks.distinct} different "
            f"ones. If they are codes, name it in categorical=[{name!r}].",
        )
    return ()


def find_suspects(
    rows: Rows, columns: Sequence[Column], named: Collection[str] | None,
    whose: Labels | None = None, least: int = OF_A_SET, told: Collection[str] = (),
) -> Suspects:
    """Looks at the quasi-identifiers of a relation.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers.
        named: those that somebody named, in lower case; None: all of them.
        whose: int64, shape (n,); the person of each row, where persons may have several. Of a
            column that is the same in all rows of a person one value of each is looked at.
        least: a text that fewer rows have is a person's own.
        told: columns of which it is said elsewhere that they are codes.
    """
    cells, width = rows.fields["cells"], len(columns)
    hidden: list[str] = []
    notices: list[str] = []
    for j, column in enumerate(columns):
        numeric = is_numeric(column.sql_type)
        known = named is None or caseless(column.name) in named
        if known and not INTEGER.fullmatch(column.sql_type):
            continue
        numbers = number_column(cells, j, width) if numeric else None
        texts = None if numeric else category_column(cells, j, width)
        one = None if whose is None else _one_of_each(numbers, texts, whose)
        if one is not None:
            numbers = None if numbers is None else numbers[one]
            texts = None if texts is None else texts.take(pa.array(one))
        looks = look(column, numbers, texts, least)
        if column.name in told:
            looks = replace(looks, coded=False)
        notices += notices_of(column.name, looks, known)
        if looks.identifier and not known:
            hidden.append(column.name)
    return Suspects(tuple(hidden), tuple(notices))


def _one_of_each(
    numbers: Floats | None, texts: pa.Array | None, whose: Labels
) -> Labels | None:
    """A row of each person, one with a value if there is one: int64, shape (persons,); None where
    two rows of a person have different values, or where a row is nobody's, which is refused.

    Args:
        numbers: float64, shape (n,), NaN where missing; or None.
        texts: of length n, where numbers is None.
        whose: int64, shape (n,); the person of each row, -1 for nobody.
    """
    if not len(whose) or whose.min() < 0:
        return None
    if numbers is None:
        assert texts is not None
        codes = texts.dictionary_encode().indices
        numbers = codes.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    missing = np.isnan(numbers)
    order = np.lexsort((missing, whose))
    first = np.append(True, np.diff(whose[order]) > 0)
    one = order[first]
    own = numbers[one][np.cumsum(first) - 1]
    agree = (numbers[order] == own) | missing[order]
    return one if bool(agree.all()) else None


def without(
    rows: Rows, columns: Sequence[Column], hidden: Collection[str]
) -> tuple[Rows, list[Column]]:
    """The rows and the quasi-identifiers without some of these."""
    fields = {
        name: cells_without(values, columns, hidden)
        if isinstance(values, (CellColumns, pa.StructArray)) and name != "secrets" else values
        for name, values in rows.fields.items()
    }
    return Rows(fields, rows.count), [column for column in columns if column.name not in hidden]


def cells_without(
    cells: CellColumns | pa.StructArray, columns: Sequence[Column], hidden: Collection[str]
) -> CellColumns | pa.StructArray:
    """Cells of rows without those of some columns."""
    kept = [j for j, column in enumerate(columns) if column.name not in hidden]
    if len(kept) == len(columns):
        return cells
    if isinstance(cells, CellColumns):
        return cells.only(kept)
    rows = np.arange(len(cells) // len(columns))
    spots = (rows[:, None] * len(columns) + np.array(kept, np.int64)).reshape(-1)
    return cells.take(pa.array(spots))
