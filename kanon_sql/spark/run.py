"""A release in Spark, pass by pass."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kanon_sql.duckdb.session import Session
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.files.block import OF_BLOCK
from kanon_sql.files.learn import kinds_of, number_of
from kanon_sql.files.run import SMALL
from kanon_sql.files.spool import cell_of
from kanon_sql.names import caseless, literal
from kanon_sql.spark.asked import (
    OF_ALL,
    OF_VALUES,
    SUMS,
    ZONE,
    AskedFrame,
    beside,
    read_frame,
    refuse_no_frame,
)
from kanon_sql.spark.blocks import BLOCK, Blocks, cut
from kanon_sql.spark.columns import cell, column
from kanon_sql.spark.learn import Common, learn, taking_part
from kanon_sql.spark.released import ReleasedFrame
from kanon_sql.spark.verify import smallest, verify_models
from kanon_sql.spark.worker import MIX, OF_ROW, Work, encoder, grouper

PART_ROWS = 250_000
"""Rows of a partition of the release, about."""

KINDS = {kind.__name__: kind for kind in (DataError, KanonError, OptionError, ReleaseError)}

LOST = (
    "The release was stopped: {} rows take part, {} were left out, and {} came out. Nothing was "
    "handed out; please report this as a bug."
)
MOVED = (
    "The release was stopped: a block has {} rows where {} were counted before, so the DataFrame "
    "changes while it is read. Write it to a table first."
)
ABSENT = (
    "Spark's Python workers don't find kanon_sql {}. Install it where they run, in the Python that "
    "PYSPARK_PYTHON names."
)
"""Its SQL and its compiled kernels are files, which a zip sent to the workers can't give them."""


def release_frame(df: Any, options: Mapping[str, Any]) -> ReleasedFrame:
    """Releases a DataFrame; see ``kanon_sql.spark.release``."""
    refuse_no_frame(df)
    started = perf_counter()
    spark = df.sparkSession
    zone = spark.conf.get("spark.sql.session.timeZone")
    with Session(None) as session:
        # labels of times are made here, and by the workers
        session.con.execute(f"SET TimeZone = {literal(zone)}")
        asked = read_frame(session, df, zone, options)
        run = _Run(session, spark, asked)
        try:
            return run.run(df, started)
        except PySparkException as error:
            if "No module named 'kanon_sql" in str(error):
                from kanon_sql.version import __version__

                raise OptionError(ABSENT.format(__version__)) from None
            raise
        finally:
            run.free()


def encoded(df: Any, frame: AskedFrame) -> Any:
    """The rows of a DataFrame with the cells of their quasi-identifiers and two hashes of
    each."""
    asked, numeric = frame.asked, kinds_of(frame.asked)
    cells = ", ".join(
        f"{number_of(name) if is_number else cell_of(asked, name)} AS {cell(i)}"
        for i, (name, is_number) in enumerate(zip(asked.quasi, numeric, strict=True))
    )
    schema = StructType([
        *(StructField(f.name, f.dataType, True, f.metadata) for f in frame.fields),
        *(
            StructField(cell(i), DoubleType() if is_number else StringType())
            for i, is_number in enumerate(numeric)
        ),
        StructField(MIX, LongType()),
        StructField(OF_ROW, LongType()),
    ])
    chosen = df.select(*(column(field.name) for field in frame.fields))
    encode = encoder(Work(asked, frame.zone, 1), cells, to_arrow_schema(schema, timezone=ZONE))
    return chosen.mapInArrow(encode, schema)


