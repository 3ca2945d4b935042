"""``kanon verify released.parquet``."""

from __future__ import annotations

from dataclasses import asdict

import click

from kanon_sql.api.verify import verify as prove
from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.sources import opened
from kanon_sql.errors import OptionError


@click.command(cls=Grouped, epilog="Exit status: 0 nothing is wrong, 1 something is, 2 usage.")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--source", metavar="IN", type=click.Path(),
              help="The source of the release, which is then made again.")
@click.option("--private", metavar="FILE", help="The private part of the release.")
@click.option("--database", metavar="FILE", type=click.Path(),
              help="A DuckDB file in which --source is a table.")
@click.option("--explain", is_flag=True, help="Show the result in sentences.")
@inputs.as_json
def verify(
    file: str, source: str | None, private: str | None, database: str | None, explain: bool,
    as_json: bool,
) -> int:
    """Verifies a released Parquet file against its manifest."""
    if source is None:
        if database is not None:
            raise OptionError("--database is given without --source. Leave it out.")
        verification = prove(file, private=private)
    else:
        with opened((source,), database) as read:
            verification = prove(file, con=read.con, source=read.data, private=private)
    if as_json:
        print(json_text({
            "file": verification.file, "ok": verification.ok, "sentence": verification.sentence,
            "findings": [asdict(each) for each in verification.findings],
            "explained": verification.explained,
        }))
    elif explain:
        print(f"{verification.file}: {'ok' if verification.ok else 'wrong'}.")
        print(*(f"- {each}" for each in verification.explained or (verification.sentence,)),
              sep="\n")
    else:
        print(verification)
    return 0 if verification.ok else 1
