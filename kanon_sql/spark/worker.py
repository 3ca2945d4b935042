"""What runs in Spark's Python workers: each has a DuckDB of its own, with kanon_sql registered."""

from __future__ import annotations

import gc
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.blocks.group import BlockError, BlockFacts, block_call, block_sql, call_over
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.request import Request
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import LITTLE, KanonError
from kanon_sql.names import literal, quoted
from kanon_sql.output.faults import SPILLED
from kanon_sql.plan.fragments import listed
from kanon_sql.plan.parts import starred
from kanon_sql.spark.columns import BLOCK, JOINED, part_of_block
from kanon_sql.sql import expression, statement
from kanon_sql.stages.block import hand_over, take_facts

BATCH = 65_536
"""Rows that are encoded at a time, about."""

ROWS = "kanon_rows"
MIX, OF_ROW = "__kanon_mix", "__kanon_all"
"""Hashes of a row: of what isn't sensitive, and of all."""

MEMORY = (
    "A block of {} rows doesn't fit into the memory of a Spark worker. Set block_rows lower, or "
    "give workers more memory."
)
UNREAD = "DuckDB can't work on the data ({}). Check that each column holds values of one type."


@dataclass(frozen=True)
class WorkerSetup:
    """What workers need to know.

    Attributes:
        request: the call over the DataFrame.
        zone: the time zone of the Spark session.
        threads: how many a worker takes.
    """

    request: Request
    zone: str
    threads: int


_open: list[Session] = []


def opened(zone: str, threads: int) -> Session:
    """The connection of this worker, which lives as long as it does."""
    if not _open:
        _open.append(Session(None))
        # Spark collects garbage after each task, and what is loaded is never any
        gc.freeze()
    session = _open[0]
    session.con.execute(f"SET TimeZone = {literal(zone)}")
    session.con.execute(f"SET threads = {threads}")
    return session


def asked_of(session: Session, text: str, rows: pa.Table) -> pa.Table:
    """What a query says of rows, which it reads as ROWS."""
    session.con.register(ROWS, rows)
    try:
        with session.refusals():
            relation = bound(session.con, telling(text))
        return asked_whole(session, relation, rows.num_rows)
    finally:
        session.con.unregister(ROWS)


def asked_whole(session: Session, relation: duckdb.DuckDBPyRelation, rows: int) -> pa.Table:
    """All that a relation holds, which is worked out from so many rows."""
    try:
        with session.refusals():
            return relation.to_arrow_table()
    except duckdb.OutOfMemoryException:
        raise BlockError(MEMORY.format(rows)) from None
    except duckdb.Error as error:
        raise BlockError(UNREAD.format(type(error).__name__)) from None


