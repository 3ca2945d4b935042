"""The last pass: the rows of all blocks into files, each verified as it lies on the disk.

Which file a row is in follows from a hash of what is released of it, and so does its place there:
neither tells of the block, and so of the values, that it comes from. All rows of a combination are
in one file, so that k is counted file by file. Where rows are released in the places that they had,
the files are pieces of that order, and k is counted over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from kanon_sql.blocks.group import WHOSE
from kanon_sql.blocks.metrics import Output
from kanon_sql.blocks.request import Request
from kanon_sql.duckdb.refused import telling
from kanon_sql.names import literal
from kanon_sql.plan.fragments import chosen, listed, seen
from kanon_sql.sql import statement

HASHES = 2**64
BY_VALUES = ("__kanon_of_values", "__kanon_of_all")
"""The hashes by which rows stand: of the released values of their class, and of all that they have.
"""

ROWS_ALONE = "hive_partitioning = false"
"""A folder such as year=2026 in which a release is written is no column of it."""


@dataclass(frozen=True)
class Files:
    """The files of a release.

    Attributes:
        request: what was asked.
        pieces: the released rows, block by block.
        many: how many files there are.
        rows: how many rows the input has.
    """

    request: Request
    pieces: Sequence[Path]
    many: int
    rows: int

    def _range(self, number: int) -> dict[str, str]:
        """What fills the holes by which a file has its rows."""
        ends = self.rows if self.request.place else HASHES
        kind = "BIGINT" if self.request.place else "UBIGINT"
        first, last = number * ends // self.many, (number + 1) * ends // self.many - 1
        if self.request.place:  # from 1 on
            first, last = first + 1, last + 1
        ends_at = {"first": f"{first}::{kind}", "last": f"{last}::{kind}"}
        return {**ends_at, "pieces": _read(self.pieces)}

    def classes(self, con: duckdb.DuckDBPyConnection, number: int) -> int:
        """How many classes a file will hold."""
        text = statement(
            "blocks.classes", quasi=listed(self.request.counted), **self._range(number)
        )
        return int(con.execute(text).fetchall()[0][0])

    def write(
        self, con: duckdb.DuckDBPyConnection, number: int, before: int, target: Path
    ) -> Output:
        """Writes a file, whole or not at all; what it holds, read from it again.

        Args:
            con: a connection of this thread.
            number: of the file, from 0.
            before: how many classes the files before it have, where these are numbered.
            target: where it goes.
        """
        draft = target.with_name(f".{target.name}.tmp")
        helpers: tuple[str, ...] = BY_VALUES
        order = listed(BY_VALUES)
        if self.request.place is not None:
            helpers, order = (*BY_VALUES, self.request.place), listed((self.request.place,))
        if self.request.call.ledger is not None:
            helpers = (*helpers, *WHOSE)
        class_id = ""
        if self.request.call.release.class_id:
            columns = ", ".join(f"{listed((name,))} ASC" for name in self.request.counted)
            class_id = statement("blocks.class_id", before=before, quasi=columns)
        try:
            con.execute(statement(
                "blocks.file", helpers=listed(helpers), class_id=class_id, order=order,
                at=order if self.request.place else BY_VALUES[0],
                path=literal(str(draft)), **self._range(number),
            )).fetchall()
            output = self.held(con, [draft])
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return output

    def held(self, con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> Output:
        """What files hold."""
        text = statement(
            "blocks.verify", seen=seen(chosen(self.request.counted)), file=_read(paths)
        )
        return Output(*con.execute(telling(text)).fetchall()[0])


def _read(paths: Sequence[Path]) -> str:
    names = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{names}], {ROWS_ALONE})"
