"""The SQL of a call that names relations which only DuckDB can find."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.call.referenced_columns import ReferencedColumns
from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.names import literal, quoted
from kanon_sql.sql import expression, statement

LETTERS = 3
"""A name is taken for another one misspelt if at most one of so many of its letters is wrong."""


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
    missing = ["    " + _without_relation(sought) for sought in unsure]
    if columns is not None:
        missing.append("    " + _without_columns(columns))
    if not missing:
        return text
    return statement("bound_relations.call", missing="\n".join(missing), text=literal(text))


def _without_relation(sought: ReferencedRelation) -> str:
    """SQL of what is said of a relation that there isn't."""
    probe, sentence = literal(f"SELECT 1 FROM {sought.relation.sql}"), literal(sought.sentence)
    if sought.may_be_misspelt:
        place = sought.place.replace("\\", "\\\\")
        hint = expression(
            "bound_relations.nearest_relation",
            name=literal(sought.name),
            other=expression("bound_relations.candidate", probe=probe),
            near=len(sought.name) // LETTERS,
            qualified=literal(rf"{place}\1"),
        )
        sentence = f"system.main.concat({sentence}, {hint})"
    return expression(
        "bound_relations.missing", probe=probe, name=literal(sought.name), sentence=sentence
    )


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
