"""What several commands take: the table to read, and how the output is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kanon_sql.cli.options import HOW, OwnOption
from kanon_sql.cli.targets import FORMATS

Command = Callable[..., Any]

EPILOG = HOW + " Exit status: 0 done, 2 usage, 3 refused, 4 data, 130 interrupted."

IN = (
    "A file, a pattern, a folder, a table of a DuckDB file (db.duckdb::table), or - for standard "
    "input."
)


def place(*names: str, **more: Any) -> Callable[[Command], Command]:
    """An option that says what is read or written."""
    return click.option(*names, cls=OwnOption, topic="places", **more)


def source(command: Command) -> Command:
    """IN, --table and --database."""
    for add in (
        place("--database", common=False, metavar="FILE", type=click.Path(),
              help="A DuckDB file in which IN is a table."),
        place("--table", metavar="NAME", help="The table, where IN is a DuckDB file."),
        click.argument("source", metavar="IN", nargs=-1, type=click.Path()),
    ):
        command = add(command)
    return command


def as_json(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Prints JSON, for machines.")(
        command
    )


def output(command: Command) -> Command:
    """-o, --format and --partition-by."""
    for add in (
        place("--partition-by", common=False, metavar="COLUMNS",
              help="Parts the files of a folder by released columns, as key=value."),
        place("--format", "form", metavar="FORMAT", type=click.Choice(list(FORMATS)),
              help=f"One of {', '.join(FORMATS)}. Default: by the ending of OUT."),
        place("-o", "--output", "to", metavar="OUT", type=click.Path(),
              help="The file, the folder, the table (db.duckdb::table), or - for standard output. "
              "An existing output is replaced atomically."),
    ):
        command = add(command)
    return command
