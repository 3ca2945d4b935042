"""``kanon hierarchy patients.parquet zip prefix -o zip_levels.csv``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import scalar
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import as_objects, note
from kanon_sql.cli.show import table as as_table
from kanon_sql.cli.sources import opened
from kanon_sql.cli.targets import read_target, write
from kanon_sql.cli.work import rows_of
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, reads_of, relation_and_options
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.plan.query import plan

ROWS = 20
"""Lines of a table that is printed for people."""

TEXTS = ("mask", "packing", "adjacency", "places")
"""The options whose values are texts, whatever they look like."""


def _of_kinds(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of all kinds, each once."""
    takers: dict[str, list[str]] = {}
    about: dict[str, str] = {}
    for kind in KINDS.values():
        for name, option in kind.options.items():
            takers.setdefault(name, []).append(kind.name)
            about.setdefault(name, option.description)
    for name in reversed(takers):
        command = click.option(
            f"--{name}", metavar="VALUE", help=f"({', '.join(takers[name])}) {about[name]}"
        )(command)
    return command


@click.command(
    cls=Grouped,
    epilog="Kinds:\n\n" + "\n\n".join(
        f"{kind.name}: {kind.description}" for kind in KINDS.values()
    ),
)
@click.argument("place", metavar="IN", type=click.Path())
@click.argument("column", metavar="COLUMN")
@click.argument("kind", metavar="KIND")
@click.option("--database", metavar="FILE", type=click.Path(),
              help="A DuckDB file in which IN is a table.")
@inputs.output
@inputs.as_json
@_of_kinds
def hierarchy(
    place: str, column: str, kind: str, database: str | None, to: str | None, form: str | None,
    partition_by: str | None, as_json: bool, **arguments: Any,
) -> None:
    """Prints the levels to which a column may be generalized, or writes them, to be edited.

    The output contains the values of the column. The option --hierarchies of other commands takes
    the file, or the kind.
    """
    if partition_by is not None:
        raise OptionError("Levels are one table. Leave --partition-by out.")
    chosen: dict[str, Any] = {"column_name": column, "kind": kind}
    for name, text in arguments.items():
        if text is not None:
            chosen[name] = text if name in TEXTS else scalar(text)
    with opened((place,), database) as read:
        if to is not None:
            target = read_target(to, form)
            if target.kind == "folder":
                raise OptionError("Levels are one table. Name a file for -o.")
            with Session(read.con) as session:
                relation, held = relation_and_options(session, read.data, chosen)
                planned = plan("hierarchy", relation, held, session.catalog)
                with session.refusals(planned.relations):
                    reads = reads_of(session, relation, held)
                    write(session, read, telling(planned.text), target, reads)
            if target.kind != "stdout":
                note(f"the levels of {column!r} are in {target}")
            return
        names, rows = rows_of("hierarchy", read, chosen)
    if as_json:
        print(json_text(as_objects(names, rows)))
        return
    print(as_table(names, rows[:ROWS]))
    if len(rows) > ROWS:
        print(f"  ... {len(rows) - ROWS:,} more; -o writes them all")
