"""The second pass in Spark: where all rows are cut, and the block of each row as a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField, StructType

from kanon_sql.blocks.cuts import (
    AGAIN,
    BUCKETS,
    CROWD,
    MOST,
    SAMPLED,
    CutTree,
    cut_sample,
    ranks_of,
)
from kanon_sql.blocks.group import Leaf
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.request import Request
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.encode.attributes import Attribute
from kanon_sql.names import quoted
from kanon_sql.spark.columns import BLOCK, SIZE, cell, column
from kanon_sql.spark.encoded import PacketRows, crowds, read
from kanon_sql.spark.packets import PLACED, packer
from kanon_sql.spark.places import NOWHERE, RowPlaces, leaf_counter, placer
from kanon_sql.spark.worker import MIX, OF_ROW
from kanon_sql.sql import statement

SAMPLE = "kanon_sample"
BUCKET = 47
"""The bits of a hash after its bucket, of which there are 65,536."""


@dataclass(frozen=True)
class _Cutting:
    session: Session
    attributes: Sequence[Attribute]
    ranks: Mapping[str, Mapping[str | None, int]]
    rows: PacketRows
    size: int
    k: int
    entity: str | None
    kept: Callable[[Any], Any]

    def spread_ties(self, many: int) -> _Cutting:
        """The same with other hashes for rows of which many are alike in all that isn't sensitive:
        each has one by its place among them. By what is sensitive they are only ordered, so that
        every side of a cut has about its share of each value."""
        crowd = many // BUCKETS + CROWD * self._every(many)
        counted = crowds(self.rows, BUCKET).filter(F.col("many") > crowd)
        crowded = [row["bucket"] for row in counted.select("bucket").collect()]
        if not crowded:
            return self
        bucket = F.shiftright(F.col(MIX), BUCKET)
        rows = self.rows.rows(self.rows.fields.names)
        if self.rows.row_hash is not None:
            rows = rows.withColumn(OF_ROW, self.rows.row_hash)
        place = F.row_number().over(Window.partitionBy(MIX).orderBy(OF_ROW))
        own = F.shiftrightunsigned(F.xxhash64(F.col(MIX), place), 1)
        fields = [field for field in self.rows.fields if field.name not in (MIX, OF_ROW)]
        names = [column(field.name) for field in fields]
        alike = rows.filter(bucket.isin(crowded)).select(*names, own.alias(MIX))
        others = rows.filter(~bucket.isin(crowded)).select(*names, F.col(MIX))
        packets = others.union(alike).withColumn(BLOCK, F.lit(0)).mapInArrow(packer, PLACED)
        fields.append(StructField(MIX, LongType()))
        return replace(self, rows=self.rows.of(self.kept(packets), StructType(fields)))

    def grown(self, many: int) -> tuple[CutTree, dict[int, int]]:
        """The cuts of all rows; how many rows each leaf has."""
        blocks = -(-many // self.size)
        if blocks < 2:
            return CutTree(0), {0: many}
        sample = self._sample(self._sampled(self._every(many)))
        tree = self._tree(sample, many, blocks)
        counts = self.counted(tree)
        for _ in range(AGAIN):
            large = {leaf: n for leaf, n in counts.items() if n > MOST * self.size}
            if not large:
                break
            grown = self._again(tree, large)
            if len(grown.leaves) == len(tree.leaves):
                break
            tree, counts = grown, self.counted(grown)
        return tree, counts

    def _every(self, many: int) -> int:
        """One of so many rows is in a sample."""
        return max(1, many // (SAMPLED * -(-many // self.size)))

    def _sampled(self, every: int) -> Any:
        """Cells of one of so many rows."""
        kinds = {field.name: field.dataType for field in self.rows.fields}
        cells = {cell(i): name for i, name in enumerate(self.rows.cells)}
        schema = ", ".join(f"{c} {kinds[name].simpleString()}" for c, name in cells.items())
        values = {c: quoted(name) for c, name in cells.items()}
        return self.rows.asked(schema, self.rows.telling(values, f"{MIX} % {every} = 0"))

    def _sample(self, rows: Any) -> pa.Table:
        """A sample, in an order of its own."""
        self.session.con.register(SAMPLE, rows.toArrow())
        try:
            text = statement("spark.ordered", rows=SAMPLE)
            return bound(self.session.con, text).to_arrow_table()
        finally:
            self.session.con.unregister(SAMPLE)

    def _tree(self, sample: pa.Table, rows: int, blocks: int) -> CutTree:
        return cut_sample(sample, self.attributes, self.ranks, rows, blocks, self.k)

    def _again(self, tree: CutTree, large: Mapping[int, int]) -> CutTree:
        """The tree with these leaves cut."""
        rows = self.placed(tree, list(dict.fromkeys((*self.rows.cells, MIX))))
        cells = [column(name).alias(cell(i)) for i, name in enumerate(self.rows.cells)]
        taken = reduce(or_, (
            (F.col(BLOCK) == leaf) & (F.col(MIX) % self._every(many) == 0)
            for leaf, many in large.items()
        ))
        sample = self._sample(rows.filter(taken).select(*cells, BLOCK))
        own = sample[BLOCK].to_numpy()
        parts = {
            leaf: self._tree(sample.filter(pa.array(own == leaf)), many, -(-many // self.size))
            for leaf, many in large.items()
        }
        return _numbered(_grafted(tree, parts))

    def counted(self, tree: CutTree) -> dict[int, int]:
        """How many rows each leaf has."""
        if self.entity is None:
            counts = self.rows.packets.mapInArrow(
                leaf_counter(self._places(tree)), "leaf long, many long"
            ).groupBy("leaf").agg(F.sum("many").alias("many"))
        else:
            counts = self.placed(tree, [self.entity]).groupBy(F.col(BLOCK).alias("leaf")).agg(
                F.count(F.lit(1)).alias("many")
            )
        return {row["leaf"]: row["many"] for row in counts.collect()}

    def leaves(self, tree: CutTree, counts: Mapping[int, int]) -> list[Leaf]:
        """The leaves that have rows, and how many persons."""
        if self.entity is None or len(counts) < 2:
            return [
                Leaf(str(leaf), counts[leaf], counts[leaf])
                for leaf in tree.leaves if counts.get(leaf)
            ]
        persons = self.placed(tree, [self.entity]).groupBy(BLOCK, column(self.entity)).agg(
            F.count(F.lit(1)).alias(SIZE)
        )
        rows = persons.groupBy(BLOCK).agg(
            F.count(SIZE).alias("persons"), F.max(SIZE).alias("most")
        ).collect()
        totals = {row[BLOCK]: (row["persons"], row["most"]) for row in rows}
        return [
            Leaf(str(leaf), counts[leaf], *totals[leaf]) for leaf in tree.leaves if leaf in totals
        ]

    def _places(self, tree: CutTree) -> RowPlaces:
        used = {
            a.name: name for a, name in zip(self.attributes, self.rows.cells, strict=True)
            if a.name in tree.columns
        }
        ranks = {name: self.ranks[name] for name in used if name in self.ranks}
        return RowPlaces(tree, used, ranks, self.rows.without_nulls)

    def placed(self, tree: CutTree, names: Sequence[str]) -> Any:
        """These columns of the rows with their leaf in the column BLOCK."""
        entity = self.entity
        if entity is None:
            packets = self.rows.packets.mapInArrow(placer(self._places(tree), names), PLACED)
            return read(packets, self._with_block(), [*names, BLOCK], in_order=False)
        wanted = list(dict.fromkeys((*names, entity, MIX)))
        packets = self.rows.packets.mapInArrow(placer(self._places(tree), wanted), PLACED)
        rows = read(packets, self._with_block(), [*wanted, BLOCK], in_order=False)
        return self._of_persons(rows, entity).select(*map(column, names), BLOCK)

    def _with_block(self) -> StructType:
        return StructType([*self.rows.fields, StructField(BLOCK, LongType())])

    def packets(self, tree: CutTree, names: Sequence[str]) -> Any:
        """The same in packets."""
        if self.entity is None:
            return self.rows.packets.mapInArrow(placer(self._places(tree), names), PLACED)
        return self.placed(tree, names).mapInArrow(packer, PLACED)

    def _of_persons(self, placed: Any, entity: str) -> Any:
        """The rows, all of a person in the leaf of one of them."""
        own, name = column(entity), "__kanon_person"
        leaves = placed.groupBy(own.alias(name)).agg(F.min_by(BLOCK, MIX).alias(BLOCK))
        return placed.drop(BLOCK).join(leaves, own == F.col(name), "left").drop(name)


@dataclass(frozen=True)
class Cuts:
    """Rows, and where they are cut.

    Attributes:
        leaves: those that have rows, in the order of the cuts, so that neighbours stand side by
            side.
    """

    leaves: Sequence[Leaf]
    _cutting: _Cutting
    _tree: CutTree

    def packets(self, numbers: Mapping[str, int], names: Sequence[str]) -> Any:
        """Packets of these columns of the rows of these leaves, with a number for each in the
        column BLOCK."""
        return self._cutting.packets(_renamed(
            self._tree, {leaf: numbers.get(str(leaf), NOWHERE) for leaf in self._tree.leaves}
        ), names)


def cut(
    session: Session, request: Request, learned: Learned, rows: PacketRows,
    kept: Callable[[Any], Any],
) -> Cuts:
    """Cuts rows into leaves of blocks.

    Args:
        session: over a connection of our own.
        request: what is asked.
        learned: of these rows.
        rows: those that take part, with their cells.
        kept: keeps packets.
    """
    task = learned.call.task
    size = task.block_size()
    ranks = ranks_of(learned.attributes, learned.counts)
    cutting = _Cutting(
        session, learned.attributes, ranks, rows, size, task.least_size, request.entity, kept
    )
    if learned.rows > size:
        cutting = cutting.spread_ties(learned.rows)
    tree, counts = cutting.grown(learned.rows)
    return Cuts(cutting.leaves(tree, counts), cutting, tree)


def _grafted(tree: CutTree, parts: Mapping[int, CutTree]) -> CutTree:
    """A tree with trees in the place of leaves."""
    if not tree.sides:
        return parts.get(tree.leaf, tree)
    return replace(tree, sides=tuple(_grafted(side, parts) for side in tree.sides))


def _numbered(tree: CutTree) -> CutTree:
    """A tree with its leaves numbered from the first to the last."""
    number = iter(range(len(tree.leaves)))

    def walk(part: CutTree) -> CutTree:
        if not part.sides:
            return CutTree(next(number))
        return replace(part, sides=tuple(walk(side) for side in part.sides))

    return walk(tree)


def _renamed(tree: CutTree, numbers: Mapping[int, int]) -> CutTree:
    """A tree with other numbers for its leaves."""
    if not tree.sides:
        return CutTree(numbers[tree.leaf])
    return replace(tree, sides=tuple(_renamed(side, numbers) for side in tree.sides))
