"""``kanon anonymize patients.parquet -o released.parquet -k 5``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.cli import inputs
from kanon_sql.cli.dry import dry, print_dry
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import NOTHING, opened, writes_to
from kanon_sql.cli.targets import read_target
from kanon_sql.cli.work import files_sentence, into_folder, release, sentence, summary, timed
from kanon_sql.errors import OptionError


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@inputs.output
@inputs.place("--memory", common=False, metavar="SIZE",
               help="Memory limit of DuckDB, such as 4GB, where -o is a folder; its input may be "
               "larger.")
@inputs.place("--resume/--no-resume", common=False, default=None,
               help="Whether to resume a stopped run into a folder. Default: yes.")
@inputs.place("--overwrite", is_flag=True, default=None,
               help="Replaces an earlier release in the folder; with --partition-by, the "
              "partitions that are written.")
@click.option("--ledger-to", metavar="FILE", type=click.Path(),
              help="Where -o is a folder: the Parquet file that gets what this release adds to its "
              "ledger; with --ledger, or --headroom for the first.")
@click.option("--dry-run", is_flag=True, help="Shows roles, memory and SQL, and writes nothing.")
@click.option("--quiet", is_flag=True, help="Prints no message about the output.")
@inputs.as_json
@options("anonymize")
def anonymize(
    source: tuple[str, ...], table: str | None, database: str | None, to: str | None,
    form: str | None, partition_by: str | None, memory: str | None, resume: bool | None,
    overwrite: bool | None, ledger_to: str | None, dry_run: bool, quiet: bool, as_json: bool,
    **arguments: Any,
) -> None:
    """Releases a table so that each combination of its quasi-identifiers is shared by k rows.

    A release into a file with a manifest, which can be proven later, is made by kanon release.
    """
    chosen = checked(arguments)
    if not source and database is None:
        raise OptionError(NOTHING)
    if to is None and not dry_run:
        raise OptionError("-o is not given. Name the file to write, or - for standard output.")
    with opened(source, database, table, writes=writes_to(source, database, to)) as read:
        if dry_run:
            planned = dry(read, chosen)
            if as_json:
                print(json_text(planned))
            else:
                print_dry(planned)
            return
        assert to is not None
        by = partition_by.split(",") if partition_by else []
        in_blocks = {memory, resume, overwrite, ledger_to} != {None}
        place = read_target(to, form, by, in_blocks=in_blocks, overwrite=bool(overwrite))
        if place.kind == "folder" and not place.by:
            done = into_folder(
                read, chosen, place, memory=memory, resume=resume, overwrite=overwrite,
                ledger_to=ledger_to,
            )
            if as_json:
                print(json_text({"output": str(done.path), "metrics": done.metrics}))
            elif not quiet:
                note(files_sentence(done))
            return
        _refuse_of_folders({
            "memory": memory, "resume": resume, "overwrite": None if place.by else overwrite,
            "ledger-to": ledger_to,
        })
        with timed() as seconds:
            release(read, chosen, place)
        if quiet and not as_json:
            return
        metrics = summary(read, chosen)
    if as_json and place.kind != "stdout":
        print(json_text({"output": str(place), "metrics": metrics, "seconds": seconds[0]}))
    elif not quiet:
        note(sentence(metrics, str(place), seconds[0]))


def _refuse_of_folders(flags: dict[str, Any]) -> None:
    """Raises OptionError for what means something to a folder only."""
    for name, value in flags.items():
        if value is not None:
            raise OptionError(
                f"--{name} is for -o as a folder, which is written in blocks. Name one, such as "
                "out/, or leave it out."
            )
