"""Which columns are generalized, dropped, or pass unchanged.

Every column has a role, or nothing comes out. What the call says wins over a relation of roles,
that over comments on the columns, and those of a view over those of the tables that it reads. What
becomes of columns without a role is one decision: see the option ``others``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kanon_sql.call.declarations import ROLES, declared_role
from kanon_sql.call.options import RoleOptions
from kanon_sql.call.relation import Relation
from kanon_sql.errors import OptionError
from kanon_sql.names import caseless

RENAMED = (
    "The view reads the column {!r} of {}, which is declared as {}, and may show it under another "
    "name. Give every column of the view a role in the call, or say others='drop'."
)

SHOWN_AGAIN = (
    "The column {!r} shows the column {!r}, which is declared as {}, under another name. Give "
    "{!r} a role in the call, or say others='drop'."
)
UNTOLD = (
    "The source of the column {!r} can't be determined, and the column {!r} is declared as {}. "
    "Give {!r} a role in the call, or say others='drop'."
)
SECRET = ("identifier", "entity", "sensitive")
"""The roles of columns that must not come out under another name."""


@dataclass(frozen=True)
class Roles:
    """The columns by role.

    Attributes:
        quasi_identifiers: the columns to generalize, as far as they are named.
        sensitive, other: columns that pass unchanged.
        identifiers: columns to drop.
        rest: what all other columns are: 'quasi_identifier', 'release' (they pass unchanged),
            'drop', or 'error' (there must be none).
        origins: where each named column, in lower case, has its role from: 'call', 'relation',
            'comment' or 'view'.
        entity: the one of the identifiers that says whose row a row is.
        within: the columns that divide the rows into parts, and are released unchanged.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    rest: str = "quasi_identifier"
    origins: Mapping[str, str] = field(default_factory=dict)
    entity: str | None = None
    within: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether columns that nobody named are quasi-identifiers."""
        return self.rest == "quasi_identifier"

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that is named with another role than quasi-identifier."""
        return (*self.sensitive, *self.identifiers, *self.other, *self.within)

    @property
    def passing(self) -> tuple[str, ...]:
        """Every column that is named, and passes unchanged."""
        return (*self.sensitive, *self.other)

    def known_columns(self, source: Relation) -> tuple[str, ...]:
        """The quasi-identifiers, as far as they are known before the query runs."""
        if not self.open:
            return self.quasi_identifiers
        others = {caseless(name) for name in self.others}
        return tuple(
            name for name in source.columns or () if caseless(name) not in others
        ) or self.quasi_identifiers

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role by name."""
        return (*self.quasi_identifiers, *self.others)


@dataclass
class _Taken:
    """Roles as they are given out, each column's first one counting."""

    by_role: dict[str, list[str]] = field(default_factory=lambda: {role: [] for role in ROLES})
    roles: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def give(self, column: str, role: str, origin: str) -> None:
        if caseless(column) not in self.roles:
            self.roles[caseless(column)] = role
            self.origins[caseless(column)] = origin
            self.by_role[role].append(column)


def resolve_roles(
    options: RoleOptions,
    source: Relation,
    table: Mapping[str, str] | None = None,
    cost_column: str | None = None,
    releases: bool = True,
    audits: bool = False,
    weight: str | None = None,
    within: tuple[str, ...] | None = None,
) -> Roles:
    """The role of each column.

    A list of quasi-identifiers in the call replaces those that are declared elsewhere. Where nobody
    names one, every column without another role is a quasi-identifier.

    Args:
        options: the roles that the call gives.
        source: the relation, with what the catalog shows of it.
        table: the roles that a relation gives, by column.
        cost_column: the column that facility_cost names.
        releases: whether the call releases anything.
        audits: whether it asks for no roles at all, since it looks at any table.
        weight: the column that weight names.
        within: the columns that within names; None where the call knows no parts, and sees in
            those that are declared so what anybody sees: quasi-identifiers.

    Raises:
        OptionError: a column with two roles, a comment that can't be read, a view that may rename a
            column that must not come out, or no quasi-identifier left.
    """
    passing = {
        "class_label": options.class_label, "facility_cost": cost_column, "sampling_weight": weight
    }
    taken = _given(options, passing, within or ())
    replaced = bool(options.quasi_identifiers)

    def declare(column: str, role: str, origin: str) -> None:
        if role == "entity" and options.entity is not None:
            role = "identifier"  # the call names another one
        if role == "within" and (within is None or within):
            role = "quasi_identifier"  # or the call names others
        if not (replaced and role == "quasi_identifier"):
            taken.give(column, role, origin)

    for column, role in (table or {}).items():
        declare(column, role, "relation")
    decided = set(taken.roles)  # by the call, or by its relation of roles
    for column, comment in (source.columns or {}).items():
        own = declared_role(column, comment)
        if own is not None:
            declare(column, own, "comment")
    for column, role in _inherited(source, taken.roles):
        declare(column, role, "view")
    rest = options.others or ("error" if taken.by_role["quasi_identifier"] else "quasi_identifier")
    if audits:
        rest = "release" if taken.by_role["quasi_identifier"] else "quasi_identifier"
    elif releases:
        _refuse_renamed(source, decided, rest)
        _refuse_shown_again(source, taken, rest)
    entity = _entity(taken)
    roles = Roles(
        tuple(taken.by_role["quasi_identifier"]),
        tuple(taken.by_role["sensitive"]),
        (*taken.by_role["identifier"], *([] if entity is None else [entity])),
        tuple(taken.by_role["other"]),
        rest,
        taken.origins,
        entity,
        tuple(taken.by_role["within"]),
    )
    _refuse_none_left(roles, source)
    return roles


