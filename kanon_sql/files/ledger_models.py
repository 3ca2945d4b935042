"""Privacy models of a release in files beside a ledger: the files that have rows of persons who are
left out are written anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from kanon_sql.blocks.ledger_models import cells_of_models, who_leaves
from kanon_sql.files.engine import FileEngine
from kanon_sql.files.finish import BY_VALUES
from kanon_sql.files.ledger import LedgerInFiles
from kanon_sql.files.piece import ROW_GROUP
from kanon_sql.names import literal
from kanon_sql.plan.fragments import listed
from kanon_sql.sql import statement

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
    people = past.session.query(
        statement(
            "ledger_files.people", cells=cells_of_models(past.learned), pieces=read,
            persons=past.persons,
        ),
        lambda relation: relation.to_arrow_table(),
    ).combine_chunks()
    return who_leaves(people, past.learned, past.request.types)


def read_of_pieces(pieces: Sequence[Path]) -> str:
    """SQL of the rows of files."""
    names = ", ".join(literal(str(piece)) for piece in pieces)
    return f"read_parquet([{names}], hive_partitioning = false)"
