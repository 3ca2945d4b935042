"""What a query can, Spark can, in blocks: each case of tests/support/engine_cases.py is released,
and plain SQL says whether it keeps what it promises."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import OptionError
from kanon_sql import spark as kanon_spark
from tests.support.engine_cases import BASE, CASES, TABLE, refusal_of_release
from tests.support.engines import NOT_IN_SPARK


@pytest.fixture(scope="module")
def visits(spark: Any) -> Any:
    with duckdb.connect() as con:
        return spark.createDataFrame(con.sql(TABLE).to_arrow_table()).repartition(3).cache()


@pytest.mark.slow
@pytest.mark.parametrize("case", [name for name in CASES if "ledger" not in CASES[name]])
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


@pytest.mark.slow
@pytest.mark.parametrize("case", ["ledger", "ledger and l"])
def test_spark_goes_on_from_a_ledger(spark: Any, case: str) -> None:
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE people AS "
            f"SELECT * REPLACE (row_number() OVER () AS patient) FROM ({TABLE})"
        )
        before, now = (
            spark.createDataFrame(con.sql(f"FROM people WHERE {some}").to_arrow_table())
            for some in ("patient > 300", "patient <= 690")
        )
    given: dict[str, Any] = {**BASE, **CASES[case], "block_rows": 200}
    del given["ledger"]
    first = kanon_spark.release(before, headroom=1, **given)
    done = kanon_spark.release(now, **given, ledger=first.entries)
    released = done.data.toArrow()
    assert refusal_of_release(case, released, done.metrics["rows_suppressed"]) is None
    assert done.metrics["blocks"] > 1 and done.rows == released.num_rows
    held = first.entries.unionByName(done.entries).toArrow()
    with kanon_sql.register(duckdb.connect()) as con:
        con.register("held", held)
        ((kept,),) = con.execute(
            "SELECT keeps_presence FROM ledger_check('held', k := 4)"
        ).fetchall()
    assert kept
    for each in (first, done):
        each.unpersist()
