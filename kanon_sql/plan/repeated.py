"""The SQL of columns that may say whose row a row is, where no entity is named: what is handed over
for encode/repeated.py to judge."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import chosen, helpers, listed
from kanon_sql.sql import expression, statement

REPEATED = 50_000
"""About so many rows of an identifier's values are looked at for what they have in common."""

OF_UNNAMED = 10_000
"""The same of each column that nobody named."""

READ = "__kanon_read"
"""The stage with the hashes of columns that are dropped, and only looked at."""


def _looks(call: GroupingCall) -> bool:
    """Whether columns without a role are looked at: they are dropped, or pass."""
    roles = call.roles
    return roles.entity is None and call.block is None and roles.rest in ("drop", "release")


def source_holes(call: GroupingCall) -> dict[str, str]:
    """What fills the holes of the stage that takes the columns from the relation. Of those that are
    dropped it has hashes, where these are looked at, and the stage after it has none of them."""
    named = chosen(call.roles.named)
    holes = {"source": "__kanon_source", "columns": "__kanon.*", "without_unnamed": ""}
    if call.roles.rest != "drop":
        return holes
    if not _looks(call):
        return holes | {"columns": named}
    away = listed(call.roles.named)
    return {
        "source": READ,
        "columns": f"{named},\n           "
        f"__kanon_key_hash(COLUMNS(__kanon.* EXCLUDE ({away})))",
        "without_unnamed": statement(
            "pipeline.without_unnamed", row_helpers=listed(helpers(call.roles)), columns=named
        ) + "\n",
    }


def repeated_sql(call: GroupingCall, columns: str) -> str:
    """SQL of a list: of each identifier its name, and the quasi-identifiers that are the same in
    all its rows, where nobody says whose row a row is.

    Args:
        call: the call.
        columns: its quasi-identifiers, as a COLUMNS expression.
    """
    roles = call.roles
    if roles.entity is not None or call.block is not None:
        return "[]"
    expressions = [
        expression(
            "pipeline.repeated", name=literal(name), column=quoted(name), quasi=columns,
            some=REPEATED,
        ) for name in roles.identifiers
    ]
    return f"[{', '.join(expressions)}]"


def unnamed_sql(call: GroupingCall) -> str:
    """SQL of a list: of each column without a role its name, and some rows with a hash of what they
    have there; NULL where these columns aren't looked at."""
    if not _looks(call):
        return "NULL"
    away = listed((*helpers(call.roles), *call.roles.named))
    columns = f"COLUMNS(* EXCLUDE ({away}))"
    if call.roles.rest == "drop":
        return expression("pipeline.unnamed", rows=READ, hashes=columns, some=OF_UNNAMED)
    hashes = f"__kanon_key_hash({columns})"
    return expression("pipeline.unnamed", rows="__kanon_source", hashes=hashes, some=OF_UNNAMED)
