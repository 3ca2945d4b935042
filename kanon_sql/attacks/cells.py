"""Rows as an attacker sees them: known values on one side, published cells on the other.

A published cell is read as the audit reads it (kanon_sql/audit/published.py): as the values that it
may stand for. It is as far from a value as these are on average, so that a cell that hides much is
far from everybody: of numbers the difference over the range of the column, of texts 0 or 1 (Gower
1971). NULL is a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.audit.columns import Domain
from kanon_sql.audit.published import CellReader, never
from kanon_sql.audit.text import number_parser, values_as_numbers
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.hierarchies.tree import Tree

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PublishedCells:
    """The different published cells of a column.

    Attributes:
        numeric: whether the column holds numbers or times.
        low, high: float64, shape (cells,); of numbers the ends over the range of the column, NaN of
            NULL.
        only: int64, shape (cells,); of texts the only value that a cell may stand for, -1 where
            there are several.
        start, members: int64, shapes (cells + 1,) and (members,); of texts the values that each may
            stand for, ascending.
        spread: the range of the column; 1 of texts.
    """

    numeric: bool
    low: Floats
    high: Floats
    only: Places
    start: Places
    members: Places
    spread: float = 1.0


@dataclass(frozen=True)
class AttackedColumn:
    """A column in the release and in the tables of an attacker.

    Attributes:
        name: its name.
        cells: the different published cells.
        shown: int64, shape (released rows,); the cell of each released row.
        known: float64, shape (rows,), by table: numbers over the range of the column, NaN of NULL;
            of texts the place of the value.
    """

    name: str
    cells: PublishedCells
    shown: Places
    known: Mapping[str, Floats]


def read_column(
    name: str, kind: str, shown_kind: str, shown: pa.Array, known: Mapping[str, pa.Array],
    tree: Tree | None,
) -> AttackedColumn:
    """A column as an attacker sees it.

    Args:
        name: the column.
        kind, shown_kind: its SQL types in the source and in the release.
        shown: the cells of the release as texts, row by row.
        known: the values of the same column in other tables, as texts, row by row.
        tree: its hierarchy.
    """
    every = pa.chunked_array(list(known.values())).combine_chunks()
    counted = every.value_counts()
    texts = counted.field("values").drop_null()
    texts = texts.take(pc.sort_indices(texts))
    counts = np.ones(len(texts), np.int64)
    numbers = None
    if is_numeric(kind) and tree is None:
        numbers = values_as_numbers(texts, kind, never)
        if not np.isfinite(numbers).all():
            numbers = None
    domain = Domain(name, numbers is not None, texts, counts, every.null_count, numbers, tree)
    coded = shown.dictionary_encode()
    places = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
    reader = CellReader(domain, in_lists=shown_kind.endswith("[]"))
    published = [*coded.dictionary.to_pylist(), None]
    codes = {table: _codes(values, texts) for table, values in known.items()}
    if numbers is None or not len(numbers):
        return AttackedColumn(
            name, _texts(reader, published, domain), places.astype(np.int64),
            {table: code.astype(np.float64) for table, code in codes.items()},
        )
    spread = float(numbers.max() - numbers.min()) or 1.0
    scaled = np.append(numbers / spread, np.nan)
    return AttackedColumn(
        name, _numbers(reader, published, domain, spread), places.astype(np.int64),
        {table: scaled[code] for table, code in codes.items()},
    )


def tree_of(levels: pa.Table) -> Tree:
    """A hierarchy whose levels are the columns of a table, from the values to the root."""
    return Tree(tuple(
        column.combine_chunks().cast(pa.string()) for column in levels.columns
    ))


def _codes(values: pa.Array, texts: pa.Array) -> Places:
    """The place of each value, NULL after all."""
    found = pc.index_in(values, texts).fill_null(len(texts))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def _numbers(
    reader: CellReader, published: Sequence[str | None], domain: Domain, spread: float
) -> PublishedCells:
    assert domain.numbers is not None
    places = {text: at for at, text in enumerate(domain.values.to_pylist())}
    number = number_parser(places, domain.numbers)
    low, high = np.full(len(published), np.nan), np.full(len(published), np.nan)
    for i, text in enumerate(published):
        if text is None:
            continue
        point = number(text)
        if point is not None and np.isfinite(point):
            low[i] = high[i] = point
            continue
        members = reader.read(text).members
        members = members[members < len(domain.numbers)]
        # of what isn't understood nothing is known
        ends = domain.numbers[members] if len(members) else domain.numbers
        low[i], high[i] = ends.min(), ends.max()
    nothing = np.zeros(0, np.int64)
    return PublishedCells(
        True, low / spread, high / spread, np.full(len(published), -1), nothing, nothing, spread
    )


def _texts(
    reader: CellReader, published: Sequence[str | None], domain: Domain
) -> PublishedCells:
    every, null = len(domain.values) + bool(domain.nulls), np.array([len(domain.values)])
    members = []
    for text in published:
        # NULL stands for itself where somebody has it, else for what was left out
        own = reader.everything.members if text is None else reader.read(text).members
        own = np.sort(own[own < every])
        members.append(null if (text is None and domain.nulls) or not len(own) else own)
    sizes = np.array([len(each) for each in members])
    nothing = np.zeros(0, np.float64)
    return PublishedCells(
        False, nothing, nothing,
        np.array([each[0] if len(each) == 1 else -1 for each in members]),
        np.append(0, np.cumsum(sizes)), np.concatenate(members).astype(np.int64),
    )


@dataclass(frozen=True)
class Profiles:
    """The different combinations of published cells, as kernels read them.

    Attributes:
        columns: the columns, in the order of the second axis.
        cells: int64, shape (profiles, columns); the cell of each, as its column numbers them.
        rows: int64, shape (profiles,); how many released rows have it.
        of_row: int64, shape (released rows,); the profile of each.
    """

    columns: tuple[AttackedColumn, ...]
    cells: Places
    rows: Places
    of_row: Places

    @cached_property
    def numeric(self) -> npt.NDArray[np.bool_]:
        """Whether each column holds numbers, bool, shape (columns,)."""
        return np.array([each.cells.numeric for each in self.columns])

    def _by_cell(self, values: str) -> Floats:
        return np.column_stack([
            getattr(each.cells, values)[self.cells[:, a]] if each.cells.numeric
            else np.zeros(len(self.cells))
            for a, each in enumerate(self.columns)
        ])

    @cached_property
    def low(self) -> Floats:
        """The least number of each cell, float64, shape (profiles, columns)."""
        return self._by_cell("low")

    @cached_property
    def high(self) -> Floats:
        """The greatest number of each cell, float64, shape (profiles, columns)."""
        return self._by_cell("high")

    @cached_property
    def only(self) -> Places:
        """The only value of each cell, -1 where there are several, int64, as ``cells``."""
        return np.column_stack([
            np.full(len(self.cells), -1) if each.cells.numeric
            else each.cells.only[self.cells[:, a]]
            for a, each in enumerate(self.columns)
        ])

    @cached_property
    def members(self) -> tuple[Places, Places, Places]:
        """The values of all cells that have several, one after the other, and where those of each
        cell begin and end, int64, as ``cells``."""
        begin, end, parts, at = [], [], [], 0
        for a, each in enumerate(self.columns):
            if each.cells.numeric:
                begin.append(np.zeros(len(self.cells), np.int64))
                end.append(np.zeros(len(self.cells), np.int64))
                continue
            begin.append(each.cells.start[self.cells[:, a]] + at)
            end.append(each.cells.start[self.cells[:, a] + 1] + at)
            parts.append(each.cells.members)
            at += len(each.cells.members)
        flat = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return flat, np.column_stack(begin), np.column_stack(end)

    def known(self, table: str) -> Floats:
        """The values of a table, float64, shape (rows, columns)."""
        return np.column_stack([each.known[table] for each in self.columns])


def profiles_of(columns: Sequence[AttackedColumn]) -> Profiles:
    """The different combinations of the cells of these columns, at least one."""
    stacked = np.column_stack([each.shown for each in columns])
    cells, of_row, rows = np.unique(stacked, axis=0, return_inverse=True, return_counts=True)
    return Profiles(tuple(columns), cells, rows.astype(np.int64), of_row.reshape(-1))
