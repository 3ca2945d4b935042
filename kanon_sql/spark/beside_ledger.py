"""A DataFrame beside a ledger: Spark joins both by person, and counts what can be linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import WHOSE, BlockFacts, values_of
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.ledger import (
    Known,
    LinkedCrowds,
    first_release,
    ledger_of,
    options_of,
    stays_of,
)
from kanon_sql.blocks.metrics import Output
from kanon_sql.call.relation import Relation
from kanon_sql.errors import DataError
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import quasi
from kanon_sql.plan.ledger import COUNTED
from kanon_sql.plan.ledger_refusals import CHANGED
from kanon_sql.spark.blocks import NOWHERE
from kanon_sql.spark.columns import BLOCK, DIGEST, PERSON, cell, column
from kanon_sql.spark.engine import FrameEngine
from kanon_sql.spark.ledger import (
    CLASS,
    HERE,
    HISTORIES,
    HISTORY,
    PUBLISHED,
    STALE,
    Faults,
    counted,
    crowds_sql,
    followed,
    histories_of,
    published_like,
    read_ledger,
    shown_again,
    staying,
)
from kanon_sql.spark.ledger_models import CrowdsInSpark
from kanon_sql.spark.released import EntriesInSpark
from kanon_sql.spark.request import FACTS, OF_ALL, OF_VALUES, ZONE
from kanon_sql.spark.source import FrameRows
from kanon_sql.spark.worker import ROWS, asker
from kanon_sql.sql import statement


class EarlierInSpark:
    """A ledger beside a DataFrame; see kanon_sql.blocks.ledger.

    Attributes:
        learned: what was learned of all rows.
        going_on: the classes that go on, once it is decided who is shown again.
        free: whether newcomers keep no model by themselves.
    """

    def __init__(self, engine: FrameEngine, given: Any, learned: Learned) -> None:
        """``given``: the DataFrame of the ledger; None before the first release."""
        self._engine, self.learned = engine, learned
        self.going_on: Relation | None = None
        self.free = False
        self._given = given
        self._ledger: Any = None
        self._persons: Any = None

    def decide(self) -> Known:
        """Some jobs."""
        engine, call, rows = self._engine, self.learned.call, self._engine.rows
        if self._given is not None:
            # kept, so that all jobs see the same rows of a table that may grow meanwhile
            self._ledger = engine.checkpoint(read_ledger(engine.work, self._given))
        self._persons = engine.checkpoint(followed(rows.encoded, rows.taking, self._ledger))
        histories = counted(self._persons)
        release, least = Faults(engine.session, engine.request, call, ledger_of(call)).refuse(
            rows.encoded, self._ledger, histories
        )
        ((newcomers, stale),) = self._persons.filter(HERE).agg(
            F.count_if(F.col(HISTORY).isNull()), F.count_if(STALE)
        ).collect()
        if self._ledger is None:
            return first_release(newcomers)
        stays = stays_of(histories, call)
        self._go_on(stays.table, release)
        ((largest,),) = self._ledger.agg(F.max("class")).collect()
        return Known(
            release, largest, least, stays.present + stale, stays.shown, stale, newcomers,
            stays.churn,
        )

    def _go_on(self, stays: pa.Table, release: int) -> None:
        """Keeps the classes that go on, and the released rows of who is shown again."""
        engine, call = self._engine, self.learned.call
        kind = self._ledger.schema["published"].dataType
        if not published_like(kind, engine.frame.released, engine.request.quasi):
            raise DataError(CHANGED.format(repr(".".join(self._relation.parts))))
        known = staying(engine.spark, stays)
        shown = shown_again(self._persons, known, call.task.seed, release)
        going_on = self._ledger.join(
            F.broadcast(known.select("class").distinct()), "class"
        ).groupBy("class").agg(F.any_value("published").alias("published")).orderBy("class")
        table = going_on.toArrow()
        self.going_on = engine.rows.keep("going_on", table)
        engine.session.con.register("kanon_going_on", table)
        if table.num_rows:
            # columns of the table may have any name
            classes_of_all = going_on.select(
                F.col("class").alias(CLASS), F.col("published").alias(PUBLISHED)
            )
            rows = engine.rows.rows.join(shown, PERSON).join(F.broadcast(classes_of_all), CLASS)
            engine.beside = [self._released(rows)]

    @property
    def _relation(self) -> Relation:
        relation = ledger_of(self.learned.call).relation
        assert relation is not None
        return relation

    def _released(self, rows: Any) -> Any:
        """The released rows of who is shown again, as those of blocks are.

        Args:
            rows: theirs, with their class and what it published.
        """
        frame, call = self._engine.frame, self.learned.call
        of_quasi = set(map(caseless, frame.request.quasi))
        shown = [
            (F.col(PUBLISHED)[caseless(f.name)] if caseless(f.name) in of_quasi
             else column(f.name)).alias(f.name)
            for f in frame.released
        ]
        whose = column(ledger_of(call).entity).alias(WHOSE[0])
        kept = rows.select(*shown, whose, F.col(CLASS).alias(WHOSE[1]))
        columns = [
            *(f"{quoted(f.name)}::{frame.kinds[caseless(f.name)]} AS {quoted(f.name)}"
              for f in frame.released),
            *WHOSE,
        ]
        text = statement(
            "spark.shown", seed=call.task.seed, quasi=f"*{quasi(call.roles, ())}",
            values=values_of(call), columns=", ".join(columns), rows=quoted(ROWS),
        )
        schema = StructType([
            *frame.released, *frame.whose, StructField(OF_VALUES, LongType()),
            StructField(OF_ALL, LongType()),
        ])
        ask = asker(self._engine.work, text, to_arrow_schema(schema, timezone=ZONE))
        return kept.mapInArrow(ask, schema).select(
            "*", F.lit(NOWHERE).cast("long").alias(BLOCK), F.lit(None).cast("string").alias(FACTS)
        )

    def newcomers(self) -> FrameRows:
        """The rows without those of persons of the ledger."""
        rows = self._engine.rows
        if self._ledger is None:
            return rows
        known = self._persons.filter(F.col(HISTORY).isNotNull()).select(PERSON)
        fresh = rows.encoded.join(known, PERSON, "left_anti")
        return FrameRows(rows.session, rows.request, fresh, rows.tables)

    def numbers(self, name: str) -> Mapping[Any, int]:
        """One job."""
        request, rows = self._engine.request, self._engine.rows.rows
        spot = [caseless(each) for each in request.quasi].index(caseless(name))
        table = rows.groupBy(F.col(cell(spot)).alias("value")).count().toArrow()
        return dict(zip(table["value"].to_pylist(), table["count"].to_pylist(), strict=True))

    def let_free(self) -> None:
        """Nothing is gone on with."""
        self.free = True

    def keep_models(
        self, parts: Sequence[Part], facts: Sequence[BlockFacts], known: Known
    ) -> tuple[Known, list[BlockFacts]]:
        """Some jobs."""
        engine, task = self._engine, self.learned.call.task
        rows = engine.grouped_rows([block for part in parts for block in part.blocks])
        left = CrowdsInSpark(engine, rows, self._persons, task.sensitive).leaving(self.learned)
        if left is None:
            return known, list(facts)
        engine.leaving = left
        counts = {row[BLOCK]: row["count"] for row in left.groupBy(BLOCK).count().collect()}
        known = replace(known, shown=known.shown - counts.get(NOWHERE, 0))
        blocks = (block for part in parts for block in part.blocks)
        return known, [
            replace(each, rows_released=each.rows_released - counts.get(engine.number(block), 0))
            for block, each in zip(blocks, facts, strict=True)
        ]

    def entered(self, known: Known, parts: Sequence[Part], output: Output) -> LinkedCrowds:
        """Some jobs."""
        engine, call = self._engine, self.learned.call
        names = sorted(engine.request.quasi, key=caseless)
        entries = engine.checkpoint(self._entries(known.release, names))
        options = options_of(engine.session, engine.request, call)
        engine.entries = EntriesInSpark(
            entries.drop(PERSON, HISTORY).withColumn("options", F.lit(options)), entries
        )
        joining = F.col(HISTORY).isNull() & (F.col("class") <= known.largest)
        ((rows, persons, joined),) = entries.agg(
            F.count(F.lit(1)), F.count_distinct(PERSON), F.count_if(joining)
        ).collect()
        every = entries.select("release", F.col(PERSON).alias("person"), "class", "published")
        if self._ledger is not None:
            before = self._ledger.withColumn(
                "published", F.struct(*(F.col("published")[caseless(n)].alias(caseless(n))
                                        for n in names))
            )
            every = every.unionByName(before.select(*every.columns))
        unfrozen = every.select("class", "published").distinct().groupBy("class").count().filter(
            "count > 1"
        ).count()
        histories = histories_of(every).groupBy(F.col(HISTORY).alias("history")).agg(
            F.count(F.lit(1)).alias("persons")
        )
        engine.session.con.register(HISTORIES, histories.toArrow())
        counts = COUNTED[ledger_of(call).attacker]
        ((least, crowd),) = engine.session.rows(statement(
            "spark.linked", crowds=crowds_sql("after"), counted=counts, release=known.release,
        ))
        unlike = self._unlike(entries, names)
        return LinkedCrowds(least, crowd, rows, persons, unfrozen, unlike, joined)

    def _published(self, names: Sequence[str]) -> Any:
        """What a class releases, of a released row."""
        by_name = {caseless(f.name): f.name for f in self._engine.frame.released}
        return F.struct(*(
            column(by_name[caseless(name)]).alias(caseless(name)) for name in names
        ))

    def _entries(self, release: int, names: Sequence[str]) -> Any:
        """What the ledger gets, with the text of each person and what was told before."""
        engine = self._engine
        rows = engine.out.select(
            F.lit(release).cast("long").alias("release"), F.col(WHOSE[0]).alias("entity"),
            F.col(WHOSE[1]).alias("class"), self._published(names).alias("published"),
        )
        schema = StructType([*rows.schema, StructField(PERSON, StringType())])
        text = statement("spark.whose", whose="entity", person=PERSON, rows=quoted(ROWS))
        ask = asker(engine.work, text, to_arrow_schema(schema, timezone=ZONE))
        known = self._persons.select(PERSON, F.col(DIGEST).alias("source"), HISTORY)
        drawn = F.md5(F.concat(F.lit(f"{self.learned.call.task.seed} "), F.col(PERSON)))
        return rows.mapInArrow(ask, schema).join(known, PERSON).orderBy("class", drawn)

    def _unlike(self, entries: Any, names: Sequence[str]) -> int:
        """How many combinations came out of which the entries have other numbers of persons."""
        published = self._published(names).alias("published")
        out = self._engine.out.select(published, F.lit(-1).alias("n"))
        both = entries.select("published", F.lit(1).alias("n")).unionByName(out)
        return int(both.groupBy("published").agg(F.sum("n").alias("n")).filter("n <> 0").count())

    def verify_models(self, known: Known, parts: Sequence[Part]) -> None:
        """Some jobs."""
        names = [*self._engine.request.quasi, *self.learned.call.task.sensitive]
        CrowdsInSpark(self._engine, self._engine.out, self._persons, names).verify(
            self.learned, known.release, self._ledger is not None
        )
