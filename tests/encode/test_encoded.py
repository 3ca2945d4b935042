"""The embedding: scales, NULLs, categories, and an order that comes from content alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import Numeric
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import encode
from kanon_sql.errors import DataError
from kanon_sql.methods import task_for
from kanon_sql.points.losses import sst

NUMBER, TEXT = "DOUBLE", "VARCHAR"


def rows_of(
    columns: Sequence[tuple[str, Sequence[Any]]], hashes: Sequence[int] | None = None
) -> tuple[Rows, list[Column]]:
    """Rows of columns given as (type, values), named a, b, c ..."""
    rows = list(zip(*(values for _, values in columns), strict=True))
    cells = [
        {"number": value if kind == NUMBER else None, "category": value if kind == TEXT else None}
        for row in rows
        for (kind, _), value in zip(columns, row, strict=True)
    ]
    kinds = pa.struct([("number", pa.float64()), ("category", pa.string())])
    seals = np.arange(len(rows)) if hashes is None else np.array(hashes)
    fields = {"cells": pa.array(cells, kinds), "hash": pa.array(seals.astype(np.uint64))}
    return Rows(fields, len(rows)), [
        Column(chr(ord("a") + j), kind) for j, (kind, _) in enumerate(columns)
    ]


def encoded(
    columns: Sequence[tuple[str, Sequence[Any]]],
    hashes: Sequence[int] | None = None,
    **options: Any,
) -> Encoded:
    """Encodes columns given as (type, values), named a, b, c ..."""
    return encode(*rows_of(columns, hashes), task_for("mdav", 2, **options), {})


def total_variance(result: Encoded) -> float:
    return sst(result.squared()) / len(result.squared())


def test_a_number_is_standardized() -> None:
    result = encoded([(NUMBER, [1.0, 3.0, 5.0, 7.0])])
    assert result.squared().numeric[:, 0] == pytest.approx(np.array([-3, -1, 1, 3]) / np.sqrt(5))


@given(st.lists(st.none() | st.integers(-50, 50), min_size=2, max_size=30))
def test_a_column_with_nulls_has_variance_one_in_all(values: list[int | None]) -> None:
    floats = [None if v is None else float(v) for v in values]
    result = encoded([(NUMBER, floats)])
    expected = 1.0 if len(set(values)) > 1 else 0.0
    assert total_variance(result) == pytest.approx(expected)


def test_a_null_is_the_mean_plus_an_indicator() -> None:
    result = encoded([(NUMBER, [0.0, 2.0, None, None])])
    by_input = np.empty((4, 2))
    by_input[result.order] = result.squared().numeric
    # known values keep their own deviation; the indicator brings the variance to 1
    assert by_input[:, 0] == pytest.approx([-1, 1, 0, 0])
    assert by_input[:, 1] == pytest.approx([0, 0, np.sqrt(2), np.sqrt(2)])


def test_categories_are_equidistant_and_null_is_one_of_them() -> None:
    result = encoded([(TEXT, ["x", "y", None, "x"])])
    # shares 1/2, 1/4, 1/4: the variance of the one-hot vectors is 1 - 3/8
    assert result.squared().scale == pytest.approx([1 / (1 - 3 / 8)])
    assert total_variance(result) == pytest.approx(1.0)
    assert len(set(result.squared().codes[:, 0])) == 3


def test_weights_are_the_total_variance_of_a_column() -> None:
    values = [(NUMBER, [1.0, 2.0, None, 9.0]), (TEXT, list("abca"))]
    assert total_variance(encoded(values)) == pytest.approx(2.0)
    assert total_variance(encoded(values, weights={"A": 3.0,
                                                          "b": 0.5})) == pytest.approx(3.5)
    assert total_variance(encoded(values, weights={"a": 0.0})) == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e5, 1e300])
def test_no_range_is_too_large_or_too_small(scale: float) -> None:
    result = encoded([(NUMBER, [-scale, 0.0, scale, scale])])
    plain = encoded([(NUMBER, [-1.0, 0.0, 1.0, 1.0])])
    assert result.squared().numeric == pytest.approx(plain.squared().numeric, rel=1e-12)


def test_constant_columns_take_no_part() -> None:
    result = encoded([(NUMBER, [0.1] * 5), (TEXT, ["x"] * 5), (NUMBER, [None] * 5)])
    assert result.squared().numeric.shape == (5, 0)
    assert result.squared().codes.shape == (5, 0)


def test_zeros_of_both_signs_are_one_value() -> None:
    result = encoded([(NUMBER, [0.0, -0.0, 1.0])], hashes=[2, 1, 0])
    assert list(result.order) == [1, 0, 2]


cells = st.tuples(
    st.none() | st.floats(-9, 9, allow_nan=False) | st.just(-0.0), st.sampled_from([None, "", "x"])
)


@given(st.lists(cells, min_size=1, max_size=25), st.randoms())
def test_the_order_comes_from_content_alone(rows: list[tuple[Any, Any]], random: Any) -> None:
    keyed = [(row, hash(str(row)) % 2**63) for row in rows]
    first = encoded([(NUMBER, [r[0] for r, _ in keyed]), (TEXT, [r[1] for r, _ in keyed])],
                    [h for _, h in keyed])
    random.shuffle(keyed)
    second = encoded([(NUMBER, [r[0] for r, _ in keyed]), (TEXT, [r[1] for r, _ in keyed])],
                     [h for _, h in keyed])
    assert np.array_equal(first.squared().numeric, second.squared().numeric)
    assert np.array_equal(first.squared().codes, second.squared().codes)


def test_copies_of_a_row_are_scattered_among_others_that_tie() -> None:
    # forty rows alike in all quasi-identifiers: twenty of one content, twenty of another
    hashes = [111] * 20 + [222] * 20
    result = encoded([(NUMBER, [1.0] * 40)], hashes)
    kinds = np.array(hashes)[result.order]
    runs = 1 + int(np.sum(kinds[1:] != kinds[:-1]))
    assert runs > 10


def test_a_released_value_lands_where_its_source_would() -> None:
    values = np.array([3.0, 4.0, np.nan, 8.0])
    column = Numeric.fit("a", 1.0, values)
    assert np.array_equal(column.coordinates(values)[:1], column.coordinates(values[:1]))


def test_what_can_not_be_encoded_is_refused() -> None:
    with pytest.raises(DataError, match="'a' has 1 infinite values"):
        encoded([(NUMBER, [1.0, float("inf")])])
    with pytest.raises(DataError, match="'b' has 2 rows with NULL or NaN"):
        encoded([(NUMBER, [1.0, 2.0]), (TEXT, [None, None])], nulls="error")
