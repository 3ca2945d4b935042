"""The second pass in Spark: where all rows are cut, and the block of each row as a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.blocks.cuts import (
    AGAIN,
    BUCKETS,
    BY_HASH,
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
from kanon_sql.encode.attributes import Attribute, Categorical
from kanon_sql.spark.columns import BLOCK, SIZE, cell, column
from kanon_sql.spark.worker import MIX, OF_ROW
from kanon_sql.sql import statement

NOWHERE = -1
"""Stands for the block of rows that nobody asks for."""

SAMPLE = "kanon_sample"
BUCKET = 47
"""The bits of a hash after its bucket, of which there are 65,536."""


@dataclass(frozen=True)
class _Cutting:
    session: Session
    spark: Any
    attributes: Sequence[Attribute]
    ranks: Mapping[str, Mapping[str | None, int]]
    rows: Any
    size: int
    k: int
    entity: str | None

    def spread_ties(self, many: int) -> _Cutting:
        """The same with other hashes for rows of which many are alike in all that isn't sensitive:
        each has one by its place among them. By what is sensitive they are only ordered, so that
        every side of a cut has about its share of each value."""
        bucket = F.shiftright(F.col(MIX), BUCKET)
        crowd = many // BUCKETS + CROWD * self._every(many)
        counted = self.rows.groupBy(bucket.alias(BLOCK)).count().filter(F.col("count") > crowd)
        crowded = [row[BLOCK] for row in counted.select(BLOCK).collect()]
        if not crowded:
            return self
        place = F.row_number().over(Window.partitionBy(MIX).orderBy(OF_ROW))
        own = F.shiftrightunsigned(F.xxhash64(F.col(MIX), place), 1)
        names = [column(name) for name in self.rows.columns if name != MIX]
        alike = self.rows.filter(bucket.isin(crowded)).select(*names, own.alias(MIX))
        others = self.rows.filter(~bucket.isin(crowded)).select(*names, F.col(MIX))
        return replace(self, rows=others.union(alike))

    def grown(self, many: int) -> tuple[CutTree, dict[int, int]]:
        """The cuts of all rows; how many rows each leaf has."""
        blocks = -(-many // self.size)
        if blocks < 2:
            return CutTree(0), {0: many}
        sample = self._sample(self.rows.filter(F.col(MIX) % self._every(many) == 0))
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

    def _sample(self, rows: Any) -> pa.Table:
        """Cells of a sample, in an order of their own."""
        names = [cell(i) for i in range(len(self.attributes))]
        more = [BLOCK] if BLOCK in rows.columns else []
        self.session.con.register(SAMPLE, rows.select(*names, *more).toArrow())
        try:
            text = statement("spark.ordered", rows=SAMPLE)
            return bound(self.session.con, text).to_arrow_table()
        finally:
            self.session.con.unregister(SAMPLE)

    def _tree(self, sample: pa.Table, rows: int, blocks: int) -> CutTree:
        return cut_sample(sample, self.attributes, self.ranks, rows, blocks, self.k)

    def _again(self, tree: CutTree, large: Mapping[int, int]) -> CutTree:
        """The tree with these leaves cut."""
        rows = self.placed(tree)
        taken = reduce(or_, (
            (F.col(BLOCK) == leaf) & (F.col(MIX) % self._every(many) == 0)
            for leaf, many in large.items()
        ))
        sample = self._sample(rows.filter(taken))
        own = sample[BLOCK].to_numpy()
        parts = {
            leaf: self._tree(sample.filter(pa.array(own == leaf)), many, -(-many // self.size))
            for leaf, many in large.items()
        }
        return _numbered(_grafted(tree, parts))

    def counted(self, tree: CutTree) -> dict[int, int]:
        """How many rows each leaf has."""
        rows = self.placed(tree).groupBy(BLOCK).count().collect()
        return {row[BLOCK]: row["count"] for row in rows}

    def leaves(self, tree: CutTree, counts: Mapping[int, int]) -> list[Leaf]:
        """The leaves that have rows, and how many persons."""
        if self.entity is None or len(counts) < 2:
            return [
                Leaf(str(leaf), counts[leaf], counts[leaf])
                for leaf in tree.leaves if counts.get(leaf)
            ]
        persons = self.placed(tree).groupBy(BLOCK, column(self.entity)).agg(
            F.count(F.lit(1)).alias(SIZE)
        )
        rows = persons.groupBy(BLOCK).agg(
            F.count(SIZE).alias("persons"), F.max(SIZE).alias("most")
        ).collect()
        totals = {row[BLOCK]: (row["persons"], row["most"]) for row in rows}
        return [
            Leaf(str(leaf), counts[leaf], *totals[leaf]) for leaf in tree.leaves if leaf in totals
        ]

    def placed(self, tree: CutTree) -> Any:
        """The rows with their leaf in the column BLOCK."""
        rows, used, names = self.rows, tree.columns, self.rows.columns
        places = {BY_HASH: F.col(MIX)}
        for i, attribute in enumerate(self.attributes):
            if attribute.name not in used:
                continue
            if isinstance(attribute, Categorical):
                word, rank = f"__kanon_word{i}", f"__kanon_rank{i}"
                known = {w: r for w, r in self.ranks[attribute.name].items() if w is not None}
                table = pa.table({
                    word: pa.array(known, pa.string()), rank: pa.array(known.values(), pa.int64()),
                })
                ranks = F.broadcast(self.spark.createDataFrame(table))
                rows = rows.join(ranks, F.col(cell(i)) == F.col(word), "left")
                places[attribute.name] = F.coalesce(F.col(rank), F.lit(-1)).cast("double")
            else:
                places[attribute.name] = F.coalesce(F.col(cell(i)), F.lit(float("-inf")))
        placed = rows.select(*map(column, names), _leaf(tree, places).alias(BLOCK))
        return placed if self.entity is None else self._of_persons(placed, self.entity)

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

    def rows(self, numbers: Mapping[str, int]) -> Any:
        """The rows of these leaves, with a number for each in the column BLOCK."""
        placed = self._cutting.placed(_renamed(
            self._tree, {leaf: numbers.get(str(leaf), NOWHERE) for leaf in self._tree.leaves}
        ))
        every = all(leaf.name in numbers for leaf in self.leaves)
        return placed if every else placed.filter(F.col(BLOCK) != NOWHERE)


def cut(session: Session, spark: Any, request: Request, learned: Learned, rows: Any) -> Cuts:
    """Cuts rows into leaves of blocks.

    Args:
        session: over a connection of our own.
        spark: the Spark session.
        request: what is asked.
        learned: of these rows.
        rows: those that take part, with their cells.
    """
    task = learned.call.task
    size = task.block_size()
    ranks = ranks_of(learned.attributes, learned.counts)
    cutting = _Cutting(
        session, spark, learned.attributes, ranks, rows, size, task.least_size, request.entity
    )
    if learned.rows > size:
        cutting = cutting.spread_ties(learned.rows)
    tree, counts = cutting.grown(learned.rows)
    return Cuts(cutting.leaves(tree, counts), cutting, tree)


def _leaf(tree: CutTree, places: Mapping[str, Any]) -> Any:
    """The number of the leaf of a row, as a column of Spark."""
    if not tree.sides:
        return F.lit(tree.leaf)
    # the hash of a row is kept without its last bit
    at = int(tree.place) // 2 if tree.column == BY_HASH else float(tree.place)
    first, second = (_leaf(side, places) for side in tree.sides)
    return F.when(places[tree.column] <= F.lit(at), first).otherwise(second)


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
