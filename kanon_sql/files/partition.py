"""The second pass: each row to its block."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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
from kanon_sql.blocks.source import category_of, cell_of, number_of, rows_sql
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import Attribute, Categorical
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.sql import expression, statement


def read_of(folders: Sequence[str]) -> Relation:
    """The rows of some leaves, as a relation."""
    names = ", ".join(literal(f"{folder}/*.parquet") for folder in folders)
    return Relation(f"read_parquet([{names}], hive_partitioning = false)", (folders[0],))


def spool(
    session: Session, request: Request, learned: Learned, size: int, folder: Path
) -> list[Leaf]:
    """Writes all rows, leaf by leaf; the leaves in the order of the cuts, so that neighbours stand
    side by side.

    Args:
        session: over a connection of our own.
        request: what is asked.
        learned: of all rows.
        size: how many rows a leaf should have.
        folder: where they go; anything in it is gone first.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ranks = ranks_of(learned.attributes, learned.counts)
    for name, by_word in ranks.items():
        known = {word: rank for word, rank in by_word.items() if word is not None}
        session.con.register(_rank_table(request, name), pa.table({
            "__kanon_word": pa.array(known, pa.string()),
            "__kanon_rank": pa.array(known.values(), pa.int64()),
        }))
    cutter = _Cutter(session, request, learned.attributes, ranks, size)
    return cutter.leaves(None, learned.rows, folder, 0)


def _rank_table(request: Request, name: str) -> str:
    return f"__kanon_ranks_{[caseless(n) for n in request.quasi].index(caseless(name))}"


@dataclass(frozen=True)
class _Cutter:
    """Cuts rows into leaves of ``size`` rows, and writes them; the rest as Learned has it."""

    session: Session
    request: Request
    attributes: Sequence[Attribute]
    ranks: Mapping[str, Mapping[str | None, int]]
    size: int

    def leaves(self, part: Relation | None, rows: int, folder: Path, depth: int) -> list[Leaf]:
        """The leaves of a part of the rows, or of all; ``depth``: how often these were cut."""
        tree = self._tree(part, rows)
        texts = self._spool_sql(tree, rows_sql(self.request, part, keyed=False), folder, depth)
        with self.session.refusals():
            for text in texts:
                self.session.con.execute(telling(text)).fetchall()
        leaves = []
        for number in tree.leaves:
            own = folder / f"__kanon_leaf={number}"
            many = sum(pq.read_metadata(path).num_rows for path in sorted(own.glob("*.parquet")))
            if many > MOST * self.size and depth < AGAIN and len(tree.leaves) > 1:
                below = folder / f"leaf_{number}"
                leaves += self.leaves(read_of([str(own)]), many, below, depth + 1)
                shutil.rmtree(own)
            elif many:
                leaves.append(self._leaf(str(own), many))
        return leaves

    def _leaf(self, folder: str, rows: int) -> Leaf:
        entity = self.request.entity
        if entity is None:
            return Leaf(folder, rows, rows)
        text = statement("blocks.persons_of", entity=quoted(entity), rows=read_of([folder]).sql)
        ((persons, most),) = self.session.con.execute(text).fetchall()
        return Leaf(folder, rows, persons, most)

    def _tree(self, part: Relation | None, rows: int) -> CutTree:
        """The cuts of some rows."""
        blocks = -(-rows // self.size)
        if blocks < 2:
            return CutTree(0)
        request, every = self.request, max(1, rows // (SAMPLED * blocks))
        cells = ", ".join(
            f"{category_of(a.name) if isinstance(a, Categorical) else number_of(a.name)} AS c{i}"
            for i, a in enumerate(self.attributes)
        )
        text = statement(
            "blocks.sample", cells=cells, rows=rows_sql(request, part), every=every,
            quasi=", ".join(map(quoted, request.quasi)), crowd=rows // BUCKETS + CROWD * every,
        )
        sample = self.session.query(text, lambda relation: relation.to_arrow_table())
        sample = sample.take(np.repeat(np.arange(sample.num_rows), sample["many"].to_numpy()))
        least = request.call.task.least_size
        return cut_sample(sample, self.attributes, self.ranks, rows, blocks, least)

    def _spool_sql(self, tree: CutTree, rows: str, folder: Path, depth: int) -> list[str]:
        """SQL that writes rows to the folders of their leaves."""
        request = self.request
        # what is sensitive decides nothing
        open_columns = ", ".join(
            f"__kanon_rows.{quoted(n)}" for n in request.columns if n not in request.sensitive
        )
        values, joins, places = [], "", {}
        for i, attribute in enumerate(self.attributes):
            if attribute.name not in tree.columns:
                continue
            places[attribute.name] = f"__kanon_place_{i}"
            place = f"coalesce({number_of(attribute.name)}, '-inf'::DOUBLE)"
            if isinstance(attribute, Categorical):
                table, category = _rank_table(request, attribute.name), cell_of(
                    request, attribute.name
                )
                place = f"coalesce({table}.__kanon_rank, -1)"
                joins += " " + expression("blocks.rank", table=table, category=category)
            values.append(f"{place} AS {places[attribute.name]}")
        leaf = _leaf_sql(tree, {**places, BY_HASH: "__kanon_mix"})
        if request.entity is not None:
            entity = quoted(request.entity)
            shown = ", ".join(values) or "0 AS __kanon_place"
            return [
                statement(
                    "blocks.persons", entity=entity, leaf=leaf, values=shown, rows=rows,
                    joins=joins, open=open_columns, depth=depth,
                ),
                statement(
                    "blocks.spool_persons", entity=entity, rows=rows, folder=literal(str(folder))
                ),
            ]
        if BY_HASH in tree.columns or not values:
            mix = f"hash(row({open_columns}))"
            if depth:  # the first cuts left too many together
                mix = expression("blocks.dealt", depth=depth, open=open_columns)
            values.append(f"{mix} AS __kanon_mix")
            places[BY_HASH] = "__kanon_mix"
        return [statement(
            "blocks.spool", places=", ".join(places.values()), leaf=leaf,
            values=", ".join(values), rows=rows, joins=joins, folder=literal(str(folder)),
        )]


def _leaf_sql(tree: CutTree, places: Mapping[str, str]) -> str:
    if not tree.sides:
        return str(tree.leaf)
    # a rank is a whole number, a hash one of 64 bits, and any other place a double
    at = f"{int(tree.place)}::UHUGEINT" if tree.column == BY_HASH else f"{tree.place!r}::DOUBLE"
    if tree.place == float("-inf"):
        at = "'-inf'::DOUBLE"
    first, second = (_leaf_sql(side, places) for side in tree.sides)
    return f"CASE WHEN {places[tree.column]} <= {at} THEN {first} ELSE {second} END"
