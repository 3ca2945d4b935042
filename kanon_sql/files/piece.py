"""The third pass: each block into a file of its own."""

from __future__ import annotations

import uuid
from pathlib import Path

import duckdb

from kanon_sql.blocks.group import Block, BlockFacts, block_call, block_sql
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.request import Request
from kanon_sql.call.call import GroupingCall
from kanon_sql.duckdb.refused import telling
from kanon_sql.files.partition import read_of
from kanon_sql.names import literal
from kanon_sql.sql import statement
from kanon_sql.stages.block import hand_over, take_facts

ROW_GROUP = 40_960
"""Rows of a piece that are read together: files take their part of each piece."""


def release_block(
    con: duckdb.DuckDBPyConnection, request: Request, call: GroupingCall, learned: Learned,
    block: Block, target: Path,
) -> BlockFacts:
    """Releases a block into a file, whole or not at all; its facts.

    Args:
        con: a registered connection of this thread.
        request: what is asked.
        call: over all rows.
        learned: of all rows.
        block: the block.
        target: the file.

    Raises:
        duckdb.Error: as the query of anonymize.
        ReleaseError: rows came out that didn't go in, or the other way round.
    """
    name = uuid.uuid4().hex
    own = block_call(request, call, learned.scales, read_of(block.leaves), block.rows, name)
    draft = target.with_name(f".{target.name}.tmp")
    text = statement(
        "blocks.piece", rows=block_sql(own), path=literal(str(draft)), group=ROW_GROUP
    )
    hand_over(name, learned.known, learned.going_on)
    try:
        written = con.execute(telling(text)).fetchall()[0][0]
        facts = BlockFacts.of(request, take_facts(name), block.rows, written)
        draft.replace(target)
    except BaseException:
        take_facts(name)
        draft.unlink(missing_ok=True)
        raise
    return facts
