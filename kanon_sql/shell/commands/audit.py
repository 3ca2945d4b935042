"""``kanon audit released.csv -s disease -k 5``."""

from __future__ import annotations

from typing import Any

import click

from kanon_sql.shell import inputs
from kanon_sql.shell.options import Grouped, checked, options
from kanon_sql.shell.show import as_json as json_text
from kanon_sql.shell.show import as_objects, metrics, shown, width
from kanon_sql.shell.sources import opened
from kanon_sql.shell.work import rows_of

VIOLATING = ("classes_below_k", "rows_below_k", "classes_violating", "rows_violating")
"""Columns of k_anonymity, and metrics of anonymize_audit, of which none should be above 0."""


@click.command(cls=Grouped, epilog=f"{inputs.EPILOG} 1 where classes or rows are below what was "
               "asked.")
@inputs.source
@inputs.as_json
@options("k_anonymity", "anonymize_audit")
def audit(
    source: tuple[str, ...], table: str | None, database: str | None, as_json: bool, **given: Any
) -> int:
    """Counts what a table keeps, released by us or not: k, classes, risk, privacy models.

    With --release, IN is the source, and what the release lost is measured, too. A k and privacy
    models that are given are held against what is found.
    """
    chosen = checked(given)
    held = chosen.get("release") is not None
    with opened(source, database, table) as read:
        names, rows = rows_of("anonymize_audit" if held else "k_anonymity", read, chosen)
    if as_json:
        print(json_text(as_objects(names, rows)))
    elif held:
        print(metrics(rows, width()))
    else:
        print(shown(names, rows))
    if held:
        found = {row[0].partition(" (")[0]: row[1] for row in rows}
        return int(any((found.get(name) or 0) > 0 for name in VIOLATING))
    return int(any(
        (row[names.index(name)] or 0) > 0 for row in rows for name in VIOLATING if name in names
    ))
