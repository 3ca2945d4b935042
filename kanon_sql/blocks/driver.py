"""A release in blocks, pass by pass, for every engine alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.blocks.engine import Engine, Part, S
from kanon_sql.blocks.group import Block, BlockError, BlockFacts, blocks_of
from kanon_sql.blocks.learn import Common, Learned, learn
from kanon_sql.blocks.metrics import release_metrics
from kanon_sql.errors import DataError, OptionError

UNFOLLOWED = (
    "A ledger decides over all persons at once who is shown again, and here they are released "
    "block by block. Use anonymize or anonymize_files, or leave ledger and headroom out."
)
OF_BLOCK = (
    "{} This concerns one of {} blocks: a larger block_rows may allow it."
)


def release_in_blocks(engine: Engine[S]) -> dict[str, Any]:
    """All passes: learn, cut, group, write and verify. The metrics of the release.

    Raises:
        OptionError: a ledger, which an engine follows by itself if it can.
        DataError: rows that can't be anonymized as asked.
        ReleaseError: rows are lost, or a combination of released values doesn't keep a model.
    """
    if engine.request.call.ledger is not None:
        raise OptionError(UNFOLLOWED)
    common = engine.survey()
    parts, more = _parts(engine, common)
    parts, facts = grouped(engine, parts)
    output = engine.written(parts, facts, common)
    return {**release_metrics(
        engine.request, common, [part.learned for part in parts],
        [block.rows for part in parts for block in part.blocks], facts, output,
    ), **more}


def _parts(engine: Engine[S], common: Common) -> tuple[list[Part], dict[str, int]]:
    """What is cut by itself, and the metrics of parts; one of all rows without any."""
    if not engine.request.within:
        return [_cut(engine, engine.source(), common, 0)], {}
    divided = engine.divided()
    parts = []
    for number, pack in enumerate(divided.packs):
        if pack.large:
            parts.append(_cut(engine, engine.source_of(number), common, number))
            continue
        leaf = engine.leaf_of(number, pack)
        block = Block(number, 0, 0, (leaf.name,), leaf.rows)
        learned = Learned(pack.rows, common.call)
        parts.append(Part(number, engine.request, learned, [block], small=True))
    return parts, divided.metrics


def _cut(engine: Engine[S], source: S, common: Common, number: int) -> Part:
    """Rows in blocks, by what they have in common."""
    learned = learn(source, common, number)
    blocks = blocks_of(engine.cut(source, learned, number), learned.call.task, number)
    return Part(number, source.request, replace(learned, counts={}), blocks)


def grouped(engine: Engine[S], parts: list[Part]) -> tuple[list[Part], list[BlockFacts]]:
    """Groups all blocks; those that can't keep a model join a neighbour, which is grouped anew.
    The parts with the blocks that came of it, and the facts of these."""
    done: dict[Block, BlockFacts] = {}
    beside_k = bool(engine.request.call.task.beside_k)
    while True:
        blocks = [(part, block) for part in parts for block in part.blocks]
        waiting = [(part, block) for part, block in blocks if block not in done]
        many, refused = len(blocks), {}
        try:
            results = engine.grouped(waiting, many, may_join=many > 1 and beside_k)
        except DataError as refusal:
            raise _of_block(refusal, many) from None
        for _, block in waiting:
            each = results[block]
            if isinstance(each, DataError):
                refused[block] = each
            else:
                done[block] = each
        if not refused:
            return parts, [done[block] for _, block in blocks]
        joined = [part.joined(refused) for part in parts]
        if _all_of(joined) == _all_of(parts):
            raise _of_block(next(iter(refused.values())), many)
        parts = joined


def _all_of(parts: Sequence[Part]) -> list[Block]:
    return [block for part in parts for block in part.blocks]


def _of_block(refusal: DataError, many: int) -> DataError:
    """The refusal of one block, which isn't said of all rows."""
    if many < 2 or isinstance(refusal, BlockError):
        return refusal
    return DataError(OF_BLOCK.format(refusal, many))
