"""Rows of a DataFrame as Spark counts them; see kanon_sql.blocks.source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.blocks.learn import PARTS
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import ColumnCounts, ColumnRange
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import NumberTotals
from kanon_sql.names import quoted
from kanon_sql.spark.columns import SIZE, column
from kanon_sql.spark.encoded import PacketRows
from kanon_sql.sql import expression

VALUES = "kanon_values"

ROWS, ROWS_IN = -1, -2
"""Stand for all rows that take part, and for these and those that nulls 'suppress' leaves out."""


@dataclass(frozen=True)
class FrameRows:
    """The rows of a DataFrame that take part; see kanon_sql.blocks.source.

    Attributes:
        session: over a connection of our own.
        request: what is asked of them.
        encoded: the rows with their cells, those that nulls 'suppress' leaves out among them.
        tables: that all blocks read, by name.
    """

    session: Session
    request: Request
    encoded: PacketRows
    tables: dict[str, pa.Table] = field(default_factory=dict)
    named: str = "DataFrame"
    _told: list[pa.Table] = field(default_factory=list)

    def _surveyed(self) -> pa.Table:
        """One job, once: of each quasi-identifier, by its place, how many rows have each category,
        or of its numbers how many rows have one, how many an infinite one, and the ends; the
        numbers of rows stand under ROWS and ROWS_IN."""
        if not self._told:
            self._told.append(self._survey())
        return self._told[0]

    def _survey(self) -> pa.Table:
        nothing = {"infinite": "0", "low": "NULL", "high": "NULL"}
        encoded, count = self.encoded, {"value": "NULL", "many": "count(*)", **nothing}
        texts = [
            encoded.telling({"spot": str(ROWS), **count}),
            encoded.telling({"spot": str(ROWS_IN), **count}, whole=True),
        ]
        for i, is_number in enumerate(self.request.numeric):
            name = quoted(encoded.cells[i])
            if is_number:
                texts.append(encoded.telling({
                    "spot": str(i), "value": "NULL", "many": f"count({name})",
                    "infinite": f"count(*) FILTER (isinf({name}))", "low": f"min({name})",
                    "high": f"max({name})",
                }))
            elif not self.request.within:  # each part counts its own
                texts.append(encoded.telling(
                    {"spot": str(i), "value": name, "many": "count(*)", **nothing},
                    more="GROUP BY ALL",
                ))
        told = encoded.asked(
            "spot int, value string, many long, infinite long, low double, high double", *texts
        )
        return told.groupBy("spot", "value").agg(*(
            fold(name).alias(name) for name, fold in (
                ("many", F.sum), ("infinite", F.sum), ("low", F.min), ("high", F.max),
            )
        )).toArrow()

    def _of(self, spot: int) -> pa.Table:
        return self._surveyed().filter(pc.field("spot") == spot)

    def ends(self, spots: Sequence[int]) -> tuple[int, list[ColumnRange]]:
        """One job, with others."""
        names = ("many", "infinite", "low", "high")
        rows = [(self._of(i).to_pylist() or [dict.fromkeys(names)])[0] for i in spots]
        return self._many(ROWS), [
            ColumnRange(row["many"] or 0, row["infinite"] or 0, row["low"], row["high"])
            for row in rows
        ]

    def _many(self, spot: int) -> int:
        return sum(self._of(spot)["many"].to_pylist())

    def rows_in(self) -> int:
        """One job, with others."""
        return self._many(ROWS_IN)

    def persons(self) -> int:
        """One job."""
        return int(self._rows(self._person).distinct().count())

    def lacks_persons(self) -> bool:
        """One job, that ends with the first."""
        rows = self._rows(self._person)
        return bool(rows.filter(column(self._person).isNull()).limit(1).count())

    @property
    def _person(self) -> str:
        assert self.request.entity is not None
        return self.request.entity

    def _rows(self, *names: str) -> Any:
        """These columns of the rows that take part."""
        return self.encoded.rows(names).select(*map(column, names))

    def sums(self, places: Mapping[int, NumberTotals]) -> dict[int, tuple[int, int]]:
        """One job."""
        values: dict[str, str] = {}
        for i, at in places.items():
            part = expression(
                "spark.part", number=self.encoded.cells[i], unit=f"{2.0**-at.exponent!r}::DOUBLE",
                low=f"{at.low!r}::DOUBLE", span=f"{at.span!r}::DOUBLE", parts=2**PARTS,
            )
            values |= {
                f"sum{i}": f"sum({part})::VARCHAR", f"squares{i}": f"sum({part} * {part})::VARCHAR",
            }
        schema = ", ".join(f"{name} string" for name in values)
        rows = self.encoded.asked(schema, self.encoded.telling(values)).collect()
        return {
            i: (
                sum(int(row[f"sum{i}"] or 0) for row in rows),
                sum(int(row[f"squares{i}"] or 0) for row in rows),
            ) for i in places
        }

    def categories(self, spot: int) -> pa.Table:
        """One job, with others."""
        assert not self.request.within
        return self._of(spot).select(["value", "many"])

    def values_of(self, name: str) -> str:
        """What Spark counted, spread out again."""
        rows = self._rows(name)
        counts = rows.groupBy(column(name)).agg(F.count(F.lit(1)).alias(SIZE)).toArrow()
        self.session.con.register(VALUES, counts.rename_columns([name, SIZE]))
        return expression("spark.expanded", column=quoted(name), rows=VALUES)

    def counted(self, name: str, of_persons: bool) -> str:
        """What Spark counted."""
        value, rows = column(name), self._rows(name)
        if of_persons:
            rows = self._rows(*dict.fromkeys((self._person, name)))
            alike = (F.count_distinct(value) == 1) & (F.count(value) == F.count(F.lit(1)))
            rows = rows.groupBy(column(self._person)).agg(
                F.when(alike, F.any_value(value)).alias(name)
            )
        counts = rows.groupBy(column(name)).agg(F.count(F.lit(1)).alias(SIZE)).toArrow()
        self.session.con.register(VALUES, counts.rename_columns([name, SIZE]))
        return expression("blocks.counted", column=quoted(name), size=SIZE, rows=VALUES)

    def keep(self, name: str, table: pa.Table) -> Relation:
        """A table that goes to each worker."""
        self.tables[f"kanon_{name}"] = table
        return Relation(quoted(f"kanon_{name}"), (f"kanon_{name}",))

    def look(self, names: Sequence[str]) -> tuple[list[ColumnCounts], int]:
        """One job."""
        entity = self.request.entity
        asked = [
            F.lit(0) if entity is None else F.approx_count_distinct(column(entity))
        ]
        for name in names:
            text = column(name).cast("string")
            asked += [F.count(text), F.approx_count_distinct(text)]
        wanted = [*names, *([] if entity is None else [entity])]
        ((people, *counts),) = self._rows(*dict.fromkeys(wanted)).agg(
            *(each.alias(f"a{i}") for i, each in enumerate(asked))
        ).collect()
        return [ColumnCounts(*counts[2 * i:2 * i + 2]) for i in range(len(names))], people

    def look_closely(self, name: str, of_persons: bool) -> tuple[Any, ...]:
        """One job."""
        text = column(name).cast("string").alias("value")
        values = self._rows(name).select(text)
        if of_persons:  # one row of each person, where all its rows agree
            person = column(self._person).alias("person")
            rows = self._rows(*dict.fromkeys((self._person, name)))
            values = rows.select(person, text).groupBy("person").agg(
                F.count_distinct("value").alias("different"), F.max("value").alias("value")
            ).filter("different = 1")
        common = F.when(F.col("n") >= self.request.call.least, F.col("n"))
        whole = F.expr("try_cast(value AS decimal(38, 0))")
        (row,) = values.filter("value IS NOT NULL").groupBy("value").agg(
            F.count("value").alias("n")
        ).agg(
            F.coalesce(F.sum("n"), F.lit(0)).alias("values"), F.count("value").alias("distinct"),
            F.coalesce(F.sum(common), F.lit(0)).alias("common"),
            F.min(whole).alias("low"), F.max(whole).alias("high"),
        ).collect()
        low, high = (None if each is None else int(each) for each in (row["low"], row["high"]))
        return row["values"], row["distinct"], row["common"], low, high
