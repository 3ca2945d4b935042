"""What a call asks of its classes, held against a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.options import Options
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError, printable
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless
from kanon_sql.privacy import OF_POPULATION
from kanon_sql.privacy.population import read_population

NOT_TOGETHER = (
    "{0} is not available with {1}: it counts people by the quasi-identifiers of the rows alone. "
    "Leave {0} or {1} out."
)
"""What is said of an option that compares classes with a population, beside another option."""

LACKING = (
    "The relation of population has no column {!r}, which is a quasi-identifier of the rows. Give "
    "one that has it, or leave it out of quasi_identifiers."
)


def compared_by(options: Mapping[str, Any]) -> str | None:
    """The first option of those given that compares classes with the population."""
    return next((
        kind.option for kind in OF_POPULATION if options.get(kind.option) is not None
    ), None)


def named_population(
    named: str | None, columns: Sequence[str], catalog: Catalog
) -> Relation | None:
    """The population of this name, with what is said of each of these columns that the catalog
    doesn't show; None without one."""
    if named is None:
        return None
    relation = find_relation(named, catalog)
    known = {caseless(name) for name in relation.columns or ()}
    return replace(relation, lacking={
        name: printable(LACKING.format(name)) for name in columns if caseless(name) not in known
    })


def of_population(
    task: GroupTask, roles: Roles, options: Options, catalog: Catalog
) -> tuple[GroupTask, Relation | None]:
    """The task with what is asked, and the population.

    Raises:
        OptionError: options that don't go together, or a method that can't merge any two classes.
    """
    asked, named = read_population(OF_POPULATION, options.people), options.risk.population
    if not asked:
        if named is not None:
            known = " or ".join(kind.option for kind in OF_POPULATION)
            raise OptionError(
                f"population is given, and no option compares the classes with it. Add {known}, or "
                "leave population out."
            )
        return task, None
    option = asked[0].option
    if named is None:
        raise OptionError(
            f"{option} is given, and there is no population. Name it in population='census', for "
            "example."
        )
    _refuse(option, task, roles, options)
    task = replace(task, beside_k=(*task.beside_k, *asked))
    return task, named_population(named, roles.quasi_identifiers, catalog)


def _refuse(option: str, task: GroupTask, roles: Roles, options: Options) -> None:
    """Raises OptionError for what doesn't go with it."""
    if roles.open:
        raise OptionError(
            f"{option} compares the quasi-identifiers with the population, and they are not known "
            "before the query runs. Name them in quasi_identifiers=[...]."
        )
    name = task.method.name
    if isinstance(task.geometry, AttributeGeometry) or task.method.keeps_models:
        raise OptionError(
            f"The method {name!r} doesn't allow every two classes to be merged, as {option} needs "
            "it. Use another method, such as mdav_star."
        )
    if not task.method.promises_k:
        raise OptionError(
            f"The method {name!r} promises no class size, and nothing that {option} asks for. Use "
            f"r_cellular, or leave {option} out."
        )
    for other, given in {
        "entity": roles.entity is not None, "within": bool(roles.within),
        "ledger": options.ledger.ledger is not None or options.ledger.headroom is not None
        or options.call == "anonymize_ledger",
    }.items():
        if given:
            raise OptionError(NOT_TOGETHER.format(option, other))


def used_population(task: GroupTask, population: Relation | None) -> dict[str, Any]:
    """The options as they are used, for the metrics; nothing where nobody asks for them."""
    if population is None:
        return {}
    asked = {each.option: each.limit for each in task.of_population}
    return {**asked, "population": ".".join(population.parts)}
