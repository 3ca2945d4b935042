"""``kanon release`` and ``kanon verify``: a release into a file from the shell, and its proof."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from kanon_sql.call.options import OPTIONS
from kanon_sql.errors import OptionError
from kanon_sql.interfaces.release import release_file
from kanon_sql.interfaces.verify import verify
from kanon_sql.methods.option import Option

OF_RELEASE = tuple(option for option in OPTIONS.values() if "anonymize" in option.calls)


def _read(option: Option, text: str) -> Any:
    """An option as it is typed in a shell: JSON where it isn't a text, and names with commas."""
    if option.type.startswith("VARCHAR") and not text.startswith(("{", "[")):
        return text.split(",") if option.type == "VARCHAR[]" else text
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def _database(path: str | None) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """A connection to a database file, if one is named."""
    if path is None:
        yield None
        return
    try:
        con = duckdb.connect(path)
        con.execute("SET enable_progress_bar = false")
    except duckdb.Error:
        raise OptionError(
            f"DuckDB can't open {path!r}. Check the path, and that nobody else has it open."
        ) from None
    try:
        yield con
    finally:
        con.close()


def _release(arguments: argparse.Namespace) -> None:
    """Writes a release, and says what it wrote."""
    given = {option.name: getattr(arguments, option.name) for option in OF_RELEASE}
    options = {
        name: _read(OPTIONS[name], text) for name, text in given.items() if text is not None
    }
    with _database(arguments.database) as con:
        released = release_file({
            "con": con, "data": arguments.source, "to": arguments.to,
            "private": arguments.private, "unknown": options,
        })
    print(released)


def _verify(arguments: argparse.Namespace) -> int:
    """Prints what was found of a file; 1 where something is wrong."""
    with _database(arguments.database) as con:
        found = verify(
            arguments.file, con=con, source=arguments.source, private=arguments.private
        )
    print(found)
    return 0 if found.ok else 1


def add_commands(commands: Any) -> None:
    """Adds both to the commands of the shell."""
    write = commands.add_parser("release", help="anonymize into a Parquet file, with a manifest")
    write.add_argument("source", metavar="SOURCE", help="a file, or a table of --database")
    write.add_argument("--to", metavar="FILE", help="the Parquet file to write")
    prove = commands.add_parser("verify", help="prove what a released file says of itself")
    prove.add_argument("file", metavar="FILE", help="the Parquet file")
    prove.add_argument(
        "--source", metavar="SOURCE", help="what it was made from: the release is made again"
    )
    for command in (write, prove):
        command.add_argument("--private", metavar="FILE", help="where the private part is, or goes")
        command.add_argument("--database", metavar="FILE", help="a DuckDB file with the tables")
    for option in OF_RELEASE:
        spellings = dict.fromkeys((f"--{option.name.replace('_', '-')}", f"--{option.name}"))
        write.add_argument(
            *spellings, dest=option.name, metavar="VALUE",
            help=f"{option.description} Default: {option.default_text}.".replace("%", "%%"),
        )
    write.set_defaults(run=_release)
    prove.set_defaults(run=_verify)
