"""What a query refuses because the planner couldn't see it: columns without a role, and comments,
temporary relations and changes that are not committed."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kanon_sql.call.call import TAKEN, Call, GroupingCall
from kanon_sql.names import caseless, literal
from kanon_sql.plan.fragments import contents
from kanon_sql.sql import expression

UNDECLARED = (
    "The column comments of {relation} declare roles that are not committed yet. Commit first, or "
    "give these columns their roles in the call."
)
CHANGED = (
    "The relation of roles {relation} has changes that are not committed yet. Commit first."
)
SHADOWED = (
    "A temporary relation hides the table {relation}, whose column comments declare roles. Write "
    "the name with its database and its schema."
)
INHERITED = (
    "The temporary view {relation} reads a table whose column comments declare roles, and a "
    "temporary view inherits none. Give these columns their roles in the call, say others='drop', "
    "or make it by CREATE VIEW."
)
UNRULED = (
    "{} no role: {}{}. Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], "
    "or say others='drop', others='release' or others='quasi_identifier'."
)
LISTED = 10
"""How many columns without a role a message names."""


def refusals(call: Call) -> str:
    """SQL of what is refused when the query runs, one WHEN for each."""
    return "".join(
        f"        WHEN {condition}\n            THEN __kanon_refuse('OptionError', {said})\n"
        for condition, said in [*_lacking(call), *_named(call), *_unseen(call)]
    )


def _lacking(call: Call) -> list[tuple[str, str]]:
    """What is refused of columns that the relation, the release of an audit, or the population
    doesn't have."""
    refused = []
    for relation in (call.source, call.audited, call.population):
        if relation is None:
            continue
        names, _ = contents(relation)
        for name, said in relation.lacking.items():
            lacks = expression("bind_checks.lacking", names=names, name=literal(caseless(name)))
            refused.append((lacks, literal(said)))
    return refused


def _named(call: Call) -> list[tuple[str, str]]:
    """What is refused of the names of the columns: those that the query, or the release, needs for
    itself, and those without a role."""
    if not isinstance(call, GroupingCall) or call.name == "anonymize_roles":
        return []
    reserved = "".join(f" OR __kanon_caseless(name) = {literal(name)}" for name in call.reserved)
    taken = expression("bind_checks.taken", reserved=reserved)
    checks = [(f"{taken} IS NOT NULL", f"format({literal(TAKEN)}, {taken})")]
    if call.roles.rest == "error":
        unruled = expression(
            "bind_checks.unruled", said=literal(UNRULED), listed=LISTED,
            ruled=_texts(caseless(name) for name in call.roles.named),
        )
        checks.append((f"{unruled} IS NOT NULL", unruled))
    return checks


def _unseen(call: Call) -> list[tuple[str, str]]:
    source, entry = call.source, call.source.entry
    names = dict.fromkeys((caseless(source.parts[-1]), *(entry.names if entry else ())))
    named = [name for name, origin in call.roles.origins.items() if origin == "call"]
    checks = [(
        expression(
            "bind_checks.undeclared", tables=_texts(names), seen=_texts(call.seen),
            given=_texts(named),
        ),
        literal(UNDECLARED.format(relation=source.sql)),
    )]
    releases = isinstance(call, GroupingCall) and call.name != "anonymize_roles"
    if releases and entry is None and call.roles.rest in ("release", "quasi_identifier"):
        checks.append((
            expression(
                "bind_checks.inherited", view=literal(caseless(source.parts[-1])),
                given=_texts(caseless(name) for name in call.roles.named),
            ),
            literal(INHERITED.format(relation=source.sql)),
        ))
    declared = "comment" in call.roles.origins.values()
    place = entry.place if entry is not None else None
    # DuckDB looks for main.t among the temporary ones, too
    *schema, table = map(caseless, source.parts)
    if declared and schema in ([], ["main"]) and place is not None and place[0] != "temp":
        checks.append((
            expression("bind_checks.shadowed", table=literal(table)),
            literal(SHADOWED.format(relation=source.sql)),
        ))
    if call.role_table is not None:
        read = call.role_table
        checks.append((
            expression(
                "bind_checks.role_table", relation=read.relation.sql, lines=_texts(read.lines)
            ),
            literal(CHANGED.format(relation=read.relation.sql)),
        ))
    return checks


def _texts(texts: Iterable[str]) -> str:
    """Texts as a list in SQL: one literal, since DuckDB plans each of thousands."""
    listed = json.dumps(list(texts), ensure_ascii=False)
    return f"""from_json({literal(listed)}, '["VARCHAR"]')"""
