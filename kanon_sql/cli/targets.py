"""Where a shell writes: a file, a folder of files by partition, a table of a DuckDB file, or
standard output. What is written has its name only when it is whole."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from kanon_sql.api.release import refuse_unkept, transaction
from kanon_sql.call.relation import is_url
from kanon_sql.cli.sources import INSIDE, InputSource, is_database, split_inside
from kanon_sql.duckdb.session import ENUM, Session, bound
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.jobs.interrupts import deferred
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.output.durable import sync, sync_names
from kanon_sql.output.faults import UNWRITTEN, holds_anything, write_fault, writing
from kanon_sql.output.reads import Reads
from kanon_sql.output.whole import beside, folder_beside, refuse_special

STDOUT = "-"

FORMATS = {
    "parquet": "FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true",
    "csv": "FORMAT csv, HEADER true",
    "tsv": "FORMAT csv, HEADER true, DELIMITER '\t'",
    "json": "FORMAT json, ARRAY true",
    "ndjson": "FORMAT json, ARRAY false",
}
"""What COPY is told, by the format."""

ENDINGS = {
    "parquet": "parquet", "csv": "csv", "tsv": "tsv", "json": "json", "ndjson": "ndjson",
    "jsonl": "ndjson",
}
PACKED = {"gz": "gzip", "zst": "zstd"}
DATABASES = ("duckdb", "db", "ddb")

TABLE = """
    SELECT 1 FROM system.main.duckdb_tables()
    WHERE database_name = system.main.current_database()
        AND system.main.lower(schema_name) = system.main.lower(?)
        AND system.main.lower(table_name) = system.main.lower(?)
