"""The SQL of a call that names relations which only DuckDB can find."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.call.relation import literal
from kanon_sql.call.sought import Sought
from kanon_sql.sql import expression, statement


def found_sql(call: str, text: str, unsure: Sequence[Sought]) -> str:
    """The text of a call, or our sentence where DuckDB has no relation of a name.

    DuckDB would say what tables have a name like it, and knows nothing of kinds of hierarchies.

    Args:
        call: the SQL call.
        text: what it runs.
        unsure: the relations that may not exist.
    """
    missing = "\n".join(
        "    " + expression(
            "calls/missing",
            probe=literal(f"SELECT 1 FROM {sought.relation.sql}"),
            name=literal(sought.name),
            call=literal(rf"\b{call}\s*\("),
            sentence=literal(sought.sentence),
        )
        for sought in unsure
        if '"' not in sought.name  # a CTE of that name is written in another way
    )
    return statement("calls/found", missing=missing, text=literal(text)) if missing else text
