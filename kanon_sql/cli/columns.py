"""The columns of the table that a command line names, for who types their names."""

from __future__ import annotations

from collections.abc import Sequence

import click
import duckdb

from kanon_sql.call.relation import is_url
from kanon_sql.cli.sources import STDIN, opened
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import KanonError
from kanon_sql.names import caseless


def columns_like(ctx: click.Context, incomplete: str) -> list[str]:
    """What may stand in place of a word that is begun: its part before the last comma, and each
    column that goes on from the rest and isn't named yet.

    Nothing is read but what the table says of itself: no standard input, and no other machine.
    """
    before, comma, begun = incomplete.rpartition(",")
    named = {caseless(name) for name in before.split(",")}
    # where the option that is typed has no value yet, click leaves IN among what it hasn't read
    words: Sequence[str] = ctx.params.get("source") or ctx.args
    if isinstance(words, str):
        words = (words,)
    if any(word == STDIN or is_url(word) for word in words):
        return []
    return [
        f"{before}{comma}{name}" for name in _columns(
            words, ctx.params.get("database"), ctx.params.get("table")
        )
        if name.lower().startswith(begun.lower()) and caseless(name) not in named
    ]


def _columns(words: Sequence[str], database: str | None, table: str | None) -> list[str]:
    """The columns; none where there is no such table."""
    if not words and database is None:
        return []
    try:
        with opened(words, database, table) as read, Session(read.con) as session:
            return list(session.source(read.data).columns or ())
    except (KanonError, duckdb.Error, OSError):
        return []
