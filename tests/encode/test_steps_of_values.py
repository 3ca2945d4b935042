"""How fine the values of a column are, against fractions."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode import precision
from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.precision import precisions_of, steps_of, steps_of_type

MICROSECONDS = {
    "day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
    "millisecond": 1_000,
}


@given(digits=st.integers(0, 9), whole=st.lists(st.integers(-10**5, 10**5), max_size=5))
def test_the_decimals_of_numbers_are_counted(digits: int, whole: list[int]) -> None:
    """Infinite and missing values have none."""
    values = [Decimal(number).scaleb(-digits) for number in whole]
    most = max((max(0, -int(v.normalize().as_tuple().exponent)) for v in values), default=0)
    floats = np.array([*map(float, values), np.nan, np.inf])
    assert steps_of(floats, "DOUBLE") == 10**most


def test_single_precision_knows_its_own_decimals() -> None:
    values = np.array([0.1, 2.7, -3.0], np.float32).astype(np.float64)
    assert steps_of(values, "FLOAT") == 10
    assert steps_of(values, "DOUBLE") is None


def test_numbers_with_ten_decimals_have_no_precision() -> None:
    assert steps_of(np.array([1 / 3, 2.0]), "DOUBLE") is None
    single = np.array([1e-10], np.float32).astype(np.float64)
    assert steps_of(single, "FLOAT") is None
    assert steps_of(np.array([3e-9]), "DOUBLE") == 10**9
    assert steps_of(np.array([3e-10]), "DOUBLE") is None
    assert steps_of(np.array([1e300, -1e300]), "DOUBLE") == 1


@pytest.mark.parametrize("sql_type", [
    "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE",
])
@pytest.mark.parametrize("unit", MICROSECONDS)
def test_times_lie_on_the_coarsest_unit_that_holds_all(unit: str, sql_type: str) -> None:
    step = MICROSECONDS[unit]
    values = np.array([-3.0, 0.0, 7.0, np.nan]) * step
    assert steps_of(values, sql_type) == step
    assert steps_of(np.append(values, 1.0), sql_type) is None


@pytest.mark.parametrize("sql_type", ["INTEGER", "DATE", "DECIMAL(9,2)", "TIMESTAMP_NS", "VARCHAR"])
def test_the_type_alone_says_how_fine_other_values_are(sql_type: str) -> None:
    assert steps_of_type(sql_type) == ()
    assert steps_of(np.array([0.0, 1.0]), sql_type) is None


def test_values_are_looked_at_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pieces count, wherever the finest value lies."""
    monkeypatch.setattr(precision, "PIECE", 2)
    for spot in range(7):
        for value, steps in ((0.25, 100), (0.1, 10)):
            values = np.ones(7)
            values[spot] = value
            assert steps_of(values, "DOUBLE") == steps
    assert steps_of(np.array([0.5, 1.0, 0.25, 1.0, 1.0]), "DOUBLE") == 100
    assert steps_of(np.array([1 / 3, 1.0, 1.0, 1.0, 1.0]), "DOUBLE") is None


def test_columns_are_told_in_lower_case_where_they_have_steps() -> None:
    columns = [Column("Price", "DOUBLE"), Column("n", "INTEGER"), Column("x", "DOUBLE"),
               Column("word", "VARCHAR"), Column("at", "TIMESTAMP")]
    numbers = {0: np.array([0.25, 1.5]), 1: np.array([1.0, 2.0]), 2: np.array([1 / 3, 1.0]),
               4: np.array([0.0, 120e6])}
    rows = Rows({"cells": CellColumns(numbers, {})}, 2)
    assert precisions_of(rows, columns) == {"price": 100, "at": 60_000_000}
