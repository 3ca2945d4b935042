"""The SQL of a call that names relations which only DuckDB can find."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.names import literal
from kanon_sql.sql import expression, statement


def found_sql(text: str, unsure: Sequence[ReferencedRelation]) -> str:
    """The text of a call, or our sentence where DuckDB has no relation of a name.

    DuckDB would say what tables have a name like it, and knows nothing of kinds of hierarchies.

    Args:
        text: what the call runs.
        unsure: the relations that may not exist, and are no CTEs.
    """
    missing = "\n".join(
        "    " + expression(
            "found.missing",
            probe=literal(f"SELECT 1 FROM {sought.relation.sql}"),
            name=literal(sought.name),
            sentence=literal(sought.sentence),
        )
        for sought in unsure
    )
    return statement("found.call", missing=missing, text=literal(text)) if missing else text
