"""What is asked of a DataFrame: its columns as DuckDB sees them, and the call over them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import (
    DayTimeIntervalType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    YearMonthIntervalType,
)

from kanon_sql.blocks.group import WHOSE, block_call, block_sql
from kanon_sql.blocks.ledger import call_of_newcomers
from kanon_sql.blocks.request import Request, read_request
from kanon_sql.call.suggested import refuse_suggested
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import OptionError, a_type
from kanon_sql.names import caseless, quoted
from kanon_sql.spark.columns import BLOCK, JOINED
from kanon_sql.spark.worker import block_rows
from kanon_sql.sql import expression, statement

TWICE = "The DataFrame has two columns {!r}. Rename one of them."
NO_FRAME = (
    "df is {}, no DataFrame of Spark. Give one, such as spark.table('patients') or "
    "spark.read.parquet('lake/')."
)
UNKNOWN = "The column {!r} has the type {}, which can't be carried to DuckDB and back. {}"
CAST = "Cast it first, or leave it out."
BINARY = "UTF8_BINARY"
COLLATED = (
    "The column {!r} has the type {}, which treats strings as equal that differ in DuckDB. Cast it "
    "to STRING first."
)
UNCOUNTED = (
    "The column {!r} has the type {}, by which Spark doesn't count. Cast it first, choose another "
    "representation, or leave the column out."
)
UNORDERED = (
    "keep_order requests the original order, and the rows of a DataFrame have none. Leave it out, "
    "and sort by a column that has the order."
)
UNJOINED = (
    "small_parts 'join' with entity counts the persons of all parts together, and Spark counts "
    "those of each. Say small_parts='suppress', or name fewer columns in within."
)
UNRELEASED = (
    "The column {!r} would be released as {}, which Spark doesn't have. Choose another "
    "representation, or cast it first."
)
DOTTED = (
    "The name of the column {!r} has a dot or a backtick, by which Spark takes it for another on "
    "its way to Python. Rename it first, by withColumnRenamed."
)
ZONE = "UTC"
"""How Spark labels timestamps on their way to and from Python."""

OF_VALUES, OF_ALL, FACTS = "__kanon_of_values", "__kanon_of_all", "__kanon_facts"
"""The columns beside the released ones: hashes that give the order, and the facts of a block."""


@dataclass(frozen=True)
class FrameRequest:
    """What is asked of a DataFrame.

    Attributes:
        request: the call, as files read it.
        fields: the columns of the DataFrame that have a part in the release.
        released: those that come out.
        zone: the time zone of the Spark session.
        kinds: the types of the released columns in DuckDB, by their names in lower case.
        in_parts: what is asked of one part, if there are any.
    """

    request: Request
    fields: StructType
    released: StructType
    zone: str
    kinds: Mapping[str, str]
    in_parts: Request | None = None

    def field(self, name: str) -> StructField:
        """A column by its name, whatever the case of its letters."""
        return next(field for field in self.fields if caseless(field.name) == caseless(name))

    @property
    def counted(self) -> tuple[str, ...]:
        """The released columns by which k is counted, by their names in the DataFrame."""
        by_name = {caseless(field.name): field.name for field in self.released}
        return tuple(by_name[caseless(name)] for name in self.request.counted)


    @property
    def whose(self) -> tuple[StructField, ...]:
        """Beside a ledger, the columns of a released row that don't come out."""
        if self.request.call.ledger is None or self.request.entity is None:
            return ()
        kind = self.field(self.request.entity).dataType
        return StructField(WHOSE[0], kind), StructField(WHOSE[1], LongType())

    @property
    def beside(self) -> StructType:
        """The released columns, and those beside them."""
        return StructType([
            *self.released, *self.whose, StructField(OF_VALUES, LongType()),
            StructField(OF_ALL, LongType()), StructField(BLOCK, LongType()),
            StructField(FACTS, StringType()),
        ])


def refuse_no_frame(df: Any) -> None:
    """Raises OptionError for what is no DataFrame of Spark."""
    if not (hasattr(df, "mapInArrow") and hasattr(df, "schema")):
        raise OptionError(NO_FRAME.format(a_type(df)))


def empty(fields: StructType) -> pa.Table:
    """A table without rows of these columns."""
    seen: set[str] = set()
    for field in fields:
        # Spark ignores the case of every letter, DuckDB that of A to Z
        if field.name.lower() in seen:
            raise OptionError(TWICE.format(field.name))
        seen.add(field.name.lower())
    columns = []
    for field in fields:
        try:
            columns.append(to_arrow_schema(StructType([field]), timezone=ZONE).field(0))
        except Exception:
            # a type that Arrow lacks is refused where the column has a part
            columns.append(pa.field(field.name, pa.null()))
    return pa.schema(columns).empty_table()


