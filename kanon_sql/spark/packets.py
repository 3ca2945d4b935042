"""Rows on their way through Spark: many of them in one value, as Arrow has them, so that Spark need
not look at each when it moves or keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from kanon_sql.spark.columns import BLOCK

PACKET = "__kanon_packet"
"""Rows as a stream of Arrow."""

PACKET_BYTES = 2**25
"""A packet has so many bytes before they are compressed, about; Spark moves 2^31 in one value."""

OF_VALUES, OF_ALL, FACTS = "__kanon_of_values", "__kanon_of_all", "__kanon_facts"
"""The columns beside the released ones: hashes that give the order, and the facts of a block."""

PLACED = StructType([StructField(BLOCK, LongType()), StructField(PACKET, BinaryType())])
"""Rows of a block."""

RELEASED = StructType([
    StructField(OF_VALUES, LongType()), StructField(BLOCK, LongType()),
    StructField(FACTS, StringType()), StructField(PACKET, BinaryType()),
])
"""Released rows of a block that go to one partition, with the hash of one of them, by which Spark
sends them there; or the facts of a block."""

NO_BLOCK = -1
"""Stands for the block of rows of which nobody asks for it any more."""

SLICE = 65_536
"""Rows that are handed to Spark at a time, at most."""

Batches = Iterator[pa.RecordBatch]


def packed(rows: pa.Table) -> bytes:
    """Rows as a packet."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())


def unpacked(packets: Sequence[Any]) -> pa.Table:
    """The rows of packets, of which there is at least one, as scalars of Arrow."""
    return pa.concat_tables([pa.ipc.open_stream(each.as_buffer()).read_all() for each in packets])


def packets_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """The packets that Spark hands over; a row of facts has none."""
    for batch in batches:
        yield from (packet for packet in batch.column(PACKET) if packet.is_valid)


