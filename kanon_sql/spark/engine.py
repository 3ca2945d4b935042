"""A DataFrame of Spark as an engine of blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import WHOSE, Block, BlockError, BlockFacts, Leaf
from kanon_sql.blocks.learn import Common, Learned, survey
from kanon_sql.blocks.metrics import Output
from kanon_sql.blocks.parts import Divided, Pack
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import cell_of, number_of
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.names import quoted
from kanon_sql.plan.ledger import source_sql
from kanon_sql.spark.blocks import Cuts, cut
from kanon_sql.spark.class_ids import with_class_ids
from kanon_sql.spark.columns import (
    BLOCK,
    DIGEST,
    JOINED,
    KEY,
    LEAVING,
    PACK,
    PERSON,
    cell,
    column,
    number_of_block,
    own_cell,
    own_hash,
    place_of_block,
)
from kanon_sql.spark.parts import divide, in_packs
from kanon_sql.spark.released import EntriesInSpark, SparkRelease, free
from kanon_sql.spark.request import (
    FACTS,
    OF_ALL,
    OF_VALUES,
    ZONE,
    FrameRequest,
)
from kanon_sql.spark.source import FrameRows
from kanon_sql.spark.verify import count_output, verify_models
from kanon_sql.spark.worker import MIX, OF_ROW, CutRows, WorkerSetup, encoder, grouper, whole
from kanon_sql.sql import expression

PART_ROWS = 250_000
"""Rows of a partition of the release, about."""

KINDS = {
    kind.__name__: kind
    for kind in (DataError, KanonError, OptionError, ReleaseError, BlockError)
}

MOVED = (
    "The release was stopped: a block has {} rows where {} were counted before, so the DataFrame "
    "changes while it is read. Write it to a table first."
)


def encoded(df: Any, frame: FrameRequest, kept: Callable[[Any], Any] = lambda rows: rows) -> Any:
    """The rows of a DataFrame with the cells of their quasi-identifiers and two hashes of each: of
    what isn't sensitive, and of all.

    Args:
        df: the DataFrame.
        frame: what is asked of it.
        kept: keeps the rows with what Spark doesn't work out itself.
    """
    request, numeric = frame.request, frame.request.numeric
    own, cells, fields = {}, [], []
    for i, (name, is_number) in enumerate(zip(request.quasi, numeric, strict=True)):
        value = own_cell(frame.field(name), is_number)
        if value is not None:
            own[cell(i)] = value
            continue
        cells.append(f"{number_of(name) if is_number else cell_of(request, name)} AS {cell(i)}")
        fields.append(StructField(cell(i), DoubleType() if is_number else StringType()))
    if request.call.ledger is not None:
        cells += [f"__kanon_key({quoted(request.call.ledger.entity)}) AS {PERSON}",
                  f"{source_sql(request.call)} AS {DIGEST}"]
        fields += [StructField(PERSON, StringType()), StructField(DIGEST, StringType())]
    if request.within:
        keys = (expression("spark.part_key", column=quoted(name)) for name in request.within)
        cells.append(f"concat_ws(',', {', '.join(keys)}) AS {KEY}")
        fields.append(StructField(KEY, StringType()))
    hashed = {
        MIX: [field for field in frame.fields if field.name not in request.sensitive],
        OF_ROW: list(frame.fields),
    }
    for name, some in hashed.items():
        value = own_hash(some)
        if value is not None:
            own[name] = value
            continue
        columns = ", ".join(quoted(field.name) for field in some)
        cells.append(expression("spark.hash", columns=columns, name=name))
        fields.append(StructField(name, LongType()))
    rows = df.select(*(column(field.name) for field in frame.fields))
    if cells:
        schema = StructType([
            *(StructField(f.name, f.dataType, True, f.metadata) for f in frame.fields), *fields
        ])
        target = to_arrow_schema(schema, timezone=ZONE)
        rows = rows.mapInArrow(encoder(WorkerSetup(request, frame.zone, 1), cells, target), schema)
    return kept(rows).withColumns(own)


class FrameEngine:
    """Blocks in Spark: it places the rows, and its Python workers group the blocks. See
    kanon_sql.blocks.engine.

    Attributes:
        session: over a connection of our own.
        spark: the Spark session.
        frame: what is asked of the DataFrame.
        rows: those of the DataFrame, with their cells.
        work: what workers need to know.
        beside: released rows that are of no block.
        leaving: the persons, as LEAVING, who are left out after all; None without any.
        out: the released rows and what stands beside them, once they are written.
        entries: what their ledger gets, once that is known.
    """

    def __init__(self, session: Session, spark: Any, frame: FrameRequest, df: Any) -> None:
        self.session, self.spark, self.frame = session, spark, frame
        self.work = WorkerSetup(frame.request, frame.zone, 1)
        self._cached: list[Any] = []
        self._checkpoints: list[Any] = []
        self.rows = FrameRows(session, frame.request, encoded(df, frame, self._kept))
        self._in_packs: Any = None
        self._cuts: dict[int, Cuts] = {}
        # what workers know of parts, in which place there that of each stands, and what blocks are
        # called there, also those that are no more
        self._told: list[CutRows] = []
        self._places: dict[tuple[int, bool], int] = {}
        self._numbers: dict[Block, int] = {}
        self._given: set[int] = set()
        self._of_blocks: list[Any] = []
        self.beside: list[Any] = []
        self.leaving: Any = None
        self.out: Any = None
        self.entries: EntriesInSpark | None = None
        self._released: tuple[Any, Any] = (None, None)

    @property
    def request(self) -> Request:
        """What is asked of all rows."""
        return self.frame.request

    def free(self) -> None:
        """Frees what Spark keeps of the run, but for what was handed out."""
        for each in self._cached:
            each.unpersist()
        for each in self._checkpoints:
            free(each)

    def hand_out(self, metrics: Mapping[str, Any]) -> SparkRelease:
        """The release, which whoever gets it frees, with what its ledger gets."""
        (frame, *kept), entries = self._released, self.entries
        kept += [] if entries is None else [entries.kept]
        self._checkpoints = [
            each for each in self._checkpoints if not any(each is one for one in kept)
        ]
        return SparkRelease(
            frame, metrics["rows_released"], metrics, kept,
            None if entries is None else entries.data,
        )

    def _kept(self, frame: Any) -> Any:
        """The DataFrame, which Spark keeps as it was first worked out."""
        cached = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._cached.append(cached)
        return cached

    def checkpoint(self, frame: Any) -> Any:
        """The same, and not in the cache: Spark works that out anew when a table is written that it
        depends on."""
        checkpoint = frame.localCheckpoint()
        self._checkpoints.append(checkpoint)
        return checkpoint

    def source(self) -> FrameRows:
        """The rows of the DataFrame."""
        return self.rows

    def survey(self) -> Common:
        """Some jobs."""
        return survey(self.rows)

    def divided(self) -> Divided:
        """One job."""
        division, self._in_packs = divide(self.session, self.spark, self.request, self.rows.rows)
        return division

    def source_of(self, number: int) -> FrameRows:
        """The rows of a pack."""
        assert self.frame.in_parts is not None
        rows = self._in_packs.filter(F.col(PACK) == number)
        return FrameRows(self.session, self.frame.in_parts, rows, self.rows.tables)

    def leaf_of(self, number: int, pack: Pack) -> Leaf:
        """The rows of a pack."""
        return Leaf(str(number), pack.rows, pack.rows)

    def cut(self, source: FrameRows, learned: Learned, number: int) -> Sequence[Leaf]:
        """Some jobs."""
        cuts = self._cuts[number] = cut(
            self.session, self.spark, source.request, learned, source.rows
        )
        return cuts.leaves

    def grouped(
        self, blocks: Sequence[tuple[Part, Block]], many: int, may_join: bool
    ) -> dict[Block, BlockFacts | DataError]:
        """One job, in Spark's Python workers."""
        first = len(self._given)
        numbers = {
            block: number_of_block(self._place(part), first + j)
            for j, (part, block) in enumerate(blocks)
        }
        self._numbers.update(numbers)
        self._given.update(numbers.values())
        released = self.checkpoint(self._ordered(
            self._by_workers(blocks, numbers), sum(block.rows for _, block in blocks)
        ))
        facts = {
            row[BLOCK]: json.loads(row[FACTS])
            for row in released.filter(F.col(FACTS).isNotNull()).select(BLOCK, FACTS).collect()
        }
        self._of_blocks.append(released)
        results = {block: _read(facts.get(number), block) for block, number in numbers.items()}
        if not may_join:
            for each in results.values():
                if isinstance(each, DataError):
                    raise each
        return results

    def _place(self, part: Part) -> int:
        """Where what workers know of a part stands; of all small parts that is one."""
        known = next((i for i, cut in enumerate(self._told) if cut.apart), None)
        # beside a ledger the models of the same part may wait until all rows are placed
        own = part.number, bool(part.learned.call.task.models)
        if own not in self._places and part.small and known is not None:
            self._places[own] = known
        if own not in self._places:
            self._places[own] = len(self._told)
            learned = replace(part.learned, attributes=(), counts={})
            self._told.append(CutRows(part.request, learned, self.request.within, part.small))
        return self._places[own]

    def _rows(
        self, blocks: Sequence[tuple[Part, Block]], numbers: Mapping[Block, int]
    ) -> Iterator[Any]:
        """The rows of blocks, part by part, with the numbers of their blocks as BLOCK."""
        leaves: dict[int | None, dict[str, int]] = {}  # by their part; None: the small ones
        for part, block in blocks:
            own = leaves.setdefault(None if part.small else part.number, {})
            own.update(dict.fromkeys(block.leaves, numbers[block]))
        return (
            in_packs(self.spark, self._in_packs, own) if number is None
            else self._cuts[number].rows(own)
            for number, own in leaves.items()
        )

    def _by_workers(
        self, blocks: Sequence[tuple[Part, Block]], numbers: Mapping[Block, int]
    ) -> Any:
        """The released rows and the facts of blocks."""
        schema, before = self.frame.beside, {numbers[block]: block.before for _, block in blocks}
        group = grouper(
            self.work, self._told, self.rows.tables, before, to_arrow_schema(schema, timezone=ZONE)
        )
        names = [column(field.name) for field in self.frame.fields]
        if self.frame.in_parts is not None and self.request.call.small_parts == "join":
            names.append(F.col(JOINED))
        rows = reduce(DataFrame.unionByName, (
            part.select(*names, F.col(BLOCK).cast("long")) for part in self._rows(blocks, numbers)
        ))
        # each block is a partition: the rows need no sort, and no two blocks share a task
        at = place_of_block(F.col(BLOCK)) - min(map(place_of_block, before))
        return rows.repartitionById(len(blocks), at.cast("int")).mapInArrow(whole(group), schema)

    def _ordered(self, frame: Any, rows: int) -> Any:
        """Which partition a row is in, and where it stands there, follows from hashes of what is
        released of it."""
        parts = max(1, -(-rows // PART_ROWS))
        return frame.repartition(parts, OF_VALUES).sortWithinPartitions(OF_VALUES, OF_ALL)

    def written(self, parts: Sequence[Part], facts: Sequence[BlockFacts], common: Common) -> Output:
        """The release as Spark keeps it, verified there."""
        blocks = [block for part in parts for block in part.blocks]
        kept, released = self._whole(blocks, common.rows)
        counted = self.frame.counted
        output = count_output(released, counted)
        if self.request.entity is None:  # whose a row is isn't released: blocks have verified it
            verify_models(self.work, released, self._told, self.rows.tables, output.rows, counted)
        names = [column(field.name) for field in self.frame.released]
        if self.request.call.release.class_id:
            kept = released = self.checkpoint(with_class_ids(self.work, released, counted))
            names.append(F.col("class_id"))
        self.out, self._released = released, (released.select(*names), kept)
        return output

    def number(self, block: Block) -> int:
        """The number of a block in BLOCK."""
        return self._numbers[block]

    def grouped_rows(self, blocks: Sequence[Block]) -> Any:
        """The rows of these blocks as they were grouped last, and those of no block."""
        dropped = self._given - {self._numbers[block] for block in blocks}
        union = reduce(DataFrame.unionByName, [*self._of_blocks, *self.beside])
        return union.filter(F.col(FACTS).isNull() & ~F.col(BLOCK).isin(list(dropped)))

    def _whole(self, blocks: Sequence[Block], rows: int) -> tuple[Any, Any]:
        """What Spark keeps of the release, and its rows, without those of blocks that are no more.
        """
        if len(self._of_blocks) == 1 and not self.beside and self.leaving is None:
            return self._of_blocks[0], self._of_blocks[0].filter(F.col(FACTS).isNull())
        left = self.grouped_rows(blocks)
        if self.leaving is not None:
            gone = self.leaving.select(LEAVING)
            left = left.join(gone, F.col(WHOSE[0]) == F.col(LEAVING), "left_anti")
        released = self.checkpoint(self._ordered(left, rows))
        return released, released


def _read(facts: Mapping[str, Any] | None, block: Block) -> BlockFacts | DataError:
    """The facts of a block as a worker told them, or why it was refused.

    Raises:
        KanonError: what no larger block would make good.
    """
    if facts is not None and "error" in facts:
        name, sentence = facts["error"]
        refusal = KINDS.get(name, DataError)(sentence)
        if isinstance(refusal, DataError) and not isinstance(refusal, BlockError):
            return refusal
        raise refusal
    have = 0 if facts is None else facts.get("rows", block.rows)
    if facts is None or have != block.rows:
        raise BlockError(MOVED.format(have, block.rows))
    return BlockFacts(**facts)