def read_frame(session: Session, df: Any, zone: str, options: Mapping[str, Any]) -> FrameRequest:
    """What is asked of a DataFrame.

    Args:
        session: over a connection of our own.
        df: the DataFrame; only its schema is looked at.
        zone: the time zone of the Spark session.
        options: those of anonymize.

    Raises:
        OptionError: what anonymize refuses, and what can't be kept block by block.
    """
    refuse_suggested(options.get("hierarchies"))
    request = read_request(session, empty(df.schema), options)
    for said in _refused(request):
        raise OptionError(said)
    by_name = {caseless(field.name): field for field in df.schema}
    fields = StructType([by_name[caseless(name)] for name in request.columns])
    models = {caseless(model.column) for model in request.call.task.models}
    compared = models | {caseless(name) for name in request.counted}
    for field in fields:
        _refuse_type(field)
        if caseless(field.name) in compared:
            _refuse_collation(field)
    released, kinds = _released(session, request, fields)
    types = {name: kinds[caseless(name)] for name in request.within}
    for field in released:
        if caseless(field.name) in compared:
            _refuse_uncounted(field)
    own = request.of_part(request.source, {**request.types, **types}) if request.within else None
    return FrameRequest(request, fields, released, zone, kinds, own)


def _refused(request: Request) -> Iterator[str]:
    """What is refused of a DataFrame and not of files, in sentences: all that is refused here for
    what is asked."""
    if request.call.release.keep_order:
        yield UNORDERED
    if request.entity is not None and request.within and request.call.small_parts == "join":
        yield UNJOINED


def _refuse_uncounted(field: StructField) -> None:
    if isinstance(field.dataType, MapType):
        raise OptionError(UNCOUNTED.format(field.name, field.dataType.simpleString()))


def _refuse_type(field: StructField) -> None:
    if "." in field.name or "`" in field.name:
        raise OptionError(DOTTED.format(field.name))
    type_name = field.dataType.simpleString()
    if isinstance(field.dataType, (DayTimeIntervalType, YearMonthIntervalType)):
        raise OptionError(UNKNOWN.format(field.name, type_name, CAST))
    try:
        to_arrow_schema(StructType([field]), timezone=ZONE)
    except Exception:
        raise OptionError(UNKNOWN.format(field.name, type_name, CAST)) from None


def _refuse_collation(field: StructField) -> None:
    if getattr(field.dataType, "collation", BINARY) != BINARY:
        raise OptionError(COLLATED.format(field.name, field.dataType.simpleString()))


def _released(
    session: Session, request: Request, fields: StructType
) -> tuple[StructType, dict[str, str]]:
    """The columns that come out, as Spark has them, and their types in DuckDB by their names in
    lower case."""
    joined = request.call.small_parts == "join" and bool(request.within)
    rows = request.source.sql
    if joined:
        rows = expression("spark.none_joined", joined=JOINED, rows=rows)
    relation = block_rows(request, request.within, rows, joined)
    call = request.call
    if call.ledger is not None:
        call = call_of_newcomers(call, None, 0, 0)
    own = block_call(request, call, {}, relation, 1, "schema")
    block = session.query(block_sql(own), lambda relation: relation)
    passing = {caseless(name) for name in (*request.passing, *request.within)}
    released = released_fields(session, block, fields, request.types, passing)
    kinds = dict(zip(map(caseless, block.columns), map(str, block.types), strict=True))
    return released, kinds


def released_fields(
    session: Session, block: duckdb.DuckDBPyRelation, fields: StructType,
    types: Mapping[str, str], passing: Collection[str],
) -> StructType:
    """The columns of a release as Spark has them: those that kept their type have it yet.

    Args:
        session: over a connection of our own.
        block: the release as a relation.
        fields: the columns that go in.
        types: of these in DuckDB.
        passing: those that pass unchanged, in lower case.
    """
    before = {caseless(name): kind for name, kind in types.items()}
    by_name = {caseless(field.name): field for field in fields}
    released = []
    for name, kind in zip(block.columns, map(str, block.types), strict=True):
        if name in (OF_VALUES, OF_ALL, *WHOSE):
            continue
        if before.get(caseless(name)) == kind:
            kept = by_name[caseless(name)]
            # what is told of a column tells of the values that it had, such as how long they were
            metadata = kept.metadata if caseless(name) in passing else None
            released.append(StructField(kept.name, kept.dataType, True, metadata))
            continue
        text = statement("spark.nothing", columns=f"NULL::{kind} AS {quoted(name)}")
        try:
            schema = bound(session.con, text).to_arrow_table().schema
            (field,) = from_arrow_schema(schema, prefer_timestamp_ntz=True)
        except Exception:
            raise OptionError(UNRELEASED.format(name, kind)) from None
        released.append(StructField(name, field.dataType, True))
    return StructType(released)

