"""Which column gets which hierarchy: from a relation, of a kind, or of a kind by its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.hierarchies.kinds import BY_TYPE, KINDS, NOMINAL, check_kind
from kanon_sql.names import caseless


@dataclass(frozen=True)
class HierarchySpec:
    """How the hierarchy of one column is made.

    Attributes:
        column: the column.
        levels: the relation that holds the levels; None where a kind makes them.
        kind: the kind, or BY_TYPE for the one that follows from the column's type.
        options: of the kind, checked.
        table: the relation that the kind is made from, if it needs one.
        chosen: whether somebody chose it; else the column has it because every one needs one.
        suggested: whether the call asked for those that are suggested, and this is one.
    """

    column: str
    levels: Relation | None = None
    kind: str = BY_TYPE
    options: Mapping[str, Any] = field(default_factory=dict)
    table: Relation | None = None
    chosen: bool = True
    suggested: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """What the function inside the query needs to know of it."""
        if self.levels is not None:
            return {"relation": self.levels.sql}
        return {"kind": self.kind, **self.options}

    @property
    def as_used(self) -> Any:
        """What the metrics tell of it."""
        if self.levels is not None:
            return self.levels.sql
        if self.kind == BY_TYPE:
            return "a kind by the column's type"
        return self.spec if self.options else self.kind


def read_hierarchy(column: str, spec: str | Mapping[str, Any], catalog: Catalog) -> HierarchySpec:
    """How the hierarchy of a column is made: the name of a kind or of a relation, or a kind with
    its options.

    Raises:
        OptionError: an unknown kind or option, or a relation with the name of a stage.
    """
    if isinstance(spec, str):
        if spec.lower() in KINDS or spec == BY_TYPE:  # as DuckDB, where names ignore case
            return HierarchySpec(column, kind=spec.lower())
        return HierarchySpec(column, levels=find_relation(spec, catalog))
    named = {
        name: value.tolist() if hasattr(value, "tolist") else value  # of numpy
        for name, value in spec.items() if value is not None
    }
    checked = check_kind(column, named)
    kind = checked.pop("kind")
    names = [checked[name] for name in KINDS[kind].tables if checked[name] is not None]
    tables = [find_relation(name, catalog) for name in names]
    given_options = {name: named[name] for name in named if name != "kind"}
    return HierarchySpec(
        column, kind=kind, options=given_options, table=tables[-1] if tables else None
    )


def read_hierarchies(
    hierarchies: Mapping[str, Any], roles: Roles, source: Relation, catalog: Catalog,
    every: str | None = None, categorical: tuple[str, ...] = (),
    suggested: tuple[HierarchySpec, ...] = (),
) -> tuple[HierarchySpec, ...]:
    """The hierarchy of each column that has one, in the order given.

    Args:
        hierarchies: by column, as in ``read_hierarchy``.
        roles, source: which columns are quasi-identifiers.
        catalog: finds the relations that are named.
        every: why every quasi-identifier needs one, if so.
        categorical: the columns whose values are categories whatever their type.
        suggested: the hierarchies of other columns that are suggested.

    Raises:
        OptionError: a hierarchy for a column that is no quasi-identifier, or columns that are not
            known where every one of them needs a hierarchy.
    """
    others = {caseless(name) for name in roles.others}
    known = roles.known_columns(source)
    for name in hierarchies:
        if caseless(name) in others or (known and caseless(name) not in map(caseless, known)):
            raise OptionError(
                f"hierarchies names the column {name!r}, which is not a quasi-identifier. "
                + (did_you_mean(name, known) if known else "Give it another role, or leave it out.")
            )
    if every is not None and not known:
        raise OptionError(
            f"{every} needs to know the columns before it runs. Name them in "
            "quasi_identifiers=[...]."
        )
    named = {caseless(name) for name in (*hierarchies, *(spec.column for spec in suggested))}
    nominal = {caseless(name) for name in categorical}
    added = {
        name: NOMINAL if caseless(name) in nominal else BY_TYPE
        for name in known if every and caseless(name) not in named
    }
    return (
        *(read_hierarchy(column, spec, catalog) for column, spec in hierarchies.items()),
        *suggested,
        *(HierarchySpec(column, kind=kind, chosen=False) for column, kind in added.items()),
    )
