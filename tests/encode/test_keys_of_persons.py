"""Columns that may say whose row a row is, on rows of which that is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode import repeated
from kanon_sql.encode.arrow import CellColumns, Column, Keys, Rows
from kanon_sql.encode.repeated import (
    determines,
    independent,
    is_repeated,
    may_be_a_key,
    repeated_among,
    repeated_keys,
)

CODES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=12)


def follows(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether each value of a has one value of b."""
    found = defaultdict(set)
    for key, value in zip(a, b, strict=True):
        found[key].add(value)
    return all(len(values) == 1 for values in found.values())


@given(rows=CODES)
def test_a_column_determines_another_that_is_the_same_in_all_its_rows(
    rows: list[tuple[int, int, int]]
) -> None:
    columns = [np.array([row[j] for row in rows], np.int64) for j in range(3)]
    assert determines(columns[0], columns[1], 4) == follows(*(c.tolist() for c in columns[:2]))
    apart = [
        (i, j) for i in range(3) for j in range(i)
        if not follows(columns[i].tolist(), columns[j].tolist())
        and not follows(columns[j].tolist(), columns[i].tolist())
    ]
    assert independent(columns) == bool(apart)
    assert not independent(columns[:1]) and not independent([])


@pytest.mark.parametrize(("sizes", "enough"), [
    ([2] * 50, True), ([2] * 49, False), ([3] * 49 + [1], False),
    ([2] * 50 + [1] * 400, True), ([2] * 50 + [1] * 401, False),  # 90 % of the rows
    ([20] * 50 + [1] * 450, True), ([20] * 50 + [1] * 451, False),  # a tenth of the values
    ([2] * 50 + [0] * 900, True), ([1] * 99, False), ([], False),
])
def test_enough_values_are_in_several_rows(sizes: list[int], enough: bool) -> None:
    assert is_repeated(np.array(sizes, np.int64)) == enough


@pytest.mark.parametrize(("sql_type", "key"), [
    ("VARCHAR", True), ("UUID", True), ("BIGINT", True), ("UTINYINT", True),
    ("BOOLEAN", False), ("DOUBLE", False), ("DATE", False), ("DECIMAL(9,0)", False),
])
def test_texts_and_integers_may_be_keys(sql_type: str, key: bool) -> None:
    assert may_be_a_key(sql_type) == key


COLUMNS = [Column("Who", "VARCHAR"), Column("sex", "VARCHAR"), Column("born", "INTEGER"),
           Column("dose", "DOUBLE"), Column("land", "VARCHAR")]


def visits(persons: int = 120, each: int = 3) -> list[list[Any]]:
    """Rows of persons: who, sex, year of birth, dose, and a land that all have."""
    return [
        [f"p{p}", None if p % 3 == 0 else f"s{p % 3}", None if p % 7 == 1 else 1900.0 + p % 7,
         float(p * visit % 11), "x"]
        for visit in range(each) for p in range(persons)
    ]


def rows_of(table: Sequence[Sequence[Any]], by_row: bool = False, **fields: Any) -> Rows:
    who, sex, born, dose, land = zip(*table, strict=True)
    numbers = {j: np.array([np.nan if v is None else v for v in values])
               for j, values in ((2, born), (3, dose))}
    words = {j: pa.array(values, pa.string()) for j, values in ((0, who), (1, sex), (4, land))}
    cells: Any = CellColumns(numbers, words)
    if by_row:
        each = [{"number": v if isinstance(v, float) else None,
                 "category": v if isinstance(v, str) else None} for row in table for v in row]
        cells = pa.array(each, pa.struct([("number", pa.float64()), ("category", pa.string())]))
    return Rows({"cells": cells, **fields}, len(table))


def keys(rows: Rows, named: Sequence[str] | None = ()) -> list[tuple[str, list[str]]]:
    return list(repeated_keys(rows, COLUMNS, named))


@pytest.mark.parametrize("by_row", [False, True])
def test_who_has_the_same_sex_and_year_in_all_rows_may_be_a_person(by_row: bool) -> None:
    """What is the same in all rows of the table says nothing, and a missing value is a value."""
    found = [("Who", ["sex", "born"])]
    assert keys(rows_of(visits(), by_row)) == found
    assert keys(rows_of(visits(), by_row), ["sex", "born", "land"]) == found
    assert keys(rows_of(visits(), by_row), ["who"]) == []
    assert keys(rows_of(visits(), by_row), None) == []
    assert keys(rows_of(visits(50))) == found
    assert keys(rows_of(visits(49))) == []
    assert keys(rows_of(visits(each=1))) == []


def test_two_values_are_enough_to_say_something() -> None:
    table = [[who, f"s{int(who[1:]) % 2}", float(int(who[1:]) // 2 % 2), dose, land]
             for who, _, _, dose, land in visits()]
    assert keys(rows_of(table)) == [("Who", ["sex", "born"])]


def test_one_row_that_differs_is_enough_for_another_person() -> None:
    for spot, other in ((1, "s9"), (1, None), (2, 1950.0), (2, None)):
        table = visits()
        table[-1] = [*table[-1]]
        table[-1][spot] = other
        assert keys(rows_of(table)) == []
    table = visits()
    table[-1][3] = 99.0  # the dose is the visit's
    assert len(keys(rows_of(table))) == 1


def test_a_place_has_a_town_and_a_state_and_is_no_person() -> None:
    table = [[who, f"t{int(who[1:]) % 18}", float(int(who[1:]) % 6), dose, land]
             for who, _, _, dose, land in visits()]
    assert keys(rows_of(table)) == []


def test_a_column_of_few_values_is_not_counted() -> None:
    """The first thousand rows tell which have many."""
    table = visits(60, 40)
    assert len(keys(rows_of(table))) == 1
    late = [row for row in table if row[0] == "p0"] * 30 + table
    assert keys(rows_of(late)) == []


def test_of_many_rows_some_values_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "SOME", 90)
    # of 360 rows those of every fourth value: p0, p4, p8 ...
    assert keys(rows_of(visits())) == [("Who", ["sex", "born"])]
    for person, found in ((8, 0), (9, 1)):
        table = visits()
        table[person][1] = "other"
        assert len(keys(rows_of(table))) == found


def hashed(table: Sequence[Sequence[Any]], numbers: Any, name: str = "id") -> Keys:
    """All values of who, in any order of the rows."""
    order = np.random.default_rng(5).permutation(len(table))
    hashes = np.array([int(row[0][1:]) * 7919 for row in table], np.uint64)
    return Keys(name, np.array(numbers)[order], hashes[order])


def test_columns_without_a_role_are_found_by_hashes_of_their_values() -> None:
    """Whatever the order of the rows, of which some may have been left out."""
    table = visits()
    numbers = np.random.default_rng(1).permutation(np.arange(1000, 1000 + len(table)))
    unnamed = [hashed(table, numbers), hashed(table[:120], numbers[:120], "once"),
               hashed(table, numbers, "twin")]
    expected = [(name, ["sex", "born"]) for name in ("id", "twin")]
    others = COLUMNS[1:]

    def found(kept: Sequence[int]) -> Any:
        whole = rows_of([table[i] for i in kept], row=numbers[list(kept)])
        cells = whole.fields["cells"].only([1, 2, 3, 4])
        rows = Rows({**whole.fields, "cells": cells}, len(kept))
        return list(repeated_among(rows, others, unnamed))

    assert found(range(360)) == expected
    assert found(range(0, 360, 2)) == expected
    table[-1][1] = "other"
    assert found(range(360)) == []
    assert found(range(359)) == expected
