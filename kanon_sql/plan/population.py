"""The SQL of a population: its people, and how many of them each released class covers."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import rows_of
from kanon_sql.sql import expression, statement


def _cells(call: GroupingCall) -> list[str]:
    """SQL of the cell of each quasi-identifier: of a column with a hierarchy, or of categories, its
    text, whatever its type."""
    texts = {caseless(spec.column) for spec in call.hierarchies}
    texts |= set(map(caseless, call.categorical))
    return [
        f"{{'number': NULL::DOUBLE, 'category': __kanon_key({quoted(name)})}}"
        if caseless(name) in texts else f"__kanon_cell({quoted(name)})"
        for name in call.roles.quasi_identifiers
    ]


def _types(call: GroupingCall) -> list[str]:
    """SQL of the type of each of these; an empty text of those that are compared as texts."""
    texts = {caseless(spec.column) for spec in call.hierarchies}
    texts |= set(map(caseless, call.categorical))
    return [
        "''" if caseless(name) in texts else f"typeof({quoted(name)})"
        for name in call.roles.quasi_identifiers
    ]


def people_stage(call: GroupingCall) -> str:
    """The stage of the people; nothing without a population."""
    if call.population is None:
        return ""
    names = call.roles.quasi_identifiers
    return statement(
        "population.people",
        cells=", ".join(_cells(call)),
        types=", ".join(_types(call)),
        population=rows_of(call.population, names),
        where=" AND ".join(f"__kanon_has({quoted(name)})" for name in names),
    ) + "\n"


def people_table(call: GroupingCall) -> list[str]:
    """The people, as an entry of the tables beside the relation."""
    if call.population is None:
        return []
    many = range(1, len(call.roles.quasi_identifiers) + 1)
    return [expression(
        "population.table",
        names=", ".join(
            f"{literal(caseless(name))}, types[{j}]"
            for j, name in zip(many, call.roles.quasi_identifiers, strict=True)
        ),
        cells=", ".join(f"cells[{j}].number::VARCHAR, cells[{j}].category" for j in many),
    )]


def covered_stages(call: GroupingCall) -> str:
    """The stages up to __kanon_covered; nothing without a population."""
    if call.population is None:
        return ""
    many = range(1, len(call.roles.quasi_identifiers) + 1)
    extents = [expression("population.extent", j=j) for j in many]
    fits = [expression("population.fits", j=j) for j in many]
    return statement(
        "population.covered", cells=", ".join(_cells(call)), extents=", ".join(extents),
        fits=" AND ".join(fits),
    ) + "\n"


def refusals_of_population(call: GroupingCall) -> str:
    """What refuses a release of which a class covers too few people, one WHEN for each demand."""
    return "".join(
        "        WHEN " + expression(
            "population.refused",
            broken=each.broken_sql("least"),
            said=literal(each.sentence(call.task.method.name)),
        ) + "\n"
        for each in call.task.of_population
    )
