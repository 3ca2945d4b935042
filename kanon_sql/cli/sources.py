"""What a shell names as the table to read: files, a pattern, a folder, a table of a DuckDB file, or
standard input; and the connection on which it is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import duckdb

from kanon_sql.call.relation import READERS, find_relation, is_file, is_url
from kanon_sql.cli.stopping import stoppable
from kanon_sql.duckdb.catalog import ConnectionCatalog
from kanon_sql.duckdb.session import UNBEGUN
from kanon_sql.errors import LITTLE, DataError, OptionError, did_you_mean, lacks_memory
from kanon_sql.names import literal

STDIN = "-"
STDIN_TABLE = "stdin"
OPEN_FILES = Path("/proc/self/fd")
INSIDE = "::"
"""Between the path of a DuckDB file and a table in it."""

MAGIC = b"DUCK"
"""What every DuckDB file has at its ninth byte."""

TABLES = """
    SELECT table_name, schema_name FROM (
        SELECT database_name, schema_name, table_name FROM system.main.duckdb_tables()
        WHERE NOT internal
        UNION ALL
        SELECT database_name, schema_name, view_name FROM system.main.duckdb_views()
        WHERE NOT internal)
    WHERE database_name = system.main.current_database() ORDER BY ALL
"""

NOTHING = "IN is not given. Name a file, or a table as db.duckdb::table."
EMPTY = "IN is empty. Name a file, or a table as db.duckdb::table."
NO_FILE = "There is no file {!r}. Check the path."
LIST_OF_FILES = "There is no file {!r}. Check the path; list columns without spaces, as age,zip."
UNOPENED = "DuckDB can't open {!r}. Check the path, and that no other process has it open."


@dataclass(frozen=True)
class InputSource:
    """A relation to read.

    Attributes:
        con: the connection that has it.
        data: the name of a relation there, a path, a pattern, or a list of paths.
        database: the DuckDB file that is open, if there is one.
    """

    con: duckdb.DuckDBPyConnection
    data: str | list[str]
    database: Path | None = None


def split_inside(text: str) -> tuple[str, str | None]:
    """The path, and the table inside of that file, if one is named."""
    path, sign, table = text.partition(INSIDE)
    return (path, table) if sign else (text, None)


def writes_to(source: Sequence[str], database: str | None, to: str | None) -> bool:
    """Whether the table to write is one of the DuckDB file that is read."""
    path, inside = split_inside(to or "")
    read = database or (split_inside(source[0])[0] if len(source) == 1 else None)
    return None not in (inside, read) and Path(path).resolve() == Path(str(read)).resolve()


def is_database(path: str) -> bool:
    """Whether a path leads to a DuckDB file."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(12)[8:] == MAGIC


@contextmanager
def opened(
    source: Sequence[str], database: str | None = None, table: str | None = None,
    writes: bool = False,
) -> Iterator[InputSource]:
    """The relation that the words of a command line name.

    Args:
        source: one word, or the paths of several files.
        database: a DuckDB file in which to look for the table.
        table: a table of the DuckDB file.
        writes: whether something is written to the DuckDB file.

    Raises:
        OptionError, DataError: there is no such thing.
    """
    words = list(source)
    if not all(word.strip() for word in words):  # as an unset variable of a shell is
        raise OptionError(EMPTY)
    if len(words) == 1 and database is None:
        path, inside = split_inside(words[0])
        if inside is not None and table is not None:
            raise OptionError(f"{words[0]!r} names a table, and so does --table. Leave one out.")
        if inside is not None or is_database(path):
            database, words = path, [name] if (name := inside or table) else []
            table = None
            _refuse_no_file(path)
    if table is not None:
        if words and database is not None:
            raise OptionError("Both IN and --table name a table. Leave one out.")
        if database is None:
            raise OptionError("--table names a table of a DuckDB file. Name that file, too.")
        words = [table]
    if not words and database is None:
        raise OptionError(NOTHING)
    with connection(database, writes) as con:
        place = None if database is None else Path(database).resolve()
        if words == [STDIN]:
            yield InputSource(con, _from_stdin(con), place)
        elif not words:
            yield InputSource(con, _only_table(con, str(database)), place)
        elif len(words) == 1:
            if place is not None and not is_file(words[0]):
                _refuse_no_table(con, words[0], str(database))
            yield InputSource(con, _folder(con, words[0]), place)
        else:
            for word in words:
                _refuse_no_file(word, LIST_OF_FILES)
            yield InputSource(con, words, place)