"""


@dataclass(frozen=True)
class Target:
    """A place to write to.

    Attributes:
        kind: 'file', 'folder', 'table' or 'stdout'.
        typed: as the user calls it.
        path: the file or folder; None for standard output.
        format: one of FORMATS.
        packed: how the file is compressed, if it is.
        table: the table of the DuckDB file.
        by: the columns by which files of a folder are parted.
    """

    kind: str
    typed: str
    path: Path | None
    format: str
    packed: str | None = None
    table: str | None = None
    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.typed


def read_target(
    text: str, form: str | None = None, by: Sequence[str] = (), in_blocks: bool = False,
    overwrite: bool = False,
) -> Target:
    """The place that a word names.

    Args:
        text: the word.
        form: the format, where the ending doesn't say it.
        by: columns by which to part files.
        in_blocks: whether something was asked that only a folder written in blocks has, so that a
            word without the ending of a file names one.
        overwrite: whether partitions that are there may be replaced.

    Raises:
        OptionError: nothing can be written there.
    """
    if form is not None and form not in FORMATS:
        raise OptionError(f"The format {form!r} is not known. {did_you_mean(form, FORMATS)}")
    if not text.strip():  # to Path the folder of the process
        raise OptionError("-o is empty. Name the file to write, or - for standard output.")
    if text == STDOUT:
        return Target("stdout", "standard output", None, form or "csv")
    if is_url(text):
        raise OptionError(
            f"-o names {text!r}, which is not a local path, and only local releases are written "
            "atomically. Write one here, and copy it."
        )
    path, table = split_inside(text)
    if table is None and is_database(path):
        raise OptionError(
            f"{text!r} is a DuckDB file. Name a table in it, for example as {text}{INSIDE}released."
        )
    if table is not None:
        return _table(path, table)
    if by:
        return Target("folder", text, _parted(text, by, overwrite), form or "parquet", by=tuple(by))
    bare = in_blocks and form is None and _ending(text)[0] not in {*ENDINGS, *DATABASES}
    if text.endswith("/") or Path(text).is_dir() or bare:
        return Target("folder", text, Path(text), form or "parquet")
    file_format, packed = _format(text, form)
    return Target("file", text, _file(text), file_format, packed)


def _table(path: str, table: str) -> Target:
    if not table.strip():
        raise OptionError(f"{path}{INSIDE} names no table. Add one, such as {INSIDE}released.")
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise OptionError(f"There is no folder for {path!r}. Make it first.")
    if place.exists() and not is_database(path):
        raise OptionError(f"{path!r} is not a DuckDB file. Check the path.")
    return Target("table", f"{path}{INSIDE}{table}", place, "table", table=table)


def _parted(text: str, by: Sequence[str], overwrite: bool) -> Path:
    """The folder of a release that is parted; one that is there has nothing else in it."""
    path = Path(text).resolve()
    if path.exists() and (not path.is_dir() or (holds_anything(path) and not overwrite)):
        raise OptionError(
            f"{text!r} already exists. Name a new or an empty folder, or say --overwrite, which "
            "replaces the partitions that are written."
        )
    known = f"{by[0]}=".lower()
    if path.is_dir() and not all(
        each.is_dir() and each.name.lower().startswith(known) for each in path.iterdir()
    ):
        raise OptionError(
            f"{text!r} has other things in it than partitions by {by[0]!r}. Name another folder."
        )
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {text!r}. Make it first.")
    return path


def _file(text: str) -> Path:
    refuse_special("-o", Path(text), ", or - for standard output")
    path = Path(text).resolve()
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {text!r}. Make it first.")
    return path


def _format(text: str, form: str | None) -> tuple[str, str | None]:
    """Format and compression of a file, by its ending."""
    ending, packed = _ending(text)
    if form is None and ending in DATABASES:
        raise OptionError(
            f"{text!r} reads as a DuckDB file. Name a table in it, as {text}{INSIDE}released."
        )
    if form is None and ending not in ENDINGS:
        raise OptionError(
            f"The ending of {text!r} determines no format. Name a file that ends in "
            f"{', '.join(ENDINGS)}, or give --format. A folder is named with a slash, as "
            f"{text.rstrip('/')}/."
        )
    file_format = form or ENDINGS[ending]
    return file_format, None if file_format == "parquet" else packed


def _ending(text: str) -> tuple[str, str | None]:
    """How the name of a file ends, and how it is compressed by that."""
    *_, before, last = ("", "", *Path(text).name.lower().split("."))
    packed = PACKED.get(last)
    return (before if packed else last), packed


def plain_rows(con: duckdb.DuckDBPyConnection, text: str) -> tuple[str, dict[str, str]]:
    """A query, in parentheses, as any place keeps it, with name and type of each column. An ENUM is
    the text that it is: its type would tell all values that it may have, released or not."""
    relation = bound(con, text)
    types = {
        name: ENUM.sub("VARCHAR", str(kind))
        for name, kind in zip(relation.columns, relation.types, strict=True)
    }
    shown = ", ".join(
        quoted(name) if str(kind) == types[name]
        else f"CAST({quoted(name)} AS {types[name]}) AS {quoted(name)}"
        for name, kind in zip(relation.columns, relation.types, strict=True)
    )
    return f"(SELECT {shown} FROM ({text}))", types


def write(session: Session, source: InputSource, text: str, place: Target, reads: Reads) -> None:
    """Writes the rows of a query.

    Args:
        session: over the connection of the source.
        source: what is read.
        text: the query.
        place: where to.
        reads: what the query reads, over which nothing is written.
    """
    _refuse_read(session, source, place, reads)
    rows, types = plain_rows(session.con, text)
    if place.kind == "table":
        _into_table(session, source, rows, place)
    elif place.kind == "folder":
        _into_folder(session, rows, types, place)
    elif place.kind == "file":
        assert place.path is not None
        with beside(place.path) as draft:
            _copy(session, rows, types, place, draft)
    else:
        with tempfile.TemporaryDirectory(prefix="kanon-") as folder:
            draft = str(Path(folder) / "rows")
            _copy(session, rows, types, replace(place, path=Path(draft)), draft)
            with Path(draft).open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _refuse_read(session: Session, source: InputSource, place: Target, reads: Reads) -> None:
    """Raises OptionError where something that is read would be written over."""
    if place.path is None:
        return
    if place.kind == "folder":
        parted = place.path.joinpath(*(f"{column}=value" for column in place.by))
        reads.refuse_folder(place.path, [parted / f"data_0.{place.format}"])
        if holds_anything(place.path):
            reads.refuse_untold("-o", place.path, "Name a new folder")
    elif place.kind == "file":
        reads.refuse_file("-o", place.path)
    elif source.database != place.path:
        if reads.has(place.path):
            raise OptionError("-o names a DuckDB file that is read. Write the release to another.")
        reads.refuse_untold("-o", place.path, "Write the release to a new file")
    elif place.table is not None:
        schema, name = parts_of(place.table)
        existing = session.con.execute(TABLE, [schema, name]).fetchall()
        if existing and reads.untold:
            raise OptionError(
                "-o names an existing table, and the relation may read it. Write the release to a "
                "new table."
            )
        if existing and name.lower() in reads.words:
            itself = str(source.data).lower() in (name.lower(), f"{schema}.{name}".lower())
            what = "the relation itself" if itself else "a table that is read"
            raise OptionError(f"-o names {what}. Write the release to another table.")


def _copy(
    session: Session, rows: str, types: dict[str, str], place: Target, draft: str
) -> None:
    assert place.path is not None
    if place.format == "parquet":
        with writing(place.path), Session(None, lasting=True) as own:
            refuse_unkept(own, types, draft)
    options = f"{FORMATS[place.format]}, USE_TMP_FILE false"
    if place.packed is not None:
        options += f", COMPRESSION {place.packed}"
    elif place.format != "parquet":
        options += ", COMPRESSION none"
    with writing(place.path):
        bound(session.con, f"COPY {rows} TO {literal(draft)} ({options})")


def _into_folder(
    session: Session, rows: str, types: dict[str, str], place: Target
) -> None:
    """Files in folders named by released values, as key=value."""
    assert place.path is not None
    known = {caseless(name): name for name in types}
    for column in place.by:
        if caseless(column) not in known:
            raise OptionError(
                f"partition-by names the column {column!r}, which is not released. "
                f"{did_you_mean(column, types)}"
            )
    parted = ", ".join(quoted(known[caseless(column)]) for column in place.by)
    with folder_beside(place.path) as near:
        draft = near / "parts"
        options = FORMATS[place.format].replace(", PRESERVE_ORDER true", "")
        with writing(place.path):
            if place.format == "parquet":
                with Session(None, lasting=True) as own:
                    refuse_unkept(own, types, str(near / "types"))
            draft.mkdir()
            bound(
                session.con,
                f"COPY {rows} TO {literal(str(draft))} ({options}, PARTITION_BY ({parted}))",
            )
        sync(draft)
        if not holds_anything(place.path):
            if place.path.exists():
                place.path.rmdir()
            draft.replace(place.path)
            sync_names(place.path.parent)
        else:
            with deferred():
                _exchange(draft, place.path, near / "before", len(place.by))


def _exchange(draft: Path, place: Path, before: Path, depth: int) -> None:
    """Gives each partition that was made its place; what was there is gone only then."""
    taken: list[tuple[Path, Path]] = []
    try:
        for part in sorted(draft.glob("/".join("*" * depth))):
            own = place / part.relative_to(draft)
            if own.exists():
                kept = before / part.relative_to(draft)
                kept.parent.mkdir(parents=True, exist_ok=True)
                own.rename(kept)
                taken.append((kept, own))
            own.parent.mkdir(parents=True, exist_ok=True)
            part.rename(own)
        for folder, *_ in os.walk(place):
            sync_names(Path(folder))
    except BaseException:
        for kept, own in taken:
            if not own.exists():
                kept.rename(own)
        raise


def _into_table(session: Session, source: InputSource, rows: str, place: Target) -> None:
    """A table of a DuckDB file: of the one that is read, of another, or of a new one."""
    assert place.path is not None and place.table is not None
    name = _qualified(place.table)
    if source.database == place.path:
        with writing(place.path), transaction(session.con):
            _create(session, name, rows)
        return
    if place.path.exists():
        with _attached(session.con, place.path) as database, transaction(session.con):
            _create(session, f"{database}.{name}", rows)
        return
    with beside(place.path) as draft, _attached(session.con, Path(draft), place.path) as database:
        _create(session, f"{database}.{name}", rows)
        # what is renamed is one file, and must hold all
        session.con.execute(f"CHECKPOINT {database}")


def _qualified(table: str) -> str:
    """A name as SQL has it: schema and table, or a table of the schema main."""
    return ".".join(map(quoted, parts_of(table)))


def parts_of(table: str) -> tuple[str, str]:
    """Schema and table of a name."""
    schema, _, name = table.rpartition(".")
    return (schema or "main").strip('"'), name.strip('"')


def _create(session: Session, name: str, rows: str) -> None:
    schema = name.rpartition('."')[0]
    session.con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    try:
        bound(session.con, f"CREATE OR REPLACE TABLE {name} AS FROM {rows}")
    except duckdb.CatalogException as error:
        if "type View" not in str(error):
            raise
        raise OptionError(
            "-o names a view. Name a table, which is made or replaced."
        ) from None


@contextmanager
def _attached(
    con: duckdb.DuckDBPyConnection, path: Path, place: Path | None = None
) -> Iterator[str]:
    """A DuckDB file beside those of a connection; its name there. ``place``: what it will be."""
    name, place = "__kanon_target", place or path
    try:
        con.execute(f"ATTACH {literal(str(path))} AS {name} (READ_WRITE)")
    except duckdb.Error as error:
        if place != path:  # a draft, which no other process knows
            said = UNWRITTEN.format(str(place), type(error).__name__)
            raise write_fault(error, place) or DataError(said) from None
        raise OptionError(
            f"DuckDB can't open {str(place)!r} to write. Check that no other process has it open."
        ) from None
    with writing(place):
        try:
            yield name
        except BaseException:
            with suppress(duckdb.Error):  # a disk that is full can refuse this, too
                con.execute(f"DETACH {name}")
            raise
        con.execute(f"DETACH {name}")
