"""``kanon roles patients.parquet``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import as_objects
from kanon_sql.cli.show import table as as_table
from kanon_sql.cli.sources import opened
from kanon_sql.cli.typed import as_typed
from kanon_sql.cli.work import rows_of

SHOWN = ("column_name", "column_type", "role", "suggested_role", "distinct_values", "released_as")


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@click.option("--toml", "as_toml", is_flag=True, help="Prints a kanon.toml to begin with.")
@inputs.as_json
@options("anonymize_roles")
def roles(
    source: tuple[str, ...], table: str | None, database: str | None, as_json: bool,
    as_toml: bool, **arguments: Any,
) -> None:
    """Inspects each column and suggests a role for it.

    You decide the roles. A suggestion follows from the values and ignores their meaning, so it
    can't recognize sensitive columns.
    """
    chosen = checked(arguments)
    with opened(source, database, table) as read:
        names, rows = rows_of("anonymize_roles", read, chosen)
    suggestions = as_objects(names, rows)
    if as_json:
        print(json_text(suggestions))
        return
    if as_toml:
        from kanon_sql.cli.config import first_config

        print(first_config(source, database, table, suggestions), end="")
        return
    print(as_table(SHOWN, [[row[name] for name in SHOWN] for row in suggestions]))
    remarks = [(row["column_name"], remark) for row in suggestions for remark in row["remarks"]]
    for number, (column, remark) in enumerate(remarks):
        print(f"{'' if number else chr(10)}  {column}: {as_typed(remark)}")
