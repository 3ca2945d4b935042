"""A release in Spark, pass by pass."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kanon_sql.blocks.group import OF_BLOCK, BlockFacts
from kanon_sql.blocks.learn import Common, Learned, learn, survey
from kanon_sql.blocks.metrics import release_metrics
from kanon_sql.blocks.source import cell_of, number_of
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.names import caseless, literal
from kanon_sql.spark.blocks import BLOCK, Blocks, cut
from kanon_sql.spark.columns import cell, column
from kanon_sql.spark.released import ReleasedFrame
from kanon_sql.spark.request import (
    FACTS,
    OF_ALL,
    OF_VALUES,
    ZONE,
    FrameRequest,
    beside,
    read_frame,
    refuse_no_frame,
)
from kanon_sql.spark.source import FrameRows
from kanon_sql.spark.verify import count_output, verify_models
from kanon_sql.spark.worker import MIX, OF_ROW, Work, encoder, grouper

PART_ROWS = 250_000
"""Rows of a partition of the release, about."""

KINDS = {kind.__name__: kind for kind in (DataError, KanonError, OptionError, ReleaseError)}

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
        run = _Run(session, spark, read_frame(session, df, zone, options))
        try:
            return run.run(df, started)
        except PySparkException as error:
            if "No module named 'kanon_sql" in str(error):
                from kanon_sql.version import __version__

                raise OptionError(ABSENT.format(__version__)) from None
            raise
        finally:
            run.free()


def encoded(df: Any, frame: FrameRequest) -> Any:
    """The rows of a DataFrame with the cells of their quasi-identifiers and two hashes of
    each."""
    request, numeric = frame.request, frame.request.numeric
    cells = ", ".join(
        f"{number_of(name) if is_number else cell_of(request, name)} AS {cell(i)}"
        for i, (name, is_number) in enumerate(zip(request.quasi, numeric, strict=True))
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
    encode = encoder(Work(request, frame.zone, 1), cells, to_arrow_schema(schema, timezone=ZONE))
    return chosen.mapInArrow(encode, schema)


@dataclass
class _Run:
    """A run; what Spark caches of it is freed, but for what is handed out."""

    session: Session
    spark: Any
    frame: FrameRequest

    def __post_init__(self) -> None:
        request = self.frame.request
        self.work = Work(request, self.frame.zone, request.call.threads or 1)
        self.cached: list[Any] = []

    def run(self, df: Any, started: float) -> ReleasedFrame:
        """All passes."""
        rows = FrameRows(self.session, self.frame.request, self._kept(encoded(df, self.frame)))
        common = survey(rows)
        learned = learn(rows, common)
        blocks = cut(self.session, self.spark, self.frame.request, learned, rows.rows)
        # not in the cache: Spark works that out anew when a table is written that it depends on
        made = self._grouped(learned, rows, blocks).localCheckpoint()
        facts = self._facts(made)
        self._refuse_moved(blocks, facts)
        names = [column(field.name) for field in self.frame.released]
        released = made.filter(F.col(FACTS).isNull()).select(*names)
        metrics = self._metrics(common, learned, blocks, facts, released)
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

    def _grouped(self, learned: Learned, source: FrameRows, blocks: Blocks) -> Any:
        """The released rows and the facts of all blocks. Which partition a row is in, and where it
        stands there, follows from hashes of what is released of it."""
        schema = beside(self.frame.released)
        own = replace(learned, attributes=(), counts={})  # workers need no more
        group = grouper(self.work, own, source.tables, to_arrow_schema(schema, timezone=ZONE))
        names = [column(field.name) for field in self.frame.fields]
        # so many partitions that Spark doesn't join them by their size in bytes
        rows = blocks.rows.select(*names, BLOCK).repartition(len(blocks.sizes), BLOCK)
        parts = max(1, -(-learned.rows // PART_ROWS))
        made = rows.groupBy(BLOCK).applyInArrow(group, schema)
        return made.repartition(parts, OF_VALUES).sortWithinPartitions(OF_VALUES, OF_ALL)

    def _facts(self, made: Any) -> list[BlockFacts]:
        """The facts of all blocks, in an order of their own; refuses what one of them refused."""
        rows = made.filter(F.col(FACTS).isNotNull()).select(FACTS).collect()
        told = [json.loads(row[FACTS]) for row in rows]
        refused = sorted(tuple(each["error"]) for each in told if "error" in each)
        if refused:
            kind, sentence = refused[0]
            if KINDS.get(kind, DataError) is DataError and len(told) > 1:
                sentence = OF_BLOCK.format(sentence, len(told))
            raise KINDS.get(kind, DataError)(sentence)
        # the order of the blocks is Spark's, and no sum may depend on it
        return sorted(
            (BlockFacts(**each) for each in told),
            key=lambda facts: (facts.sse or 0.0, facts.total_il or 0.0),
        )

    def _refuse_moved(self, blocks: Blocks, facts: Sequence[BlockFacts]) -> None:
        """Raises DataError where the rows are others than those that were counted."""
        found = sorted(each.rows for each in facts)
        wanted = sorted(blocks.sizes)
        for have, counted in zip(found, wanted, strict=False):
            if have != counted:
                raise DataError(MOVED.format(have, counted))
        if len(found) != len(wanted):
            raise DataError(MOVED.format(0, wanted[-1]))

    def _metrics(
        self, common: Common, learned: Learned, blocks: Blocks, facts: Sequence[BlockFacts],
        released: Any,
    ) -> dict[str, Any]:
        """What was asked and reached; refuses what isn't what it should be."""
        request = self.frame.request
        quasi = {caseless(name) for name in request.quasi}
        fields = [field for field in self.frame.released if caseless(field.name) in quasi]
        output = count_output(released, fields)
        metrics = release_metrics(request, common, [learned], blocks.sizes, facts, output)
        verify_models(
            self.work, released, self.frame.released, output.rows, learned.call.task.method.name
        )
        return metrics
