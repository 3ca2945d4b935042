"""``kanon serve``: releases for readers and calls for analysts, in any client of DuckDB."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import duckdb

from kanon_sql.call.relation import is_file
from kanon_sql.cli.commands.run import make_release
from kanon_sql.cli.config import Config, ReleaseJob, inside
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import is_database, split_inside
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.serve.rights import ServedTable
from kanon_sql.serve.server import StoredRelease, analysts, readers, refuse_serving
from kanon_sql.serve.tokens import holders

TURN = 0.2
"""Seconds between two looks whether the server is to end."""

ELSEWHERE = (
    "{!r} is not in {}, and kanon serve opens one database. Move the table there, or name a "
    "Parquet file."
)
TWO_OF_ONE = (
    "The tables {!r} and {!r} release the same input, and a reader of both can intersect them. "
    "Leave one out of the file."
)
A_VIEW = (
    "{!r} is a view, and another table of the file may release the same rows. Serve it from a file "
    "of its own."
)
NO_NAME = "The table {!r} can't be served. Give it a name of letters, digits and _."
NO_LOG = (
    "The log can't be written ({}), and no statement is answered meanwhile. Make room for it."
)
UNOPENED = "The log {!r} can't be opened ({}). Check its path and its rights."
READ = "{!r} can't be served. Use a table of the database, or Parquet files."


@click.command(cls=Grouped, epilog="Paths are those from the folder of the file. "
               "Exit status: 0 ended by Ctrl-C or SIGTERM, 2 usage, 3 refused, 4 data.")
@click.argument("database", metavar="DATABASE", type=click.Path())
@click.option("--config", metavar="FILE", default="kanon.toml", type=click.Path(),
              help="The file that declares the tables. Default: kanon.toml.")
@click.option("--tokens", metavar="FILE", type=click.Path(),
              help="The file of tokens. Default: DATABASE with the ending .tokens.")
@click.option("--host", metavar="NAME", default="localhost",
              help="The address of this machine. Default: localhost.")
@click.option("--port", metavar="N", default=9494, type=click.IntRange(1024, 65534),
              help="The port of readers. Analysts get the next one. Default: 9494.")
@click.option("--log", metavar="FILE", type=click.Path(),
              help="Adds a line of JSON for each statement. Default: standard error.")
@click.option("--as-it-is", is_flag=True, help="Makes no release, and serves the existing ones.")
def serve(
    database: str, config: str, tokens: str | None, host: str, port: int, log: str | None,
    as_it_is: bool,
) -> None:
    """Makes the releases that kanon.toml describes, and serves them by DuckDB's remote protocol.

    A reader reads the stored releases. An analyst calls anonymize, anonymize_metrics,
    anonymize_manifest, k_anonymity and anonymize_risk on the declared tables. kanon token makes
    their tokens.
    """
    if not is_database(database):
        raise OptionError(f"{database!r} is not a DuckDB file. Check the path.")
    path, read = Path(database).resolve(), Config(Path(config))
    given = path.with_suffix(".tokens") if tokens is None else Path(tokens).resolve()
    lines = None if log is None else Path(log).resolve()
    by_right = {right for _, right, _ in holders(given)}
    with inside(Path(config).resolve().parent), ExitStack() as stack:
        _refuse_two_of_one(read, path)
        ports = [port, port + 1] if "analyst" in by_right else [port]
        refuse_serving(*(f"{host}:{number}" for number in ports))
        say = stack.enter_context(_logging(lines))
        if not as_it_is:
            for job in read.jobs:
                try:
                    make_release(read, job, dry_run=False, overwrite=True, as_json=False)
                except KanonError as refusal:
                    raise read.located(job, refusal) from None
        released = [StoredRelease(job.name, _output(job, path)) for job in read.jobs]
        tables = [table for job in read.jobs if (table := _table(job, path)) is not None]
        over = _ending()
        stack.enter_context(readers(released, path, given, f"{host}:{port}", say))
        note(f"readers: quack:{host}:{port}, {len(released)} releases")
        if tables and "analyst" in by_right:
            stack.enter_context(analysts(tables, path, given, f"{host}:{port + 1}", say))
            note(f"analysts: quack:{host}:{port + 1}, {len(tables)} tables")
        while not over.wait(TURN):
            pass
    note("ended")
    sys.stderr.flush()
    # a thread of the server may still answer somebody, and would abort the end of Python
    os._exit(0)


def _refuse_two_of_one(config: Config, database: Path) -> None:
    """Raises OptionError where two releases have one input: who reads both may intersect them."""
    names: dict[str, str] = {}
    with duckdb.connect(str(database), read_only=True) as con:
        views = {
            caseless(".".join(("source", *row))) for row in con.execute(
                "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        }
    for job in config.jobs:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", job.name):
            raise OptionError(NO_NAME.format(job.name))
        for word in job.input:
            inside = _inside(word, job, database)
            read = str(Path(word).resolve()) if inside is None else caseless(inside)
            if read in names and names[read] != job.name:
                raise OptionError(TWO_OF_ONE.format(names[read], job.name))
            if read.replace('"', "") in views and len(config.jobs) > 1:
                raise OptionError(A_VIEW.format(word))
            names[read] = job.name


def _ending() -> threading.Event:
    """What Ctrl-C and SIGTERM set from now on."""
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    return over


@contextmanager
def _logging(place: Path | None) -> Iterator[Callable[[str], None]]:
    """What takes the lines of the log; a line that can't be written is an error, so that what would
    leave no trace is not answered."""
    failed = False

    def write(line: str) -> None:
        nonlocal failed
        # the line before may have been cut
        left = (("\n" if failed else "") + f"{line}\n").encode()
        try:
            while left:
                left = left[os.write(number, left):]
        except OSError as error:
            if not failed:
                note(NO_LOG.format(error.strerror))
            failed = True
            raise
        failed = False

    number = 2
    if place is not None:
        try:
            number = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise OptionError(UNOPENED.format(str(place), error.strerror)) from None
    try:
        yield write
    finally:
        if place is not None:
            os.close(number)


def _inside(word: str, job: ReleaseJob, database: Path) -> str | None:
    """SQL of a table of the database; None for a file."""
    path, table = split_inside(word)
    if table is None and job.database is not None and word in job.input and not is_file(word):
        path, table = job.database, word
    if table is None:
        return None
    if Path(path).resolve() != database:
        raise OptionError(ELSEWHERE.format(word, database.name))
    if not re.fullmatch(r"[^\".]+([.][^\".]+)?", table):  # which kanon run may read otherwise
        raise OptionError(READ.format(word))
    parts = table.split(".")
    return ".".join(map(quoted, ("source", *(parts if len(parts) > 1 else ("main", *parts)))))


def _files(words: tuple[str, ...]) -> str:
    """SQL of Parquet files."""
    for word in words:
        if not word.lower().endswith(".parquet") or re.search(r"[*?\[]", word):
            raise OptionError(READ.format(word))
    listed = ", ".join(literal(str(Path(word).resolve())) for word in words)
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _output(job: ReleaseJob, database: Path) -> str:
    """SQL of a stored release."""
    if Path(job.output).is_dir():
        pattern = str(Path(job.output).resolve() / "**" / "*.parquet")
        return f"read_parquet({literal(pattern)}, hive_partitioning = true)"
    return _inside(job.output, job, database) or _files((job.output,))


def _table(job: ReleaseJob, database: Path) -> ServedTable | None:
    """What analysts call; None where they could pass by what is declared, or no column has a
    role."""
    (first, *rest) = job.input
    source = None if rest else _inside(first, job, database)
    table = ServedTable(job.name, source or _files(job.input), job.roles, job.options)
    if not job.roles:
        note(f"{job.name} is for readers only: it declares no roles by column")
        return None
    if table.beyond is not None:
        note(f"{job.name} is for readers only: it declares {table.beyond}")
        return None
    return table
