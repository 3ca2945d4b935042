"""Privacy models of a release in files beside a ledger: over all persons it is decided who is left
out so that every class and every crowd keeps them, and of what is written SQL says whether all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.sensitive import fit_sensitive, sensitive_codes
from kanon_sql.errors import ReleaseError
from kanon_sql.files.engine import FileEngine
from kanon_sql.files.finish import BY_VALUES
from kanon_sql.files.ledger import LedgerInFiles
from kanon_sql.files.piece import ROW_GROUP
from kanon_sql.ledger.histories import NEWCOMER, read_histories
from kanon_sql.ledger.models import keep_models
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import listed, quasi
from kanon_sql.plan.ledger import crowds_sql, models_of_crowds
from kanon_sql.plan.ledger_refusals import UNLIKE
from kanon_sql.plan.models import combinations, released_models
from kanon_sql.points.points import Points
from kanon_sql.sql import expression, statement

STEP = "models"
"""The step of the state that holds how many rows are left of the files that had others."""


def keep(engine: FileEngine, past: LedgerInFiles, pieces: Sequence[Path]) -> dict[str, int]:
    """Leaves out who has to be so that every class and every crowd keeps the models, and writes the
    files anew that have rows of them; how many rows these have then, by their names.

    Args:
        engine: gets those files.
        past: the ledger.
        pieces: the files of all rows that would be released.
    """
    folder = engine.work / "kept"
    found: dict[str, int] | None = engine.state.result(STEP)
    if found is None:
        folder.mkdir(exist_ok=True)
        with engine.passes.of("keeping privacy models", 1):
            found = _kept(past, pieces, folder)
        engine.state.done(STEP, found, folder)
    engine.narrowed = {piece: folder / piece.name for piece in pieces if piece.name in found}
    return found


def _kept(past: LedgerInFiles, pieces: Sequence[Path], folder: Path) -> dict[str, int]:
    session, read = past.session, read_of_pieces(pieces)
    left = _left_out(past, read)
    if left.num_rows == 0:
        return {}
    session.con.register("__kanon_leaving", left)
    session.con.execute(statement("ledger_files.left", pieces=read, persons=past.persons))
    session.con.unregister("__kanon_leaving")
    counts = {}
    for piece in pieces:
        own, target = read_of_pieces([piece]), folder / piece.name
        ((leaving, rows),) = session.rows(statement("ledger_files.leaving", piece=own))
        if leaving:
            draft = target.with_name(f".{target.name}.tmp")
            session.con.execute(statement(
                "ledger_files.kept", piece=own, order=listed(BY_VALUES), group=ROW_GROUP,
                path=literal(str(draft)),
            )).fetchall()
            draft.replace(target)
            counts[piece.name] = int(rows - leaving)
    return counts


def _left_out(past: LedgerInFiles, read: str) -> pa.Table:
    """The classes, and the histories in them, whose persons are left out: class BIGINT, history
    VARCHAR, NULL of newcomers. Whoever has the same of both has the same crowd."""
    task, names = past.learned.call.task, past.learned.call.task.sensitive
    cells = ", ".join(
        f"(__kanon_cell({quoted(name)})).number AS n{j}, __kanon_key({quoted(name)}) AS w{j}"
        for j, name in enumerate(names)
    )
    table = past.session.query(
        statement("ledger_files.people", cells=cells, pieces=read, persons=past.persons),
        lambda relation: relation.to_arrow_table(),
    ).combine_chunks()
    count = table.num_rows
    texts = table["history"].combine_chunks().cast(pa.string())
    known = texts.is_valid().to_numpy(zero_copy_only=False)
    histories, of_person = read_histories(texts.drop_null().to_pylist())
    history = np.full(count, NEWCOMER, np.int64)
    history[known] = of_person
    types = {caseless(name): kind for name, kind in past.request.types.items()}
    numbers = {
        j: table[f"n{j}"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        for j in range(len(names))
    }
    words = {j: table[f"w{j}"].combine_chunks().cast(pa.string()) for j in range(len(names))}
    rows = Rows({"secrets": CellColumns(numbers, words)}, count)
    columns = fit_sensitive(rows, [Column(name, types[caseless(name)]) for name in names], {})
    points = Points(
        np.zeros((count, 0)), np.zeros((count, 0), np.int32), np.zeros(0),
        sensitive=sensitive_codes(rows, columns), sensitive_columns=columns,
    )
    classes = table["class"].to_numpy().astype(np.int64)
    labels = keep_models(
        points, classes, history, histories, past.ledger.attacker, task.k, task.models
    )
    return table.select(["class", "history"]).filter(pa.array(labels < 0)).group_by(
        ["class", "history"]
    ).aggregate([])


def verify_models(past: LedgerInFiles, release: int, read: str, entries: str) -> None:
    """Raises ReleaseError unless every class of a release keeps the models, and every crowd.

    Args:
        past: the ledger.
        release: the number of the release.
        read: SQL of the released rows, with whose they are.
        entries: SQL of what the ledger gets.
    """
    # held against what is released, whatever the blocks were
    call = replace(past.learned.call, domains={})
    before = crowds = also = ""
    if past.ledger.relation is not None:
        before = expression("ledger_files.before", ledger=past.ledger.relation.sql)
        crowds = statement(
            "ledger_files.crowds", entries=entries, before=f" {before}", release=release,
            crowds=crowds_sql("after", "__kanon_exposed"), models=models_of_crowds(call),
        )
        also = " " + expression("ledger_files.broken_crowds")
    ((broken,),) = past.session.rows(statement(
        "ledger_files.models", pieces=read, entity=quoted(past.ledger.entity),
        quasi=quasi(call.roles, ()), combinations=combinations(call),
        models=released_models(call), crowds=crowds, also=also,
    ))
    if broken is None or broken > 0:
        raise ReleaseError(UNLIKE)


def read_of_pieces(pieces: Sequence[Path]) -> str:
    """SQL of the rows of files."""
    names = ", ".join(literal(str(piece)) for piece in pieces)
    return f"read_parquet([{names}], hive_partitioning = false)"
