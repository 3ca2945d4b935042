"""The table that is explored: the whole one, or a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from kanon_sql.duckdb.session import Connection, Session
from kanon_sql.errors import DataError
from kanon_sql.explore.written import NamedSource
from kanon_sql.names import literal, quoted

FILE, DATABASE, TABLE = "kanon_file", "kanon_explored", "explored"
RELATION = f"{DATABASE}.main.{TABLE}"
"""Where the rows are: a database in memory next to what is read."""

WHOLE, SAMPLE = 40_000, 30_000
"""The most rows that are taken as they are, and the rows of the sample of a larger table."""


@dataclass(frozen=True)
class ExploredTable:
    """A table as it is explored.

    Attributes:
        con: the connection that has it as RELATION; whoever asked for it closes it.
        named: what it was called.
        columns: the type of each column.
        rows: the rows of the whole table.
        taken: the rows of RELATION.
    """

    con: Connection
    named: NamedSource
    columns: Mapping[str, str]
    rows: int
    taken: int

    @property
    def is_sample(self) -> bool:
        """Whether it has fewer rows than the whole table."""
        return self.taken < self.rows


def explored(con: Connection, named: NamedSource) -> ExploredTable:
    """Copies the rows into memory, or a sample of them.

    The sample is chosen by a hash of the content of each row, and of how many equal rows come
    before it. So it is the same for any order of the rows, and equal rows are drawn one by one.

    Args:
        con: a connection of our own that can read it. The table has one more for a DuckDB file,
            which is open to read only.
        named: what to read.

    Raises:
        OptionError, DataError: there is no such relation, it can't be read, or it has no rows.
    """
    with Session(con) as session:
        found = session.source(named.data)
        comments = found.columns or {}
        try:
            ((rows,),) = con.execute(f"SELECT count(*) FROM {found.sql}").fetchall()
            if rows == 0:
                raise DataError("The table has no rows. Name one that has some.")
            con = con if named.database is None else _beside(named.database)
            con.execute(f"ATTACH ':memory:' AS {DATABASE}")
            con.execute(f"CREATE TABLE {RELATION} AS {_chosen(found.sql, rows, list(comments))}")
            if named.database is not None:
                con.execute(f"USE {DATABASE}")
                con.execute(f"DETACH {FILE}")
        except duckdb.Error as error:  # its text may hold a value
            raise DataError(
                f"DuckDB can't read the table ({type(error).__name__}). Check the files."
            ) from None
    for column, comment in comments.items():
        if comment is not None:
            con.execute(
                f"COMMENT ON COLUMN {RELATION}.{quoted(column)} IS {literal(comment)}"
            )
    types = con.execute(f"DESCRIBE {RELATION}").fetchall()
    ((taken,),) = con.execute(f"SELECT count(*) FROM {RELATION}").fetchall()
    return ExploredTable(con, named, {row[0]: row[1] for row in types}, rows, taken)


def _beside(database: str) -> Connection:
    """A connection in memory in which names mean what they mean in a DuckDB file."""
    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    con.execute("SET python_enable_replacements = false")
    con.execute(f"ATTACH {literal(str(Path(database).resolve()))} AS {FILE} (READ_ONLY)")
    con.execute(f"USE {FILE}")
    return con


def _chosen(relation: str, rows: int, columns: Sequence[str]) -> str:
    """SQL of the rows to take."""
    if rows <= WHOLE:
        return f"FROM {relation}"
    row = ", ".join(f"rows_.{quoted(name)}" for name in columns)
    return f"""
        SELECT * EXCLUDE (__kanon_hash, __kanon_place) FROM (
            SELECT *, row_number() OVER (PARTITION BY __kanon_hash) AS __kanon_place
            FROM (SELECT *, hash({row}) AS __kanon_hash FROM {relation} AS rows_)
        ) ORDER BY hash(__kanon_hash, __kanon_place), __kanon_hash, __kanon_place LIMIT {SAMPLE}
    """
