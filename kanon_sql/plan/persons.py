"""The SQL of persons: that every combination of released values has so many, whoever has several
rows, and that all rows of a person are in one class."""

from __future__ import annotations

import json

from kanon_sql.call.call import Call, GroupingCall
from kanon_sql.call.roles import Roles
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import PART, helpers, listed
from kanon_sql.sql import expression, statement

FEW = (
    "The release was stopped: a class of released values has {{}} persons, fewer than k = {k}. "
    "Nothing was released; please report this as a bug of the method {method}."
)
SCATTERED = (
    "The release was stopped: {{}} times rows of a person are in another class than the rest. "
    "Nothing was released; please report this as a bug of the method {method}."
)
NOBODY = (
    "The column {entity!r} is NULL in rows that would be released, in {{}} classes. Fill it, or "
    "leave these rows out."
)

OF_NOBODY = (
    "The column {entity!r} is NULL in some rows, which belong to no person. Fill it, or leave "
    "these rows out."
)
"""What k_anonymity says of them."""


NEARLY = 0.9
"""The share of the persons that a column tells apart from which on it is spoken of."""


def person_keys_sql(roles: Roles, least: int) -> str:
    """The stages that find out which columns that pass tell persons apart as the entity does."""
    entity = roles.entity
    assert entity is not None
    passing = "".join(f", {quoted(name)}" for name in roles.passing)
    if roles.rest == "release":
        away = (*helpers(roles), *roles.quasi_identifiers, *roles.identifiers, *roles.within)
        passing = f", * EXCLUDE ({listed(away)})"
    stages = statement(
        "persons.told", entity=quoted(entity), passing=passing, least=least
    ) + "\n"
    if roles.rest == "release":
        known = json.dumps([caseless(name) for name in roles.named], ensure_ascii=False)
        stages += statement(
            "persons.withheld_persons",
            least=least,
            named=listed((*helpers(roles), *roles.named)),
            known=f"""from_json({literal(known)}, '["VARCHAR"]')""",
        ) + "\n"
    return stages


def person_key_counts_sql(entity: str, least: int) -> str:
    """The stage that finds out which columns of a relation tell persons apart as the entity."""
    passing = f", * EXCLUDE ({quoted(entity)})"
    return statement(
        "persons.told", entity=quoted(entity), passing=passing, least=least
    ) + "\n"


def described_entity(entity: str) -> str:
    """SQL of a list: name and type of the column that says whose row a row is, given in quotes, and
    the names of those that pass and tell persons apart as it does."""
    return expression("persons.keys", entity=entity, nearly=NEARLY)


def measured_persons(call: Call, entity: str, whose: str) -> dict[str, str]:
    """What an audit of persons fills in: the stages that count them, the columns that tell of them,
    and what is said of rows of nobody.

    Args:
        call: the audit.
        entity: the column that says whose row a row is.
        whose: SQL of whose the rows of a combination are.
    """
    return {
        "crowds": statement("persons.crowds", whose=whose),
        "persons": statement(
            "persons.columns_of_persons", k="NULL" if call.k is None else call.k
        ),
        "nobody": literal(OF_NOBODY.format(entity=entity)),
    }


def persons_stages(call: GroupingCall) -> str:
    """The stages up to __kanon_persons; nothing where each row is a person."""
    if call.roles.entity is None:
        return ""
    holes = dict.fromkeys(("part", "of_part", "due", "counted"), "") | {"coming": "entity"}
    if call.roles.within:
        # whoever is in several parts is to be in one class of each, and may be left out of some
        holes = {
            "part": "part, ", "of_part": f"__kanon_kept.{PART} AS part, ", "due": ", due",
            "counted": ", count(DISTINCT concat(part, ' ', entity)) AS due",
            "coming": "concat(part, ' ', entity)",
        }
    return statement("persons.stages", entity=quoted(call.roles.entity), **holes) + "\n"


def persons_lacking(call: GroupingCall) -> str:
    """SQL of how many persons there are of whom rows were left out, over __kanon_persons.

    Rows that nulls 'suppress' leaves out are in none of its classes: what suppress allows is for
    the others, and a person who lacks such a row is not scattered. So they are counted here only.
    """
    if call.roles.entity is None or call.task.nulls != "suppress":
        return "left_out"
    return expression("persons.lacking", entity=quoted(call.roles.entity))


def refusals_of_persons(call: GroupingCall, joins: bool) -> str:
    """What refuses a release that has not what it promises of persons, one WHEN for each.

    ``joins``: whether its rows are among others in their classes, which are counted elsewhere.
    """
    entity, task = call.roles.entity, call.task
    if entity is None:
        return ""
    words = {"k": task.k, "method": task.method.name, "entity": entity}
    checks = [("strangers > 0", "strangers", NOBODY)]
    if not joins:
        checks.append((f"fewest < {task.k}", "fewest", FEW))
    if task.persons:
        due = "due" if call.roles.within else "everybody"
        checks.append((f"places <> {due}", f"places - {due}", SCATTERED))
    return "".join(
        "        WHEN " + expression(
            "persons.refused", broken=broken, found=count,
            said=literal(said.format(**words)),
        ) + "\n"
        for broken, count, said in checks
    )


def too_many_out(call: GroupingCall) -> str:
    """SQL that says whether more is left out than the call allows: of rows, or of persons."""
    share = call.task.left_out[1]
    return expression("persons.out" if call.task.persons else "persons.row_out", share=share)
