"""A ledger as a DataFrame: who was in which class, release by release, joined with rows by person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType

from kanon_sql.blocks.ledger import stages_of
from kanon_sql.blocks.request import Request
from kanon_sql.call.call import GroupingCall
from kanon_sql.call.ledger import COLUMNS, Ledger, refuse_no_ledger
from kanon_sql.call.relation import is_file
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import OptionError, a_type
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import one_empty_row
from kanon_sql.plan.ledger import (
    crowds_of_histories,
    faults_sql,
    numbered_sql,
    read_sql,
    refusals_of_ledger,
    relation_sql,
)
from kanon_sql.spark.columns import DIGEST, PERSON
from kanon_sql.spark.request import ZONE
from kanon_sql.spark.worker import ROWS, WorkerSetup, asker
from kanon_sql.sql import statement

HISTORY, HERE, STALE = "__kanon_history", "__kanon_here", "__kanon_stale"
"""Of a person what was told before, whether the person takes part now, and whether what may
identify the person changed since."""

CLASS, PUBLISHED = "__kanon_ledger_class", "__kanon_ledger_published"
"""Of a row that is shown again the number of its class, and what that published."""

HISTORIES = "kanon_ledger_histories"

NO_LEDGER = (
    "ledger is {}, no ledger. Give a DataFrame of Spark, or the name of a table or of Parquet "
    "files that has the entries of the releases before."
)
UNREAD = (
    "ledger names {!r}, and Spark finds no table or Parquet files there. Check the name, or give a "
    "DataFrame."
)


def ledger_frame(spark: Any, given: Any) -> Any:
    """The DataFrame of a ledger, as the option gives it."""
    if hasattr(given, "mapInArrow"):
        return given
    names = [given] if isinstance(given, (str, PathLike)) else given
    if not isinstance(names, (list, tuple)) or not names or not all(
        isinstance(name, (str, PathLike)) for name in names
    ):
        raise OptionError(NO_LEDGER.format(a_type(given)))
    paths = [str(fspath(name)) for name in names]
    try:
        if len(paths) == 1 and not is_file(paths[0]):
            return spark.table(paths[0])
        found = spark.read.parquet(*paths)
        found.schema  # noqa: B018 - Spark Connect looks for the files now
        return found
    except PySparkException:
        raise OptionError(UNREAD.format(paths[0])) from None


def read_ledger(work: WorkerSetup, given: Any) -> Any:
    """The rows of a ledger as all that follows reads them: release, person, class, published,
    source, type, options."""
    relation = work.request.call.ledger.relation if work.request.call.ledger else None
    if relation is not None:
        refuse_no_ledger(relation, COLUMNS)
    published = next(f.dataType for f in given.schema if caseless(f.name) == "published")
    schema = StructType([
        StructField("release", LongType()), StructField("person", StringType()),
        StructField("class", LongType()), StructField("published", published),
        StructField("source", StringType()), StructField("type", StringType()),
        StructField("options", StringType()),
    ])
    target = to_arrow_schema(schema, timezone=ZONE)
    rows = given.select(*COLUMNS).mapInArrow(asker(work, read_sql(quoted(ROWS)), target), schema)
    return rows.drop("type")


def published_like(kind: DataType, released: StructType, names: Sequence[str]) -> bool:
    """Whether the classes of a ledger published what these columns release now."""
    stored = {f.name: f.dataType for f in kind} if isinstance(kind, StructType) else {}
    known = {caseless(field.name): field.dataType for field in released}
    return all(stored.get(caseless(name)) == known[caseless(name)] for name in names)


def histories_of(exposed: Any) -> Any:
    """The history of each person, such as '1:17 2:17', over release, person and class."""
    steps = F.array_sort(F.collect_list(F.struct("release", "class")))

    def written(step: Any) -> Any:
        return F.concat(step["release"].cast("string"), F.lit(":"), step["class"].cast("string"))

    text = F.array_join(F.transform(steps, written), " ")
    return exposed.groupBy("person").agg(text.alias(HISTORY))


def followed(rows: Any, taking: Any, ledger: Any) -> Any:
    """Who is in the ledger, or among the rows: person, digest, history, whether the person takes
    part, and is stale.

    Args:
        rows: with their persons.
        taking: whether a row takes part.
        ledger: as of ``read_ledger``; None before the first release.
    """
    owners = rows.select(PERSON, DIGEST, taking.alias(HERE))
    if ledger is None:
        return owners.select(
            PERSON, DIGEST, HERE, F.lit(None).cast("string").alias(HISTORY),
            F.lit(False).alias(STALE),
        )
    last = ledger.groupBy("person").agg(F.max_by("source", "release").alias("last"))
    past = histories_of(ledger).join(last, "person").withColumnRenamed("person", PERSON)
    changed = F.coalesce(F.col(DIGEST) != F.col("last"), F.lit(False))
    return owners.join(past, PERSON, "full_outer").select(
        PERSON, DIGEST, F.coalesce(HERE, F.lit(False)).alias(HERE), HISTORY, changed.alias(STALE),
    )


def counted(persons: Any) -> pa.Table:
    """The histories of a ledger, how many persons have each, and how many of these may be shown
    again."""
    present = F.count_if(F.col(HERE) & ~F.col(STALE))
    return persons.filter(F.col(HISTORY).isNotNull()).groupBy(F.col(HISTORY).alias("history")).agg(
        F.count(F.lit(1)).alias("persons"), present.alias("present")
    ).orderBy("history").toArrow()


def staying(spark: Any, stays: pa.Table) -> Any:
    """The histories of whom some are shown again, as a DataFrame that all workers get."""
    kept = stays.filter(pa.array(stays["stay"].to_numpy() > 0))
    # Spark makes nothing of an Arrow table without rows
    nobody = spark.createDataFrame([], "history string, stay long, class long")
    return F.broadcast(spark.createDataFrame(kept) if kept.num_rows else nobody)


def shown_again(persons: Any, stays: Any, seed: int, release: int) -> Any:
    """Who is shown again, and in which class: where not all of a history are, those drawn first;
    ``stays``: as of ``staying``."""
    digest = F.md5(F.concat(F.lit(f"{seed} {release} "), F.col(PERSON)))
    # the number that DuckDB makes of the last half of a digest, whose bytes it reads backwards
    lot = F.concat(*(F.substring(digest, 31 - 2 * i, 2) for i in range(8)))
    drawn = Window.partitionBy(HISTORY).orderBy(lot, PERSON)
    return persons.filter(F.col(HERE) & ~F.col(STALE)).join(
        stays, F.col(HISTORY) == F.col("history")
    ).withColumn("place", F.row_number().over(drawn)).filter("place <= stay").select(
        PERSON, F.col("class").alias(CLASS)
    )


@dataclass(frozen=True)
class Faults:
    """Says what is wrong with a ledger, or with the persons of rows.

    Attributes:
        session: over a connection of our own.
        request: what is asked of the rows.
        call: over all rows.
        ledger: how the release goes on.
    """

    session: Session
    request: Request
    call: GroupingCall
    ledger: Ledger

    def refuse(self, rows: Any, ledger: Any, histories: pa.Table) -> tuple[int, int | None]:
        """The number of the release, and the least k so far.

        Args:
            rows: with their persons.
            ledger: as of ``read_ledger``; None before the first release.
            histories: as of ``counted``.

        Raises:
            OptionError, DataError: a ledger that can't be gone on from, or a person with several
                rows.
        """
        doubled = rows.groupBy(PERSON).count().filter("count > 1").limit(1).count()
        tables = {
            "owners": pa.table({"person": pa.array(["twice"] * 2 * doubled, pa.string())}),
            **(_none() if ledger is None else _of_ledger(ledger)),
        }
        for name, table in tables.items():
            self.session.con.register(f"kanon_ledger_{name}", table)
        self.session.con.register(HISTORIES, histories)
        ((release, least),) = self.session.rows(statement(
            "spark.refused", stages=stages_of(self.request, self.call),
            one_of_ledger=one_empty_row(relation_sql(self.ledger)),
            numbered=numbered_sql(self.call, self.ledger), crowds=crowds_sql("before"),
            faults=faults_sql(self.ledger), refusals=refusals_of_ledger(self.call),
        ))
        return release, least


def crowds_sql(which: str) -> str:
    """The stages that count crowds over HISTORIES."""
    return crowds_of_histories(
        which, statement("spark.histories", which=which, histories=HISTORIES)
    )


ROWS_SCHEMA = pa.schema([
    ("release", pa.int64()), ("person", pa.string()), ("class", pa.int64()),
    ("published", pa.string()), ("source", pa.string()), ("options", pa.string()),
])
RELEASES = pa.schema([
    ("release", pa.int64()), ("exposures", pa.int64()), ("persons", pa.int64()),
    ("options", pa.string()), ("options_too", pa.string()),
])
FROZEN = pa.schema([("class", pa.int64()), ("published", pa.string())])


def _none() -> dict[str, pa.Table]:
    """The tables of ``_of_ledger`` before the first release."""
    return {
        "rows": ROWS_SCHEMA.empty_table(), "releases": RELEASES.empty_table(),
        "frozen": FROZEN.empty_table(),
    }


def _of_ledger(ledger: Any) -> dict[str, pa.Table]:
    """What SQL needs to say what is wrong with a ledger: its releases, and rows of it that show
    each fault, if there is one."""
    told = F.when(F.col("published").isNotNull(), "told").alias("published")
    rows = ledger.select("release", "person", "class", told, "source", "options")
    some = rows.limit(1).union(rows.filter(" OR ".join(
        f"{name} IS NULL" for name in rows.columns
    )).limit(1))
    releases = ledger.groupBy("release").agg(
        F.count(F.lit(1)).alias("exposures"), F.count_distinct("person").alias("persons"),
        F.min("options").alias("options"), F.max("options").alias("options_too"),
    )
    unfrozen = ledger.select("class", "published").distinct().groupBy("class").count().filter(
        "count > 1"
    ).limit(1).count()
    frozen = {"class": [1, 1][:2 * unfrozen], "published": ["one", "other"][:2 * unfrozen]}
    return {
        "rows": some.toArrow().cast(ROWS_SCHEMA), "releases": releases.toArrow().cast(RELEASES),
        "frozen": pa.table(frozen, schema=FROZEN),
    }


def named(request: Request, given: Any) -> Request:
    """The request, whose refusals call a ledger by the name that was given."""
    ledger = request.call.ledger
    if ledger is None or ledger.relation is None or not isinstance(given, (str, PathLike)):
        return request
    relation = replace(ledger.relation, parts=(str(fspath(given)),))
    call = replace(request.call, ledger=replace(ledger, relation=relation))
    return replace(request, call=call)
