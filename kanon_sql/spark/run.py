"""A release in Spark, pass by pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kanon_sql.blocks.group import OF_BLOCK, Block, BlockFacts, blocks_of, join_refused
from kanon_sql.blocks.learn import Common, Learned, learn, survey
from kanon_sql.blocks.metrics import release_metrics
from kanon_sql.blocks.parts import Pack
from kanon_sql.blocks.source import cell_of, number_of
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.names import literal, quoted
from kanon_sql.spark.blocks import cut
from kanon_sql.spark.class_ids import with_class_ids
from kanon_sql.spark.columns import (
    BLOCK,
    JOINED,
    KEY,
    PACK,
    cell,
    column,
    number_of_block,
    own_cell,
)
from kanon_sql.spark.parts import divide, in_packs
from kanon_sql.spark.released import ReleasedFrame, free
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
from kanon_sql.spark.worker import MIX, OF_ROW, Cut, Work, encoder, grouper
from kanon_sql.sql import expression

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


def encoded(df: Any, frame: FrameRequest, kept: Callable[[Any], Any] = lambda rows: rows) -> Any:
    """The rows of a DataFrame with the cells of their quasi-identifiers and two hashes of each.

    Args:
        df: the DataFrame.
        frame: what is asked of it.
        kept: keeps the rows with what Spark doesn't work out itself.
    """
    request, numeric = frame.request, frame.request.numeric
    found, cells, fields = {}, [], []
    for i, (name, is_number) in enumerate(zip(request.quasi, numeric, strict=True)):
        own = own_cell(frame.field(name), is_number)
        if own is not None:
            found[cell(i)] = own
            continue
        cells.append(
            f"{number_of(name) if is_number else cell_of(request, name)} AS {cell(i)}, "
        )
        fields.append(StructField(cell(i), DoubleType() if is_number else StringType()))
    if request.within:
        keys = (expression("spark.part_key", column=quoted(name)) for name in request.within)
        cells.append(f"concat_ws(',', {', '.join(keys)}) AS {KEY}, ")
        fields.append(StructField(KEY, StringType()))
    schema = StructType([
        *(StructField(f.name, f.dataType, True, f.metadata) for f in frame.fields),
        *fields, StructField(MIX, LongType()), StructField(OF_ROW, LongType()),
    ])
    chosen = df.select(*(column(field.name) for field in frame.fields))
    encode = encoder(
        Work(request, frame.zone, 1), "".join(cells), to_arrow_schema(schema, timezone=ZONE)
    )
    rows = kept(chosen.mapInArrow(encode, schema))
    return rows.withColumns(found) if found else rows


@dataclass(frozen=True)
class _Part:
    """Rows that are cut into blocks by themselves.

    Attributes:
        cut: what workers need to know of them.
        blocks: in which they lie.
        rows: gives those of some leaves, with the number that each has in the column BLOCK.
    """

    cut: Cut
    blocks: Sequence[Block]
    rows: Callable[[dict[str, int]], Any]


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
        self.made: list[Any] = []

    def run(self, df: Any, started: float) -> ReleasedFrame:
        """All passes."""
        request = self.frame.request
        rows = FrameRows(self.session, request, encoded(df, self.frame, self._kept))
        common = survey(rows)
        cut_apart, more = self._parts(common, rows)
        parts, facts, dropped = self._grouped(cut_apart, rows.tables)
        kept, made = self._whole(dropped, common.rows)
        output = count_output(made, self.frame.counted)
        metrics = release_metrics(
            request, common, [part.cut.learned for part in parts],
            [block.rows for part in parts for block in part.blocks], facts, output,
        )
        if request.entity is None:  # whose a row is isn't released: blocks have verified it
            cuts = [part.cut for part in parts]
            verify_models(self.work, made, cuts, rows.tables, output.rows, self.frame.counted)
        names = [column(field.name) for field in self.frame.released]
        if request.call.release.class_id:
            kept = made = self._checkpoint(with_class_ids(self.work, made, self.frame.counted))
            names.append(F.col("class_id"))
        self.made = [each for each in self.made if each is not kept]
        metrics = {**metrics, **more, "seconds": perf_counter() - started}
        return ReleasedFrame(made.select(*names), metrics, kept)

    def free(self) -> None:
        """Frees what Spark keeps of the run."""
        for each in self.cached:
            each.unpersist()
        for each in self.made:
            free(each)

    def _kept(self, frame: Any) -> Any:
        """The DataFrame, which Spark keeps as it was first worked out."""
        found = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self.cached.append(found)
        return found

    def _checkpoint(self, frame: Any) -> Any:
        """The same, and not in the cache: Spark works that out anew when a table is written that it
        depends on."""
        found = frame.localCheckpoint()
        self.made.append(found)
        return found

    def _parts(self, common: Common, rows: FrameRows) -> tuple[list[_Part], dict[str, int]]:
        """What is cut by itself, and the metrics of parts; one of all rows without any."""
        request, own = self.frame.request, self.frame.in_parts
        if own is None:
            return [self._cut(rows, common, 0)], {}
        divided, inside = divide(self.session, self.spark, request, rows.rows)
        found = [
            self._cut(FrameRows(self.session, own, inside.filter(F.col(PACK) == i), rows.tables),
                      common, i)
            for i, pack in enumerate(divided.packs) if pack.large
        ]
        small = {i: pack for i, pack in enumerate(divided.packs) if not pack.large}
        if small:
            at = 0 if 0 in small else len(found)
            found.insert(at, self._of_small(common, small, inside))
        return found, divided.metrics

    def _of_small(self, common: Common, packs: Mapping[int, Pack], rows: Any) -> _Part:
        """All small parts: each block is a pack of them."""
        request = self.frame.request
        learned = Learned(sum(pack.rows for pack in packs.values()), common.call)
        blocks = [Block(i, 0, 0, (str(i),), pack.rows) for i, pack in packs.items()]
        return _Part(
            Cut(request, learned, request.within, apart=True), blocks,
            partial(in_packs, self.spark, rows),
        )

    def _cut(self, rows: FrameRows, common: Common, number: int) -> _Part:
        """Rows in blocks, by what they have in common."""
        learned = learn(rows, common, number)
        cuts = cut(self.session, self.spark, rows.request, learned, rows.rows)
        return _Part(
            Cut(rows.request, replace(learned, counts={}), self.frame.request.within),
            blocks_of(cuts.leaves, learned.call.task, number), cuts.rows,
        )

    def _grouped(
        self, parts: Sequence[_Part], tables: Mapping[str, pa.Table]
    ) -> tuple[Sequence[_Part], list[BlockFacts], list[int]]:
        """Groups all blocks; those that can't keep a model join a neighbour, which is grouped anew.
        The parts with the blocks that came of it, the facts of these, and the numbers of blocks
        that were grouped and are no more."""
        done: dict[Block, tuple[int, BlockFacts]] = {}
        dropped: list[int] = []
        while True:
            given = {
                number_of_block(i, len(done) + len(dropped) + j): block
                for i, part in enumerate(parts)
                for j, block in enumerate(b for b in part.blocks if b not in done)
            }
            refused = {}
            for number, told in self._told(parts, given, tables).items():
                if "error" in told:
                    refused[given[number]] = told["error"][1]
                else:
                    done[given[number]] = number, BlockFacts(**told)
            if not refused:
                break
            blocks = [block for part in parts for block in part.blocks]
            parts = [_joined(part, refused) for part in parts]
            left = {block for part in parts for block in part.blocks}
            if left == set(blocks):
                raise DataError(OF_BLOCK.format(min(refused.values()), len(blocks)))
            dropped += [done.pop(block)[0] for block in blocks if block in {*done} - left]
            dropped += [number for number, block in given.items() if block in refused]
        # the order of the blocks is Spark's, and no sum may depend on it
        facts = sorted(
            (told for _, told in done.values()),
            key=lambda facts: (facts.sse or 0.0, facts.total_il or 0.0),
        )
        return parts, facts, dropped

    def _told(
        self, parts: Sequence[_Part], given: Mapping[int, Block], tables: Mapping[str, pa.Table]
    ) -> dict[int, dict[str, Any]]:
        """Groups blocks, by their numbers; what each tells, refused where no neighbour would help.
        """
        made = self._checkpoint(self._ordered(self._released(parts, given, tables), sum(
            block.rows for block in given.values()
        )))
        told = {
            row[BLOCK]: json.loads(row[FACTS])
            for row in made.filter(F.col(FACTS).isNotNull()).select(BLOCK, FACTS).collect()
        }
        many = sum(len(part.blocks) for part in parts)
        refused = sorted(tuple(each["error"]) for each in told.values() if "error" in each)
        joins = many > 1 and self.frame.request.call.task.beside_k
        for name, sentence, may_join in refused:
            kind = KINDS.get(name, DataError)
            if joins and may_join:
                continue
            if kind is DataError and many > 1:
                sentence = OF_BLOCK.format(sentence, many)
            raise kind(sentence)
        for number, block in given.items():
            have = told[number].get("rows", block.rows) if number in told else 0
            if have != block.rows:
                raise DataError(MOVED.format(have, block.rows))
        return told

    def _released(
        self, parts: Sequence[_Part], given: Mapping[int, Block], tables: Mapping[str, pa.Table]
    ) -> Any:
        """The released rows and the facts of blocks, by their numbers."""
        schema = beside(self.frame.released)
        group = grouper(
            self.work, [part.cut.to_workers for part in parts], tables,
            to_arrow_schema(schema, timezone=ZONE),
        )
        numbers = {block: number for number, block in given.items()}
        names = [column(field.name) for field in self.frame.fields]
        if self.frame.in_parts is not None and self.frame.request.call.small_parts == "join":
            names.append(F.col(JOINED))
        rows = reduce(DataFrame.unionByName, (
            part.rows({
                leaf: numbers[block] for block in part.blocks if block in numbers
                for leaf in block.leaves
            }).select(*names, F.col(BLOCK).cast("long"))
            for part in parts if any(block in numbers for block in part.blocks)
        ))
        # so many partitions that Spark doesn't join them by their size in bytes
        rows = rows.repartition(len(given), BLOCK)
        return rows.groupBy(BLOCK).applyInArrow(group, schema)

    def _ordered(self, made: Any, rows: int) -> Any:
        """Which partition a row is in, and where it stands there, follows from hashes of what is
        released of it."""
        parts = max(1, -(-rows // PART_ROWS))
        return made.repartition(parts, OF_VALUES).sortWithinPartitions(OF_VALUES, OF_ALL)

    def _whole(self, dropped: Collection[int], rows: int) -> tuple[Any, Any]:
        """What Spark keeps of the release, and its rows, without those of blocks that are no more.
        """
        if len(self.made) == 1:
            return self.made[0], self.made[0].filter(F.col(FACTS).isNull())
        found = reduce(DataFrame.unionByName, self.made)
        left = found.filter(F.col(FACTS).isNull() & ~F.col(BLOCK).isin(list(dropped)))
        made = self._checkpoint(self._ordered(left, rows))
        return made, made


def _joined(part: _Part, refused: Collection[Block]) -> _Part:
    """A part in which each block that was refused has joined its neighbour; small parts don't."""
    if part.cut.apart:
        return part
    size = part.cut.learned.call.task.block_size()
    return replace(part, blocks=join_refused(part.blocks, refused, size))