def encoder(
    work: WorkerSetup, cells: Sequence[str], target: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow: the rows with their cells beside them.

    Args:
        work: what workers need to know.
        cells: SQL of what comes beside the rows, each with its name.
        target: the columns that come out.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        session = opened(work.zone, 1)
        text = statement("spark.cells", cells=", ".join(cells), rows=quoted(ROWS))
        for rows in _together(batches):
            values = asked_of(session, text, rows)
            columns = [*rows.columns, *values.columns]
            yield from pa.table(columns, names=target.names).cast(target).to_batches()

    return encode


def asker(
    work: WorkerSetup, text: str, target: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow: what a query over ROWS says of them.

    Args:
        work: what workers need to know.
        text: the query, which looks at each row by itself.
        target: the columns that come out.
    """

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        session = opened(work.zone, 1)
        for rows in _together(batches):
            yield from _signed(asked_of(session, text, rows)).cast(target).to_batches()

    return ask


def _signed(table: pa.Table) -> pa.Table:
    """A table whose hashes have a sign: they are of 64 bits without one, which Spark has no type
    for."""
    columns = [
        column.combine_chunks().view(pa.int64()) if column.type == pa.uint64() and
        name.startswith("__kanon_") else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _together(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches as larger ones."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= BATCH:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if sum(map(len, waiting)):
        yield pa.Table.from_batches(waiting)


@dataclass(frozen=True)
class CutRows:
    """Rows that are cut into blocks by themselves: all rows, one large part, or all small parts.

    Attributes:
        request: what is asked of them.
        learned: what was learned of them.
        within: the columns that divide all rows into parts.
        apart: whether they are small parts, of which each block has some whole.
    """

    request: Request
    learned: Learned
    within: tuple[str, ...] = ()
    apart: bool = False

    @property
    def to_workers(self) -> CutRows:
        """The same without what workers don't need."""
        return replace(self, learned=replace(self.learned, attributes=(), counts={}))


def known_to(session: Session, tables: Mapping[str, pa.Table]) -> None:
    """Lets a session read what all blocks read."""
    for name, table in tables.items():
        session.con.register(name, table)


def grouper(
    work: WorkerSetup, parts: Sequence[CutRows], tables: Mapping[str, pa.Table],
    before: Mapping[int, int], target: pa.Schema,
) -> Callable[[pa.Table], pa.Table]:
    """A function of the rows of a block: its released rows, and last a row with its facts, or with
    why there is no release.

    Args:
        work: what workers need to know.
        parts: whose blocks they are, by their numbers.
        tables: that the query of a block reads, by name.
        before: how many rows are in blocks before each, by its number.
        target: the columns that come out; after the released ones two hashes, the number of the
            block, and the facts.
    """

    def group(rows: pa.Table) -> pa.Table:
        number = rows[BLOCK][0].as_py()
        part = parts[part_of_block(number)]
        try:
            session = opened(work.zone, work.threads)
            known_to(session, tables)
            released, facts = _released(session, part, before[number], rows)
            outcome: dict[str, Any] = asdict(facts)
        except KanonError as error:
            released, outcome = None, {"error": [_kind(error), str(error)]}
        facts_name, block_name = target.names[-1], target.names[-2]
        last = pa.Table.from_pylist(
            [{facts_name: json.dumps(outcome), block_name: number}], schema=target
        )
        if released is None:
            return last
        many = released.num_rows
        whole = pa.table(
            [*_signed(released).columns, pa.repeat(number, many), pa.nulls(many, pa.string())],
            names=target.names,
        )
        return pa.concat_tables([whole.cast(target), last])

    return group


def whole(
    group: Callable[[pa.Table], pa.Table],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow over partitions of whole blocks: what a function of the rows of a
    block makes of each."""

    def each_block(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not given:
            return
        rows = pa.Table.from_batches(given)
        blocks = pc.unique(rows[BLOCK])
        for block in blocks:
            own = rows if len(blocks) == 1 else rows.filter(pc.equal(rows[BLOCK], block))
            yield from group(own).to_batches()

    return each_block


def _kind(error: KanonError) -> str:
    """The name of the kind of an error, by which the driver knows it again."""
    kind = BlockError if str(error) in (LITTLE, SPILLED) else type(error)
    return kind.__name__


def _released(
    session: Session, part: CutRows, before: int, rows: pa.Table
) -> tuple[pa.Table, BlockFacts]:
    name, request = uuid.uuid4().hex, part.request
    own = block_call(
        request, call_over(part.learned.call, before), part.learned.scales,
        block_rows(request, part.within, ROWS, JOINED in rows.column_names), rows.num_rows, name,
    )
    hand_over(name, part.learned.known, part.learned.going_on)
    try:
        released = asked_of(session, block_sql(own), rows)
    finally:
        facts = take_facts(name)
    return released, BlockFacts.of(request, facts, rows.num_rows, released.num_rows)


def block_rows(request: Request, within: tuple[str, ...], name: str, joined: bool) -> Relation:
    """The rows of a block as its query reads them.

    Args:
        request: what is asked of them.
        within: the columns that divide all rows into parts.
        name: of a table with its columns, or SQL of one in parentheses.
        joined: whether that says which of them are of parts that are put together: their columns of
            within are released as others.
    """
    call = replace(request.call, roles=replace(request.call.roles, within=within))
    replaced = starred(call, "__kanon_taking", JOINED) if joined else []
    return Relation(expression(
        "spark.rows", columns=listed(request.columns), rows=name,
        replaced=f" REPLACE ({', '.join(replaced)})" if replaced else "",
        joined=f", {JOINED}" if joined else "", without=f" EXCLUDE ({JOINED})" if joined else "",
    ), (name,))
