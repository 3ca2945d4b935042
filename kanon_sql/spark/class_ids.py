"""Classes numbered over all partitions of a release, from 1 on and without a gap: all rows of a
class are in one, and stand side by side there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from kanon_sql.plan.fragments import listed
from kanon_sql.spark.request import OF_ALL, OF_VALUES, ZONE
from kanon_sql.spark.worker import ROWS, WorkerSetup, asked_of, opened
from kanon_sql.sql import statement

CLASSES = pa.schema([("place", pa.int64()), ("classes", pa.int64())])
CLASSES_SQL = "place long, classes long"

Batches = Iterator[pa.RecordBatch]


def with_class_ids(work: WorkerSetup, released: Any, counted: Sequence[str]) -> Any:
    """The rows of a release with a column class_id beside.

    Args:
        work: what workers need to know.
        released: the released rows and their hashes; kept by Spark, so that its partitions are what
            they are.
        counted: the columns by whose released values classes are told apart.
    """
    columns = (OF_VALUES, *counted)
    counts = released.mapInArrow(_counter(work, columns), CLASSES_SQL).collect()
    sizes = sorted((row["place"], row["classes"]) for row in counts)
    ends = accumulate((many for _, many in sizes), initial=0)
    before = {place: end for (place, _), end in zip(sizes, ends, strict=False)}
    schema = StructType([*released.schema, StructField("class_id", LongType())])
    target = to_arrow_schema(schema, timezone=ZONE)
    return released.mapInArrow(_numberer(work, columns, before, target), schema)


def _whole(batches: Batches) -> pa.Table | None:
    chunks = list(batches)
    return pa.Table.from_batches(chunks) if sum(map(len, chunks)) else None


def _place() -> int:
    """Which partition this is."""
    task = TaskContext.get()
    assert task is not None
    return int(task.partitionId())


def _counter(work: WorkerSetup, columns: tuple[str, ...]) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: how many classes a partition has."""

    def count(batches: Batches) -> Batches:
        rows = _whole(batches)
        if rows is None:
            return
        text = statement("spark.places", columns=listed(columns), rows=ROWS)
        counts = asked_of(opened(work.zone, 1), text, rows)
        whole = pa.table([pa.array([_place()], pa.int64()), counts["classes"]], schema=CLASSES)
        yield from whole.to_batches()

    return count


def _numberer(
    work: WorkerSetup, columns: tuple[str, ...], before: Mapping[int, int], target: pa.Schema
) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: rows with the numbers of their classes; ``before``: how many
    classes the partitions before each have."""

    def number(batches: Batches) -> Batches:
        rows = _whole(batches)
        if rows is None:
            return
        class_id = statement(
            "blocks.class_id", before=before[_place()],
            quasi=", ".join(f"{listed((name,))} ASC" for name in columns[1:]),
        )
        text = statement(
            "spark.class_ids", class_id=class_id, rows=ROWS, order=listed((OF_VALUES, OF_ALL))
        )
        numbered = asked_of(opened(work.zone, 1), text, rows)
        yield from numbered.cast(target).to_batches()

    return number