@dataclass
class _Run:
    """A run; what Spark caches of it is freed, but for what is handed out."""

    session: Session
    spark: Any
    frame: AskedFrame

    def __post_init__(self) -> None:
        call = self.frame.asked.call
        self.work = Work(self.frame.asked, self.frame.zone, call.threads or 1)
        self.cached: list[Any] = []

    def run(self, df: Any, started: float) -> ReleasedFrame:
        """All passes."""
        asked = self.frame.asked
        rows = self._kept(encoded(df, self.frame))
        common = learn(self.session, asked, rows, kinds_of(asked))
        blocks = cut(
            self.session, self.spark, asked, common.learned, taking_part(asked, rows)
        )
        # not in the cache: Spark works that out anew when a table is written that it depends on
        made = self._grouped(common, blocks).localCheckpoint()
        sums = self._sums(made)
        self._refuse_moved(blocks, sums)
        names = [column(field.name) for field in self.frame.released]
        released = made.filter(F.col(SUMS).isNull()).select(*names)
        metrics = self._metrics(common, blocks, sums, released)
        return ReleasedFrame(released, {**metrics, "seconds": perf_counter() - started}, made)

    def free(self) -> None:
        """Frees Spark's cache."""
        for each in self.cached:
            each.unpersist()

    def _kept(self, frame: Any) -> Any:
        """The DataFrame, which Spark keeps as it was first worked out."""
        found = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self.cached.append(found)
        return found

    def _grouped(self, common: Common, blocks: Blocks) -> Any:
        """The released rows and the sums of all blocks. Which partition a row is in, and where it
        stands there, follows from hashes of what is released of it."""
        schema = beside(self.frame.released)
        group = grouper(
            self.work, common.call, common.learned.scales, common.levels,
            to_arrow_schema(schema, timezone=ZONE),
        )
        names = [column(field.name) for field in self.frame.fields]
        # so many partitions that Spark doesn't join them by their size in bytes
        rows = blocks.rows.select(*names, BLOCK).repartition(len(blocks.sizes), BLOCK)
        parts = max(1, -(-common.learned.rows // PART_ROWS))
        made = rows.groupBy(BLOCK).applyInArrow(group, schema)
        return made.repartition(parts, OF_VALUES).sortWithinPartitions(OF_VALUES, OF_ALL)

    def _sums(self, made: Any) -> list[dict[str, Any]]:
        """The sums of all blocks; refuses what one of them refused."""
        rows = made.filter(F.col(SUMS).isNotNull()).select(SUMS).collect()
        sums = [json.loads(row[SUMS]) for row in rows]
        refused = sorted(tuple(each["error"]) for each in sums if "error" in each)
        if refused:
            kind, sentence = refused[0]
            if KINDS.get(kind, DataError) is DataError and len(sums) > 1:
                sentence = OF_BLOCK.format(sentence, len(sums))
            raise KINDS.get(kind, DataError)(sentence)
        return sums

    def _refuse_moved(self, blocks: Blocks, sums: Sequence[Mapping[str, Any]]) -> None:
        """Raises DataError where the rows are others than those that were counted."""
        found = sorted(int(each["rows"]) for each in sums)
        wanted = sorted(blocks.sizes)
        for have, counted in zip(found, wanted, strict=False):
            if have != counted:
                raise DataError(MOVED.format(have, counted))
        if len(found) != len(wanted):
            raise DataError(MOVED.format(0, wanted[-1]))

    def _metrics(
        self, common: Common, blocks: Blocks, sums: Sequence[Mapping[str, Any]], released: Any
    ) -> dict[str, Any]:
        """What was asked and reached; refuses what isn't what it should be."""
        task, learned = self.frame.asked.call.task, common.learned
        quasi = {caseless(name) for name in self.frame.asked.quasi}
        fields = [field for field in self.frame.released if caseless(field.name) in quasi]
        rows, classes, least = smallest(released, fields)
        out = int(sum(each["rows_released"] for each in sums))
        if rows != out or sum(each["rows"] for each in sums) != learned.rows:
            raise ReleaseError(LOST.format(learned.rows, learned.rows - out, rows))
        if least is not None and least < task.k:
            raise ReleaseError(SMALL.format(least, task.k, task.method.name))
        verify_models(self.work, released, self.frame.released, rows, task.method.name)
        everything = learned.rows + learned.suppressed
        found: dict[str, Any] = {
            "k_requested": task.k, "k_reached": least, "method": task.method.name,
            "rows": everything, "rows_released": rows, "rows_suppressed": everything - rows,
            "classes": classes, "blocks": len(blocks.sizes),
            "block_rows_min": min(blocks.sizes), "block_rows_max": max(blocks.sizes),
        }
        for loss in ("sse", "total_il"):
            if all(loss in each for each in sums):
                # the order of the blocks is Spark's, and no sum may depend on it
                found[loss] = float(sum(sorted(each[loss] for each in sums)))
        if self.frame.asked.entity is not None:
            found["persons"] = int(sum(each["records"] for each in sums))
        elif "sse" in found and rows == learned.rows:
            total = rows * sum(a.weight for a in learned.attributes if _varies(a))
            found["information_loss"] = 100.0 * found["sse"] / total if total else 0.0
        return found


def _varies(attribute: Any) -> bool:
    """Whether a column has a part in the squared errors."""
    if hasattr(attribute, "factor"):
        return bool(attribute.factor > 0.0 or attribute.indicator > 0.0)
    return bool(attribute.squared.any())
