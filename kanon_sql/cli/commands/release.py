"""``kanon release patients.parquet -o released.parquet --private mine.json -k 5``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.api.dataframe import release as write_release
from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import NOTHING, opened
from kanon_sql.cli.work import sentence, timed
from kanon_sql.errors import OptionError


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@inputs.place("-o", "--output", "--to", "to", metavar="FILE",
               type=click.Path(),
              help="The Parquet file to write.")
@inputs.place("--private", metavar="PLACE", type=click.Path(),
               help="Where the private part goes, by which verify makes the release again: a file "
              "that ends in .json, or a table of the DuckDB file.")
@inputs.as_json
@options("anonymize")
def release(
    source: tuple[str, ...], table: str | None, database: str | None, to: str | None,
    private: str | None, as_json: bool, **arguments: Any,
) -> None:
    """Anonymizes into a Parquet file with a manifest, which kanon verify proves.

    With --ledger, the release is entered into that table of the DuckDB file, and continues from the
    releases that are in it.
    """
    chosen = checked(arguments)
    if to is None:
        raise OptionError("-o is not given. Name the Parquet file to write.")
    if not source and database is None:
        raise OptionError(NOTHING)
    kept = private is not None and not private.lower().endswith(".json")
    with opened(source, database, table, writes=kept or "ledger" in chosen) as read:
        if read.database is None and (kept or "ledger" in chosen):
            what = "ledger" if "ledger" in chosen else "private"
            instead = "" if "ledger" in chosen else ", or name a file that ends in .json"
            raise OptionError(
                f"{what} names a table, and no DuckDB file is open. Add --database{instead}."
            )
        with timed() as seconds:
            done = write_release(read.con, read.data, to=to, private=private, **chosen)
    if as_json:
        print(json_text({"output": done.path, "rows": done.rows, "manifest": done.manifest}))
    else:
        note(f"{sentence(done.manifest['metrics'], to, seconds[0])}; its manifest is in the file")
