"""The second pass: each row to its block."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import Attribute, Categorical
from kanon_sql.files.asked import Asked
from kanon_sql.files.cuts import BY_HASH, Tree, axis_of, grow, ranks_of
from kanon_sql.files.learn import Learned, category_of, number_of, rows_sql
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.sql import expression, statement

SAMPLED = 4000
"""Rows of the sample for each block."""

BUCKETS, CROWD = 2**16, 16
"""Into so many buckets rows are counted by the hash of their quasi-identifiers; and where one has
more than it should, by as many as so many rows of a sample stand for, some are taken to be alike.
"""

MOST = 2.0
"""A leaf with this many times the rows that it should have is cut again."""

AGAIN = 3
"""How often a leaf is cut again at most: what is left then is alike in all columns."""


@dataclass(frozen=True)
class Leaf:
    """The rows of one leaf of the cuts.

    Attributes:
        folder: the files that hold them.
        rows: how many there are.
        persons: whose they are; each row is a person where nothing says whose it is.
        most: the rows of the person who has the most.
    """

    folder: str
    rows: int
    persons: int
    most: int = 1


def read_of(folders: Sequence[str]) -> Relation:
    """The rows of some leaves, as a relation."""
    names = ", ".join(literal(f"{folder}/*.parquet") for folder in folders)
    return Relation(f"read_parquet([{names}], hive_partitioning = false)", (folders[0],))


def spool(session: Session, asked: Asked, learned: Learned, size: int, folder: Path) -> list[Leaf]:
    """Writes all rows, leaf by leaf; the leaves in the order of the cuts, so that neighbours stand
    side by side.

    Args:
        session: over a connection of our own.
        asked: what is asked.
        learned: of all rows.
        size: how many rows a leaf should have.
        folder: where they go; anything in it is gone first.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ranks = {
        a.name: ranks_of(a, learned.counts[a.name]) for a in learned.attributes
        if isinstance(a, Categorical)
    }
    for name, found in ranks.items():
        table = pa.table({
            "__kanon_word": pa.array(found, pa.string()),
            "__kanon_rank": pa.array(found.values(), pa.int64()),
        })
        session.con.register(_rank_table(asked, name), table.filter(pa.array(
            [word is not None for word in found]
        )))
    return _spooled(session, asked, learned.attributes, ranks, None, learned.rows, size, folder, 0)


def _rank_table(asked: Asked, name: str) -> str:
    return f"__kanon_ranks_{[caseless(n) for n in asked.quasi].index(caseless(name))}"


