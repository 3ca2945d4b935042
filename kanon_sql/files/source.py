"""Rows of files as DuckDB counts them, without holding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kanon_sql.blocks.learn import PARTS
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import ColumnCounts, ColumnRange, category_of, number_of, rows_sql
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import NumberTotals
from kanon_sql.encode.precision import steps_of_type
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.sql import expression, statement


@dataclass(frozen=True)
class FileRows:
    """The rows of files that take part; see kanon_sql.blocks.source.

    Attributes:
        session: over a connection of our own.
        request: what is asked of them.
        folder: where what all blocks read is written.
    """

    session: Session
    request: Request
    folder: Path
    named: str = "files"

    def _one(self, text: str) -> tuple[Any, ...]:
        (row,) = self.session.rows(text)
        return tuple(row)

    def ends(self, spots: Sequence[int]) -> tuple[int, list[ColumnRange]]:
        """One scan."""
        quasi = self.request.quasi
        asked = [
            expression("blocks.ends", number=number_of(quasi[i]), steps=self._steps(quasi[i]))
            for i in spots
        ]
        count, ranges = self._one(
            f"SELECT count(*), [{', '.join(asked)}] FROM {rows_sql(self.request)}"
        )
        names = ColumnRange._fields
        return count, [ColumnRange(*(each[name] for name in names)) for each in ranges or []]

    def _steps(self, name: str) -> str:
        """SQL of the place of the coarsest steps on which all numbers of a column lie."""
        kind, number = self.request.type_of(name), number_of(name)
        steps = steps_of_type(kind)
        if not steps or not self.request.call.release.rounds:
            return "NULL::INTEGER"
        cases = []
        for i, each in enumerate(steps):
            step = f"{each}::DOUBLE"
            test = f"{number} % {step} = 0"
            if kind in ("FLOAT", "DOUBLE"):
                test = f"(round_even({number} * {step}, 0) / {step})::{kind} = {number}::{kind}"
            cases.append(f"WHEN {test} THEN {i}")
        return expression(
            "blocks.steps", number=number, cases=" ".join(cases), many=len(steps)
        )

    def rows_in(self) -> int:
        """A scan of what is left out of the rows, too: the query of anonymize reads that, so that a
        file that is damaged there is refused here as it is there."""
        kept = {caseless(name) for name in self.request.columns}
        source = self.request.source
        dropped = [quoted(n) for n in source.columns or () if caseless(n) not in kept]
        read = f"bit_xor(hash({', '.join(dropped)}))" if dropped else "0"
        return int(self._one(f"SELECT count(*), {read} FROM {source.sql}")[0])

    def persons(self) -> int:
        """One scan."""
        assert self.request.entity is not None
        rows, entity = rows_sql(self.request), quoted(self.request.entity)
        return int(self._one(f"SELECT count(DISTINCT {entity}) FROM {rows}")[0])

    def lacks_persons(self) -> bool:
        """One scan."""
        assert self.request.entity is not None
        rows, entity = rows_sql(self.request), quoted(self.request.entity)
        return bool(self._one(f"SELECT count(*) FROM {rows} WHERE {entity} IS NULL")[0])

    def sums(self, places: Mapping[int, NumberTotals]) -> dict[int, tuple[int, int]]:
        """One scan."""
        asked = []
        for i, place in places.items():
            part = expression(
                "blocks.part", number=number_of(self.request.quasi[i]),
                unit=f"{2.0**-place.exponent!r}::DOUBLE", low=f"{place.low!r}::DOUBLE",
                span=f"{place.span!r}::DOUBLE", parts=2**PARTS,
            )
            asked.append(expression("blocks.sums", part=part))
        (totals,) = self._one(f"SELECT [{', '.join(asked)}] FROM {rows_sql(self.request)}")
        return {
            i: (int(each["sum"]), int(each["squares"]))
            for i, each in zip(places, totals, strict=True)
        }

    def categories(self, spot: int) -> pa.Table:
        """One scan."""
        text = statement(
            "blocks.counts", category=category_of(self.request.quasi[spot]),
            rows=rows_sql(self.request),
        )
        return self.session.query(text, lambda relation: relation.to_arrow_table())

    def values_of(self, column: str) -> str:
        """The rows themselves."""
        return rows_sql(self.request, keyed=False)

    def counted(self, column: str, of_persons: bool) -> str:
        """The rows themselves, or one for each value of persons."""
        rows, name = rows_sql(self.request, keyed=False), quoted(column)
        if not of_persons:
            return expression("blocks.counted", column=name, size=1, rows=rows)
        assert self.request.entity is not None
        values = statement(
            "blocks.values_of_persons", entity=quoted(self.request.entity), column=name, rows=rows
        )
        return f"({statement('models.histogram_of_persons', rows=values, part='')})"

    def keep(self, name: str, table: pa.Table) -> Relation:
        """A file."""
        path = self.folder / f"{name}.parquet"
        pq.write_table(table, path)
        text = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
        return Relation(text, (str(path),))

    def look(self, names: Sequence[str]) -> tuple[list[ColumnCounts], int]:
        """One scan."""
        asked = [expression("blocks.looks", column=quoted(name)) for name in names]
        entity = self.request.entity
        persons = "0" if entity is None else f"approx_count_distinct({quoted(entity)})"
        rows = rows_sql(self.request, keyed=False)
        counts, people = self._one(f"SELECT [{', '.join(asked)}], {persons} FROM {rows}")
        return [ColumnCounts(each["values"], each["about"]) for each in counts], people

    def look_closely(self, name: str, of_persons: bool) -> tuple[Any, ...]:
        """One scan."""
        rows, column = rows_sql(self.request, keyed=False), quoted(name)
        if of_persons:  # one row of each, where all its rows agree
            assert self.request.entity is not None
            rows = expression(
                "blocks.one_of_each", column=column, entity=quoted(self.request.entity), rows=rows
            )
        return self._one(statement(
            "blocks.looks_closely", column=column, rows=rows, least=self.request.call.least
        ))
