"""The SQL of parts: which there are, what becomes of small ones, and that no class crosses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.roles import Roles
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import PART
from kanon_sql.plan.models import checked
from kanon_sql.sql import expression, statement

SMALL = (
    "Parts that are too small: {{}} of {{}}, with {{}} rows in all. Each has fewer than "
    "{least}{more}"
)
MORE = {
    "error": ". Say small_parts='join' or small_parts='suppress', or name fewer columns in within.",
    "suppress": ", and small_parts='suppress' would leave out every row. Say small_parts='join', "
    "or name fewer columns in within.",
    "join": ", and all parts together have too few as well. Lower k or the thresholds, or release "
    "nothing.",
}
"""What is said of parts that can't be released, by what is done with small ones."""

STRAYED = (
    "The release was stopped: {{}} rows are in a class of another part. Nothing was released; "
    "please report this as a bug of the method {method}."
)


def _small(call: GroupingCall) -> str:
    """SQL that says whether rows and persons are too few for a class."""
    least = call.task.least_size
    if call.roles.entity is None:
        return f'"rows" < {least}'
    if call.task.persons:
        return f"persons < {least}"
    return f'persons < {call.task.k} OR "rows" < {least}'


def _least(call: GroupingCall) -> str:
    """The same in words."""
    if call.roles.entity is None:
        return f"{call.task.least_size} rows"
    if call.task.persons or call.task.least_size <= call.task.k:
        return f"{max(call.task.k, call.task.least_size)} persons"
    return f"{call.task.k} persons, or than {call.task.least_size} rows"


def same_part(call: GroupingCall, left: str, right: str | None = None) -> str:
    """SQL that says whether a row of one stage has the values of another, or the keys of a part, as
    a reader tells them apart."""
    conditions = []
    for i, name in enumerate(map(quoted, call.roles.within)):
        column = f"{left}.{name}"
        seen, printed = f"__kanon_seen_{i}", f"__kanon_printed_{i}"
        if right is not None:
            seen, printed = f"__kanon_seen({right}.{name})", f"__kanon_printed({right}.{name})"
        conditions += [
            f"__kanon_seen({column}) IS NOT DISTINCT FROM {seen}",
            f"__kanon_printed({column}) IS NOT DISTINCT FROM {printed}",
        ]
    return " AND ".join(conditions)


def _order(values: Sequence[str]) -> str:
    """SQL of the order of parts by the values of within: of texts that of their bytes, whatever
    their collation; what compares as equal stands by its text."""
    compared = [part for each in values for part in (f"__kanon_letters({each})", each)]
    texts = [f"encode({each}::VARCHAR)" for each in values]
    return ", ".join(f"{each} ASC NULLS LAST" for each in (*compared, *texts))


def parts_sql(call: GroupingCall, counted: Mapping[str, str] | None = None) -> str:
    """The stages from the rows that take part to __kanon_kept; nothing without parts.

    Args:
        call: the call.
        counted: where each row of __kanon_taking stands for several, SQL of how many "rows" there
            are, and "persons".
    """
    roles = call.roles
    if not roles.within:
        return ""
    columns = list(enumerate(map(quoted, roles.within)))
    keys = ", ".join(
        f"any_value({name}) AS __kanon_of_{i}, __kanon_seen({name}) AS __kanon_seen_{i}, "
        f"__kanon_printed({name}) AS __kanon_printed_{i}" for i, name in columns
    )
    order = _order([f"__kanon_of_{i}" for i, _ in columns])
    replaced = [f"__kanon_parts.number AS {PART}", *starred(call)]
    whose = None if roles.entity is None else f"decode(encode(__kanon_key({quoted(roles.entity)})))"
    return statement(
        "parts.stages",
        **(counted or {
            "rows": "count(*)",
            "persons": "NULL::BIGINT" if whose is None else f"count(DISTINCT {whose})",
        }),
        found=keys,
        order=order,
        small=_small(call),
        joining=_joining(call, whose),
        parts=statement(f"parts.{call.small_parts}"),
        replaced=", ".join(replaced),
        same=same_part(call, "__kanon_taking"),
    ) + "\n"


def starred(
    call: GroupingCall, rows: str = "__kanon_taking", joined: str = "__kanon_parts.joined"
) -> list[str]:
    """What the columns of within are released as, each with its name, where they aren't released
    as they are.

    Args:
        call: the call.
        rows: the stage of the rows.
        joined: SQL of whether the part of a row is put together with others.
    """
    if call.small_parts != "join":
        return []
    return [
        f"__kanon_starred({rows}.{name}, {joined}) AS {name}"
        for name in map(quoted, call.roles.within)
    ]


