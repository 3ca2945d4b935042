"""What a query can, Spark can, in blocks: each case of tests/support/engine_cases.py is released,
and plain SQL says whether it keeps what it promises."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from kanon_sql import OptionError
from kanon_sql import spark as kanon_spark
from tests.support.engine_cases import BASE, CASES, TABLE, refusal_of_release
from tests.support.engines import NOT_IN_SPARK


@pytest.fixture(scope="module")
def visits(spark: Any) -> Any:
    with duckdb.connect() as con:
        return spark.createDataFrame(con.sql(TABLE).to_arrow_table()).repartition(3).cache()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_spark_keeps_what_a_query_promises(visits: Any, case: str) -> None:
    given: dict[str, Any] = {**BASE, **CASES[case]}
    size = 400 if "effort" in given else 250
    if case in NOT_IN_SPARK:
        with pytest.raises(OptionError, match=r"block by block|as one|ledger|order"):
            kanon_spark.release(visits, block_rows=size, **given)
        return
    done = kanon_spark.release(visits, block_rows=size, **given)
    released = done.data.toArrow()
    assert refusal_of_release(case, released, done.metrics["rows_suppressed"]) is None
    assert done.metrics["rows_released"] == released.num_rows
    done.unpersist()
