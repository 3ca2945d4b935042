"""The SQL of persons: that every combination of released values has so many, whoever has several
rows, and that all rows of a person are in one class."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import literal, quoted
from kanon_sql.sql import expression, statement

FEW = (
    "The release was stopped: a class of released values has {{}} persons, fewer than k = {k}. "
    "Nothing came out; please report this as a bug of the method {method}."
)
SCATTERED = (
    "The release was stopped: {{}} times rows of a person are in another class than the rest. "
    "Nothing came out; please report this as a bug of the method {method}."
)
NOBODY = (
    "The column {entity!r} is NULL in rows that would come out, in {{}} classes. Fill it, or leave "
    "these rows out."
)

OF_NOBODY = (
    "The column {entity!r} is NULL in some rows, which belong to nobody. Fill it, or leave these "
    "rows out."
)
"""What k_anonymity says of them."""


def persons_stages(call: GroupingCall) -> str:
    """The stages up to __kanon_persons; nothing where each row is a person."""
    if call.roles.entity is None:
        return ""
    return statement("stages/persons", entity=quoted(call.roles.entity)) + "\n"


def refusals_of_persons(call: GroupingCall) -> str:
    """What refuses a release that has not what it promises of persons, one WHEN for each."""
    entity, task = call.roles.entity, call.task
    if entity is None:
        return ""
    words = {"k": task.k, "method": task.method.name, "entity": entity}
    checks = [
        ("strangers > 0", "strangers", NOBODY), (f"fewest < {task.k}", "fewest", FEW),
    ]
    if task.persons:
        checks.append(("places <> everybody", "places - everybody", SCATTERED))
    return "".join(
        "        WHEN " + expression(
            "stages/person_refused", broken=broken, found=found,
            said=literal(said.format(**words)),
        ) + "\n"
        for broken, found, said in checks
    )


def too_many_out(call: GroupingCall) -> str:
    """SQL that says whether more is left out than the call allows: of rows, or of persons."""
    share = call.task.left_out[1]
    return expression("stages/person_out" if call.task.persons else "stages/row_out", share=share)