def _joining(call: GroupingCall, whose: str | None) -> str:
    """The stages that say which parts are put together."""
    if call.small_parts != "join":
        return ""
    starred = " AND ".join(
        f"__kanon_is_starred(__kanon_of_{i})" for i in range(len(call.roles.within))
    )
    people = "" if whose is None else " " + statement(
        "parts.joining_people", entity=whose, same=same_part(call, "__kanon_taking")
    )
    return statement(
        "parts.joining",
        starred=starred,
        size='"rows"' if whose is None else "persons",
        fresh="NULL::BIGINT" if whose is None else "coalesce(fresh, 0)",
        people=people,
        small=_small(call),
    ) + "\n"


def classes_of_parts(call: GroupingCall, classes: str) -> str:
    """What classes release, with the columns of within."""
    if not call.roles.within:
        return classes
    within = ", ".join(f"any_value({name}) AS {name}" for name in map(quoted, call.roles.within))
    return statement("parts.classes_of_parts", classes=classes, within=within)


def refusals_of_parts(call: GroupingCall) -> str:
    """What refuses parts that are too small, as a WHEN."""
    if not call.roles.within:
        return ""
    broken = {
        "error": "(SELECT count(*) > 0 FROM __kanon_parts WHERE small)",
        "suppress": "(SELECT count(*) > 0 AND bool_and(small) FROM __kanon_parts)",
        "join": "(SELECT any_small AND last IS NULL FROM __kanon_last)",
    }[call.small_parts]
    said = SMALL.format(least=_least(call), more=MORE[call.small_parts])
    return f"        WHEN {broken}\n            THEN " + expression(
        "parts.refused", said=literal(said)
    ) + "\n"


def stages_of_left(call: GroupingCall) -> str:
    """The stages that count what is left out of each part, and what crosses parts."""
    roles = call.roles
    if not roles.within:
        return ""
    persons = ", count(DISTINCT entity) AS persons, " + (
        "count(DISTINCT entity) FILTER (WHERE __kanon_class < 0) AS persons_out"
    )
    entity = "" if roles.entity is None else (
        f", decode(encode(__kanon_key(__kanon_kept.{quoted(roles.entity)}))) AS entity"
    )
    return statement(
        "parts.left",
        persons="" if roles.entity is None else persons,
        entity=entity,
        same=same_part(call, "__kanon_labelled", "__kanon_classes"),
    ) + "\n"


def refusals_of_crossing(call: GroupingCall) -> str:
    """What refuses classes that cross parts, as a WHEN."""
    if not call.roles.within:
        return ""
    said = literal(STRAYED.format(method=call.task.method.name))
    return (
        "        WHEN (SELECT strayed > 0 FROM __kanon_strayed)\n            THEN __kanon_refuse("
        f"'ReleaseError', format({said}, (SELECT strayed FROM __kanon_strayed)))\n"
    )


def parts_too_many_out(call: GroupingCall) -> str:
    """SQL that says whether more is left out of a part than the call allows."""
    out, every = ("persons_out", "persons") if call.task.persons else ("out", "rows")
    return expression("parts.out", out=out, all=every, share=call.task.left_out[1])


def part_keys(roles: Roles) -> dict[str, str]:
    """What fills the holes of an audit in parts: the keys by which parts are told apart, and their
    values, by name and in their order."""
    columns = list(enumerate(map(quoted, roles.within)))
    return {
        "keys": ", ".join(f"__kanon_seen({n}), __kanon_printed({n})" for _, n in columns),
        "values": ", ".join(f"any_value({n}) AS __kanon_of_{i}" for i, n in columns),
        "within": ", ".join(f"any_value(__kanon_of_{i}) AS {n}" for i, n in columns),
        "order": _order([f"any_value(__kanon_of_{i})" for i, _ in columns]),
    }


def of_each_part(by_part: bool) -> dict[str, str]:
    """What fills the holes of metrics by which they look at one part alone."""
    if not by_part:
        return {"of_part": "", "of_models": " WHERE"}
    condition = "_of WHERE part = __kanon_facts.part"
    return {"of_part": condition, "of_models": f"{condition} AND"}


def stages_by_part(call: GroupingCall, has_centers: bool) -> dict[str, str]:
    """What fills the holes of the facts of each part."""
    if not call.by_part:
        return {}
    models = "\n    UNION ALL\n    ".join(
        statement("parts.models_by_part", i=each.i, j=each.j, worst=each.worst, stage=each.stage)
        for each in checked(call.task.models, call.task.sensitive)
    )
    stages = f"__kanon_models_of AS MATERIALIZED (\n    {models}\n),\n" if models else ""
    if call.roles.entity is not None:
        stages += statement("parts.persons_by_part") + "\n"
    verbatim = " CROSS JOIN (SELECT NULL::BIGINT AS centers_equal_to_a_row)"
    return {
        "of_parts": stages,
        "verbatim": "\n    " + statement("parts.verbatim_by_part") if has_centers else verbatim,
        "within": ", ".join(
            f"any_value({name}) AS {name}" for name in map(quoted, call.roles.within)
        ),
    }
