"""Columns that several rows of a person have in common: what they determine, and what is said."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import CellColumns, Column, Keys, Rows
from kanon_sql.encode.attributes import is_categorical, is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.encode.identifier_detection import INTEGER, LEAST_ROWS, LOOKED_AT, NEARLY
from kanon_sql.names import caseless
from kanon_sql.points.points import Labels

SOME = 50_000
"""About so many rows are looked at for what a column determines, those of some of its values."""
SHARE = 0.1
"""The least share of the values of such a column that several rows have."""


def repeated_notice(name: str, constant: Sequence[str]) -> str:
    """What is said of a column that may say whose row a row is, where nobody named an entity."""
    listed = ", ".join(map(repr, constant))
    return (
        f"Rows with the same {name!r} have the same {listed}, so it may identify the person of "
        f"each row, and k counts rows, not persons. If it does, name it in entity={name!r}."
    )


def may_be_a_key(sql_type: str) -> bool:
    """Whether a column of this type may say whose row a row is."""
    texts = is_categorical(sql_type) and sql_type != "BOOLEAN"
    return texts or bool(INTEGER.fullmatch(sql_type))


def is_repeated(sizes: Labels) -> bool:
    """Whether enough values stand in several rows, by how many rows have each."""
    values, several = int(np.sum(sizes > 0)), int(np.sum(sizes > 1))
    enough = several >= max(LEAST_ROWS, SHARE * values)
    return enough and values <= NEARLY * int(sizes.sum())


def determines(a: Labels, b: Labels, size: int) -> bool:
    """Whether equal values of a have equal values of b.

    Args:
        a, b: int64, shape (n,); the values, numbered from 0.
        size: how many values a has.
    """
    of = np.zeros(size, np.int64)
    of[a] = b  # the last row of each value counts, and all others must agree with it
    return bool(np.array_equal(of[a], b))


def independent(columns: Sequence[Labels]) -> bool:
    """Whether there are two of these columns of which neither determines the other: what a person
    has, where a place, say, has a town, a county and a state."""
    sizes = [int(column.max(initial=-1)) + 1 for column in columns]
    return any(
        not determines(a, b, sizes[i]) and not determines(b, a, sizes[j])
        for i, a in enumerate(columns) for j, b in enumerate(columns) if i < j
    )


def repeated_keys(
    rows: Rows, columns: Sequence[Column], named: Collection[str] | None
) -> Iterator[tuple[str, list[str]]]:
    """The quasi-identifiers that nobody named and that may say whose row a row is, each with the
    columns that are the same in all its rows.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers.
        named: those that somebody named, in lower case; None: all of them.
    """
    cells, count = rows.fields["cells"], rows.count
    for j, column in enumerate(columns):
        known = named is None or caseless(column.name) in named
        if known or not may_be_a_key(column.sql_type):
            continue
        few = _codes(cells, j, columns, np.arange(min(count, LOOKED_AT)))
        if len(np.unique(few)) < min(LEAST_ROWS, count):
            continue  # neither has many values, so it isn't worth counting them all
        codes = _codes(cells, j, columns, None)
        sizes = np.bincount(codes)
        if not is_repeated(sizes):
            continue
        some = np.flatnonzero(codes % max(1, count // SOME) == 0)
        constant = _constant(rows, columns, some, codes[some])
        constant.pop(column.name, None)
        if independent(list(constant.values())):
            yield column.name, list(constant)


def repeated_among(
    rows: Rows, columns: Sequence[Column], unnamed: Sequence[Keys]
) -> Iterator[tuple[str, list[str]]]:
    """The columns without a role that may say whose row a row is, each with the quasi-identifiers
    that are the same in all its rows.

    Args:
        rows: their numbers and the cells are read.
        columns: the quasi-identifiers.
        unnamed: of each such column some values, with all their rows.
    """
    for keys in unnamed:
        _, codes, sizes = np.unique(keys.hashes, return_inverse=True, return_counts=True)
        if not is_repeated(sizes):
            continue
        some, taking = _places(rows, keys.rows)
        constant = _constant(rows, columns, some, codes.reshape(-1)[taking])
        if independent(list(constant.values())):
            yield keys.name, list(constant)


def _places(rows: Rows, wanted: Labels) -> tuple[Labels, Labels]:
    """Where rows of these numbers are, and which of ``wanted`` they are: the others are left out,
    since they have a NULL."""
    numbers = rows.numbers("row")
    order = np.argsort(numbers, kind="stable")  # pieces of several threads may overlap
    first = np.searchsorted(numbers, wanted, sorter=order)
    last = np.searchsorted(numbers, wanted, side="right", sorter=order)
    taking = np.flatnonzero(last > first)
    return order[first[taking]], taking


def _constant(
    rows: Rows, columns: Sequence[Column], some: Labels, codes: Labels
) -> dict[str, Labels]:
    """The columns that are the same in all rows of a value, though not in all rows: their values,
    numbered from 0, in some rows.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers.
        some: int64, shape (m,); where these rows are.
        codes: int64, shape (m,); the value of each, numbered from 0.
    """
    constant = {}
    for i, column in enumerate(columns):
        values = _codes(rows.fields["cells"], i, columns, some)
        different = values.max(initial=0) > 0
        if different and determines(codes, values, int(codes.max(initial=-1)) + 1):
            constant[column.name] = values
    return constant


def _codes(
    cells: CellColumns | pa.StructArray, j: int, columns: Sequence[Column], some: Labels | None
) -> Labels:
    """The values of a column in some rows or in all, numbered from 0, NULL among them."""
    if is_numeric(columns[j].sql_type):
        numbers = number_column(cells, j, len(columns))
        return np.unique(
            numbers if some is None else numbers[some], return_inverse=True
        )[1].reshape(-1)
    texts = category_column(cells, j, len(columns))
    texts = texts if some is None else texts.take(pa.array(some))
    codes = texts.dictionary_encode().indices.cast(pa.int64()).fill_null(-1).to_numpy()
    return np.unique(codes, return_inverse=True)[1].reshape(-1)
