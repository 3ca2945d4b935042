"""The last pass: the rows of all blocks into files, each verified as it lies on the disk.

Which file a row is in follows from a hash of what is released of it, and so does its place there:
neither tells of the block, and so of the values, that it comes from. All rows of a combination are
in one file, so that k is counted file by file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from kanon_sql.duckdb.refused import telling
from kanon_sql.files.asked import Asked
from kanon_sql.names import literal
from kanon_sql.plan.fragments import chosen, seen
from kanon_sql.sql import statement

HASHES = 2**64

ROWS_ALONE = "hive_partitioning = false"
"""A folder such as year=2026 in which a release is written is no column of it."""


class Written(NamedTuple):
    """A file of a release.

    Attributes:
        rows: how many it holds.
        classes: how many combinations of released values.
        least: the rows of the smallest of them; None without rows.
    """

    rows: int
    classes: int
    least: int | None


def write_file(
    con: duckdb.DuckDBPyConnection, asked: Asked, pieces: Sequence[Path], number: int, files: int,
    target: Path,
) -> Written:
    """Writes one of so many files, whole or not at all; what it holds, read from it again."""
    first, last = number * HASHES // files, (number + 1) * HASHES // files - 1
    draft = target.with_name(f".{target.name}.tmp")
    names = ", ".join(literal(str(piece)) for piece in pieces)
    try:
        con.execute(statement(
            "blocks.file", pieces=f"read_parquet([{names}], {ROWS_ALONE})", first=first, last=last,
            path=literal(str(draft)),
        )).fetchall()
        file = f"read_parquet({literal(str(draft))}, {ROWS_ALONE})"
        text = statement("blocks.verify", seen=seen(chosen(asked.quasi)), file=file)
        found = Written(*con.execute(telling(text)).fetchall()[0])
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return found
