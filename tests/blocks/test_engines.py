"""What a query can, files can, in blocks: each case of tests/support/engine_cases.py is released,
and plain SQL says whether it keeps what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql import OptionError
from kanon_sql.option import options_of
from kanon_sql.privacy import MODELS, WHOLE
from tests.support.engine_cases import BASE, CASES, TABLE, refusal_of_release
from tests.support.engines import NOT_IN_FILES, NOT_IN_SPARK

Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with kanon_sql.register(duckdb.connect()) as connection:
        connection.execute(f"CREATE TABLE visits AS {TABLE}")
        yield connection


@pytest.fixture(scope="module")
def lake(con: Connection, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("engines") / "visits.parquet"
    con.execute(f"COPY visits TO '{path}'")
    return str(path)


def test_every_model_is_among_the_cases() -> None:
    asked = {name for options in CASES.values() for name in options}
    assert asked >= {name for model in MODELS for name in options_of(model.options)}
    assert asked >= {kind.option for kind in WHOLE}


def test_plain_sql_misses_a_release_that_keeps_nothing(con: Connection) -> None:
    """What no method made: each row its own class, or all rows one with a skewed disease."""
    raw = con.sql("FROM visits").to_arrow_table().drop_columns(["patient"])
    assert "a class has 1 rows" in str(refusal_of_release("k alone", raw, 0))
    halves = con.sql(
        "SELECT * REPLACE (hash(disease) % 2 AS age, 'z' AS zip, 'j' AS job, flag AS seen) "
        "FROM visits"
    ).to_arrow_table().drop_columns(["patient"])
    quarters = con.sql(
        "SELECT * REPLACE (score AS age, 'z' AS zip, 'j' AS job, (score * 7 + age) % 4 AS seen) "
        "FROM visits"
    ).to_arrow_table().drop_columns(["patient"])
    assert "the release has" in str(refusal_of_release("mean risk", quarters, 0))
    for case in ("l", "alpha", "t with equal distances", "delta", "beta", "l by entropy"):
        assert "classes don't keep" in str(refusal_of_release(case, halves, 0)), case


@pytest.mark.slow
@pytest.mark.parametrize("case", [
    name for name in CASES if "ledger" not in name and name != "full_domain"
])
def test_a_query_keeps_what_it_promises(con: Connection, case: str) -> None:
    given = {**BASE, **CASES[case], "progress": False}
    found = kanon_sql.anonymize("visits", con=con, **given)
    released = found if isinstance(found, pa.Table) else found.to_arrow_table()
    assert refusal_of_release(case, released, 900 - released.num_rows) is None


@pytest.mark.slow
@pytest.mark.parametrize("case", [name for name in CASES if "ledger" not in name])
def test_files_keep_what_a_query_promises(lake: str, tmp_path: Path, case: str) -> None:
    given: dict[str, Any] = {**BASE, **CASES[case], "progress": False}
    size = 400 if "effort" in given else 250
    if case in NOT_IN_FILES:
        with pytest.raises(OptionError, match=r"block by block|as one|ledger"):
            kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=size, **given)
        return
    found = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=size, **given)
    with duckdb.connect() as con:
        released = con.sql(f"FROM '{found.path}/*.parquet'").to_arrow_table()
    assert refusal_of_release(case, released, found.metrics["rows_suppressed"]) is None
    assert found.metrics["rows_released"] == released.num_rows
    # 50 classes make a block at least, and blocks that can't keep a model join
    assert found.metrics["blocks"] > 1 or given["k"] > 4 or {"t", "beta"} & given.keys()


@pytest.mark.slow
@pytest.mark.parametrize("case", ["ledger", "ledger and l"])
def test_a_query_and_files_go_on_from_a_ledger(
    con: Connection, tmp_path: Path, case: str
) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        "SELECT * REPLACE (row_number() OVER () AS patient) FROM visits"
    )
    con.execute("CREATE OR REPLACE TABLE before AS FROM people WHERE patient > 300")
    con.execute("CREATE OR REPLACE TABLE now AS FROM people WHERE patient <= 690")
    given: dict[str, Any] = {**BASE, **CASES[case], "progress": False}
    first = {name: value for name, value in given.items() if name != "ledger"} | {"headroom": 1}
    entered: Any = kanon_sql.anonymize_ledger("before", con=con, **first)
    con.register("entered", entered)
    con.execute("CREATE OR REPLACE TABLE ledger AS FROM entered")
    plain: Any = kanon_sql.anonymize("now", con=con, **given)
    plain = plain if isinstance(plain, pa.Table) else plain.to_arrow_table()
    assert refusal_of_release(case, plain, 690 - plain.num_rows) is None
    for name in ("before", "now"):
        con.execute(f"COPY {name} TO '{tmp_path}/{name}.parquet'")
    kanon_sql.anonymize_files(
        tmp_path / "before.parquet", tmp_path / "out", block_rows=250, **first,
        ledger_to=tmp_path / "one.parquet",
    )
    found = kanon_sql.anonymize_files(
        tmp_path / "now.parquet", tmp_path / "out_2", block_rows=200,
        ledger_to=tmp_path / "two.parquet", **{**given, "ledger": str(tmp_path / "one.parquet")},
    )
    with duckdb.connect() as own:
        released = own.sql(f"FROM '{found.path}/*.parquet'").to_arrow_table()
    assert refusal_of_release(case, released, found.metrics["rows_suppressed"]) is None
    both = f"['{tmp_path}/one.parquet', '{tmp_path}/two.parquet']"
    con.execute(f"CREATE OR REPLACE TABLE linked AS FROM read_parquet({both})")
    ((kept,),) = con.execute(
        "SELECT keeps_presence FROM ledger_check('linked', k := 4)"
    ).fetchall()
    assert kept and found.metrics["blocks"] > 1


def test_what_spark_refuses_files_refuse_or_have_an_order_for() -> None:
    assert set(NOT_IN_FILES) <= set(NOT_IN_SPARK) <= set(CASES)
