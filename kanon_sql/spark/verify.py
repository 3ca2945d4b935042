"""The last pass in Spark: k and every model, counted over the released values of all blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

from kanon_sql.blocks.metrics import Output
from kanon_sql.errors import KanonError, OptionError, ReleaseError
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import listed
from kanon_sql.plan.models import checked, model_stages
from kanon_sql.privacy import PrivacyModel
from kanon_sql.spark.columns import column
from kanon_sql.spark.request import groupable
from kanon_sql.spark.worker import ROWS, Work, asked_of, opened
from kanon_sql.sql import statement

PARTS = 1_000_000
"""Released rows whose models are checked at a time, about."""

FOUND = pa.schema([
    ("model", pa.int32()), ("has", pa.float64()), ("broken", pa.int64()), ("error", pa.string())
])
FOUND_SQL = "model int, has double, broken long, error string"
PART, SIZE = "__kanon_part", "__kanon_size"

BROKEN = (
    "The release was stopped: {} of its classes don't keep {}. Nothing came out; please report "
    "this as a bug of the method {}."
)
UNCOUNTED = (
    "The column {!r} is released as {}, by which Spark doesn't count. Choose another "
    "representation, or leave the model out."
)


def count_output(released: Any, quasi: Sequence[StructField]) -> Output:
    """How many rows are released, in how many combinations of released values, and how many the
    smallest of them has; None without rows."""
    for field in quasi:
        refuse_uncounted(field)
    sizes = released.groupBy(*(column(field.name) for field in quasi)).agg(
        F.count(F.lit(1)).alias(SIZE)
    )
    (found,) = sizes.agg(
        F.coalesce(F.sum(SIZE), F.lit(0)).alias("rows"), F.count(F.lit(1)).alias("classes"),
        F.min(SIZE).alias("least"),
    ).collect()
    return Output(found["rows"], found["classes"], found["least"])


def refuse_uncounted(field: StructField) -> None:
    """Raises OptionError for a released column by which Spark can't count."""
    if not groupable(field):
        raise OptionError(UNCOUNTED.format(field.name, field.dataType.simpleString()))


def verify_models(
    work: Work, released: Any, schema: StructType, rows: int, method: str
) -> None:
    """Checks each model in the SQL of ``anonymize``, over what Spark counted.

    Args:
        work: what workers need to know.
        released: the released rows.
        schema: their columns.
        rows: how many there are.
        method: that made the classes.

    Raises:
        ReleaseError: a combination of released values doesn't keep a model.
    """
    call = work.request.call
    by_name = {caseless(field.name): field for field in schema}
    names = [by_name[caseless(name)].name for name in work.request.quasi]
    by_column: dict[str, list[PrivacyModel]] = {}
    for model in call.task.models:
        by_column.setdefault(by_name[caseless(model.column)].name, []).append(model)
    for secret, models in by_column.items():
        refuse_uncounted(by_name[caseless(secret)])
        # the column may be a quasi-identifier too, whose released values stand beside its own
        counted = released.groupBy(
            *(column(name) for name in dict.fromkeys([*names, secret]))
        ).agg(F.count(F.lit(1)).alias(SIZE))
        part = F.pmod(F.xxhash64(*map(column, names)), F.lit(max(1, -(-rows // PARTS))))
        found = counted.withColumn(PART, part).groupBy(PART).applyInArrow(
            _checker(work, tuple(models), tuple(names), secret), FOUND_SQL
        ).collect()
        for row in found:
            if row["error"] is not None:
                raise ReleaseError(row["error"])
        for j, model in enumerate(models):
            broken = sum(row["broken"] for row in found if row["model"] == j)
            if broken:
                raise ReleaseError(BROKEN.format(broken, model.in_words, method))


def _checker(
    work: Work, models: tuple[PrivacyModel, ...], quasi: tuple[str, ...], secret: str
) -> Callable[[pa.Table], pa.Table]:
    """A function for applyInArrow: how many combinations don't keep each model."""

    def check(rows: pa.Table) -> pa.Table:
        try:
            places = checked(models, (secret,))
            stages = model_stages(
                places, (secret,),
                lambda i, name: statement("spark.histogram"),
            )
            broken = "\n    UNION ALL\n    ".join(
                statement("models.broken", j=each.j, worst=each.worst, stage=each.stage)
                for each in places
            )
            text = statement(
                "spark.models", quasi=listed(quasi), column=quoted(secret), rows=quoted(ROWS),
                stages=stages, broken=broken,
            )
            found = asked_of(opened(work.zone, work.threads), text, rows.drop_columns([PART]))
            return found.append_column("error", pa.nulls(len(found), pa.string())).cast(FOUND)
        except KanonError as error:
            return pa.Table.from_pylist([{"error": str(error)}], schema=FOUND)

    return check
