"""``kanon risk patients.parquet -s disease``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import as_objects, metrics, width
from kanon_sql.cli.sources import opened
from kanon_sql.cli.work import rows_of


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@inputs.as_json
@options("anonymize_risk")
def risk(
    source: tuple[str, ...], table: str | None, database: str | None, as_json: bool,
    **arguments: Any,
) -> None:
    """Measures the re-identification risk of a table, released by kanon_sql or not."""
    chosen = checked(arguments)
    with opened(source, database, table) as read:
        names, rows = rows_of("anonymize_risk", read, chosen)
    print(json_text(as_objects(names, rows)) if as_json else metrics(rows, width()))
