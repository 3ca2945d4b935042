"""Rows of files in parts: each part is a release of its own, a large one in blocks of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from kanon_sql.blocks.parts import Divided, divided
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import rows_sql
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session
from kanon_sql.names import literal
from kanon_sql.plan.parts import parts_sql, refusals_of_parts, same_part, starred
from kanon_sql.sql import statement


def divide(session: Session, request: Request, size: int, folder: Path) -> Divided:
    """Writes the rows of each pack of parts into a folder, see ``folder_of``; how they are divided.

    Args:
        session: over a connection of our own.
        request: what is asked.
        size: how many rows a block should have.
        folder: where they go; anything in it is gone first.

    Raises:
        DataError: parts that are too small.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    call, rows = request.call, rows_sql(request, keyed=False)
    with session.refusals():
        session.con.execute(telling(statement(
            "blocks.parts", rows=rows, stages=parts_sql(call), refusals=refusals_of_parts(call)
        )))
    sizes = session.rows(statement("blocks.part_sizes"))
    division = divided(sizes, size)
    numbers = {number: i for i, pack in enumerate(division.packs) for number in pack.parts}
    session.con.register("__kanon_folders", pa.table({
        "number": pa.array(numbers, pa.int64()),
        "__kanon_folder": pa.array(numbers.values(), pa.int64()),
    }))
    replaced = starred(call)
    with session.refusals():
        session.con.execute(telling(statement(
            "blocks.spool_parts", rows=rows, same=same_part(call, "__kanon_taking"),
            replaced=f" REPLACE ({', '.join(replaced)})" if replaced else "",
            folder=literal(str(folder)),
        ))).fetchall()
    return division


def folder_of(folder: Path, number: int) -> str:
    """The folder of a pack."""
    return str(folder / f"__kanon_folder={number}")
