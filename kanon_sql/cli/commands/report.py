"""``kanon report patients.parquet -o report.html -k 5``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.api.dataframe import report as write_report
from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import opened
from kanon_sql.errors import OptionError


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@inputs.place("-o", "--output", "to", metavar="FILE", type=click.Path(),
               help="The HTML file to write.")
@click.option("--title", metavar="TEXT", help="Title of the report.")
@click.option("--query", "queries", metavar="NAME SQL", nargs=2, type=str, multiple=True,
              help="A query that is run on source and release, with {table} where the table goes, "
              "and its name. May be given several times.")
@click.option("--compare", "compared", metavar="METHODS",
              help="Methods to compare the release with, separated by commas.")
@click.option("--evidence", is_flag=True,
              help="Attack a release of half of the rows, with the other half as the control.")
@click.option("--predict", metavar="COLUMNS",
              help="Columns that models on source and release predict, separated by commas.")
@inputs.as_json
@options("anonymize")
def report(
    source: tuple[str, ...], table: str | None, database: str | None, to: str | None,
    title: str | None, queries: tuple[tuple[str, str], ...], compared: str | None, evidence: bool,
    predict: str | None, as_json: bool, **arguments: Any,
) -> None:
    """Writes one HTML file about a release, for the person who signs it off."""
    chosen = checked(arguments)
    if to is None:
        raise OptionError("-o is not given. Name the HTML file to write.")
    more: dict[str, Any] = {
        "title": title, "queries": dict(queries) or None,
        "compare": compared.split(",") if compared else None,
        "evidence": evidence or None,
        "predict": predict.split(",") if predict else None,
    }
    with opened(source, database, table) as read:
        done = write_report(
            read.data, con=read.con, to=to,
            **{name: value for name, value in more.items() if value is not None}, **chosen,
        )
    path = str(done.path)
    if as_json:
        print(json_text({"output": path}))
    else:
        note(f"the report is in {path}")
