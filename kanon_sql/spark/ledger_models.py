"""Privacy models of a release in Spark beside a ledger: Spark counts the persons who are alike in
their class, in what was told of them before and in what the models look at, and the driver decides
and verifies over these counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from kanon_sql.blocks.group import WHOSE
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.ledger_models import cells_of_models, verify_models, who_leaves
from kanon_sql.names import caseless, quoted
from kanon_sql.spark.columns import BLOCK, LEAVING, PERSON, SIZE, column
from kanon_sql.spark.engine import FrameEngine
from kanon_sql.spark.ledger import HISTORY
from kanon_sql.spark.request import ZONE
from kanon_sql.spark.worker import ROWS, asker
from kanon_sql.sql import expression, statement

PEOPLE = "kanon_ledger_people"


class CrowdsInSpark:
    """The persons whose rows would be released, or are.

    Attributes:
        names: the columns that are looked at, as they are released.
    """

    def __init__(self, engine: FrameEngine, rows: Any, persons: Any, names: Sequence[str]) -> None:
        """``rows``: with whose they are; ``persons``: what was told before of each."""
        by_name = {caseless(f.name): f for f in engine.frame.released}
        fields = [by_name[caseless(name)] for name in dict.fromkeys(map(caseless, names))]
        self.names = [field.name for field in fields]
        self._engine = engine
        own = [f"__kanon_value{i}" for i in range(len(fields))]
        values = [column(f.name).alias(name) for f, name in zip(fields, own, strict=True)]
        kept = rows.select(
            F.col(WHOSE[0]), F.col(WHOSE[1]).alias("class"), F.col(BLOCK), *values
        )
        schema = StructType([
            *engine.frame.whose[:1], StructField("class", LongType()),
            StructField(BLOCK, LongType()),
            *(StructField(name, f.dataType) for f, name in zip(fields, own, strict=True)),
            StructField(PERSON, StringType()),
        ])
        text = statement("spark.whose", whose=WHOSE[0], person=PERSON, rows=quoted(ROWS))
        ask = asker(engine.work, text, to_arrow_schema(schema, timezone=ZONE))
        known = persons.select(PERSON, F.col(HISTORY).alias("history"))
        self.people = engine.checkpoint(kept.mapInArrow(ask, schema).join(known, PERSON))
        self._own = own

    def counted(self) -> str:
        """SQL of one row for each person: __kanon_whose, __kanon_number, history, and what is
        looked at."""
        counts = self.people.groupBy("class", "history", *self._own).agg(
            F.count(F.lit(1)).alias(SIZE)
        )
        con = self._engine.session.con
        con.register(PEOPLE, counts.orderBy("class", "history", *self._own).toArrow())
        columns = ", ".join(
            f"{own} AS {quoted(name)}" for own, name in zip(self._own, self.names, strict=True)
        )
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {PEOPLE}_each AS "
            f"FROM {expression('spark.crowd_rows', columns=columns, people=PEOPLE)}"
        )
        con.unregister(PEOPLE)
        return f"{PEOPLE}_each"

    def leaving(self, learned: Learned) -> Any | None:
        """The persons who are left out, and their blocks; None without any."""
        engine = self._engine
        text = statement(
            "spark.crowd_cells", cells=cells_of_models(learned), rows=self.counted()
        )
        people = engine.session.query(text, lambda relation: relation.to_arrow_table())
        left = who_leaves(people.combine_chunks(), learned, engine.request.types)
        if left.num_rows == 0:
            return None
        schema = pa.schema([("class", pa.int64()), ("history", pa.string())])
        names = ["left_class", "left_history"]
        few = F.broadcast(engine.spark.createDataFrame(left.cast(schema).rename_columns(names)))
        alike = (F.col("class") == F.col("left_class")) & F.col("history").eqNullSafe(
            F.col("left_history")
        )
        return engine.checkpoint(
            self.people.join(few, alike, "left_semi").select(F.col(WHOSE[0]).alias(LEAVING), BLOCK)
        )

    def verify(self, learned: Learned, release: int, goes_on: bool) -> None:
        """Raises ReleaseError unless every class keeps the models, and every crowd."""
        rows = self.counted()
        verify_models(
            self._engine.session, learned, release, f"(SELECT * EXCLUDE (history) FROM {rows})",
            expression("spark.crowd_entries", release=release, rows=rows),
            expression("spark.crowds_before", rows=rows) if goes_on else "",
        )
