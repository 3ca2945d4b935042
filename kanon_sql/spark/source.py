"""Rows of a DataFrame as Spark counts them; see kanon_sql.blocks.source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.blocks.learn import PARTS
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import ColumnCounts, ColumnRange
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import NumberTotals
from kanon_sql.encode.precision import steps_of_type
from kanon_sql.names import quoted
from kanon_sql.spark.columns import SIZE, cell, column
from kanon_sql.sql import expression

VALUES = "kanon_values"
HALF = PARTS // 2
"""The bits of half a part of a range."""


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
    encoded: Any
    tables: dict[str, pa.Table] = field(default_factory=dict)
    named: str = "DataFrame"

    @property
    def rows(self) -> Any:
        """Those that take part."""
        return self.encoded.filter(self.taking)

    @property
    def taking(self) -> Any:
        """Whether a row takes part, as a column."""
        if self.request.call.task.nulls != "suppress":
            return F.lit(True)
        return reduce(and_, (F.col(cell(i)).isNotNull() for i in range(len(self.request.quasi))))

    def ends(self, spots: Sequence[int]) -> tuple[int, list[ColumnRange]]:
        """One job."""
        asked = [F.count(F.lit(1))]
        for i in spots:
            value = F.col(cell(i))
            infinite = F.abs(value) == F.lit(float("inf"))
            asked += [F.count(value), F.count_if(infinite), F.min(value), F.max(value)]
            asked.append(self._steps(i))
        names = [f"a{i}" for i in range(len(asked))]
        ((count, *ends),) = self.rows.agg(
            *(each.alias(name) for each, name in zip(asked, names, strict=True))
        ).collect()
        width = len(ColumnRange._fields)
        return count, [ColumnRange(*ends[width * i:width * (i + 1)]) for i in range(len(spots))]

    def _steps(self, spot: int) -> Any:
        """The place of the coarsest steps on which all numbers of a column lie."""
        kind = self.request.type_of(self.request.quasi[spot])
        steps, value = steps_of_type(kind), F.col(cell(spot))
        if not steps or not self.request.call.release.rounds:
            return F.max(F.lit(None).cast("int"))
        found = F.when(value.isNull(), None)
        for i, each in enumerate(steps):
            if kind in ("FLOAT", "DOUBLE"):
                nearest = F.rint(value * F.lit(float(each))) / F.lit(float(each))
                fits = nearest.cast(kind.lower()) == value.cast(kind.lower())
            else:
                fits = value % F.lit(float(each)) == F.lit(0.0)
            found = found.when(fits, i)
        return F.max(found.otherwise(len(steps)))

    def rows_in(self) -> int:
        """One job."""
        return int(self.encoded.count())

    def persons(self) -> int:
        """One job."""
        assert self.request.entity is not None
        return int(self.rows.select(column(self.request.entity)).distinct().count())

    def lacks_persons(self) -> bool:
        """One job, that ends with the first."""
        assert self.request.entity is not None
        return bool(self.rows.filter(column(self.request.entity).isNull()).limit(1).count())

    def sums(self, places: Mapping[int, NumberTotals]) -> dict[int, tuple[int, int]]:
        """One job. In whole numbers of half the digits, and their products again: no sum of 10^12
        of them is too large for a long, and decimals take ten times as long."""
        asked, low = [], 2**HALF - 1
        for i, at in places.items():
            place = (F.col(cell(i)) * F.lit(2.0**-at.exponent) - F.lit(at.low)) / F.lit(at.span)
            part = F.floor(place * F.lit(2.0**PARTS) + F.lit(0.5))
            above, below = F.shiftright(part, HALF), part.bitwiseAND(low)
            asked += [F.sum(above).alias(f"above{i}"), F.sum(below).alias(f"below{i}")]
            for name, product in (
                ("aa", above * above), ("ab", above * below), ("bb", below * below)
            ):
                asked += [
                    F.sum(F.shiftright(product, HALF)).alias(f"{name}{i}_above"),
                    F.sum(product.bitwiseAND(low)).alias(f"{name}{i}_below"),
                ]
        (totals,) = self.rows.agg(*asked).collect()

        def whole(name: str) -> int:
            return (int(totals[f"{name}_above"]) << HALF) + int(totals[f"{name}_below"])

        return {
            i: (
                (int(totals[f"above{i}"]) << HALF) + int(totals[f"below{i}"]),
                (whole(f"aa{i}") << 2 * HALF) + (whole(f"ab{i}") << HALF + 1) + whole(f"bb{i}"),
            ) for i in places
        }

    def categories(self, spot: int) -> pa.Table:
        """One job."""
        counts = self.rows.groupBy(cell(spot)).agg(F.count(F.lit(1)).alias(SIZE))
        return counts.toArrow()

    def values_of(self, name: str) -> str:
        """What Spark counted, spread out again."""
        counts = self.rows.groupBy(column(name)).agg(F.count(F.lit(1)).alias(SIZE)).toArrow()
        self.session.con.register(VALUES, counts.rename_columns([name, SIZE]))
        return expression("spark.expanded", column=quoted(name), rows=VALUES)

    def counted(self, name: str, of_persons: bool) -> str:
        """What Spark counted."""
        value, rows = column(name), self.rows
        if of_persons:
            assert self.request.entity is not None
            alike = (F.count_distinct(value) == 1) & (F.count(value) == F.count(F.lit(1)))
            rows = rows.groupBy(column(self.request.entity)).agg(
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
        ((people, *counts),) = self.rows.agg(
            *(each.alias(f"a{i}") for i, each in enumerate(asked))
        ).collect()
        return [ColumnCounts(*counts[2 * i:2 * i + 2]) for i in range(len(names))], people

    def look_closely(self, name: str, of_persons: bool) -> tuple[Any, ...]:
        """One job."""
        text = column(name).cast("string").alias("value")
        values = self.rows.select(text)
        if of_persons:  # one row of each person, where all its rows agree
            assert self.request.entity is not None
            person = column(self.request.entity).alias("person")
            values = self.rows.select(person, text).groupBy("person").agg(
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