def _entity(taken: _Taken) -> str | None:
    """The column that says whose row a row is, if there is one."""
    named = taken.by_role["entity"]
    if len(named) > 1:
        raise OptionError(
            f"{len(named)} columns are declared as entity: {', '.join(map(repr, named))}. Name "
            "one in entity, and give the others another role."
        )
    return named[0] if named else None


def _given(
    options: RoleOptions, passing: Mapping[str, str | None], within: tuple[str, ...] = ()
) -> _Taken:
    """The roles that the call itself gives; ``passing`` are columns that pass unchanged, by the
    option that names them."""
    taken = _Taken()
    by_role = {
        "quasi_identifier": options.quasi_identifiers,
        "sensitive": options.sensitive,
        "identifier": options.identifiers,
        "entity": () if options.entity is None else (options.entity,),
        "within": within,
    }
    for role, names in by_role.items():
        for name in names:
            if caseless(name) in taken.roles:
                raise OptionError(
                    f"The column {name!r} is given as {taken.roles[caseless(name)]} and as {role}. "
                    "Give it one role."
                )
            taken.give(name, role, "call")
    for option, column in passing.items():
        if column is None:
            continue
        if taken.roles.get(caseless(column)) in (
            "quasi_identifier", "identifier", "entity", "within"
        ):
            raise OptionError(
                f"The column {column!r} is given as {taken.roles[caseless(column)]} and as "
                f"{option}, which is released unchanged. Give it one role."
            )
        taken.give(column, "other", "call")
    return taken


def _declared_below(source: Relation) -> Iterator[tuple[str, str, str]]:
    """Column, role and table of what is declared on the tables that a view reads."""
    for base in source.entry.bases if source.entry is not None else ():
        for column, comment in base.columns.items():
            role = declared_role(column, comment)
            read = base.read is None or caseless(column) in base.read
            if role is not None and read:
                yield column, role, ".".join(base.place)


def _inherited(source: Relation, taken: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The roles that the columns of a view have from the tables that it reads, by name."""
    below: dict[str, dict[str, str]] = {}
    for column, role, table in _declared_below(source):
        below.setdefault(caseless(column), {}).setdefault(role, table)
    for column in source.columns or ():
        roles = below.get(caseless(column), {})
        if len(roles) > 1 and caseless(column) not in taken:
            said = " and ".join(f"as {role} in {table}" for role, table in roles.items())
            raise OptionError(
                f"The column {column!r} of the view is declared {said}. Give it a role in the call."
            )
        if roles:
            yield column, next(iter(roles))


def _refuse_renamed(source: Relation, decided: set[str], rest: str) -> None:
    """Raises OptionError for a view that reads what must not come out and doesn't show it under
    its name, unless somebody has decided on every column of the view."""
    columns = {caseless(column) for column in source.columns or ()}
    if columns <= decided or rest == "drop":
        return
    for column, role, table in _declared_below(source):
        if role in SECRET and caseless(column) not in columns:
            raise OptionError(RENAMED.format(column, table, role))


def _refuse_shown_again(source: Relation, taken: _Taken, rest: str) -> None:
    """Raises OptionError for a column that may show what must not come out under another name: one
    that isn't a plain reference of its own name, and that neither the call nor a comment of its own
    gives a role."""
    shown = source.entry.shown if source.entry is not None else {}
    own = ("call", "relation", "comment")
    asking = [
        column for column in shown
        if taken.origins.get(caseless(column)) not in own
        and taken.roles.get(caseless(column)) not in ("identifier", "entity")
        and (rest != "drop" or caseless(column) in taken.roles)
    ]
    if not asking:
        return
    # a quasi-identifier is generalized under its name, and would pass under another one
    secret = SECRET if rest != "release" else (*SECRET, "quasi_identifier", "within")
    names = {name: role for name, role in taken.roles.items() if role in secret}
    for column, role, _ in _declared_below(source):
        if role in secret:
            names.setdefault(caseless(column), role)
    of = {
        column: names[caseless(name)] for name, known in shown.items() if caseless(name) in names
        for column in known.of or ()
    }
    for column in asking:
        sources = shown[column].of
        matches = list(names.items()) if sources is None else [
            (name, names.get(name) or of[place, name]) for place, name in sources
            if name in names or (place, name) in of
        ]
        if matches:
            name, role = min(matches, key=lambda each: (secret.index(each[1]), each[0]))
            said = UNTOLD if sources is None else SHOWN_AGAIN
            raise OptionError(said.format(column, name, role, column))


def _refuse_none_left(roles: Roles, source: Relation) -> None:
    without = {caseless(name) for name in roles.others}
    known = source.columns or {}
    if not roles.open and not roles.quasi_identifiers:
        raise OptionError(
            f"others is {roles.rest!r}, and no column is a quasi-identifier. Name at least one in "
            "quasi_identifiers."
        )
    if roles.open and known and without.issuperset(map(caseless, known)):
        raise OptionError(
            "No column is left as a quasi-identifier. Name at least one in quasi_identifiers."
        )
