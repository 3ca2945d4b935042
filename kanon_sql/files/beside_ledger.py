"""A release in files that goes on from those before it, pass by pass, and its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kanon_sql.blocks.driver import grouped
from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import BlockError, BlockFacts, blocks_of
from kanon_sql.blocks.learn import learn
from kanon_sql.blocks.metrics import Output, release_metrics
from kanon_sql.duckdb.refused import telling
from kanon_sql.errors import DataError, ReleaseError
from kanon_sql.files.engine import LEVELS, FileEngine
from kanon_sql.files.entries import ENTRIES
from kanon_sql.files.ledger import Known, LedgerInFiles, read_of_file, stages_of
from kanon_sql.files.ledger_models import keep, verify_models
from kanon_sql.files.source import FileRows
from kanon_sql.ledger.shown import NOBODY
from kanon_sql.names import literal
from kanon_sql.plan.ledger import COUNTED, LINKED, asked_sql, crowds_sql, published_sql
from kanon_sql.sql import expression, statement

UNEQUAL = (
    "The release was stopped: its ledger would get other rows than the files. Nothing was written; "
    "please report this as a bug."
)

FREE = "blocks without models"
"""The step of the state that says that newcomers keep no model by themselves."""


def release_beside_ledger(engine: FileEngine) -> dict[str, Any]:
    """All passes: learn, decide of those who were released before, cut the others, group, write
    and verify. The metrics of the release; its entries lie in the draft.

    Raises:
        DataError: rows that can't be anonymized as asked, or a ledger that can't be gone on from.
        ReleaseError: rows are lost, a combination of released values doesn't keep k, or a crowd.
    """
    common = engine.survey()
    learned = learn(engine.source(), common)
    past = LedgerInFiles(engine.session, engine.request, learned, engine.work / "ledger")
    known = _decided(engine, past)
    parts, facts = _grouped(engine, _parts(engine, past, known))
    waiting = known.newcomers - sum(block.rows for block in facts)
    engine.beside = [past.shown] if known.shown else []
    if learned.call.task.models and past.ledger.relation is not None and engine.pieces(parts):
        kept = keep(engine, past, engine.pieces(parts))
        known = replace(known, shown=kept.get(past.shown.name, known.shown))
        blocks = (block for part in parts for block in part.blocks)
        facts = [
            replace(each, rows_released=kept.get(engine.piece(block).name, each.rows_released))
            for block, each in zip(blocks, facts, strict=True)
        ]
    facts = [*facts, known.facts, BlockFacts(waiting, 0, records=float(waiting))]
    if not any(block.rows_released for block in facts):
        raise DataError(NOBODY)
    output = engine.written(parts, facts, common)
    sizes = [block.rows for part in parts for block in part.blocks]
    metrics = release_metrics(
        engine.request, common, [replace(learned, rows=common.rows)], sizes or [0], facts, output,
    )
    released = output.rows - known.shown
    return {
        **metrics, "blocks": len(sizes), "release": known.release,
        "rows_withheld": known.present - known.stale - known.shown, "rows_stale": known.stale,
        "rows_waiting": known.newcomers - released, **past.headroom(known).facts,
        **_entered(engine, past, known, engine.pieces(parts), output),
    }


def _decided(engine: FileEngine, past: LedgerInFiles) -> Known:
    """What is decided of those who were released before, unless that is done."""
    decision = engine.state.result("ledger")
    if decision is None:
        with engine.without_order(), engine.passes.of("following persons", 1):
            decision = asdict(past.decide())
        engine.state.done(LEVELS, engine.levels)
        engine.state.done("ledger", decision, past.folder)
    return Known(**decision)


def _parts(engine: FileEngine, past: LedgerInFiles, known: Known) -> list[Part]:
    """Newcomers in blocks. No part where all of them wait."""
    task, classes = past.learned.call.task, past.classes()
    if known.newcomers == 0 or (known.newcomers < task.k and classes is None):
        return []
    request = engine.request
    if past.ledger.relation is not None:
        request = request.of_part(past.newcomers, request.types)
    source = FileRows(engine.session, request, engine.work)
    leaves = engine.cut(source, replace(past.learned, rows=known.newcomers), 0)
    room = past.headroom(known).persons
    blocks = blocks_of(leaves, task, 0, room)
    learned = past.learned_by(known.newcomers, known.largest, room, classes)
    return [Part(0, request, learned, blocks)]


def _grouped(engine: FileEngine, parts: list[Part]) -> tuple[list[Part], list[BlockFacts]]:
    """Groups all blocks. Where a release goes on, newcomers may keep no model by themselves, not
    even with their neighbours, and do so among others: then the models wait until all are placed.
    """
    ledger, task = engine.request.call.ledger, engine.request.call.task
    may_wait = bool(task.models) and ledger is not None and ledger.relation is not None
    if engine.state.result(FREE) is None:
        try:
            return grouped(engine, parts)
        except DataError as refusal:
            if isinstance(refusal, BlockError) or not may_wait:
                raise
            engine.state.done(FREE, True)
    return grouped(engine, [_without_models(part) for part in parts])


def _without_models(part: Part) -> Part:
    """A part whose blocks need to keep no model."""
    call = part.learned.call
    free = replace(call, task=replace(call.task, beside_k=()))
    return replace(part, learned=replace(part.learned, call=free))


def _entered(
    engine: FileEngine, past: LedgerInFiles, known: Known, pieces: Sequence[Path], output: Output
) -> dict[str, int]:
    """Writes what the ledger gets, and counts what can be linked then; what is told of it.

    Raises:
        ReleaseError: other rows than came out, or a crowd that is too small.
    """
    call, session, path = past.learned.call, engine.session, engine.work / ENTRIES
    ledger, entries, k = past.ledger, read_of_file(path).sql, call.task.k
    stages, asked = stages_of(engine.request, call), asked_sql(call, ledger)
    ((options,),) = session.rows(statement("ledger_files.asked", stages=stages, asked=asked))
    names = ", ".join(literal(str(piece)) for piece in pieces)
    files = ", ".join(literal(str(each)) for each in engine.outputs())
    read, published = "read_parquet([{}], hive_partitioning = false)", published_sql(call)
    with session.refusals():
        session.con.execute(telling(statement(
            "ledger_files.entries", release=known.release, published=published,
            options=literal(options), pieces=read.format(names), persons=past.persons,
            seed=call.task.seed, path=literal(str(path)),
        ))).fetchall()
    before = also = ""
    if ledger.relation is not None:
        before = expression("ledger_files.before", ledger=ledger.relation.sql)
        also = expression("ledger_files.published_before", ledger=ledger.relation.sql)
    ((every, crowd, rows, persons, unfrozen),) = session.rows(statement(
        "ledger_files.linked", entries=entries, before=f" {before}", published=f" {also}",
        release=known.release, counted=COUNTED[ledger.attacker],
        crowds=crowds_sql("after", "__kanon_exposed"),
    ))
    ((unlike,),) = session.rows(statement(
        "ledger_files.unlike", entries=entries, published=published, files=read.format(files),
    ))
    if not rows == persons == output.rows or unfrozen or unlike:
        raise ReleaseError(UNEQUAL)
    if crowd is None or crowd < k:
        raise ReleaseError(LINKED.format(crowd, "k", k))
    if every < (known.least or 1):
        raise ReleaseError(LINKED.format(every, "the ledger's k", known.least))
    if call.task.models:
        verify_models(past, known.release, read.format(names), entries)
    ((joining,),) = session.rows(statement(
        "ledger_files.joining", entries=entries, persons=past.persons, largest=known.largest,
    ))
    return {"anonymity_set_min": crowd, "rows_joining": joining}