@contextmanager
def connection(database: str | None, writes: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of our own: to a file, read only unless something is written to it."""
    try:
        con = duckdb.connect(
            ":memory:" if database is None else database,
            read_only=database is not None and not writes,
        )
    except duckdb.Error as error:
        if lacks_memory(error):
            raise DataError(LITTLE) from None
        if database is None:
            raise DataError(UNBEGUN) from None
        raise OptionError(UNOPENED.format(database)) from None
    with stoppable(con):
        con.execute("SET enable_progress_bar = false")
        # names are those of relations, and must not find the variables of this program
        con.execute("SET python_enable_replacements = false")
        yield con


def _refuse_no_file(path: str, said: str = NO_FILE) -> None:
    if not is_url(path) and not Path(path).is_file():
        raise OptionError((NO_FILE if Path(path).suffix else said).format(path))


def tables_of(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables and views of a DuckDB file, as they are named there."""
    return [
        table if schema == "main" else f"{schema}.{table}"
        for table, schema in con.execute(TABLES).fetchall()
    ]


def _only_table(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """The table of a DuckDB file that has one only."""
    tables = tables_of(con)
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise OptionError(f"{database!r} has no table. Check the path.")
    raise OptionError(
        f"{database!r} has {len(tables)} tables. Name one, for example as "
        f"{database}{INSIDE}{tables[0]}. {did_you_mean('', tables)}"
    )


def _refuse_no_table(con: duckdb.DuckDBPyConnection, name: str, database: str) -> None:
    if find_relation(name, ConnectionCatalog(lambda: nullcontext(con))).entry is None:
        known = tables_of(con)
        hint = did_you_mean(name, known) if known else "It has none."
        raise OptionError(f"{database!r} has no table {name!r}. {hint}")


def _folder(con: duckdb.DuckDBPyConnection, word: str) -> str:
    """The pattern of all files of a folder, which on another machine ends with /; any other word
    as it is."""
    if is_url(word) and word.endswith("/"):
        try:
            rows = con.execute("SELECT file FROM glob(?)", [f"{word}**"]).fetchall()
        except duckdb.Error:
            return word
        files = [Path(file) for (file,) in rows]
    elif is_url(word) or not Path(word).is_dir():
        return word
    else:
        files = [file for file in Path(word).rglob("*") if file.is_file()]
    endings = {file.suffix.lower() for file in files if file.suffix[1:].lower() in READERS}
    if ".parquet" in endings:  # beside it lies what is told of the files
        endings = {".parquet"}
    if len(endings) != 1:
        raise OptionError(
            f"The folder {word!r} has files of {len(endings)} kinds that DuckDB reads. Name them "
            "by a pattern, such as 'folder/**/*.parquet'."
        )
    return f"{word.rstrip('/')}/**/*{endings.pop()}"


def _from_stdin(con: duckdb.DuckDBPyConnection) -> str:
    """The table that standard input is read into, as Parquet, JSON or CSV by its first bytes.

    DuckDB reads files in places of its choice, so what comes in lies in a file of our own for as
    long as it is read.
    """
    with _own_file() as (file, name):
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        reader = _reader(file)
        if reader is None:
            raise DataError("Nothing came in on standard input. Pipe a table into it.")
        try:
            con.execute(f"CREATE TEMP TABLE {STDIN_TABLE} AS FROM {reader}({literal(name)})")
        except duckdb.Error:
            raise DataError(
                "Standard input can't be read as a table. Give Parquet, CSV with a line of names, "
                "or JSON."
            ) from None
    return STDIN_TABLE


@contextmanager
def _own_file() -> Iterator[tuple[IO[bytes], str]]:
    """A file that nobody else may open, and the name that DuckDB opens it by. Where the system
    names what is open (Linux), the file stands in no folder, and a process that is killed leaves
    nothing."""
    if OPEN_FILES.is_dir():
        with tempfile.TemporaryFile() as file:
            yield file, str(OPEN_FILES / str(file.fileno()))
    else:
        with tempfile.NamedTemporaryFile(prefix="kanon-") as file:
            yield file, file.name


def _reader(file: IO[bytes]) -> str | None:
    file.seek(0)
    first = file.read(4096)
    if not first:
        return None
    if first.startswith(b"PAR1"):
        return "read_parquet"
    return "read_json" if first.lstrip()[:1] in (b"{", b"[") else "read_csv"
