"""A release in Spark is the one that anonymize makes, or keeps what that would keep."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
import kanon_sql.data
from kanon_sql import DataError, OptionError
from kanon_sql import spark as kanon_spark

ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "education", "zip", "admitted"], "sensitive": ["disease"],
}
PEOPLE = """
    SELECT (18 + (i * 7919) % 61)::INTEGER AS age,
           CASE WHEN i % 41 = 0 THEN NULL
                ELSE ['none', 'school', 'college', 'degree'][1 + (i * i) % 4] END AS education,
           (10000 + (i * 37) % 900)::VARCHAR AS zip,
           CASE WHEN i % 53 = 0 THEN NULL
                ELSE TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_hours((i * 131) % 20000) END
               AS admitted,
           ['Flu', 'Cold', 'Asthma', 'Gout', 'None'][1 + (i * 31 // 7) % 5] AS disease
    FROM range(1200) AS r(i)
"""


@pytest.fixture(scope="module")
def people() -> pa.Table:
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    return con.sql(PEOPLE).to_arrow_table()


@pytest.fixture(scope="module")
def frame(spark: Any, people: pa.Table) -> Any:
    return spark.createDataFrame(people).repartition(3).cache()


def counted(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(repr, row.values())) for row in table.to_pylist())


def test_one_block_is_the_release_of_anonymize(frame: Any, people: pa.Table) -> None:
    # a search goes on from the last bits of scales
    released = kanon_spark.release(frame, k=5, method="mdav_star", **ROLES)
    found = released.data.toArrow()
    zone = pa.timestamp("us", "America/New_York")
    at = people.schema.get_field_index("admitted")
    local = people.set_column(at, "admitted", people["admitted"].cast(zone))
    alone = kanon_sql.anonymize(local, k=5, method="mdav_star", **ROLES)
    assert found.column_names == people.column_names
    assert counted(found) == counted(alone.cast(found.schema))
    assert released.metrics["classes"] == len(counted(alone.drop_columns(["disease"])))
    assert released.metrics["blocks"] == 1
    metrics = kanon_sql.anonymize_metrics(local, k=5, method="mdav_star", detail=True, **ROLES)
    told = {row["metric"]: row["value"] for row in metrics.to_pylist()}
    for name in ("k", "classes", "sse"):
        assert float(told[name]) == pytest.approx(released.metrics[name], rel=1e-9), name
    released.unpersist()


def test_several_blocks_keep_k_and_lose_little_more(frame: Any, people: pa.Table) -> None:
    whole = kanon_spark.anonymize_metrics(frame, k=5, **ROLES)
    released = kanon_spark.release(frame, k=5, block_rows=300, **ROLES)
    found = released.data.toArrow()
    again = kanon_spark.release(frame.repartition(5), k=5, block_rows=300, **ROLES)
    assert counted(found) == counted(again.data.toArrow())
    assert released.metrics["blocks"] >= 3
    assert found.num_rows == people.num_rows == released.metrics["rows_released"]
    assert min(counted(found.drop_columns(["disease"])).values()) >= 5
    assert released.metrics["k"] >= 5
    assert found["disease"].value_counts().to_pylist()
    assert Counter(found["disease"].to_pylist()) == Counter(people["disease"].to_pylist())
    assert released.metrics["sse"] < 1.25 * whole["sse"]
    for each in (released, again):
        each.unpersist()


def test_the_order_tells_no_block(frame: Any) -> None:
    """Rows stand by a hash of what is released, so that equal ones stand side by side whatever
    blocks they come from, and the partition follows from it."""
    released = kanon_spark.release(frame, k=5, block_rows=300, **ROLES)
    rows = [tuple(map(repr, row[:-1])) for row in released.data.collect()]
    runs = 1 + sum(one != other for one, other in pairwise(rows))
    assert runs == len(set(rows))
    ages = [row[0] for row in released.data.collect() if row[0] is not None]
    descents = sum(one > other for one, other in pairwise(ages))
    assert descents > len(set(rows)) // 4  # blocks cut by age would stand one after the other
    released.unpersist()


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"l": 3}, {"l": 2, "diversity_kind": "entropy"},
    {"l": 2, "diversity_kind": "recursive", "c": 4}, {"alpha": 0.6},
], ids=lambda options: "-".join(map(str, options.values())))
def test_models_hold_in_the_whole_release(frame: Any, options: dict[str, Any]) -> None:
    released = kanon_spark.release(frame, k=5, block_rows=400, **options, **ROLES)
    found = released.data.toArrow()
    held = kanon_sql.k_anonymity(found, **ROLES, **options).to_pylist()[0]
    assert held["k"] >= 5
    released.unpersist()


def test_refusals_are_those_of_anonymize(spark: Any, frame: Any) -> None:
    with pytest.raises(OptionError, match="no DataFrame of Spark"):
        kanon_spark.release("people", k=5)
    with pytest.raises(OptionError, match="quasi_identifiers is not given"):
        kanon_spark.anonymize(frame, k=5)
    with pytest.raises(OptionError, match="which doesn't exist"):
        kanon_spark.anonymize(frame, k=5, quasi_identifiers=["agee"], others="drop")
    with pytest.raises(OptionError, match="has no role"):
        kanon_spark.anonymize(frame, k=5, quasi_identifiers=["age", "zip", "admitted"],
                              sensitive=["disease"])
    with pytest.raises(DataError, match="fewer than k = 5000"):
        kanon_spark.anonymize(frame, k=5000, **ROLES)
    with pytest.raises(DataError, match="no rows"):
        kanon_spark.anonymize(frame.limit(0), k=5, **ROLES)
    with pytest.raises(DataError, match="nulls is 'error'"):
        kanon_spark.anonymize(frame, k=5, nulls="error", **ROLES)
    span = spark.sql("SELECT INTERVAL '1' DAY AS stay, id AS age FROM range(20)")
    with pytest.raises(OptionError, match="'stay' has the type interval day"):
        kanon_spark.anonymize(span, k=5, quasi_identifiers=["age"], sensitive=["stay"])
