"""The SQL of anonymize_roles(): what each column is, and what will be released of it."""

from __future__ import annotations

import json

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.roles import Roles
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless, literal
from kanon_sql.plan.bind_checks import refusals
from kanon_sql.plan.fragments import one_empty_row, quasi, represented, source_rows, where
from kanon_sql.plan.generalize import released_values
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.persons import person_key_counts_sql
from kanon_sql.sql import expression, statement


def _values(call: GroupingCall) -> str:
    """What classes release; of a column with a hierarchy it is a text, which is said elsewhere."""
    if isinstance(call.task.geometry, AttributeGeometry):
        word = call.release.representation
        return represented("describe" if word == "number" else word, "COLUMNS(*)")
    return released_values(call, helpers=())


def _persons(roles: Roles, least: int) -> dict[str, str]:
    """What fills the holes of what is counted of the columns by persons, where there is an
    entity."""
    if roles.entity is None:
        return {"whose": "", "persons": "'[]'"}
    return {"whose": person_key_counts_sql(roles.entity, least),
            "persons": expression("roles.persons")}


def named_roles(roles: Roles) -> dict[str, str]:
    """The role of each column that has one by name, which is in lower case."""
    return {
        caseless(name): role
        for role, names in {
            "quasi_identifier": roles.quasi_identifiers, "sensitive": roles.sensitive,
            "identifier": roles.identifiers,
            "entity": () if roles.entity is None else (roles.entity,), "within": roles.within,
            "other": roles.other,
        }.items()
        for name in names
    }


def roles_sql(call: GroupingCall) -> str:
    """The SQL of anonymize_roles()."""
    roles, release = call.roles, call.release
    named = {
        name: {"role": role, "from": roles.origins[name]}
        for name, role in named_roles(roles).items()
    }
    with_hierarchy = {caseless(spec.column) for spec in call.hierarchies}
    rules = {
        "named": named,
        "least": call.least,
        "rest": roles.rest,
        "representation": release.representation,
        "by_column": dict(release.by_column) | {
            name: "hierarchy" for name in with_hierarchy
            if release.of(name, has_hierarchy=True) == "hierarchy"
        },
        "trusted": sorted(
            caseless(spec.column) for spec in call.hierarchies if spec.chosen
        ),
        "by_tree": sorted(with_hierarchy),
        "categorical": sorted(caseless(name) for name in call.categorical),
    }
    return statement(
        "roles.call",
        unshadowed=unshadowed_sql(),
        relation=source_rows(call),
        where=where(call.source, roles, call.checked),
        one_source=one_empty_row("__kanon_source"),
        quasi=quasi(call.roles, ()),
        values=_values(call),
        **_persons(roles, call.least),
        told=literal(json.dumps(rules, sort_keys=True)),
        refusals=refusals(call),
    )
