"""A dry run: what a release would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.shell.show import as_objects, table
from kanon_sql.shell.sources import Source
from kanon_sql.shell.work import rows_of

COLUMNS = ("column_name", "column_type", "role", "released_as", "released_type")


def dry(source: Source, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What a release would do, by part: the roles, and the SQL."""
    return {
        "roles": as_objects(*rows_of("anonymize_roles", source, chosen)),
        "sql": rows_of("anonymize_sql", source, chosen)[1][0][0],
    }


def print_dry(told: Mapping[str, Any]) -> None:
    """The same as people read it."""
    print(table(COLUMNS, [[row[name] for name in COLUMNS] for row in told["roles"]]))
    print()
    print(told["sql"])
