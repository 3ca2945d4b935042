"""Rows of files in parts: each part is a release of its own, a large one in blocks of its own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import rows_sql
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session
from kanon_sql.names import literal
from kanon_sql.plan.parts import parts_sql, refusals_of_parts, same_part, starred
from kanon_sql.sql import statement


class Folder(NamedTuple):
    """Rows of one large part, or of several that are small.

    Attributes:
        path: the folder that holds them.
        rows: how many there are.
        large: whether it is one part, to be cut into blocks.
    """

    path: str
    rows: int
    large: bool


class Divided(NamedTuple):
    """All rows in parts.

    Attributes:
        folders: that hold them, in the order of the parts.
        parts: how many parts there are, those that are put together being one.
        joined, suppressed: how many were put together, and left out.
        least: the rows of the smallest.
    """

    folders: tuple[Folder, ...]
    parts: int
    joined: int
    suppressed: int
    least: int


def divide(session: Session, request: Request, size: int, folder: Path) -> Divided:
    """Writes the rows of each part into a folder; small parts side by side into one.

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
    found = session.rows(statement("blocks.part_sizes"))
    kept = [(number, many) for number, many, _, _ in found if number >= 0]
    packs = _packs(kept, size)
    numbers = {number: i for i, pack in enumerate(packs) for number, _ in pack}
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
    folders = tuple(
        Folder(str(folder / f"__kanon_folder={i}"), sum(many for _, many in pack), large)
        for i, pack in enumerate(packs)
        for large in [len(pack) == 1 and pack[0][1] > size]
    )
    return Divided(
        folders, len(kept), sum(many for _, _, joined, many in found if joined),
        sum(many for number, _, _, many in found if number < 0), min(many for _, many in kept),
    )


def _packs(parts: Sequence[tuple[int, int]], size: int) -> list[list[tuple[int, int]]]:
    """Parts, each a number and how many rows it has, in packs of so many rows at most; one that has
    more alone."""
    packs: list[list[tuple[int, int]]] = []
    room = 0
    for number, rows in parts:
        if rows > room:
            packs.append([])
            room = max(size, rows)
        packs[-1].append((number, rows))
        room -= rows
    return packs
