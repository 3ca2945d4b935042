"""Catalogs that a test makes up, in place of a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kanon_sql.call.catalog import CatalogEntry, Content
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.codes import CodeFacts


class MadeUp:
    """Knows tables by the last part of their name, and what their columns' comments say."""

    def __init__(self, tables: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        self._tables = tables or {}

    def entry(self, parts: tuple[str, ...]) -> CatalogEntry | None:
        columns = self._tables.get(parts[0]) if len(parts) == 1 else None
        return None if columns is None else CatalogEntry(columns, ("memory", "main", parts[0]))

    def comments(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return ()

    def content(self, sql: str) -> Content:
        if sql != '"my_roles"':
            raise OptionError(f"The relation {sql} can't be read.")
        row = ("age", "quasi_identifier")
        return Content(("column_name", "role"), (row,), (str(row),))

    def facts(self, sql: str, columns: Iterable[str]) -> tuple[CodeFacts, ...]:
        raise OptionError(f"The relation {sql} can't be read.")
