"""What the planner may know of relations before the query runs: nothing that isn't committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kanon_sql.hierarchies.codes import CodeFacts
from kanon_sql.names import caseless

Place = tuple[str, str, str]
"""Database, schema and name."""


@dataclass(frozen=True)
class Base:
    """A table that a view reads, or another view with comments of its own.

    Attributes:
        place: where it stands.
        columns: its columns, and their comments; of a view those that have one.
        read: those that the view reads, in lower case; None where that isn't known.
    """

    place: Place
    columns: Mapping[str, str | None]
    read: frozenset[str] | None = None


@dataclass(frozen=True)
class ViewColumn:
    """What a column of a view shows.

    Attributes:
        plain: the name of the one column that it shows as it is, in lower case; else None.
        of: the columns of tables that its values are made of, in lower case; None where that isn't
            known.
    """

    plain: str | None
    of: frozenset[tuple[Place, str]] | None


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog knows of a committed table or view.

    Attributes:
        columns: its columns, and their comments.
        place: where it stands; None for what stands in no catalog, such as a frame.
        bases: the tables that a view reads, by way of other views too.
        shown: what its columns show that don't show a column of their own name as it is: those of
            a view, and generated ones of a table.
        calls: the table functions that a view calls which isn't bound here, by way of other views
            too, in lower case.
    """

    columns: Mapping[str, str | None]
    place: Place | None = None
    bases: tuple[Base, ...] = ()
    shown: Mapping[str, ViewColumn] = field(default_factory=dict)
    calls: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which its comments stand: its own, and those of the tables it reads."""
        places = (self.place, *(base.place for base in self.bases))
        return tuple(dict.fromkeys(caseless(place[-1]) for place in places if place is not None))


@dataclass(frozen=True)
class Content:
    """The rows of a relation that the planner reads.

    Attributes:
        names: its columns.
        rows: their values.
        lines: each row as one text, sorted; by these the query knows that nothing has changed.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[str, ...]


class Catalog(Protocol):
    """Reads the catalog of the caller's database, from where the caller stands."""

    def entry(self, parts: tuple[str, ...]) -> CatalogEntry | None:
        """The table or view that DuckDB takes for a name; None where it finds none in the catalog:
        a file, a variable, a CTE, what is temporary or uncommitted.

        Raises:
            OptionError: it can't be told which one is meant.
        """

    def comments(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The comments on columns of all relations of these names that may declare a role, each as
        'database.schema.table.column comment'."""

    def content(self, sql: str) -> Content:
        """The rows of a relation, by its name as it stands in FROM.

        Raises:
            OptionError: it can't be read.
        """

    def facts(self, sql: str, columns: Iterable[str]) -> tuple[CodeFacts, ...]:
        """What is known of columns of a relation, over all its rows, in the order given.

        Raises:
            OptionError: it can't be read.
        """
