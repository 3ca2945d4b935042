"""Parts of the SQL text that several calls share: roles and where they were declared."""

from __future__ import annotations

from kanon_sql.call.relation import Relation, literal, quoted
from kanon_sql.call.roles import Roles
from kanon_sql.sql import expression

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


def classes_sql(representation: str, columns: str, stage: str = "__kanon_labelled") -> str:
    """The values of each class in one representation.

    Args:
        representation: one of REPRESENTATIONS, or what stands in for one.
        columns: a COLUMNS expression over the stage.
        stage: rows with their class.
    """
    return expression(
        "stages/classes", representation=representation, columns=columns, stage=stage
    )


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
    return expression(
        "stages/declared",
        table=literal(table),
        schema=literal(schema) if schema else "current_schema()",
        database=literal(database) if database else "current_database()",
        seen=", ".join(map(literal, seen)),
    )


def contents(relation: Relation) -> tuple[str, str]:
    """SQL of the column names and of the rows of a relation, as text: VARCHAR[], VARCHAR[][]."""
    return (
        expression("stages/table_names", relation=relation.sql),
        expression("stages/table_rows", relation=relation.sql),
    )
