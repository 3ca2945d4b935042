"""The SQL of a call that names relations which only DuckDB can find."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.call.referenced_columns import ReferencedColumns
from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.names import literal, quoted
from kanon_sql.sql import expression, statement


def resolved_sql(
    text: str, unsure: Sequence[ReferencedRelation], columns: ReferencedColumns | None = None
) -> str:
    """The text of a call, or our sentence where DuckDB has no relation or no column of a name.

    DuckDB would say what tables have a name like it, and knows nothing of kinds of hierarchies, nor
    of the option that names a column.

    Args:
        text: what the call runs.
        unsure: the relations that may not exist, and are no CTEs.
        columns: the columns that may not exist, of a relation that is no CTE.
    """
    missing = [
        "    " + expression(
            "bound_relations.missing",
            probe=literal(f"SELECT 1 FROM {sought.relation.sql}"),
            name=literal(sought.name),
            sentence=literal(sought.sentence),
        )
        for sought in unsure
    ]
    if columns is not None:
        missing.append("    " + _without_columns(columns))
    if not missing:
        return text
    return statement("bound_relations.call", missing="\n".join(missing), text=literal(text))


def _without_columns(columns: ReferencedColumns) -> str:
    """SQL of what is said of columns that the relation doesn't have."""
    names = ", ".join(map(quoted, columns.sentences))
    probe = literal(f"SELECT {names} FROM {columns.relation.sql}")
    hint = expression("bound_relations.nearest", probe=probe)
    cases = "".join(
        f"\n            WHEN {literal(name)} THEN "
        + (literal(said) if name in columns.listed
           else f"system.main.concat({literal(said)}, {hint})")
        for name, said in columns.sentences.items()
    )
    return expression("bound_relations.no_column", told=cases, probe=probe)
