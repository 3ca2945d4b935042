"""The table function of Spark's SQL, which says itself how its table is partitioned."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql import spark as kanon_spark

TABLE = """
    SELECT 18 + id % 61 AS age, concat('1', id % 23) AS zip, concat('d', id % 5) AS disease,
           IF(id % 3 = 0, 'north', 'south') AS site
    FROM range(300)
"""
OPTIONS = "quasi_identifiers => array('age', 'zip'), sensitive => array('disease')"


@pytest.fixture(scope="module")
def sql(spark: Any) -> Any:
    kanon_spark.register(spark)
    spark.sql(TABLE).repartition(4).createOrReplaceTempView("patients")
    return lambda call: spark.sql(f"SELECT * FROM anonymize({call})").toArrow()


def counted(table: Any) -> Counter[Any]:
    return Counter(tuple(map(repr, row.values())) for row in table.to_pylist())


def test_the_whole_table_is_one_release(spark: Any, sql: Any) -> None:
    found = sql(f"TABLE(patients), k => 5, {OPTIONS}, identifiers => 'site'")
    alone = kanon_sql.anonymize(
        spark.table("patients").toArrow(), k=5, quasi_identifiers=["age", "zip"],
        sensitive=["disease"], identifiers=["site"],
    )
    assert found.column_names == alone.column_names
    assert counted(found) == counted(alone)


def test_within_is_a_release_for_each_combination(spark: Any, sql: Any) -> None:
    found = sql(f"TABLE(patients), k => 5, {OPTIONS}, within => 'site'")
    table = spark.table("patients").toArrow()
    assert found.column_names == table.column_names
    for site in ("north", "south"):
        own = [row for row in table.to_pylist() if row["site"] == site]
        alone = kanon_sql.anonymize(
            type(table).from_pylist(own, schema=table.schema).drop_columns(["site"]), k=5,
            quasi_identifiers=["age", "zip"], sensitive=["disease"],
        )
        part = type(table).from_pylist(
            [row for row in found.to_pylist() if row["site"] == site], schema=found.schema
        )
        assert counted(part.drop_columns(["site"])) == counted(alone)


@pytest.mark.parametrize(("call", "said"), [
    ("TABLE(patients) PARTITION BY site, k => 5, {}", "remove these clauses"),
    ("TABLE(patients) WITH SINGLE PARTITION, k => 5, {}", "remove these clauses"),
    ("TABLE(patients), {}, identifiers => 'site'", "k is not given"),
    ("TABLE(patients), k => 5, {}, within => 'day'", "'day', which doesn't exist"),
    ("TABLE(patients), k => 5, {}", "has no role: 'site'"),
    ("TABLE(patients), kk => 5, {}", "has no option 'kk'"),
    ("TABLE(patients), k => CAST(rand() * 9 AS INT), {}", "'k' is not a constant"),
    ("k => 5, {}", "The table is missing"),
    ("TABLE(patients), k => 5, {}, within => 'site', k_map => 5, population => 'a.parquet'",
     "Leave k_map or within out"),
    ("TABLE(patients), k => 250, {}, within => 'site'", "fewer than k = 250"),
])
def test_what_is_refused(sql: Any, call: str, said: str) -> None:
    with pytest.raises(Exception, match=said) as refused:
        sql(call.format(OPTIONS))
    assert "Traceback" not in str(refused.value)
