"""What was verified is what is read, whatever becomes of the table; and nothing but the released
values comes out with them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kanon_sql import spark as kanon_spark
from kanon_sql.errors import OptionError

PEOPLE = """
    SELECT 18 + (id * 7919) % 61 AS age, concat('47', (id * 37) % 90) AS zip,
           concat('d', id % 7) AS disease
    FROM range(2000)
"""
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "sensitive": ["disease"]}


def rows_of(frame: Any) -> Counter[Any]:
    return Counter(map(tuple, frame.collect()))


def test_a_table_that_is_written_afterwards_changes_nothing(spark: Any, tmp_path: Any) -> None:
    path = str(tmp_path / "people")
    spark.sql(PEOPLE).write.parquet(path)
    released = kanon_spark.release(spark.read.parquet(path), k=5, block_rows=500, **ROLES)
    before = rows_of(released.data)
    assert before.total() == 2000
    for mode in ("append", "overwrite"):
        spark.sql(PEOPLE).limit(3).write.mode(mode).parquet(path)
        # a frame of it is worked out anew
        assert rows_of(released.data.select("*")) == before
    released.unpersist()


def test_a_release_that_was_freed_cannot_be_read(spark: Any) -> None:
    released = kanon_spark.release(spark.sql(PEOPLE), k=5, **ROLES)
    released.unpersist()
    with pytest.raises(Exception, match=r"(?i)checkpoint"):
        released.data.collect()


@pytest.mark.parametrize("name", ["size", "count", "combination", "label"])
def test_columns_may_have_any_name(name: str, spark: Any) -> None:
    people = spark.sql(PEOPLE)
    sensitive = kanon_spark.release(
        people.withColumnRenamed("disease", name), k=5, l=2, quasi_identifiers=["age", "zip"],
        sensitive=[name],
    )
    quasi = kanon_spark.release(
        people.withColumnRenamed("zip", name), k=5, l=2, quasi_identifiers=["age", name],
        sensitive=["disease"], hierarchies={name: "prefix"}, method="k_member",
    )
    for released in (sensitive, quasi):
        assert released.metrics["rows_released"] == 2000
        released.unpersist()


def test_what_is_told_of_a_quasi_identifier_does_not_come_out(spark: Any) -> None:
    told = {"values": ["4711", "4712"]}
    people = spark.sql(PEOPLE)
    for name in ("age", "zip", "disease"):
        people = people.withMetadata(name, told)
    released = kanon_spark.release(people, k=5, method="k_member", **ROLES)
    kept = {field.name: field.metadata for field in released.data.schema}
    assert kept == {"age": {}, "zip": {}, "disease": told}
    released.unpersist()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_hierarchies_of_times_are_in_the_zone_of_the_session(zone: str, spark: Any) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        times = spark.sql(
            "SELECT timestamp'2020-03-01 03:00:00' + make_interval(0, 0, 0, CAST(id % 300 AS INT)) "
            "AS at FROM range(600)"
        )
        released = kanon_spark.release(
            times, k=5, quasi_identifiers=["at"], hierarchies={"at": "date"}, method="k_member"
        )
        assert released.metrics["k"] >= 5
        released.unpersist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_texts_that_spark_takes_to_be_alike_are_refused(spark: Any) -> None:
    people = spark.sql(f"SELECT age, zip COLLATE UTF8_LCASE AS zip, disease FROM ({PEOPLE})")
    with pytest.raises(OptionError, match="which treats strings as equal"):
        kanon_spark.release(people, k=5, **ROLES)


def test_rows_that_are_alike_are_dealt_to_blocks(spark: Any) -> None:
    people = spark.sql(
        "SELECT id % 2 AS age, concat('z', id % 3) AS zip, "
        "concat('d', xxhash64(id) % 6) AS disease FROM range(12000)"
    )
    released = kanon_spark.release(people, k=5, l=3, block_rows=1000, **ROLES)
    assert released.metrics["sse"] == 0.0 and released.metrics["rows_released"] == 12_000
    assert released.metrics["blocks"] > 6 and released.metrics["block_rows_max"] <= 2000
    again = kanon_spark.release(people.repartition(5), k=5, l=3, block_rows=1000, **ROLES)
    assert again.metrics["block_rows_max"] == released.metrics["block_rows_max"]
    for each in (released, again):
        each.unpersist()


def test_no_sensitive_value_decides_a_class(spark: Any) -> None:
    found = []
    for disease in ("disease", "concat('x', xxhash64(disease, age) % 9)"):
        people = spark.sql(f"SELECT age, zip, {disease} AS disease FROM ({PEOPLE})")
        released = kanon_spark.release(people, k=5, block_rows=400, **ROLES)
        found.append(rows_of(released.data.select("age", "zip")))
        released.unpersist()
    assert found[0] == found[1]


def test_each_look_at_a_release_in_sql_shows_the_same(spark: Any) -> None:
    kanon_spark.register(spark)
    spark.sql(PEOPLE).createOrReplaceTempView("kept_people")
    text = """
        SELECT * FROM anonymize(TABLE(SELECT * FROM kept_people LIMIT 600), k => 5, l => 2,
            quasi_identifiers => array('age', 'zip'), sensitive => array('disease'))
    """
    assert rows_of(spark.sql(text)) == rows_of(spark.sql(text))


def test_within_names_a_column_twice(spark: Any) -> None:
    kanon_spark.register(spark)
    spark.sql(PEOPLE).createOrReplaceTempView("kept_people")
    found = spark.sql("""
        SELECT * FROM anonymize(TABLE(SELECT *, age % 2 AS site FROM kept_people), k => 5,
            quasi_identifiers => array('age', 'zip'), sensitive => array('disease'),
            within => array('site', 'site'))
    """)
    assert found.count() == 2000
