"""What an engine can say of all rows: counts, sums and values, in any order of the rows alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from kanon_sql.blocks.request import Request
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import NumberTotals
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.pipeline import trees_of
from kanon_sql.sql import expression


class ColumnRange(NamedTuple):
    """What the scale of a column of numbers begins with.

    Attributes:
        known: how many rows have a number.
        infinite: how many of these are infinite.
        low, high: the least and the largest; None without one.
        steps: the place of the coarsest steps on which all lie among those of the type, as
            kanon_sql.encode.precision.steps_of_type has them; their number where none are.
    """

    known: int
    infinite: int
    low: float | None
    high: float | None
    steps: int | None


class ColumnCounts(NamedTuple):
    """How many rows have a value in a column, and about how many different ones there are."""

    values: int
    about: int


class BlockSource(Protocol):
    """The rows that take part in a release."""

    @property
    def request(self) -> Request:
        """What is asked of them."""

    @property
    def session(self) -> Session:
        """Over a connection of our own."""

    @property
    def named(self) -> str:
        """What they are, in a sentence that asks to check them."""

    def ends(self, spots: Sequence[int]) -> tuple[int, list[ColumnRange]]:
        """How many rows there are, and the ends of these quasi-identifiers."""

    def rows_in(self) -> int:
        """How many rows there are with those that nulls 'suppress' leaves out."""

    def persons(self) -> int:
        """Whose rows they are."""

    def lacks_persons(self) -> bool:
        """Whether a row says of no person whose it is."""

    def sums(self, places: Mapping[int, NumberTotals]) -> Mapping[int, tuple[int, int]]:
        """The sums of quasi-identifiers and of their squares, in whole parts of their range."""

    def categories(self, spot: int) -> pa.Table:
        """How many rows have each category of a quasi-identifier: category VARCHAR, size."""

    def values_of(self, column: str) -> str:
        """SQL over the session of a relation in which a column has the values of all rows, as
        often as they have them, under its own name."""

    def counted(self, column: str, of_persons: bool) -> str:
        """SQL over the session of a relation in which values of a sensitive column stand as privacy
        models look at them, with the number of rows that have them: label, sorted, number, size.
        ``of_persons``: of one value for each person, NULL where the rows of the person differ."""

    def keep(self, name: str, table: pa.Table) -> Relation:
        """A table as a relation that each block reads."""

    def look(self, names: Sequence[str]) -> tuple[list[ColumnCounts], int]:
        """What columns look like, and about how many persons there are; 0 where rows are those."""

    def look_closely(self, name: str, of_persons: bool) -> tuple[Any, ...]:
        """How many rows have a value in a column, and how many values there are; how many rows have
        one that ``Request.call.least`` rows have; the least and the largest where they are whole
        numbers. ``of_persons``: of one row for each person whose rows agree."""


def levels_of(source: BlockSource, spec: HierarchySpec) -> list[pa.Array]:
    """The labels of the leaves of a hierarchy, level by level, root last, over all rows."""
    call = source.request.call
    tree = Hierarchies([spec], call.show_values, "__kanon_values").stages().rstrip(",\n")
    paths = source.session.rows(
        f"WITH __kanon_values AS {source.values_of(spec.column)}, {tree} "
        "SELECT unnest(paths) AS path FROM __kanon_tree_1"
    )
    height = len(paths[0][0])
    return [pa.array([path[level] for (path,) in paths], pa.string()) for level in range(height)]


def number_of(column: str) -> str:
    """SQL of the number that a column is in the encoding."""
    return f"(__kanon_cell({quoted(column)})).number"


def category_of(column: str) -> str:
    """SQL of the category that a column is in the encoding."""
    return f"(__kanon_cell({quoted(column)})).category"


def cell_of(request: Request, name: str) -> str:
    """SQL of the category of a column as it is stored."""
    texts = {caseless(n) for n in (*request.call.categorical, *(
        spec.column for spec in request.call.hierarchies
    ))}
    if caseless(name) in texts:
        return f"__kanon_key({quoted(name)})"
    return category_of(name)


def rows_sql(request: Request, relation: Relation | None = None, keyed: bool = True) -> str:
    """SQL of the rows that take part.

    Args:
        request: what is asked of them.
        relation: some of them; None: all.
        keyed: whether categories are the texts that they are known by.
    """
    columns = ", ".join(map(quoted, request.columns))
    known, without = (relation or request.source).sql, ""
    if request.place is not None:
        columns += f", {quoted(request.place)}"
        if relation is None and not request.carried:
            known = f"(SELECT *, row_number() OVER () AS {quoted(request.place)} FROM {known})"
    if request.call.task.nulls == "suppress":
        names = ", ".join(map(literal, request.quasi))
        without = f" WHERE __kanon_value(COLUMNS([{names}])) IS NOT NULL"
    rows = expression(
        "blocks.rows", columns=columns, relation=known, without_nulls=without
    )
    return trees_of(request.call).keyed(rows) if keyed else rows
