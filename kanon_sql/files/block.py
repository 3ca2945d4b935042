"""The third pass: each block through the query that ``anonymize`` runs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.call.call import GroupingCall
from kanon_sql.duckdb.refused import telling
from kanon_sql.errors import ReleaseError
from kanon_sql.files.asked import Asked, block_call
from kanon_sql.files.spool import Leaf, read_of
from kanon_sql.methods import GroupTask
from kanon_sql.names import literal
from kanon_sql.plan.fragments import ROW, listed, quasi
from kanon_sql.plan.pipeline import passing, pipeline_sql
from kanon_sql.sql import statement
from kanon_sql.stages.block import take_facts

ROW_GROUP = 40_960
"""Rows of a piece that are read together: files take their part of each piece."""

OF_BLOCK = (
    "{} That was said of one of {} blocks: a larger block_rows may allow what this block doesn't."
)
LOST = (
    "The release was stopped: a block has {} rows, and {} came out with {} left out. Nothing was "
    "written; please report this as a bug."
)


@dataclass(frozen=True)
class Block:
    """Leaves that are grouped as one.

    Attributes:
        number: from 0.
        folders: their files.
        rows: how many they have.
    """

    number: int
    folders: tuple[str, ...]
    rows: int


def blocks_of(leaves: Sequence[Leaf], task: GroupTask) -> list[Block]:
    """Leaves as blocks that are large enough: one that is too small joins its neighbour, from which
    it was cut last.

    Large enough are a fourth of the rows that a block should have, two classes of persons, and
    where the rows of a person are kept apart, a class for the person who has the most.
    """
    least = max(task.block_size() // 4, 2 * task.least_size)

    def small(leaf: Leaf) -> bool:
        apart = not task.persons and leaf.rows < task.least_size * leaf.most
        return leaf.rows < least or leaf.persons < 2 * task.least_size or apart

    made: list[tuple[list[str], Leaf]] = []
    for leaf in leaves:
        if made and small(made[-1][1]):
            made[-1] = ([*made[-1][0], leaf.folder], _both(made[-1][1], leaf))
        else:
            made.append(([leaf.folder], leaf))
    if len(made) > 1 and small(made[-1][1]):
        folders, last = made.pop()
        made[-1] = ([*made[-1][0], *folders], _both(made[-1][1], last))
    return [Block(i, tuple(folders), leaf.rows) for i, (folders, leaf) in enumerate(made)]


def _both(one: Leaf, other: Leaf) -> Leaf:
    """Two leaves as one; no person is in both."""
    return Leaf(
        one.folder, one.rows + other.rows, one.persons + other.persons, max(one.most, other.most)
    )


def block_sql(call: GroupingCall) -> str:
    """SQL of the released rows of one block."""
    return statement(
        "blocks.block",
        pipeline=pipeline_sql(call),
        dropped=listed((*ROW, *call.roles.identifiers)),
        passing=passing(call),
        seed=call.task.seed,
        quasi=f"*{quasi(call.roles, ())}",
    )


def release_block(
    con: duckdb.DuckDBPyConnection, call: GroupingCall, asked: Asked, scales: Mapping[str, Any],
    block: Block, target: Path,
) -> dict[str, float]:
    """Releases a block into a file, whole or not at all; its sums.

    Args:
        con: a registered connection of this thread.
        call: over all rows.
        asked: what is asked.
        scales: of all rows.
        block: the block.
        target: the file.

    Raises:
        duckdb.Error: as the query of anonymize.
        ReleaseError: rows came out that didn't go in, or the other way round.
    """
    name = uuid.uuid4().hex
    own = block_call(call, asked, read_of(block.folders), scales, block.rows, name)
    draft = target.with_name(f".{target.name}.tmp")
    text = statement(
        "blocks.piece", rows=block_sql(own), path=literal(str(draft)), group=ROW_GROUP
    )
    try:
        written = con.execute(telling(text)).fetchall()[0][0]
        facts = take_facts(name)
        # of persons the query has counted the rows
        counted = asked.entity is not None or (
            facts.get("records_released") == written and facts.get("records") == block.rows
        )
        if not counted or written > block.rows:
            raise ReleaseError(LOST.format(block.rows, written, block.rows - written))
        draft.replace(target)
    except BaseException:
        take_facts(name)
        draft.unlink(missing_ok=True)
        raise
    sums = ("records", "classes", "sse", "total_il", "seconds_group")
    found = {fact: float(facts[fact]) for fact in sums if fact in facts}
    return {**found, "rows": float(block.rows), "rows_released": float(written)}
