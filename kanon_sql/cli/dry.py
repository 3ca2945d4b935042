"""A dry run: what a release would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.call.options import GroupOptions
from kanon_sql.cli.show import as_objects, table
from kanon_sql.cli.sources import InputSource
from kanon_sql.cli.work import rows_of
from kanon_sql.duckdb.session import Session, relation_and_options
from kanon_sql.kernel.memory import available, need_of
from kanon_sql.methods import CHOICES

COLUMNS = ("column_name", "column_type", "role", "released_as", "released_type")


def dry(source: InputSource, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What a release would do, by part: the roles, the memory in bytes, and the SQL."""
    roles = as_objects(*rows_of("anonymize_roles", source, chosen))
    sql = rows_of("anonymize_sql", source, chosen)[1][0][0]
    with Session(source.con) as session:
        relation, _ = relation_and_options(session, source.data, chosen)
        ((rows,),) = session.rows(f"SELECT count(*) FROM {relation.sql}")
    columns = sum(row["role"] == "quasi_identifier" for row in roles)
    # the query above has refused a name that isn't one
    method = CHOICES[str(chosen.get("method", GroupOptions.method)).lower()]
    needed = need_of(rows, columns, method.memory)
    memory = {"rows": rows, "needed": needed, "available": available()}
    return {"roles": roles, "memory": memory, "sql": sql}


def print_dry(preview: Mapping[str, Any]) -> None:
    """The same as people read it."""
    print(table(COLUMNS, [[row[name] for name in COLUMNS] for row in preview["roles"]]))
    print()
    print(_sentence(preview["memory"]))
    print()
    print(preview["sql"])


def _sentence(memory: Mapping[str, Any]) -> str:
    """The memory in words; a comment of SQL, so that what stands behind it runs as it is."""
    needed, free = memory["needed"], memory["available"]
    said = f"-- {memory['rows']:,} rows: about {needed / 1e9:.1f} GB of memory"
    if free is None:
        return said
    said += f", {free / 1e9:.1f} GB are available"
    return said if needed <= free else f"{said}: name a folder, -o out/, which takes blocks"
