"""The SQL of k_anonymity(): the sizes of classes, as a whole or of each part, in rows or persons;
and for sensitive columns what the worst class has on the scale of each privacy model, and how many
classes miss those that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from textwrap import wrap

from kanon_sql.call.call import Call
from kanon_sql.call.models import measured_models
from kanon_sql.names import literal, quoted
from kanon_sql.plan.bind_checks import refusals
from kanon_sql.plan.fragments import chosen, quasi, seen, source_rows, where
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.models import Checked, checked, model_stages, of_part
from kanon_sql.plan.parts import part_keys
from kanon_sql.plan.persons import measured_persons
from kanon_sql.privacy import MODELS
from kanon_sql.sql import expression, statement

NO_DEMAND = "(SELECT NULL::BIGINT AS classes_violating, NULL::BIGINT AS {}_violating)"

UNORDERED_IN = {
    False: "(SELECT different > 0 AND NOT ordered FROM __kanon_whole_{})",
    True: "EXISTS (SELECT 1 FROM __kanon_whole_{} WHERE different > 0 AND NOT ordered)",
}
"""SQL of whether values have no order, in any of some parts."""


@dataclass
class _Query:
    """The pieces of an audit, around what each tells of the sizes of classes.

    Attributes:
        stages: of its query; they end with __kanon_sizes.
        first, others: columns before and after those of sizes.
        beside: tables that have a row where there are no classes.
        refused: SQL of what is refused in the rows, one WHEN for each.
        last: what follows the conditions.
    """

    stages: list[str]
    first: str = ""
    others: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    refused: str = ""
    last: str = ""

    @property
    def source(self) -> str:
        """SQL of what the columns are aggregates of."""
        if not self.beside:
            return "__kanon_sizes, __kanon_unshadowed"
        beside = " CROSS JOIN ".join([*self.beside, "__kanon_unshadowed"])
        return f"{beside} LEFT JOIN __kanon_sizes ON true"


def k_anonymity_sql(call: Call) -> str:
    """The SQL of k_anonymity()."""
    query = _query(call)
    return statement(
        "k_anonymity.call", unshadowed=unshadowed_sql(), stages=",\n".join(query.stages),
        first=query.first,
        figures=statement("k_anonymity.figures", k=_k(call)), source=query.source, last=query.last,
        others="".join(f",\n       {columns}" for columns in query.others),
        refusals=refusals(call) + query.refused,
    )


def _query(call: Call) -> _Query:
    entity = call.roles.entity if call.by_persons else None
    if call.measured_columns:
        return _of_columns(call, entity)
    if entity is not None:
        return _of_persons(call, entity)
    if call.roles.within:
        return _of_each_part(call) if call.by_part else _of_parts(call)
    return _Query([statement("k_anonymity.sizes", seen=seen(quasi(call.roles, ())), **_rows(call))])


def _k(call: Call) -> str:
    return "NULL" if call.k is None else str(call.k)


def _rows(call: Call) -> dict[str, str]:
    return {"relation": source_rows(call), "where": where(call.source, call.roles)}


def _of_parts(call: Call) -> _Query:
    """All parts as a whole."""
    sizes = _sizes_of_parts(call, "")
    parts = statement("k_anonymity.parts", part="__kanon_part")
    return _Query([sizes, parts], others=[statement("k_anonymity.told_of_parts", k=_k(call))])


def _of_each_part(call: Call) -> _Query:
    """One row for each part."""
    parts = part_keys(call.roles)
    return _Query(
        [_sizes_of_parts(call, f"{parts['values']}, ")], first=f"{parts['within']},\n       ",
        last=f"\nGROUP BY __kanon_part\nORDER BY {parts['order']}",
    )


def _sizes_of_parts(call: Call, values: str) -> str:
    """The sizes of combinations, and the part of each; ``values``: SQL of more of it, each with a
    comma after it."""
    return statement(
        "k_anonymity.sizes_of_parts", keys=part_keys(call.roles)["keys"], values=values,
        seen=seen(quasi(call.roles, ())), **_rows(call),
    )


def _of_persons(call: Call, entity: str) -> _Query:
    """Persons in place of rows."""
    shown = [quasi(call.roles, ()), *([chosen(call.roles.within)] if call.roles.within else [])]
    whose = statement(
        "k_anonymity.whose", entity=quoted(entity), seen=", ".join(map(seen, shown)), **_rows(call)
    )
    return _with_persons(_Query([whose]), call, entity, "unnest(whose)")


def _with_persons(query: _Query, call: Call, entity: str, whose: str) -> _Query:
    """The same of persons; ``whose``: SQL of whose the rows of a combination are."""
    measured = measured_persons(call, entity, whose)
    nobody = statement("k_anonymity.nobody", said=measured["nobody"])
    return replace(
        query, stages=[*query.stages, measured["crowds"]],
        others=[*query.others, measured["persons"]], beside=["__kanon_persons", *query.beside],
        refused=f"{query.refused}        {nobody}\n",
    )


def _of_columns(call: Call, entity: str | None) -> _Query:
    """One row for each sensitive column."""
    columns, in_parts = call.measured_columns, bool(call.roles.within)
    measured = [measured_models(call.models, call.asked, column) for column in columns]
    # what is asked for is measured, too, if under another name
    every = dict.fromkeys([
        *call.models, *(model for models in measured for model in models.values())
    ])
    places = {
        each.model: replace(each, only_worst=each.model not in call.models)
        for each in checked(every, columns, in_parts)
    }
    counted = "rows" if entity is None else "persons"
    union = "\n    UNION ALL\n    ".join(
        statement(
            "k_anonymity.found_of_column", i=i, name=literal(column),
            violating=_violating(
                [places[model] for model in call.models if places[model].i == i], counted
            ),
            measured=measured_sql([places[model] for model in models.values()]),
        )
        for i, (column, models) in enumerate(zip(columns, measured, strict=True))
    )
    selected = ["any_value(sensitive) AS sensitive"]
    selected += [f"any_value({model.audited_as}) AS {model.audited_as}" for model in MODELS]
    selected += [
        f"any_value({name}_violating) AS {name}_violating" for name in ("classes", counted)
    ]
    query = _Query(
        [_sets(call, entity), stages_of_models([*places.values()], columns, entity, in_parts)],
        others=selected, beside=["__kanon_found"], refused="".join(_unordered([*places.values()])),
        last="\nGROUP BY place\nORDER BY place ASC",
    )
    if entity is not None:
        query = _with_persons(query, call, entity, "unnest(cells).whose")
    else:
        query.stages.append(
            statement("k_anonymity.sizes_of_sets", part=of_part(in_parts)["part"])
        )
        if in_parts:
            query.stages.append(statement("k_anonymity.parts", part="part"))
            query.others.insert(0, statement("k_anonymity.told_of_parts", k=_k(call)))
    query.stages.append(statement("k_anonymity.found", found=union))
    return query


def _sets(call: Call, entity: str | None) -> str:
    """The sensitive values of each combination."""
    roles = call.roles
    columns = [*enumerate(map(quoted, call.measured_columns))]
    if entity is None:
        lists = [expression("k_anonymity.set_values", i=i, column=name) for i, name in columns]
        kept, cells = ", ".join(f"__kanon_values_{i}" for i, _ in columns), ", ".join(lists)
    else:
        kept, cells = "cells", expression("k_anonymity.set_cells", cells=", ".join([
            expression("k_anonymity.set_whose", entity=quoted(entity)),
            *(expression("k_anonymity.set_cell", i=i, column=name) for i, name in columns),
        ]))
    in_parts = bool(roles.within)
    return statement(
        "k_anonymity.sets", kept=kept, cells=cells, seen=seen(quasi(roles, ())), **_rows(call),
        numbered=NUMBERED if in_parts else "",
        of_part=f"row({part_keys(roles)['keys']}) AS __kanon_part, " if in_parts else "",
    )


def stages_of_models(
    places: Sequence[Checked], columns: Sequence[str], entity: str | None, in_parts: bool
) -> str:
    """The stages that look at classes as the models do."""
    def histogram(i: int, column: str) -> str:
        if entity is None:
            return statement("k_anonymity.histogram_of_sets", i=i, **of_part(in_parts))
        rows = statement("k_anonymity.values_of_persons", i=i)
        return statement("models.histogram_of_persons", rows=rows, part="")

    def looks(i: int) -> str | None:
        values = statement("k_anonymity.values_of_sets", i=i, **of_part(in_parts))
        return f"({values})" if entity is None else None

    return model_stages(
        places, columns, histogram, in_parts=in_parts, looks=looks
    ).removesuffix(",\n")


NUMBERED = ", dense_rank() OVER (ORDER BY __kanon_part ASC NULLS LAST) AS part"
"""SQL of the number of the part that a combination is in."""

INDENT, UNBROKEN = " " * 11, "\xa0"
"""Before a line, and in place of a blank where no line ends."""


def measured_sql(models: Sequence[Checked]) -> str:
    """SQL of what the worst class has on the scale of each model, as many in a line as people
    write there."""
    holes = {each.model.audited_as: f"{each.worst} FROM {each.stage}" for each in models}
    columns = [
        f"(SELECT ${{{each.model.audited_as}}}){'::BIGINT' * each.model.whole} "
        f"AS {each.model.audited_as}".replace(" ", UNBROKEN) for each in models
    ]
    lines = wrap(", ".join(columns), 100 - len(INDENT), break_long_words=False)
    return Template(f"\n{INDENT}".join(lines).replace(UNBROKEN, " ")).substitute(holes)


def _violating(asked: Sequence[Checked], counted: str) -> str:
    """SQL of the classes that miss what is asked of a column, and of the rows or persons in them:
    which it is, ``counted`` says."""
    if not asked:
        return NO_DEMAND.format(counted)
    models = " UNION ALL ".join(
        f"SELECT combination, size, passes FROM {each.stage}" for each in asked
    )
    return statement("k_anonymity.violating", models=models, counted=counted)


def _unordered(models: Sequence[Checked]) -> Iterator[str]:
    """What refuses a distance by an order that the values don't have, one WHEN for each."""
    for each in models:
        if each.model.unordered is not None:
            yield (
                f"        WHEN {UNORDERED_IN[each.in_parts].format(each.i)}\n"
                f"            THEN __kanon_refuse('DataError', {literal(each.model.unordered)})\n"
            )
