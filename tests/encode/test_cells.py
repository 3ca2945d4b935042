"""Cells, column by column and row by row: both are read alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.cells import (
    Cells,
    categories_of_both,
    category_column,
    check_types,
    has_categories,
    has_numbers,
    number_column,
    refuse,
)
from kanon_sql.errors import DataError
from tests.encode.cities import by_rows

WORDS = st.lists(st.sampled_from(("", "a", "A", "b", None)), max_size=9)
COLUMNS = [Column("job", "VARCHAR"), Column("age", "DOUBLE"), Column("day", "DATE")]
ROWS: list[Any] = [("cook", 1.5, 3.0), (None, -0.0, None), ("nurse", None, 0.0)]


def by_columns(rows: Sequence[Sequence[Any]]) -> CellColumns:
    words, *numbers = zip(*rows, strict=True)
    return CellColumns({
        j: np.array([math.nan if v is None else v + 0.0 for v in values])
        for j, values in enumerate(numbers, 1)
    }, {0: pa.array(words, pa.string())})


@pytest.mark.parametrize("shape", [by_rows, by_columns])
def test_cells_are_read_by_column(shape: Any) -> None:
    cells = shape(ROWS)
    assert category_column(cells, 0, 3).to_pylist() == ["cook", None, "nurse"]
    age = number_column(cells, 1, 3)
    assert repr(age.tolist()) == "[1.5, 0.0, nan]"  # not -0.0
    assert repr(number_column(cells, 2, 3).tolist()) == "[3.0, nan, 0.0]"
    read = Cells.of(Rows({"cells": cells}, 3), COLUMNS, "value")
    assert read.missing.tolist() == [[False] * 3, [True, False, True], [False, True, False]]
    assert sorted(read.numbers) == [1, 2] and sorted(read.words) == [0]
    codes = {0: np.array([[0], [2], [1]], np.int32)}
    assert read.order(codes, ()).tolist() == [0, 2, 1]
    first = {0: np.array([[0], [0], [0]], np.int32)}
    assert read.order(first, ()).tolist() == [1, 0, 2]


def test_it_is_known_which_columns_may_have_what() -> None:
    columns, rows = by_columns(ROWS), by_rows(ROWS)
    assert [has_numbers(columns, j) for j in range(3)] == [False, True, True]
    assert [has_categories(columns, j) for j in range(3)] == [True, False, False]
    assert all(has_numbers(rows, j) and has_categories(rows, j) for j in range(3))


@given(one=WORDS, other=WORDS)
def test_categories_of_both_have_the_same_numbers(
    one: list[str | None], other: list[str | None]
) -> None:
    cells = [CellColumns({}, {0: pa.array(each, pa.string())}) for each in (one, other)]
    codes = np.concatenate(categories_of_both(cells[0], cells[1], 0, 1)).tolist()
    values = one + other
    for a, this in zip(codes, values, strict=True):
        assert (a == -1) == (this is None) and a >= -1
        for b, that in zip(codes, values, strict=True):
            assert (a == b) == (this == that)


def test_categories_of_both_are_those_of_their_column() -> None:
    found = categories_of_both(by_rows([(1.0, "a"), (2.0, "b")]), by_rows([(1.0, "b")]), 1, 2)
    assert [codes.tolist() for codes in found] == [[0, 1], [1]]


def test_only_types_with_an_order_or_single_values_are_taken() -> None:
    check_types([*COLUMNS, Column("flag", "BOOLEAN"), Column("at", "TIMESTAMP_NS")])
    for sql_type in ("INTEGER[]", "STRUCT(a INTEGER)", "INTERVAL"):
        with pytest.raises(DataError, match="quasi-identifier 'a' has the type"):
            check_types([*COLUMNS, Column("a", sql_type)])


def test_infinite_values_are_refused_and_missing_ones_where_they_are_an_error() -> None:
    values, missing = np.array([np.inf, -np.inf, 1.0]), np.array([True, False, False])
    with pytest.raises(DataError, match="'a' has 2 infinite values"):
        refuse("a", values, np.zeros(3, np.bool_), "value")
    with pytest.raises(DataError, match="quasi-identifier 'a' has 1 rows with NULL or NaN"):
        refuse("a", None, missing, "error")
    for nulls in ("value", "suppress"):
        refuse("a", values[2:], missing, nulls)
    refuse("a", values[2:], np.zeros(3, np.bool_), "error")
    with pytest.raises(DataError, match="'job' has 1 rows with NULL"):
        Cells.of(Rows({"cells": by_columns(ROWS)}, 3), COLUMNS, "error")
    with pytest.raises(DataError, match="'age' has 1 infinite values"):
        Cells.of(Rows({"cells": by_rows([("a", np.inf, 1.0)])}, 1), COLUMNS, "value")
