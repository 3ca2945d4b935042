"""Parts of the SQL text that several calls share: roles and where they were declared."""

from __future__ import annotations

from kanon_sql.call.relation import Relation, literal, quoted
from kanon_sql.call.roles import Roles

UNDECLARED = (
    "The column comments of {relation} declare roles that are not committed yet. Commit first, or "
    "give the roles in the call."
)

ROW = ("__kanon_row", "__kanon_hash")
"""The helper columns of each row."""


def listed(names: tuple[str, ...]) -> str:
    """Names in double quotes, with commas."""
    return ", ".join(map(quoted, names))


def quasi(roles: Roles, helpers: tuple[str, ...], dropped: tuple[str, ...] = ()) -> str:
    """The quasi-identifiers, as a COLUMNS expression over a stage with these helper columns,
    where the columns ``dropped`` are gone."""
    if roles.quasi_identifiers:
        return f"COLUMNS([{', '.join(map(literal, roles.quasi_identifiers))}])"
    others = (*roles.sensitive, *roles.identifiers, *roles.other)
    away = (*helpers, *(name for name in others if name not in dropped))
    return f"COLUMNS(* EXCLUDE ({listed(away)}))" if away else "COLUMNS(*)"


def where(roles: Roles) -> str:
    """Names every column that has a role, so that a missing one is refused by its name."""
    checks = " AND ".join(f"__kanon_has({quoted(name)})" for name in roles.named)
    return f"\n    WHERE {checks}" if checks else ""


def declared(source: Relation) -> str:
    """True where the roles that the planner saw are those that the query sees."""
    database, schema, table = ("", "", *source.parts)[-3:]
    seen = sorted(
        f"{column} {comment}"
        for column, comment in (source.columns or {}).items()
        if "kanon:" in (comment or "")
    )
    here = {
        "table_name": literal(table),
        "schema_name": literal(schema) if schema else "current_schema()",
        "database_name": literal(database) if database else "current_database()",
    }
    place = " AND ".join(f"lower({column}) = lower({name})" for column, name in here.items())
    return (
        "(SELECT list_sort(coalesce(list(concat(column_name, ' ', comment)), [])) "
        f"FROM duckdb_columns() WHERE comment LIKE '%kanon:%' AND {place})"
        f" = [{', '.join(map(literal, seen))}]::VARCHAR[]"
    )


def contents(relation: Relation) -> tuple[str, str]:
    """SQL of the column names and of the rows of a relation, as text: VARCHAR[], VARCHAR[][]."""
    return (
        "(SELECT any_value(names) FROM (SELECT [*COLUMNS(*)] AS names FROM "
        f"(SELECT __kanon_name(COLUMNS(*)) FROM {relation.sql} LIMIT 1)))",
        "(SELECT list(cells) FROM (SELECT [*COLUMNS(*)] AS cells FROM "
        f"(SELECT __kanon_key(COLUMNS(*)) FROM {relation.sql})))",
    )
