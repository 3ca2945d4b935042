"""``anonymize`` in the SQL of Spark: a table function that says how its table is partitioned.

A table function runs once for each partition of its input. Without PARTITION BY these are the
partitions as they happen to lie, and the release would be several, each with scales of its own. So
the function doesn't leave it to the caller: it asks Spark for one partition, or for one for each
combination of the columns in ``within``. A PARTITION BY beside that Spark refuses.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from warnings import catch_warnings, simplefilter

import pyarrow as pa
from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion
from pyspark.sql.functions import udtf
from pyspark.sql.types import StructField, StructType
from pyspark.sql.udtf import AnalyzeResult, PartitioningColumn

from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.models import secret_seed
from kanon_sql.call.population import NOT_TOGETHER, compared_by
from kanon_sql.duckdb.session import Session, bound, relation_and_options
from kanon_sql.errors import KanonError, OptionError, did_you_mean
from kanon_sql.names import caseless, literal
from kanon_sql.spark.request import empty, released_fields
from kanon_sql.spark.worker import asked_whole

BATCH = 65_536
"""Rows that become Arrow at a time."""

NO_TABLE = (
    "The table is missing. Give it first: SELECT * FROM anonymize(TABLE(patients), k => 5, "
    "quasi_identifiers => array('age', 'zip'))."
)
NO_CONSTANT = "The option {!r} is not a constant. Write its value."


@dataclass
class Analyzed(AnalyzeResult):  # type: ignore[misc]
    """What one call is.

    Attributes:
        rows: the columns of the table.
        options: those of the call, but for within.
        apart: the columns of within.
    """

    rows: StructType = field(default_factory=StructType)
    options: Mapping[str, Any] = field(default_factory=dict)
    apart: tuple[str, ...] = ()


def _plain(value: Any) -> Any:
    """A value of Spark as an option has it."""
    if isinstance(value, Decimal):
        return float(value)
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def analyze(
    zone: str, secret: int, tables: tuple[Any, ...], arguments: Mapping[str, Any]
) -> Analyzed:
    """What a call asks for, before a row is read.

    Args:
        zone: the time zone of the Spark session.
        secret: the seed of a call with a privacy model that has none: drawn once, or each worker
            would draw its own, and each look at a release would be another one.
        tables: the table.
        arguments: the options.

    Raises:
        OptionError: as anonymize does.
    """
    if len(tables) != 1 or not tables[0].isTable:
        raise OptionError(NO_TABLE)
    for name, argument in arguments.items():
        if not argument.isConstantExpression:
            raise OptionError(NO_CONSTANT.format(name))
    options = {name: _plain(argument.value) for name, argument in arguments.items()}
    within = options.pop("within", None) or []
    limit = compared_by(options)
    if within and limit is not None:  # each part would be held against the people of all parts
        raise OptionError(NOT_TOGETHER.format(limit, "within"))
    rows: StructType = tables[0].dataType
    apart = _apart([within] if isinstance(within, str) else list(within), rows)
    own = _without(rows, apart)
    with Session(None) as session:
        session.con.execute(f"SET TimeZone = {literal(zone)}")
        if options.get("seed") is None and _is_secret(session, empty(own), options):
            options["seed"] = secret
        relation = _release(session, empty(own), options)
        types = {f.name: str(kind) for f, kind in zip(
            own, bound(session.con, "FROM frame").types, strict=True
        )}
        # Spark's rows tell nothing of a column but its type
        released = released_fields(session, relation, own, types, ())
    order = [caseless(f.name) for f in rows]
    shown = sorted(
        [*released, *(f for f in rows if f.name in apart)],
        key=lambda f: order.index(caseless(f.name)) if caseless(f.name) in order else len(order),
    )
    return Analyzed(
        schema=StructType([StructField(f.name, f.dataType, True) for f in shown]),
        withSinglePartition=not apart,
        partitionBy=[PartitioningColumn("`" + name.replace("`", "``") + "`") for name in apart],
        rows=rows, options=options, apart=apart,
    )


def _apart(named: list[str], rows: StructType) -> tuple[str, ...]:
    known = {caseless(f.name): f.name for f in rows}
    for name in named:
        if caseless(name) not in known:
            raise OptionError(
                f"within names the column {name!r}, which doesn't exist. "
                f"{did_you_mean(str(name), known.values())}"
            )
    return tuple(dict.fromkeys(known[caseless(name)] for name in named))


def _without(rows: StructType, apart: tuple[str, ...]) -> StructType:
    return StructType([f for f in rows if f.name not in apart])


def _is_secret(session: Session, table: pa.Table, options: Mapping[str, Any]) -> bool:
    """Whether sensitive values have a part in the classes of a release."""
    source, held = relation_and_options(session, table, {k: v for k,
                                                   v in options.items() if v is not None})
    call = read_call("anonymize", source, held, session.catalog)
    return isinstance(call, GroupingCall) and call.task.secret


def _release(session: Session, table: pa.Table, options: Mapping[str, Any]) -> Any:
    """The release of a table, as a relation."""
    source, held = relation_and_options(session, table, {k: v for k,
                                                   v in options.items() if v is not None})
    return session.run("anonymize", source, held, lambda relation: relation)


class Partition:
    """The rows of one partition, which are one release."""

    def __init__(self, zone: str, analyzed: Analyzed) -> None:
        self._zone, self._analyzed = zone, analyzed
        self._rows: list[Any] = []
        self._parts: list[pa.Table] = []

    def add(self, row: Any) -> None:
        """Takes a row."""
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._convert()

    def _convert(self) -> None:
        table = LocalDataToArrowConversion.convert(self._rows, self._analyzed.rows, False)
        self._parts.append(table)
        self._rows = []

    def released(self) -> Iterator[tuple[Any, ...]]:
        """The released rows."""
        if self._rows:
            self._convert()
        if not self._parts:
            return
        table, apart = pa.concat_tables(self._parts), self._analyzed.apart
        self._parts = []
        schema = self._analyzed.schema
        with Session(None) as session:
            session.con.execute(f"SET TimeZone = {literal(self._zone)}")
            session.con.execute("SET threads = 1")
            relation = _release(session, table.drop_columns(list(apart)), self._analyzed.options)
            output = asked_whole(session, relation, table.num_rows)
        for name in apart:
            column = pa.repeat(table[name][0], output.num_rows)
            output = output.append_column(name, column)
        names = {caseless(name): name for name in output.column_names}
        output = output.select([names[caseless(f.name)] for f in schema])
        for row in ArrowTableToRowsConversion.convert(output, schema):
            yield tuple(row)


@contextmanager
def told() -> Iterator[None]:
    """Lets Spark show the sentence of a refusal alone, without a traceback."""
    try:
        yield
    except KanonError:
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise


def register_function(spark: Any, name: str) -> Any:
    """Registers the function in a session; see ``kanon_sql.spark.register``."""
    zone, secret = spark.conf.get("spark.sql.session.timeZone"), secret_seed()

    class Anonymize:
        @staticmethod
        def analyze(*tables: Any, **options: Any) -> Analyzed:
            with told():
                return analyze(zone, secret, tables, options)

        def __init__(self, analyzed: Analyzed) -> None:
            self._partition = Partition(zone, analyzed)

        def eval(self, row: Any, **_: Any) -> None:
            self._partition.add(row)

        def terminate(self) -> Iterator[tuple[Any, ...]]:
            with told():
                rows = list(self._partition.released())
            yield from rows

    with catch_warnings():
        simplefilter("ignore", FutureWarning)  # of pandas, which isn't used
        function = udtf(Anonymize)
    spark.udtf.register(name, function)
    return spark
