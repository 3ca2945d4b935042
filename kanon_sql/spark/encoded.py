"""The rows of a DataFrame with the cells of their quasi-identifiers, in packets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kanon_sql.blocks.source import cell_of, number_of
from kanon_sql.names import quoted
from kanon_sql.spark.columns import KEY, cell, column, own_cell, own_hash
from kanon_sql.spark.packets import (
    PLACED,
    Batches,
    packed,
    packets_of,
    placed_packet,
    reader,
    together,
    unpacked,
)
from kanon_sql.spark.request import ZONE, FrameRequest
from kanon_sql.spark.worker import MIX, OF_ROW, ROWS, WorkerSetup, asked_of, opened
from kanon_sql.sql import expression, statement

ENCODED_BYTES = 2**21
"""A packet of the rows as they come has so many bytes, about: the JVM doesn't like larger objects.
"""


@dataclass(frozen=True)
class PacketRows:
    """Rows with their cells, which lie in packets.

    Attributes:
        work: what workers need to know.
        packets: a DataFrame of them, see kanon_sql.spark.packets.PLACED.
        fields: the columns in packets.
        cells: those of them that hold the cells of quasi-identifiers.
        row_hash: a hash of all of a row, where Spark works it out of the others.
    """

    work: WorkerSetup
    packets: Any
    fields: StructType
    cells: tuple[str, ...]
    row_hash: Any = None

    @property
    def without_nulls(self) -> tuple[str, ...]:
        """The columns in which a row that takes part lacks nothing."""
        return self.cells if self.work.request.call.task.nulls == "suppress" else ()

    def rows(self, names: Sequence[str]) -> Any:
        """These columns of the rows that take part."""
        needed = list(dict.fromkeys((*names, *self.without_nulls)))
        rows = read(self.packets, self.fields, needed, in_order=False)
        for name in self.without_nulls:
            rows = rows.filter(column(name).isNotNull())
        return rows

    def telling(
        self, values: Mapping[str, str], taken: str = "true", more: str = "", whole: bool = False
    ) -> str:
        """SQL of what rows tell, of those that take part.

        Args:
            values: SQL of each column that comes out, by its name.
            taken: SQL of a condition.
            more: SQL of what stands after it.
            whole: of all rows, also those that nulls 'suppress' leaves out.
        """
        names = () if whole else self.without_nulls
        conditions = [*(f"{quoted(name)} IS NOT NULL" for name in names), taken]
        return statement(
            "spark.asked", values=", ".join(f"{text} AS {name}" for name, text in values.items()),
            rows=quoted(ROWS), taken=" AND ".join(conditions), more=more,
        )

    def asked(self, schema: str, *texts: str) -> Any:
        """What queries say of the rows of some packets at a time, as a DataFrame.

        Args:
            schema: what comes out.
            texts: SQL, see ``telling``.
        """
        kinds = StructType.fromDDL(schema)
        assert isinstance(kinds, StructType)
        text = " UNION ALL ".join(f"({each})" for each in texts)
        return self.packets.mapInArrow(_asker(self.work, text, to_arrow_schema(kinds)), schema)

    def of(self, packets: Any, fields: StructType | None = None) -> PacketRows:
        """Other rows like these."""
        return replace(self, packets=packets, fields=self.fields if fields is None else fields)


def read(packets: Any, fields: StructType, names: Sequence[str], in_order: bool) -> Any:
    """These columns of the rows of packets, see kanon_sql.spark.packets.reader."""
    known = {field.name: field for field in fields}
    return packets.mapInArrow(reader(names, in_order), StructType([known[name] for name in names]))


def encoded(df: Any, frame: FrameRequest, kept: Callable[[Any], Any] = lambda rows: rows
            ) -> PacketRows:
    """The rows of a DataFrame with the cells of their quasi-identifiers and two hashes of each: of
    what isn't sensitive, and of all.

    Args:
        df: the DataFrame.
        frame: what is asked of it.
        kept: keeps the packets.
    """
    request, numeric = frame.request, frame.request.numeric
    own: dict[str, Any] = {}
    texts: list[str] = []
    names: list[str] = []
    own_fields: list[StructField] = []
    fields: list[StructField] = []
    for i, (name, is_number) in enumerate(zip(request.quasi, numeric, strict=True)):
        field = frame.field(name)
        value = own_cell(field, is_number)
        names.append(field.name if value is not None and not is_number else cell(i))
        kind = StructField(cell(i), DoubleType() if is_number else StringType())
        if value is None:
            texts.append(f"{number_of(name) if is_number else cell_of(request, name)} AS {cell(i)}")
            fields.append(kind)
        elif is_number:
            own[cell(i)] = value
            own_fields.append(kind)
    if request.within:
        keys = (expression("spark.part_key", column=quoted(name)) for name in request.within)
        texts.append(f"concat_ws(',', {', '.join(keys)}) AS {KEY}")
        fields.append(StructField(KEY, StringType()))
    hashed = {
        MIX: [field for field in frame.fields if field.name not in request.sensitive],
        OF_ROW: list(frame.fields),
    }
    hashes = {name: own_hash(some) for name, some in hashed.items()}
    for name, some in hashed.items():
        if hashes[name] is None:
            columns = ", ".join(quoted(field.name) for field in some)
            texts.append(expression("spark.hash", columns=columns, name=name))
            fields.append(StructField(name, LongType()))
    if hashes[MIX] is not None:
        own[MIX] = hashes[MIX]
        own_fields.append(StructField(MIX, LongType()))
    whole = StructType([
        *(StructField(f.name, f.dataType, True, f.metadata) for f in frame.fields),
        *own_fields, *fields,
    ])
    work = WorkerSetup(request, frame.zone, 1)
    rows = df.select(*(column(field.name) for field in frame.fields)).withColumns(own)
    target = to_arrow_schema(whole, timezone=ZONE)
    packets = kept(rows.mapInArrow(_encoder(work, texts, target), PLACED))
    return PacketRows(work, packets, whole, tuple(names), hashes[OF_ROW])


def _encoder(
    work: WorkerSetup, cells: Sequence[str], target: pa.Schema
) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: the rows with their cells beside them, in packets.

    Args:
        work: what workers need to know.
        cells: SQL of what comes beside the rows, each with its name.
        target: the columns in packets.
    """

    def encode(batches: Batches) -> Batches:
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        for rows in together(tables, ENCODED_BYTES):
            columns = rows.columns
            if cells:
                text = statement("spark.cells", cells=", ".join(cells), rows=quoted(ROWS))
                columns = [*columns, *asked_of(opened(work.zone, 1), text, rows).columns]
            yield placed_packet(0, packed(pa.table(columns, names=target.names).cast(target)))

    return encode


def _asker(work: WorkerSetup, text: str, target: pa.Schema) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: what a query says of rows, of several packets at a time."""

    def ask(batches: Batches) -> Batches:
        for rows in together(unpacked([packet]) for packet in packets_of(batches)):
            answer = asked_of(opened(work.zone, 1), text, rows)
            yield from answer.cast(target).to_batches()

    return ask


def crowds(rows: PacketRows, bits: int) -> Any:
    """A DataFrame of how many of the rows that take part have each end of their MIX, from a bit on:
    bucket, many."""
    values = {"bucket": f"{MIX} >> {bits}", "many": "count(*)"}
    counts = rows.asked("bucket long, many long", rows.telling(values, more="GROUP BY ALL"))
    return counts.groupBy("bucket").agg(F.sum("many").alias("many"))
