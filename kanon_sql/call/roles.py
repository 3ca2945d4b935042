"""Which columns are generalized, dropped, or pass unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kanon_sql.call.options import RoleOptions
from kanon_sql.call.relation import Relation
from kanon_sql.errors import OptionError, did_you_mean

ROLES = ("quasi_identifier", "sensitive", "identifier", "other")
DECLARATION = re.compile(r"\bkanon:\s*(\w+)")


@dataclass(frozen=True)
class Roles:
    """The columns by role.

    Attributes:
        quasi_identifiers: the columns to generalize; empty where they are all the columns that
            have no other role.
        sensitive, other: columns that pass unchanged.
        identifiers: columns to drop.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    other: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that is named with another role than quasi-identifier."""
        return (*self.sensitive, *self.identifiers, *self.other)

    def known_columns(self, source: Relation) -> tuple[str, ...]:
        """The quasi-identifiers, as far as they are known before the query runs."""
        others = {name.lower() for name in self.others}
        return self.quasi_identifiers or tuple(
            name for name in source.columns or () if name.lower() not in others
        )

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role by name."""
        return (*self.quasi_identifiers, *self.sensitive, *self.identifiers, *self.other)


def declared_roles(columns: Mapping[str, str | None] | None) -> dict[str, str]:
    """Roles that column comments declare, as 'kanon: sensitive': column to role.

    Raises:
        OptionError: a comment declares a role that doesn't exist.
    """
    roles = {}
    for column, comment in (columns or {}).items():
        found = DECLARATION.search(comment or "")
        if found and found[1] not in ROLES:
            raise OptionError(
                f"The comment on column {column!r} declares the role {found[1]!r}, which doesn't "
                f"exist. {did_you_mean(found[1], ROLES)}"
            )
        if found:
            roles[column] = found[1]
    return roles


def resolve_roles(
    options: RoleOptions,
    columns: Mapping[str, str | None] | None,
    cost_column: str | None = None,
) -> Roles:
    """The role of each column: as given in the call, else as declared in the catalog.

    A list of quasi-identifiers in the call replaces the declared one. Where neither gives one,
    every column without another role is a quasi-identifier.

    Args:
        options: the roles that the call gives.
        columns: the comments of the columns, as far as the catalog shows them.
        cost_column: the column that facility_cost names.

    Raises:
        OptionError: a column with two roles, or no quasi-identifier left.
    """
    given = {
        "quasi_identifier": options.quasi_identifiers,
        "sensitive": options.sensitive,
        "identifier": options.identifiers,
    }
    taken: dict[str, str] = {}
    for role, names in given.items():
        for name in names:
            if name.lower() in taken:
                raise OptionError(
                    f"The column {name!r} is given as {taken[name.lower()]} and as {role}. "
                    "Give it one role."
                )
            taken[name.lower()] = role
    by_role = {role: list(given.get(role, ())) for role in ROLES}
    passing = {"class_label": options.class_label, "facility_cost": cost_column}
    for option, column in passing.items():
        if column is None:
            continue
        if taken.get(column.lower()) in ("quasi_identifier", "identifier"):
            raise OptionError(
                f"The column {column!r} is given as {taken[column.lower()]} and as {option}, which "
                "passes unchanged. Give it one role."
            )
        if column.lower() not in taken:
            taken[column.lower()] = "other"
            by_role["other"].append(column)
    for column, role in declared_roles(columns).items():
        replaced = role == "quasi_identifier" and given["quasi_identifier"]
        if column.lower() not in taken and not replaced:
            by_role[role].append(column)
    roles = Roles(
        tuple(by_role["quasi_identifier"]),
        tuple(by_role["sensitive"]),
        tuple(by_role["identifier"]),
        tuple(by_role["other"]),
    )
    without = {name.lower() for name in roles.named}
    if not roles.quasi_identifiers and columns and without.issuperset(map(str.lower, columns)):
        raise OptionError(
            "No column is left as a quasi-identifier. Name at least one in quasi_identifiers."
        )
    return roles
