"""The relation of roles: the decision about every column in one place, under version control."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.declarations import ROLES, read_role
from kanon_sql.call.options import OPTIONS, Options
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.names import caseless

COLUMNS = ("column_name", "role", "hierarchy", "representation", "column_weight")
NEEDED = COLUMNS[:2]


@dataclass(frozen=True)
class RoleTable:
    """What a relation says of the columns of another.

    Attributes:
        relation: where it was read.
        lines: its rows as text, by which the query knows that nothing has changed.
        roles: the role of each column that it names.
        hierarchies, representation, weights: of the columns that have one, as the options of these
            names.
    """

    relation: Relation
    lines: tuple[str, ...]
    roles: Mapping[str, str]
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    representation: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


def read_role_table(name: str, source: Relation, catalog: Catalog) -> RoleTable:
    """The roles that a relation gives.

    Args:
        name: what the user calls it.
        source: the relation whose columns it speaks of.
        catalog: reads it.

    Raises:
        OptionError: it can't be read, lacks a column, has one too many, or says what can't be
            understood.
    """
    relation = find_relation(name, catalog)
    content = catalog.content(relation.sql)
    names = [caseless(column) for column in content.names]
    for column in names:
        if column not in COLUMNS:
            raise OptionError(
                f"The relation of roles {name!r} has a column {column!r}, which means nothing "
                f"here. {did_you_mean(column, COLUMNS)}"
            )
    for column in NEEDED:
        if column not in names:
            raise OptionError(
                f"The relation of roles {name!r} has no column {column!r}. It needs "
                f"{' and '.join(NEEDED)}, and may have {', '.join(COLUMNS[2:])}."
            )
    table = RoleTable(relation, content.lines, {}, {}, {}, {})
    roles: dict[str, str] = {}
    more: dict[str, dict[str, Any]] = {"hierarchy": {}, "representation": {}, "column_weight": {}}
    for row in content.rows:
        said = dict(zip(names, row, strict=True))
        column = _column(name, said["column_name"], roles, source)
        roles[column] = _role(name, column, said["role"])
        for option, by_column in more.items():
            if said.get(option) is not None:
                if roles[column] != "quasi_identifier":
                    raise OptionError(
                        f"The relation of roles {name!r} gives the column {column!r} a {option}, "
                        "and it is not a quasi-identifier. Leave it NULL."
                    )
                by_column[column] = said[option]
    return replace(
        table, roles=roles,
        hierarchies=OPTIONS["hierarchies"].read(
            {column: _hierarchy(value) for column, value in more["hierarchy"].items()}
        ),
        representation=_representations(more["representation"]),
        weights=OPTIONS["column_weights"].read(
            {column: _weight(value) for column, value in more["column_weight"].items()}
        ),
    )


def _representations(representations: Mapping[str, Any]) -> Mapping[str, str]:
    return dict(OPTIONS["representation"].read(representations)) if representations else {}


def _column(table: str, name: Any, taken: Mapping[str, str], source: Relation) -> str:
    if not isinstance(name, str) or not name.strip():
        raise OptionError(
            f"The relation of roles {table!r} has a row without a column_name. Fill or delete it."
        )
    if caseless(name) in map(caseless, taken):
        raise OptionError(
            f"The relation of roles {table!r} names the column {name!r} twice. Leave one row."
        )
    known = source.columns
    if known is not None and caseless(name) not in map(caseless, known):
        raise OptionError(
            f"The relation of roles {table!r} names the column {name!r}, which doesn't exist. "
            f"{did_you_mean(name, known)}"
        )
    return name


def _role(table: str, column: str, text: Any) -> str:
    role = read_role(text) if isinstance(text, str) else None
    if role is None:
        raise OptionError(
            f"The relation of roles {table!r} gives the column {column!r} no role that exists. "
            f"There are: {', '.join(ROLES)}."
        )
    return role


def _weight(value: Any) -> Any:
    """A weight as the option has it, which reads no decimals."""
    return float(value) if isinstance(value, Decimal) else value


def _hierarchy(value: Any) -> Any:
    """A hierarchy as the option has it: a kind with options may be written as JSON."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            raise OptionError(
                "The relation of roles has a hierarchy that is not JSON. Write it as "
                '{"kind": "bins", "width": 10}, or name a kind or a relation.'
            ) from None
    return value


def with_table(options: Options, table: RoleTable | None) -> Options:
    """The options of a call with what the relation of roles adds; what the call says wins."""
    if table is None:
        return options
    own = options.release.representation
    if not isinstance(own, str):
        own = _merged(table.representation, own or {}) or None
    return replace(
        options,
        group=replace(
            options.group, column_weights=_merged(table.weights, options.group.column_weights)
        ),
        release=replace(
            options.release,
            hierarchies=_merged(table.hierarchies, options.release.hierarchies),
            representation=own,
        ),
    )


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second one winning; capitals of names don't matter."""
    names = {caseless(name) for name in second}
    return {n: v for n, v in first.items() if caseless(n) not in names} | dict(second)
