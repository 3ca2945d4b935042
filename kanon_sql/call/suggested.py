"""The hierarchies that codes and dates need, where a call asks for those that are suggested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.hierarchies import HierarchySpec, read_hierarchies, read_hierarchy
from kanon_sql.call.relation import Relation
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.codes import suggest, tells_rows_apart
from kanon_sql.hierarchies.kinds import REST, SUGGESTED
from kanon_sql.names import caseless

UNREAD = (
    "hierarchies 'suggested' looks at all rows before the query runs, and DuckDB can't read {} "
    "then. Name a table, view or file that is committed, or state each hierarchy."
)


def stated(hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchies of columns that are named."""
    return {name: spec for name, spec in hierarchies.items() if name != REST}


def all_hierarchies(
    hierarchies: Mapping[str, Any], roles: Roles, source: Relation, catalog: Catalog,
    every: str | None = None, categorical: tuple[str, ...] = (),
) -> tuple[HierarchySpec, ...]:
    """The hierarchy of each column that has one: those that are stated, and those that are
    suggested; see ``read_hierarchies``."""
    suggested = suggested_hierarchies(hierarchies, roles, source, catalog)
    return read_hierarchies(
        stated(hierarchies), roles, source, catalog, every, categorical, suggested
    )


def suggested_hierarchies(
    hierarchies: Mapping[str, Any], roles: Roles, source: Relation, catalog: Catalog
) -> tuple[HierarchySpec, ...]:
    """The hierarchies that quasi-identifiers need and that nobody stated: those for which
    anonymize_roles gives a reason. None where the call doesn't ask for them.

    A column that nobody named and that tells nearly all rows apart gets none, and is withheld as
    without the word.

    Args:
        hierarchies: as the option has them.
        roles, source: which columns are quasi-identifiers.
        catalog: reads the rows of the source.

    Raises:
        OptionError: the rows can't be read before the query runs.
    """
    if REST not in hierarchies:
        return ()
    try:
        exist = {caseless(c): c for c in catalog.content(f"(FROM {source.sql} LIMIT 0)").names}
        others = {caseless(name) for name in (*roles.others, *stated(hierarchies))}
        asked = exist if roles.open else map(caseless, roles.quasi_identifiers)
        # one that doesn't exist is refused elsewhere
        names = [exist[name] for name in asked if name in exist and name not in others]
        facts = catalog.facts(source.sql, names)
    except OptionError:
        raise OptionError(UNREAD.format(source.parts[-1])) from None
    named = {caseless(name) for name in roles.quasi_identifiers}
    specs = []
    for each in facts:
        tree = suggest(each)
        if tree is None or tree.reason is None or (
            caseless(each.name) not in named and tells_rows_apart(each)
        ):
            continue
        specs.append(replace(read_hierarchy(each.name, tree.spec, catalog), suggested=True))
    return tuple(specs)


def refuse_suggested(hierarchies: Any) -> None:
    """Raises OptionError where suggestions are asked for and no rows can be looked at."""
    asked = hierarchies == SUGGESTED or (isinstance(hierarchies, Mapping) and REST in hierarchies)
    if asked:
        raise OptionError(
            "hierarchies 'suggested' looks at all rows first, and Spark releases them block by "
            "block. State each hierarchy, such as {'zip': 'prefix'}."
        )
