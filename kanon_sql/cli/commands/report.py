"""``kanon report patients.parquet -o report.html -k 5``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kanon_sql.api.report import report_file
from kanon_sql.cli import inputs
from kanon_sql.cli.commands.run import options_of_job
from kanon_sql.cli.config import Config, inside
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import InputSource, opened
from kanon_sql.errors import KanonError, OptionError

BESIDE = (
    "--config names a file that has all options of the release, and more are given. Change them in "
    "the file, or leave --config out."
)


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@inputs.place("-o", "--output", "to", metavar="FILE", type=click.Path(),
               help="The HTML file to write.")
@inputs.place("--config", metavar="FILE", type=click.Path(),
              help="A kanon.toml, whose release is reported. IN is the input or the output of one "
              "of its tables; it may be left out where there is one.")
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
    config: str | None, title: str | None, queries: tuple[tuple[str, str], ...],
    compared: str | None, evidence: bool, predict: str | None, as_json: bool, **arguments: Any,
) -> None:
    """Writes one HTML file about a release, for the person who signs it off."""
    chosen = checked(arguments)
    if to is None:
        raise OptionError("-o is not given. Name the HTML file to write.")
    wished = (
        Path(to).resolve() if config else to, title, dict(queries) or None,
        compared.split(",") if compared else None, evidence,
        predict.split(",") if predict else None,
    )
    if config is None:
        with opened(source, database, table) as read:
            done = report_file(read.data, read.con, wished, chosen)
    elif chosen or table is not None or database is not None:
        raise OptionError(BESIDE)
    else:
        with _described(Path(config), source) as (read, chosen, origins):
            done = report_file(read.data, read.con, (*wished, origins), chosen)
    path = str(done.path)
    if as_json:
        print(json_text({"output": path}))
    else:
        note(f"the report is in {path}")


@contextmanager
def _described(
    path: Path, source: tuple[str, ...]
) -> Iterator[tuple[InputSource, dict[str, Any], Mapping[str, str]]]:
    """The input of a release that a file describes, its options, and who decided the roles: the
    file has them in place of a call, and those by column in place of a relation, too."""
    config = Config(path)
    job = config.job_of(source)
    origins = dict.fromkeys(("call", "relation") if job.roles else ("call",), path.name)
    with inside(path.resolve().parent):
        try:
            with opened(job.input, job.database) as read:
                yield read, options_of_job(config, job, read), origins
        except KanonError as refusal:
            raise config.located(job, refusal) from None
