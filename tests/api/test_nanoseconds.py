"""Times of frames that are finer than DuckDB takes them: kept, or refused, never cut off."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.duckdb.truncated import _in_microseconds, _is_finer
from kanon_sql.errors import DataError

FINE = list(range(6))
COARSE = [1000 * value for value in FINE]


def made(values: list[int]) -> dict[str, Any]:
    """Frames with times of so many nanoseconds."""
    longs = pa.array(values, pa.int64())
    moments = pd.to_datetime(values, unit="ns")
    return {
        "pandas": pd.DataFrame({"a": FINE, "s": moments}),
        "pandas, zone": pd.DataFrame({"a": FINE, "s": moments.tz_localize("UTC")}),
        "pandas, length": pd.DataFrame({"a": FINE, "s": pd.to_timedelta(values, unit="ns")}),
        "pandas, objects": pd.DataFrame({"a": FINE, "s": pd.Series(list(moments), dtype=object)}),
        "arrow": pa.table({"a": FINE, "s": longs.cast(pa.timestamp("ns"))}),
        "arrow, zone": pa.table({"a": FINE, "s": longs.cast(pa.timestamp("ns", "UTC"))}),
        "arrow, length": pa.table({"a": FINE, "s": longs.cast(pa.duration("ns"))}),
        "arrow, lists": pa.table({"a": FINE, "s": pa.array(
            [[value] for value in values], pa.list_(pa.duration("ns")))}),
        "arrow, months": pa.table({"a": FINE, "s": pa.array(
            [None, *((0, 1, value) for value in values[1:])], pa.month_day_nano_interval())}),
        "polars": pl.DataFrame({"a": FINE, "s": pl.Series(values, dtype=pl.Datetime("ns"))}),
    }


@pytest.mark.parametrize("name", made(FINE))
def test_no_two_times_become_one(name: str) -> None:
    """The versions of DuckDB differ in which of them they keep."""
    frame = made(FINE)[name]
    try:
        told = kanon_sql.k_anonymity(frame, quasi_identifiers=["s"], k=3)
    except DataError as error:
        assert "'s' of the frame has nanoseconds" in str(error)
        return
    classes = told["classes"]
    assert list(classes.to_pylist() if hasattr(classes, "to_pylist") else classes) == [6]


@pytest.mark.parametrize("name", made(COARSE))
def test_microseconds_are_taken(name: str) -> None:
    told = kanon_sql.k_anonymity(made(COARSE)[name], quasi_identifiers=["s"], k=3)
    classes = told["classes"]
    assert list(classes.to_pylist() if hasattr(classes, "to_pylist") else classes) == [6]


@pytest.mark.parametrize("name", ["pandas, length", "arrow, length", "arrow, months",
                                  "arrow, lists", "pandas, objects"])
def test_what_would_be_cut_off_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="Round it to microseconds, or give it as a number"):
        kanon_sql.anonymize(made(FINE)[name], k=3, quasi_identifiers=["a"], sensitive=["s"])


def test_nested_types_are_looked_into() -> None:
    moments = pa.array([[{"at": 1_000}], None, [{"at": 2_500}]],
                       pa.large_list(pa.struct([("at", pa.timestamp("ns", "UTC"))])))
    assert _is_finer(pa.chunked_array([moments]))
    assert not _is_finer(pa.chunked_array([moments[:2]])) and not _is_finer(None)
    assert _in_microseconds(pa.time64("ns")) == pa.time64("us")
    assert _in_microseconds(pa.int64()) == pa.int64()


def test_polars_takes_no_interval() -> None:
    frame = pl.DataFrame({"a": FINE, "s": pl.Series(FINE, dtype=pl.Duration("us"))})
    with pytest.raises(DataError, match=r"'s' has the type INTERVAL.* CAST it to VARCHAR"):
        kanon_sql.anonymize(frame, k=3, quasi_identifiers=["a"], sensitive=["s"])
    found = kanon_sql.anonymize(
        frame.with_columns(s=pl.col("s").dt.total_microseconds()), k=3, quasi_identifiers=["a"],
        sensitive=["s"],
    )
    assert sorted(found["s"]) == FINE


@pytest.mark.parametrize(("kind", "plain"), [
    (pa.timestamp("ns", "UTC"), "TIMESTAMPTZ"), (pa.time64("ns"), "TIME"),
])
def test_what_has_no_mean_in_nanoseconds_is_told_how_to_be_taken(kind: Any, plain: str) -> None:
    """DuckDB before 2.0 takes them in microseconds."""
    frame = pa.table({"a": pa.array(COARSE, pa.int64()).cast(kind), "s": FINE})
    try:
        found = kanon_sql.anonymize(frame, k=3, quasi_identifiers=["a"], sensitive=["s"])
    except DataError as error:
        assert f"is not taken as a number. CAST it to {plain}, or give it a" in str(error)
    else:
        assert found.num_rows == 6
