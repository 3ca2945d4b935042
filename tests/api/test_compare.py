"""Methods beside each other, and the list of them, in Python."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.api.comparison import METRICS
from kanon_sql.methods import METHODS

PEOPLE = {"age": [34, 36, 35, 71, 70, 72], "flu": [True, False, True, True, False, True]}
METRIC_COLUMNS = ["method", "k_requested", *METRICS, "seconds", "refused"]


def columns_of(frame: Any) -> list[str]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table, dict])
def test_methods_stand_beside_each_other_in_a_frame_of_the_kind(kind: Any) -> None:
    given = kind(PEOPLE)
    found = kanon_sql.compare(given, k=[2, 3], methods=["mondrian", "optimal_1d"], sensitive="flu")
    assert type(found) is (pa.Table if kind is dict else type(given))
    assert columns_of(found) == METRIC_COLUMNS
    rows = duckdb.sql("SELECT method, k_requested, k, refused FROM found").fetchall()
    assert rows == [
        ("mondrian", 2, 3.0, None), ("optimal_1d", 2, 3.0, None),
        ("mondrian", 3, 3.0, None), ("optimal_1d", 3, 3.0, None),
    ]


@pytest.mark.slow
def test_what_can_not_be_compared_is_refused() -> None:
    found = kanon_sql.compare(PEOPLE, k=3, methods=["mondrian", "zip_regions"], sensitive="flu")
    assert found["refused"].to_pylist()[0] is None
    assert "zip_regions" in found["refused"].to_pylist()[1]
    with pytest.raises(kanon_sql.OptionError, match=r"No method takes .* There are 6 rows"):
        kanon_sql.compare(PEOPLE, k=7, methods="mondrian", sensitive="flu")
    with pytest.raises(kanon_sql.OptionError, match="compare takes no method"):
        kanon_sql.compare(PEOPLE, method="mdav")  # type: ignore[call-arg]
    with pytest.raises(kanon_sql.OptionError, match="methods is not a list"):
        kanon_sql.compare(PEOPLE, methods=[])


def test_the_methods_are_those_of_sql() -> None:
    told = kanon_sql.anonymize_methods()
    assert set(told["method"].to_pylist()) == {*METHODS}
    con = kanon_sql.register(duckdb.connect())
    assert con.sql("FROM anonymize_methods()").to_arrow_table() == told
