"""What runs in Spark's Python workers: each has a DuckDB of its own, with kanon_sql registered."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import duckdb
import pyarrow as pa

from kanon_sql.blocks.group import BlockFacts, block_call, block_sql
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.request import Request
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import DataError, KanonError
from kanon_sql.names import literal, quoted
from kanon_sql.sql import statement
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
class Work:
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
        raise DataError(MEMORY.format(rows)) from None
    except duckdb.Error as error:
        raise DataError(UNREAD.format(type(error).__name__)) from None


def encoder(
    work: Work, cells: str, target: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow: the rows with their cells and two hashes beside them.

    Args:
        work: what workers need to know.
        cells: SQL of the cells, each with its name.
        target: the columns that come out.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        session = opened(work.zone, 1)
        request = work.request
        open_columns = ", ".join(map(quoted, (
            name for name in request.columns if name not in request.sensitive
        )))
        text = statement("spark.cells", cells=cells, rows=quoted(ROWS), open=open_columns)
        for rows in _together(batches):
            found = asked_of(session, text, rows)
            columns = [*rows.columns, *found.columns]
            yield from pa.table(columns, names=target.names).cast(target).to_batches()

    return encode


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


def grouper(
    work: Work, learned: Learned, tables: Mapping[str, pa.Table], target: pa.Schema
) -> Callable[[pa.Table], pa.Table]:
    """A function for applyInArrow: the released rows of a block, and last a row with its facts, or
    with why there is no release.

    Args:
        work: what workers need to know.
        learned: of all rows.
        tables: that the query of a block reads, by name.
        target: the columns that come out; after the released ones two hashes and the facts.
    """

    def group(rows: pa.Table) -> pa.Table:
        try:
            session = opened(work.zone, work.threads)
            for name, table in tables.items():
                session.con.register(name, table)
            found, facts = _released(session, work, learned, rows)
            told: dict[str, Any] = asdict(facts)
        except KanonError as error:
            found, told = None, {"error": [type(error).__name__, str(error)]}
        last = pa.Table.from_pylist([{target.names[-1]: json.dumps(told)}], schema=target)
        if found is None:
            return last
        # the hashes are of 64 bits without a sign, which Spark has no type for
        columns = [
            column.combine_chunks().view(pa.int64()) if column.type == pa.uint64() and
            name.startswith("__kanon_") else column
            for name, column in zip(found.column_names, found.columns, strict=True)
        ]
        whole = pa.table(
            [*columns, pa.nulls(found.num_rows, pa.string())], names=target.names
        )
        return pa.concat_tables([whole.cast(target), last])

    return group


def _released(
    session: Session, work: Work, learned: Learned, rows: pa.Table
) -> tuple[pa.Table, BlockFacts]:
    name, request = uuid.uuid4().hex, work.request
    part = rows.select(list(request.columns))
    own = block_call(
        request, learned.call, learned.scales, Relation(quoted(ROWS), (ROWS,)), part.num_rows, name
    )
    hand_over(name, learned.known)
    try:
        found = asked_of(session, block_sql(own), part)
    finally:
        facts = take_facts(name)
    return found, BlockFacts.of(request, facts, part.num_rows, found.num_rows)
