"""What Spark releases stays what it was, as tests/release/test_calls_unchanged.py has it of SQL."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from kanon_sql import spark as kanon_spark
from tests.support.digests import digest, held

VISITS = """
    SELECT i % 90 AS patient, 20 + i % 90 * 11 % 61 AS age, (47000 + i % 90 % 7)::VARCHAR AS zip,
           ['clerk', 'cook', NULL, 'nurse'][1 + (i + i // 9) % 4] AS job,
           ['Flu', 'Cold', 'HIV', 'Gout', 'Asthma'][1 + i % 90 * 7 % 5] AS disease
    FROM range(600) AS r(i)
"""
CASES: dict[str, dict[str, Any]] = {
    "one block": {},
    "blocks": {"block_rows": 250},
    "blocks with a model": {"block_rows": 250, "l": 2},
    "persons": {"block_rows": 250, "entity": "patient"},
}


@pytest.mark.sample(len(CASES))
@pytest.mark.parametrize("case", CASES)
def test_spark_is_unchanged(spark: Any, case: str) -> None:
    """The released rows, which stand by a hash over all partitions, their types, the metrics."""
    frame = spark.createDataFrame(duckdb.sql(VISITS).to_arrow_table()).repartition(3)
    released = kanon_spark.release(
        frame, k=4, quasi_identifiers=["age", "zip", "job"], sensitive=["disease"], others="drop",
        seed=1, **CASES[case],
    )
    rows = sorted(map(str, released.data.collect()))
    columns = released.data.dtypes
    metrics = {n: v for n, v in released.metrics.items() if not n.startswith("seconds")}
    released.unpersist()
    held("spark", case, {
        "rows": f"{len(rows)} {digest([*columns, *rows])}",
        "metrics": digest(sorted(metrics.items())),
    })
