"""Columns that nobody named and that would pass unchanged: none may look like an identifier."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.encode.looks import Profile, judge
from kanon_sql.errors import DataError
from kanon_sql.files.asked import Asked
from kanon_sql.files.questioned import LIKE, may_be_own
from kanon_sql.spark.columns import column


def refuse_identifiers(asked: Asked, rows: Any) -> None:
    """Raises DataError for a column that nobody named and that looks like an identifier: of rows,
    or where these are of persons, of persons."""
    if not asked.questioned:
        return
    looks = [F.lit(0).alias("people") if asked.entity is None else
             F.approx_count_distinct(column(asked.entity)).alias("people")]
    for i, name in enumerate(asked.questioned):
        text = column(name).cast("string")
        looks += [
            F.count(text).alias(f"values{i}"), F.approx_count_distinct(text).alias(f"about{i}")
        ]
    (found,) = rows.agg(*looks).collect()
    for i, name in enumerate(asked.questioned):
        about, values, people = found[f"about{i}"], found[f"values{i}"], found["people"]
        least = asked.call.least
        near = may_be_own(about, values, least) or (people and may_be_own(about, people, least))
        if near and _like(asked, rows, name):
            raise DataError(LIKE.format(name))


def _like(asked: Asked, rows: Any, name: str) -> bool:
    """Whether a column looks like an identifier, by all its values."""
    text = column(name).cast("string").alias("value")
    looked_at = [rows.select(text)]
    if asked.entity is not None:  # one row of each person, where all its rows agree
        of_persons = rows.select(column(asked.entity).alias("person"), text).groupBy("person")
        looked_at.append(of_persons.agg(
            F.count_distinct("value").alias("different"), F.max("value").alias("value")
        ).filter("different = 1"))
    for some in looked_at:
        (found,) = some.filter("value IS NOT NULL").groupBy("value").agg(
            F.count("value").alias("n")
        ).agg(
            F.coalesce(F.sum("n"), F.lit(0)).alias("values"), F.count("value").alias("distinct"),
            F.coalesce(F.sum(F.when(F.col("n") >= asked.call.least, F.col("n"))), F.lit(0))
            .alias("common"),
            F.min(F.expr("try_cast(value AS decimal(38, 0))")).alias("low"),
            F.max(F.expr("try_cast(value AS decimal(38, 0))")).alias("high"),
        ).collect()
        low, high = (None if each is None else int(each) for each in (found["low"], found["high"]))
        profile = Profile(
            name, asked.types[name], found["values"], found["values"], found["distinct"],
            found["common"], low, high,
        )
        if judge(profile).identifier:
            return True
    return False
