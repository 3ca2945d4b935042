"""The SQL of k_anonymity() for sensitive columns: what the worst class has on the scale of each
privacy model, and how many classes miss those that are asked for; of persons where the call says
whose the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from textwrap import wrap

from kanon_sql.call.call import Call
from kanon_sql.call.models import measured_models
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import quasi, seen, source_rows, where
from kanon_sql.plan.models import Checked, checked, model_stages, of_part
from kanon_sql.plan.parts import told_by_part
from kanon_sql.plan.persons import measured_persons
from kanon_sql.plan.shadows import sound_sql
from kanon_sql.plan.unseen import refusals
from kanon_sql.privacy import MODELS
from kanon_sql.sql import expression, statement

NO_DEMAND = "(SELECT NULL::BIGINT AS classes_violating, NULL::BIGINT AS {}_violating)"

UNORDERED_IN = {
    False: "(SELECT different > 0 AND NOT ordered FROM __kanon_whole_{})",
    True: "EXISTS (SELECT 1 FROM __kanon_whole_{} WHERE different > 0 AND NOT ordered)",
}
"""SQL of whether values have no order, in any of some parts."""


def sensitive_sql(call: Call) -> str:
    """The SQL of k_anonymity(), one row for each sensitive column."""
    source, roles, columns = call.source, call.roles, call.looked_at
    entity, in_parts = roles.entity if call.by_persons else None, bool(roles.within)
    measured = [measured_models(call.models, call.asked, column) for column in columns]
    # what is asked for is measured, too, if under another name
    every = dict.fromkeys([
        *call.models, *(model for models in measured for model in models.values())
    ])
    places = {each.model: each for each in checked(every, columns, in_parts)}
    stages = model_stages(
        [*places.values()], columns,
        lambda i, column: statement(
            "sensitive.histogram_of_sets", i=i, **of_part(in_parts)
        ) if entity is None
        else statement(
            "models.histogram_of_persons", rows=statement("sensitive.values_of_sets", i=i), part=""
        ),
        in_parts=in_parts,
    )
    cells = ", ".join([
        *([] if entity is None else [expression("sensitive.set_whose", entity=quoted(entity))]),
        *(
            expression("sensitive.set_cell", i=i, column=quoted(column))
            for i, column in enumerate(columns)
        ),
    ])
    sets = statement(
        "sensitive.sets", cells=cells, seen=seen(quasi(roles, ())), relation=source_rows(call),
        where=where(source, roles), numbered=NUMBERED if in_parts else "",
        of_part=f"row({told_by_part(roles)['keys']}) AS __kanon_part, " if in_parts else "",
    )
    found = "\n    UNION ALL\n    ".join(
        statement(
            "sensitive.found_sensitive", i=i, name=literal(column),
            violating=_violating([
                places[model] for model in call.models if places[model].i == i
            ], "rows" if entity is None else "persons"),
            measured=_measured([places[model] for model in models.values()]),
        )
        for i, (column, models) in enumerate(zip(columns, measured, strict=True))
    )
    holes = {
        "sound": sound_sql(),
        "stages": f"{sets}\n{stages}",
        "found": found,
        "measured": ",\n       ".join(
            f"any_value({model.audited_as}) AS {model.audited_as}" for model in MODELS
        ),
        "k": "NULL" if call.k is None else call.k,
        "refusals": refusals(call) + "".join(_unordered([*places.values()])),
    }
    if entity is None:
        parts = ""
        if in_parts:
            parts = statement("sensitive.parts_of_sets", k=holes["k"]) + "\n       "
        return statement(
            "audit.k_anonymity_sensitive", **holes, parts=parts, part=of_part(in_parts)["part"]
        )
    return statement(
        "audit.k_anonymity_persons_sensitive", **holes, **measured_persons(call, entity, SET),
    )


NUMBERED = ", dense_rank() OVER (ORDER BY __kanon_part ASC NULLS LAST) AS part"
"""SQL of the number of the part that a combination is in."""

INDENT, UNBROKEN = " " * 11, "\xa0"
"""Before a line, and in place of a blank where no line ends."""

SET = "unnest(cells).whose"
"""SQL of whose the rows of a combination are."""


def _measured(models: Sequence[Checked]) -> str:
    """SQL of what the worst class has on the scale of each model, as many in a line as people
    write there."""
    holes = {each.model.audited_as: f"{each.worst} FROM {each.stage}" for each in models}
    found = [
        f"(SELECT ${{{each.model.audited_as}}}){'::BIGINT' * each.model.whole} "
        f"AS {each.model.audited_as}".replace(" ", UNBROKEN) for each in models
    ]
    lines = wrap(", ".join(found), 100 - len(INDENT), break_long_words=False)
    return Template(f"\n{INDENT}".join(lines).replace(UNBROKEN, " ")).substitute(holes)


def _violating(asked: Sequence[Checked], counted: str) -> str:
    """SQL of the classes that miss what is asked of a column, and of the rows or persons in them:
    which it is, ``counted`` says."""
    if not asked:
        return NO_DEMAND.format(counted)
    models = " UNION ALL ".join(
        f"SELECT combination, size, passes FROM {each.stage}" for each in asked
    )
    return statement("sensitive.violating", models=models, counted=counted)


def _unordered(models: Sequence[Checked]) -> Iterator[str]:
    """What refuses a distance by an order that the values don't have, one WHEN for each."""
    for each in models:
        if each.model.unordered is not None:
            yield (
                f"        WHEN {UNORDERED_IN[each.in_parts].format(each.i)}\n"
                f"            THEN __kanon_refuse('DataError', {literal(each.model.unordered)})\n"
            )
