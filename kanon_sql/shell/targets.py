"""Where a shell writes: a file, a folder of files by partition, a table of a DuckDB file, or
standard output. What is written has its name only when it is whole."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.call.relation import is_file, is_url, literal, quoted
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.interfaces.release import beside, refuse_unkept, transaction
from kanon_sql.interfaces.session import ENUM, Session, bound
from kanon_sql.shell.sources import INSIDE, Source, is_database, split_inside

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
    text: str, data: Any, form: str | None = None, by: Sequence[str] = (),
) -> Target:
    """The place that a word names.

    Args:
        text: the word.
        data: what is read, which must not be written over.
        form: the format, where the ending doesn't say it.
        by: columns by which to part files.

    Raises:
        OptionError: nothing can be written there.
    """
    if form is not None and form not in FORMATS:
        raise OptionError(f"The format {form!r} is not known. {did_you_mean(form, FORMATS)}")
    if text == STDOUT:
        return Target("stdout", "standard output", None, form or "csv")
    if is_url(text):
        raise OptionError(
            f"-o names {text!r}, which is no place of this machine, and only there a release is "
            "whole or not at all. Write one here, and copy it."
        )
    path, table = split_inside(text)
    if table is None and is_database(path):
        raise OptionError(
            f"{text!r} is a DuckDB file. Name a table in it, for example as {text}{INSIDE}released."
        )
    if table is not None:
        return _table(path, table)
    if by:
        return Target("folder", text, _new_folder(text), form or "parquet", by=tuple(by))
    if text.endswith("/") or Path(text).is_dir():
        return Target("folder", text, Path(text), form or "parquet")
    found, packed = _format(text, form)
    return Target("file", text, _file(text, data), found, packed)


def _table(path: str, table: str) -> Target:
    if not table.strip():
        raise OptionError(f"{path}{INSIDE} names no table. Add one, such as {INSIDE}released.")
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise OptionError(f"There is no folder for {path!r}. Make it first.")
    if place.exists() and not is_database(path):
        raise OptionError(f"{path!r} is no DuckDB file. Check the path.")
    return Target("table", f"{path}{INSIDE}{table}", place, "table", table=table)


def _new_folder(text: str) -> Path:
    path = Path(text).resolve()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OptionError(f"{text!r} is there already. Name a folder that isn't, or an empty one.")
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {text!r}. Make it first.")
    return path


def _file(text: str, data: Any) -> Path:
    path = Path(text).resolve()
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {text!r}. Make it first.")
    for name in [data] if isinstance(data, str) else data:
        if is_file(name) and Path(name).resolve() == path:
            raise OptionError("-o names the relation itself. Write the release to another file.")
    return path


def _format(text: str, form: str | None) -> tuple[str, str | None]:
    """Format and compression of a file, by its ending."""
    *_, before, last = ("", "", *Path(text).name.lower().split("."))
    packed = PACKED.get(last)
    ending = before if packed else last
    if form is None and ending in DATABASES:
        raise OptionError(
            f"{text!r} reads as a DuckDB file. Name a table in it, as {text}{INSIDE}released."
        )
    if form is None and ending not in ENDINGS:
        raise OptionError(
            f"The ending of {text!r} tells no format. Name a file that ends in "
            f"{', '.join(ENDINGS)}, or give --format."
        )
    found = form or ENDINGS[ending]
    return found, None if found == "parquet" else packed


def plain_rows(con: duckdb.DuckDBPyConnection, text: str) -> tuple[str, dict[str, str]]:
    """A query, in parentheses, as any place keeps it, with name and type of each column. An ENUM is
    the text that it is: its type would tell all values that it may have, released or not."""
    found = bound(con, text)
    types = {
        name: ENUM.sub("VARCHAR", str(kind))
        for name, kind in zip(found.columns, found.types, strict=True)
    }
    shown = ", ".join(
        quoted(name) if str(kind) == types[name]
        else f"CAST({quoted(name)} AS {types[name]}) AS {quoted(name)}"
        for name, kind in zip(found.columns, found.types, strict=True)
    )
    return f"(SELECT {shown} FROM ({text}))", types


def write(session: Session, source: Source, text: str, place: Target) -> None:
    """Writes the rows of a query.

    Args:
        session: over the connection of the source.
        source: what is read.
        text: the query.
        place: where to.
    """
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
            _copy(session, rows, types, place, draft)
            with Path(draft).open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _copy(
    session: Session, rows: str, types: dict[str, str], place: Target, draft: str
) -> None:
    if place.format == "parquet":
        refuse_unkept(types, draft)
    told = f"{FORMATS[place.format]}, USE_TMP_FILE false"
    if place.packed is not None:
        told += f", COMPRESSION {place.packed}"
    elif place.format != "parquet":
        told += ", COMPRESSION none"
    bound(session.con, f"COPY {rows} TO {literal(draft)} ({told})")
    with Path(draft).open("rb") as file:
        os.fsync(file.fileno())


def _into_folder(
    session: Session, rows: str, types: dict[str, str], place: Target
) -> None:
    """Files in folders named by released values, as key=value."""
    assert place.path is not None
    known = {name.lower(): name for name in types}
    for column in place.by:
        if column.lower() not in known:
            raise OptionError(
                f"partition-by names the column {column!r}, which is not released. "
                f"{did_you_mean(column, types)}"
            )
    parted = ", ".join(quoted(known[column.lower()]) for column in place.by)
    with tempfile.TemporaryDirectory(prefix=f".{place.path.name}.", dir=place.path.parent) as near:
        if place.format == "parquet":
            refuse_unkept(types, str(Path(near) / "types"))
        draft = Path(near) / "parts"
        told = FORMATS[place.format].replace(", PRESERVE_ORDER true", "")
        bound(
            session.con,
            f"COPY {rows} TO {literal(str(draft))} ({told}, PARTITION_BY ({parted}))",
        )
        if place.path.is_dir():
            place.path.rmdir()
        draft.replace(place.path)


def _into_table(session: Session, source: Source, rows: str, place: Target) -> None:
    """A table of a DuckDB file: of the one that is read, of another, or of a new one."""
    assert place.path is not None and place.table is not None
    name = _qualified(place.table)
    if source.database == place.path:
        if str(source.data).lower() in (place.table.lower(), f"main.{place.table}".lower()):
            raise OptionError("-o names the relation itself. Write the release to another table.")
        with transaction(session.con):
            _create(session, name, rows)
        return
    if place.path.exists():
        with _attached(session.con, str(place.path)) as database, transaction(session.con):
            _create(session, f"{database}.{name}", rows)
        return
    with beside(place.path) as draft:
        with _attached(session.con, draft) as database:
            _create(session, f"{database}.{name}", rows)
        Path(f"{draft}.wal").unlink(missing_ok=True)


def _qualified(table: str) -> str:
    """A name as SQL has it: schema and table, or a table of the schema main."""
    schema, _, name = table.rpartition(".")
    return ".".join(quoted(part.strip('"')) for part in (schema or "main", name))


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
def _attached(con: duckdb.DuckDBPyConnection, path: str) -> Iterator[str]:
    """A DuckDB file beside those of a connection; its name there."""
    name = "__kanon_target"
    try:
        con.execute(f"ATTACH {literal(path)} AS {name} (READ_WRITE)")
    except duckdb.Error:
        raise OptionError(
            f"DuckDB can't open {path!r} to write. Check that nobody else has it open."
        ) from None
    try:
        yield name
    finally:
        con.execute(f"DETACH {name}")