def dealt(rows: pa.Table, places: np.ndarray[Any, Any]) -> Iterator[tuple[int, int, bytes]]:
    """Rows by their places: each place, the number of one row there, and a packet of rows.

    Args:
        rows: in any number.
        places: int64, shape (rows,); where each goes.
    """
    width = max(1, rows.nbytes // max(rows.num_rows, 1))
    many = max(1, PACKET_BYTES // width)
    for first in range(0, rows.num_rows, many):
        own = places[first:first + many]
        order = np.argsort(own, kind="stable")
        sorted_rows = rows.slice(first, many).combine_chunks().take(pa.array(order))
        starts = np.flatnonzero(np.diff(own[order], prepend=own[order[0]] - 1))
        for start, end in zip(starts, [*starts[1:], len(own)], strict=True):
            yield (
                int(own[order[start]]), first + int(order[start]),
                packed(sorted_rows.slice(start, end - start)),
            )


def placed_packet(block: int, packet: bytes) -> pa.RecordBatch:
    """A row as PLACED has it."""
    schema = pa.schema([(BLOCK, pa.int64()), (PACKET, pa.binary())])
    return pa.record_batch([[block], [packet]], schema=schema)


def packer(batches: Batches) -> Batches:
    """For mapInArrow: rows in packets, each of one block."""
    for rows in together(pa.Table.from_batches([batch]) for batch in batches):
        for block, _, packet in dealt(rows.drop_columns([BLOCK]), rows[BLOCK].to_numpy()):
            yield placed_packet(block, packet)


def together(tables: Iterable[pa.Table], size: int = PACKET_BYTES) -> Iterator[pa.Table]:
    """Tables as larger ones, of so many bytes, about."""
    waiting: list[pa.Table] = []
    have = 0
    for table in tables:
        waiting.append(table)
        have += table.nbytes
        if have >= size:
            yield pa.concat_tables(waiting)
            waiting, have = [], 0
    if sum(map(len, waiting)):
        yield pa.concat_tables(waiting)


def in_packets(rows: pa.Table, block: int, partitions: int = 1) -> Batches:
    """Released rows of a block in packets, each of one partition and in a batch of its own, so that
    few of them are in memory at a time."""
    keys = rows[OF_VALUES].to_numpy()
    for _, i, packet in dealt(rows, partitions_of(keys, partitions)):
        yield _row(int(keys[i]), block, None, packet)


def dealer(partitions: int) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: packets of released rows dealt to other partitions."""

    def deal(batches: Batches) -> Batches:
        for rows in _as_they_lie(batches):
            block = rows[BLOCK][0].as_py()
            yield from in_packets(rows.drop_columns([BLOCK]), block, partitions)

    return deal


def released_packets(rows: pa.Table, block: int, facts: str, partitions: int) -> pa.Table:
    """Released rows in packets, each of one partition, and last a row with the facts of their
    block.

    Args:
        rows: those of a block, with their hashes.
        block: its number.
        facts: of it.
        partitions: of the release.
    """
    return pa.Table.from_batches([
        *in_packets(rows, block, partitions), _row(None, block, facts, None)
    ])


def _row(key: int | None, block: int, facts: str | None, packet: bytes | None) -> pa.RecordBatch:
    """A row as RELEASED has it."""
    schema = pa.schema([
        (OF_VALUES, pa.int64()), (BLOCK, pa.int64()), (FACTS, pa.string()), (PACKET, pa.binary())
    ])
    return pa.record_batch([[key], [block], [facts], [packet]], schema=schema)


def ordered(batches: Batches) -> pa.Table | None:
    """All rows of a partition of the release in their order; None without any."""
    packets = list(packets_of(batches))
    if not packets:
        return None
    rows = unpacked(packets)
    order = np.lexsort((rows[OF_ALL].to_numpy(), rows[OF_VALUES].to_numpy()))
    return rows.combine_chunks().take(pa.array(order))


def reader(names: Sequence[str], in_order: bool) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: columns of the rows of packets; in their order only where asked,
    and then without BLOCK."""

    def read(batches: Batches) -> Batches:
        for rows in [ordered(batches)] if in_order else _as_they_lie(batches):
            if rows is not None:
                yield from rows.select(list(names)).to_batches(max_chunksize=SLICE)

    return read


def _as_they_lie(batches: Batches) -> Iterator[pa.Table]:
    """The rows of packets, with the column BLOCK."""
    for batch in batches:
        for block, packet in zip(batch.column(BLOCK), batch.column(PACKET), strict=True):
            if packet.is_valid:
                rows = unpacked([packet])
                yield rows.append_column(BLOCK, pa.repeat(block, len(rows)))


def partitions_of(keys: np.ndarray[Any, Any], partitions: int) -> np.ndarray[Any, Any]:
    """In which partition each row is after ``repartition(partitions, key)``: Spark takes the
    remainder of Murmur3 over the 8 bytes of a long, whose seed is 42.

    Args:
        keys: int64, shape (rows,).
        partitions: how many there are.

    Returns:
        int64, shape (rows,).
    """
    hashed = np.full(len(keys), 42, np.uint32)
    whole = keys.view(np.uint64)
    for half in (whole & np.uint64(0xFFFFFFFF), whole >> np.uint64(32)):
        mixed = _turned(half.astype(np.uint32) * np.uint32(0xCC9E2D51), 15)
        hashed = _turned(hashed ^ mixed * np.uint32(0x1B873593), 13)
        hashed = hashed * np.uint32(5) + np.uint32(0xE6546B64)
    hashed ^= np.uint32(8)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed = (hashed ^ hashed >> np.uint32(shift)) * np.uint32(factor)
    hashed ^= hashed >> np.uint32(16)
    places: np.ndarray[Any, Any] = hashed.view(np.int32).astype(np.int64) % partitions
    return places


def _turned(values: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    turned: np.ndarray[Any, Any] = values << np.uint32(bits) | values >> np.uint32(32 - bits)
    return turned
