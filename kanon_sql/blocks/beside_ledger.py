"""A release in blocks that goes on from those before it, pass by pass, for every engine alike: who
was released before is decided over all persons, and who wasn't is cut into blocks, which may join
the classes that go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kanon_sql.blocks.driver import grouped
from kanon_sql.blocks.engine import Engine, Part
from kanon_sql.blocks.group import BlockError, BlockFacts, blocks_of
from kanon_sql.blocks.learn import Learned, learn
from kanon_sql.blocks.ledger import (
    EarlierReleases,
    Known,
    LinkedCrowds,
    classes_of,
    learned_of_newcomers,
    ledger_of,
    room_of,
)
from kanon_sql.blocks.metrics import Output, release_metrics
from kanon_sql.blocks.source import BlockSource
from kanon_sql.errors import DataError, ReleaseError
from kanon_sql.ledger.shown import NOBODY
from kanon_sql.plan.ledger_refusals import LINKED

UNEQUAL = (
    "The release was stopped: its ledger would get other rows than the release. Nothing was "
    "released; please report this as a bug."
)

S = TypeVar("S", bound=BlockSource)


def release_beside_ledger(
    engine: Engine[S], past_of: Callable[[Learned], EarlierReleases[S]]
) -> dict[str, Any]:
    """All passes: learn, decide of those who were released before, cut the others, group, write
    and verify. The metrics of the release; its entries are kept beside the ledger.

    Args:
        engine: holds the rows.
        past_of: the ledger, of what was learned of all rows.

    Raises:
        DataError: rows that can't be anonymized as asked, or a ledger that can't be gone on from.
        ReleaseError: rows are lost, a combination of released values doesn't keep k, or a crowd.
    """
    common = engine.survey()
    learned = learn(engine.source(), common)
    past = past_of(learned)
    known = past.decide()
    parts, blocks = _grouped(engine, past, _parts(engine, past, known))
    waiting = known.newcomers - sum(block.rows for block in blocks)
    if learned.call.task.models and past.going_on is not None and (parts or known.shown):
        known, blocks = past.keep_models(parts, blocks, known)
    facts = [*blocks, known.facts, BlockFacts(waiting, 0, records=float(waiting))]
    if not any(block.rows_released for block in facts):
        raise DataError(NOBODY)
    output = engine.written(parts, facts, common)
    sizes = [block.rows for part in parts for block in part.blocks]
    metrics = release_metrics(
        engine.request, common, [replace(learned, rows=common.rows)], sizes or [0], facts, output,
    )
    linked = _entered(past, known, parts, output)
    return {
        **metrics, "blocks": len(sizes), "release": known.release,
        "rows_withheld": known.present - known.stale - known.shown, "rows_stale": known.stale,
        "rows_waiting": known.newcomers - (output.rows - known.shown),
        **room_of(learned.call, known).facts,
        "anonymity_set_min": linked.crowd, "rows_joining": linked.joining,
    }


def _parts(engine: Engine[S], past: EarlierReleases[S], known: Known) -> list[Part]:
    """Newcomers in blocks. No part where all of them wait."""
    learned, request = past.learned, engine.request
    task = learned.call.task
    session = engine.source().session
    classes = classes_of(session, request, learned, past.going_on, past.numbers)
    if known.newcomers == 0 or (known.newcomers < task.k and classes is None):
        return []
    source = past.newcomers()
    leaves = engine.cut(source, replace(learned, rows=known.newcomers), 0)
    blocks = blocks_of(leaves, task, 0, room_of(learned.call, known).persons)
    return [Part(0, source.request, learned_of_newcomers(past, known, classes), blocks)]


def _grouped(
    engine: Engine[S], past: EarlierReleases[S], parts: list[Part]
) -> tuple[list[Part], list[BlockFacts]]:
    """Groups all blocks. Where a release goes on, newcomers may keep no model by themselves, not
    even with their neighbours, and do so among others: then the models wait until all are placed.
    """
    if not parts:
        return [], []
    call = past.learned.call
    may_wait = bool(call.task.models) and ledger_of(call).relation is not None
    if not past.free:
        try:
            return grouped(engine, parts)
        except DataError as refusal:
            if isinstance(refusal, BlockError) or not may_wait:
                raise
            past.let_free()
    return grouped(engine, [_without_models(part) for part in parts])


def _without_models(part: Part) -> Part:
    """A part whose blocks need to keep no model."""
    call = part.learned.call
    free = replace(call, task=replace(call.task, beside_k=()))
    return replace(part, learned=replace(part.learned, call=free))


def _entered(
    past: EarlierReleases[S], known: Known, parts: Sequence[Part], output: Output
) -> LinkedCrowds:
    """Keeps what the ledger gets; what can be linked then.

    Raises:
        ReleaseError: other rows than came out, or a crowd that is too small.
    """
    task = past.learned.call.task
    linked = past.entered(known, parts, output)
    if not linked.rows == linked.persons == output.rows or linked.unfrozen or linked.unlike:
        raise ReleaseError(UNEQUAL)
    if linked.crowd is None or linked.crowd < task.k:
        raise ReleaseError(LINKED.format(linked.crowd, "k", task.k))
    if linked.least is None or linked.least < (known.least or 1):
        raise ReleaseError(LINKED.format(linked.least, "the ledger's k", known.least))
    if task.models:
        past.verify_models(known, parts)
    return linked
