"""Columns that nobody named and that would pass unchanged: none may look like an identifier."""

from __future__ import annotations

from kanon_sql.blocks.source import BlockSource
from kanon_sql.encode.identifier_detection import Profile, judge
from kanon_sql.errors import DataError

NEARLY = 0.8
"""How much fewer different values than there must be are enough to count them exactly: what counts
them about is off by a few percent."""

LIKE = (
    "The column {!r}, which has no role, looks like an identifier, and a release in blocks would "
    "include it. Name it in identifiers=[...], or in sensitive=[...] to release it, or say "
    "others='drop'."
)


def refuse_identifiers(source: BlockSource) -> None:
    """Raises DataError for a column that nobody named and that looks like an identifier: of rows,
    or where these are of persons, of persons."""
    request = source.request
    if not request.questioned:
        return
    looks, persons = source.look(request.questioned)
    for name, look in zip(request.questioned, looks, strict=True):
        near_rows = _may_be_own(look.about, look.values, request.call.least)
        near_persons = persons and _may_be_own(look.about, persons, request.call.least)
        if (near_rows or near_persons) and _like(source, name):
            raise DataError(LIKE.format(name))


def _may_be_own(about: int, values: int, least: int) -> bool:
    """Whether more than half of the values may be such that fewer than ``least`` have, by about how
    many different ones there are."""
    return about >= NEARLY * values / (2 * (least - 1))


def _like(source: BlockSource, name: str) -> bool:
    """Whether a column looks like an identifier, by all its values."""
    kind = source.request.types[name]
    for of_persons in (False, True)[:1 if source.request.entity is None else 2]:
        values, *rest = source.look_closely(name, of_persons)
        if judge(Profile(name, kind, values, values, *rest)).identifier:
            return True
    return False
