"""What the values of a column look like, where nobody said what the column is.

A column that looks like an identifier takes no part in the grouping and comes out as NULL: its mean
or its most frequent value would be a real person's. The rule is strict, so that it is no guess:
texts that are all different in 50 rows or more, or integers that number the rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.points.points import Floats

LEAST_ROWS = 50
"""Fewer values say nothing by being all different."""
FEW = 20
"""Integers of no more values than these may be codes."""
NEARLY = 0.9
"""The share of values that differ from which on a column is nearly distinct."""
INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
EXACT = 2.0**53


@dataclass(frozen=True)
class Looks:
    """What a column looks like.

    Attributes:
        identifier: like an identifier.
        nearly: nearly distinct texts.
        coded: integers of few values, which may be codes.
        values, distinct: how many values that are not NULL it has, and how many different ones.
    """

    identifier: bool = False
    nearly: bool = False
    coded: bool = False
    values: int = 0
    distinct: int = 0


def look(column: Column, numbers: Floats | None, texts: pa.Array | None) -> Looks:
    """What a column looks like, by its values.

    Args:
        column: its name and type.
        numbers: float64, the values of a numeric column, NaN where missing.
        texts: those of any other column.
    """
    if numbers is None:
        assert texts is not None
        return Looks() if column.sql_type == "BOOLEAN" else _look_at_texts(texts.drop_null())
    if not INTEGER.fullmatch(column.sql_type):
        return Looks()
    return _look_at_integers(numbers[~np.isnan(numbers)])


def _look_at_texts(values: pa.Array) -> Looks:
    count = len(values)
    if count < LEAST_ROWS:
        return Looks()
    distinct = pc.count_distinct(values).as_py()
    return Looks(distinct == count, NEARLY * count <= distinct < count, False, count, distinct)


def _look_at_integers(values: Floats) -> Looks:
    count = len(values)
    if count < LEAST_ROWS:
        return Looks()
    least, most = float(values.min()), float(values.max())
    distinct = pc.count_distinct(pa.array(values)).as_py()
    if most - least == count - 1 and distinct == count:
        return Looks(True, False, False, count, count)
    if max(abs(least), abs(most)) >= EXACT:
        # doubles can't tell such numbers apart; a range as wide as there are rows can
        slack = 2.0 * float(np.spacing(max(abs(least), abs(most))))
        if abs(most - least - (count - 1)) <= slack and slack < count / 2:
            return Looks(True, False, False, count, count)
    return Looks(False, False, distinct <= FEW, count, distinct)


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
        f"The column {name!r} looks like an identifier and has no role, so it comes out as NULL. "
        f"Drop it by identifiers=[{name!r}], or generalize it after all by "
        f"quasi_identifiers=[{name!r}, ...]."
    )


def notices_of(name: str, looks: Looks, named: bool) -> tuple[str, ...]:
    """What is said of a quasi-identifier, by what it looks like.

    Args:
        name: the column.
        looks: what it looks like.
        named: whether somebody named it a quasi-identifier: then its kind isn't questioned.
    """
    if looks.identifier and not named:
        return (hidden_notice(name),)
    if looks.nearly and not named:
        return (
            f"The column {name!r} has {looks.distinct} different values in {looks.values} rows and "
            f"no role. If it tells persons apart, drop it by identifiers=[{name!r}].",
        )
    if looks.coded:
        return (
            f"The quasi-identifier {name!r} holds integers, and only {looks.distinct} different "
            f"ones. If they are codes, name it in categorical=[{name!r}].",
        )
    return ()


def find_suspects(
    rows: Rows, columns: Sequence[Column], named: Collection[str] | None
) -> Suspects:
    """Looks at the quasi-identifiers of a relation.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers.
        named: those that somebody named, in lower case; None: all of them.
    """
    cells, width = rows.fields["cells"], len(columns)
    hidden: list[str] = []
    notices: list[str] = []
    for j, column in enumerate(columns):
        numeric = is_numeric(column.sql_type)
        known = named is None or column.name.lower() in named
        if known and not INTEGER.fullmatch(column.sql_type):
            continue
        looks = look(
            column,
            number_column(cells, j, width) if numeric else None,
            None if numeric else category_column(cells, j, width),
        )
        notices += notices_of(column.name, looks, known)
        if looks.identifier and not known:
            hidden.append(column.name)
    return Suspects(tuple(hidden), tuple(notices))


def without(
    rows: Rows, columns: Sequence[Column], hidden: Collection[str]
) -> tuple[Rows, list[Column]]:
    """The rows and the quasi-identifiers without some of these."""
    kept = [j for j, column in enumerate(columns) if column.name not in hidden]
    if len(kept) == len(columns):
        return rows, list(columns)
    spots = (np.arange(rows.count)[:, None] * len(columns) + np.array(kept)).reshape(-1)
    taken = pa.array(spots.astype(np.int64))
    fields = {
        name: values.take(taken) if isinstance(values, pa.StructArray) else values
        for name, values in rows.fields.items()
    }
    return Rows(fields, rows.count), [columns[j] for j in kept]
