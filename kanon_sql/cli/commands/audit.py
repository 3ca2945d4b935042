"""``kanon audit released.csv -s disease -k 5``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli import inputs
from kanon_sql.cli.config import BY_ROLE, Config, ReleaseJob
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import as_objects, metrics, shown, width
from kanon_sql.cli.sources import InputSource, opened
from kanon_sql.cli.work import columns_of, rows_of

VIOLATING = ("classes_below_k", "rows_below_k", "classes_violating", "rows_violating")
"""Columns of k_anonymity, and metrics of anonymize_audit, of which none should be above 0."""


@click.command(cls=Grouped, epilog=f"{inputs.EPILOG} 1 where classes or rows miss the requested k "
               "or model.")
@inputs.source
@inputs.place("--config", metavar="FILE", type=click.Path(),
               help="A kanon.toml, whose roles and options are those of the audit; IN is then by "
              "default the output that it describes.")
@inputs.as_json
@options("k_anonymity", "anonymize_audit")
def audit(
    source: tuple[str, ...], table: str | None, database: str | None, config: str | None,
    as_json: bool, **arguments: Any,
) -> int:
    """Measures k, classes, risk and privacy models of a table, released by kanon_sql or not.

    With --release, IN is the source, and the information loss of the release is measured, too. The
    results are compared with a given k and given privacy models. With --config these are the
    options of the release IN; options that you type take precedence.
    """
    chosen = checked(arguments)
    held = chosen.get("release") is not None
    call = "anonymize_audit" if held else "k_anonymity"
    job = None if config is None else Config(Path(config)).job_of(source)
    if job is not None and not source and database is None:
        source = (str(Path(str(config)).resolve().parent / job.output),)
    with opened(source, database, table) as read:
        if job is not None:
            chosen = {**_described(job, read, call), **chosen}
        names, rows = rows_of(call, read, chosen)
    if as_json:
        print(json_text(as_objects(names, rows)))
    elif held:
        print(metrics(rows, width()))
    else:
        print(shown(names, rows))
    if held:
        values = {row[0].partition(" (")[0]: row[1] for row in rows}
        return int(any((values.get(name) or 0) > 0 for name in VIOLATING))
    return int(any(
        (row[names.index(name)] or 0) > 0 for row in rows for name in VIOLATING if name in names
    ))


def _described(job: ReleaseJob, read: InputSource, call: str) -> dict[str, Any]:
    """The options of a release that a call takes, and the roles of columns: without identifiers
    that are not there, as they are not once it is made."""
    by_role = {**BY_ROLE, "within": "within"}
    settings = {name: value for name, value in job.options.items() if call in OPTIONS[name].calls}
    for role, option in by_role.items():
        named = [name for name, own in job.roles.items() if own == role]
        if named and call in OPTIONS[option].calls:
            settings[option] = named
    present = {name.lower() for name in columns_of(read)}
    for option in {"identifiers", "entity"} & set(settings):
        named = [settings[option]] if isinstance(settings[option], str) else settings[option]
        if not present.issuperset(map(str.lower, named)):
            del settings[option]
    return settings
