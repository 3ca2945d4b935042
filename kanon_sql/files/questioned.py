"""Columns that nobody named and that would pass unchanged: none may look like an identifier."""

from __future__ import annotations

from kanon_sql.duckdb.session import Session
from kanon_sql.encode.looks import Profile, judge
from kanon_sql.errors import DataError
from kanon_sql.files.asked import Asked
from kanon_sql.names import quoted
from kanon_sql.sql import expression, statement

NEARLY = 0.8
"""How much fewer different values than there must be are enough to count them exactly: what counts
them about is off by a few percent."""


def may_be_own(about: int, values: int, least: int) -> bool:
    """Whether more than half of the values may be such that fewer than ``least`` have, by about how
    many different ones there are."""
    return about >= NEARLY * values / (2 * (least - 1))


LIKE = (
    "The column {!r}, which nobody named, looks like an identifier: no block can tell, so it would "
    "come out. Name it in identifiers=[...], or in sensitive=[...] if it is to pass, or say "
    "others='drop'."
)


def refuse_identifiers(session: Session, asked: Asked, rows: str) -> None:
    """Raises DataError for a column that nobody named and that looks like an identifier: of rows,
    or where these are of persons, of persons.

    Args:
        rows: SQL of all rows.
    """
    if not asked.questioned:
        return
    looks = [expression("blocks.looks", column=quoted(name)) for name in asked.questioned]
    persons = "0" if asked.entity is None else f"approx_count_distinct({quoted(asked.entity)})"
    ((found, people),) = session.rows(f"SELECT [{', '.join(looks)}], {persons} FROM {rows}")
    for name, look in zip(asked.questioned, found, strict=True):
        least, about = asked.call.least, look["about"]
        near_rows = may_be_own(about, look["values"], least)
        near_persons = people and may_be_own(about, people, least)
        if (near_rows or near_persons) and _like(session, asked, rows, name):
            raise DataError(LIKE.format(name))


def _like(session: Session, asked: Asked, rows: str, name: str) -> bool:
    """Whether a column looks like an identifier, by all its values."""
    kind = asked.types[name]
    least = asked.call.least
    texts = [statement("blocks.looks_closely", column=quoted(name), rows=rows, least=least)]
    if asked.entity is not None:  # one row of each person, where all its rows agree
        entity = quoted(asked.entity)
        of_persons = (
            f"(SELECT {entity}, any_value({quoted(name)}) AS {quoted(name)} FROM {rows} "
            f"GROUP BY {entity} HAVING count(DISTINCT {quoted(name)}) = 1)"
        )
        texts.append(
            statement("blocks.looks_closely", column=quoted(name), rows=of_persons, least=least)
        )
    for text in texts:
        ((values, distinct, *rest),) = session.rows(text)
        if judge(Profile(name, kind, values, values, distinct, *rest)).identifier:
            return True
    return False