def _spooled(
    session: Session, asked: Asked, attributes: Sequence[Attribute],
    ranks: Mapping[str, Mapping[str | None, int]], part: Relation | None, rows: int, size: int,
    folder: Path, depth: int,
) -> list[Leaf]:
    blocks = -(-rows // size)
    tree = _tree(session, asked, attributes, ranks, part, rows, blocks)
    texts = _spool_sql(
        asked, attributes, tree, rows_sql(asked, part, keyed=False), folder, depth
    )
    with session.refusals():
        for text in texts:
            session.con.execute(telling(text)).fetchall()
    leaves = []
    for number in tree.leaves:
        own = folder / f"__kanon_leaf={number}"
        found = [pq.read_metadata(path).num_rows for path in sorted(own.glob("*.parquet"))]
        many = sum(found)
        if many > MOST * size and depth < AGAIN and len(tree.leaves) > 1:
            again = _spooled(
                session, asked, attributes, ranks, read_of([str(own)]), many, size,
                folder / f"leaf_{number}", depth + 1,
            )
            shutil.rmtree(own)
            leaves += again
        elif many:
            leaves.append(_leaf(session, asked, str(own), many))
    return leaves


def _leaf(session: Session, asked: Asked, folder: str, rows: int) -> Leaf:
    if asked.entity is None:
        return Leaf(folder, rows, rows)
    text = statement(
        "blocks.persons_of", entity=quoted(asked.entity), rows=read_of([folder]).sql
    )
    ((persons, most),) = session.con.execute(text).fetchall()
    return Leaf(folder, rows, persons, most)


def _tree(
    session: Session, asked: Asked, attributes: Sequence[Attribute],
    ranks: Mapping[str, Mapping[str | None, int]], part: Relation | None, rows: int, blocks: int,
) -> Tree:
    """The cuts of some rows."""
    if blocks < 2:
        return Tree(0)
    cells = ", ".join(
        f"{category_of(a.name) if isinstance(a, Categorical) else number_of(a.name)} AS c{i}"
        for i, a in enumerate(attributes)
    )
    every = max(1, rows // (SAMPLED * blocks))
    text = statement(
        "blocks.sample", cells=cells, rows=rows_sql(asked, part), every=every,
        quasi=", ".join(map(quoted, asked.quasi)), crowd=rows // BUCKETS + CROWD * every,
    )
    found = session.query(text, lambda relation: relation.to_arrow_table())
    found = found.take(np.repeat(np.arange(found.num_rows), found["many"].to_numpy()))
    axes = [
        axis_of(a, _values(found[f"c{i}"], a), ranks.get(a.name, {}))
        for i, a in enumerate(attributes)
    ]
    return grow(axes, found.num_rows, rows, blocks, asked.call.task.least_size)


def _values(column: Any, attribute: Attribute) -> Any:
    values = column.combine_chunks()
    if isinstance(attribute, Categorical):
        return values.cast(pa.string())
    return values.cast(pa.float64()).to_numpy(zero_copy_only=False) + np.float64(0.0)


def _spool_sql(
    asked: Asked, attributes: Sequence[Attribute], tree: Tree, rows: str, folder: Path, depth: int
) -> list[str]:
    """SQL that writes rows to the folders of their leaves; ``depth``: how often they were cut."""
    # what is sensitive decides nothing
    open_columns = ", ".join(
        f"__kanon_rows.{quoted(name)}" for name in asked.columns if name not in asked.sensitive
    )
    values, joins, places = [], "", {}
    used = _columns_of(tree)
    for i, attribute in enumerate(attributes):
        if attribute.name not in used:
            continue
        places[attribute.name] = f"__kanon_place_{i}"
        if isinstance(attribute, Categorical):
            table = _rank_table(asked, attribute.name)
            place = f"coalesce({table}.__kanon_rank, -1)"
            joins += " " + expression(
                "blocks.rank", table=table, category=cell_of(asked, attribute.name)
            )
        else:
            place = f"coalesce({number_of(attribute.name)}, '-inf'::DOUBLE)"
        values.append(f"{place} AS {places[attribute.name]}")
    places[BY_HASH], leaf = "__kanon_mix", _leaf_sql(tree, {**places, BY_HASH: "__kanon_mix"})
    if asked.entity is not None:
        entity = quoted(asked.entity)
        shown = ", ".join(values) or "0 AS __kanon_place"
        return [
            statement(
                "blocks.persons", entity=entity, leaf=leaf, values=shown, rows=rows, joins=joins,
                open=open_columns, depth=depth,
            ),
            statement(
                "blocks.spool_persons", entity=entity, rows=rows, folder=literal(str(folder))
            ),
        ]
    if BY_HASH in used or not values:
        mix = f"hash(row({open_columns}))"
        if depth:  # the first cuts left too many together
            mix = expression("blocks.dealt", depth=depth, open=open_columns)
        values.append(f"{mix} AS __kanon_mix")
    else:
        del places[BY_HASH]
    return [statement(
        "blocks.spool", places=", ".join(places.values()), leaf=leaf,
        values=", ".join(values), rows=rows, joins=joins, folder=literal(str(folder)),
    )]


def cell_of(asked: Asked, name: str) -> str:
    """SQL of the category of a column as it is stored."""
    texts = {caseless(n) for n in (*asked.call.categorical, *(
        spec.column for spec in asked.call.hierarchies
    ))}
    if caseless(name) in texts:
        return f"__kanon_key({quoted(name)})"
    return category_of(name)


def _columns_of(tree: Tree) -> set[str]:
    if not tree.sides:
        return set()
    return {tree.column}.union(*map(_columns_of, tree.sides))


def _leaf_sql(tree: Tree, places: Mapping[str, str]) -> str:
    if not tree.sides:
        return str(tree.leaf)
    # a rank is a whole number, a hash one of 64 bits, and any other place a double
    at = f"{int(tree.place)}::UHUGEINT" if tree.column == BY_HASH else f"{tree.place!r}::DOUBLE"
    if tree.place == float("-inf"):
        at = "'-inf'::DOUBLE"
    first, second = (_leaf_sql(side, places) for side in tree.sides)
    return f"CASE WHEN {places[tree.column]} <= {at} THEN {first} ELSE {second} END"


