"""What is asked of files: the call, refused where blocks can't keep what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session, asked, bound
from kanon_sql.errors import OptionError
from kanon_sql.methods.auto import AUTO
from kanon_sql.names import caseless
from kanon_sql.plan.unseen import LISTED

UNNAMED = (
    "quasi_identifiers is not given. Name the columns to generalize, since no block of the rows "
    "can tell which they are."
)
UNRULED = (
    "{} no role: {}. Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], "
    "or say others='drop' or 'release'."
)
WHOLE = (
    "{} looks at all rows at once, and here they are released block by block. Use anonymize, or "
    "leave it out."
)


@dataclass(frozen=True)
class Asked:
    """What is asked.

    Attributes:
        source: the rows.
        call: the call over them.
        types: the SQL type of each column that has a part in the release, by name.
        passing: those that pass unchanged.
        questioned: those of them that nobody named, so that they may be identifiers.
        entity: the column that says whose row a row is, if there is one.
    """

    source: Relation
    call: GroupingCall
    types: Mapping[str, str]
    passing: tuple[str, ...]
    questioned: tuple[str, ...]
    entity: str | None = None

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.call.roles.quasi_identifiers

    @property
    def sensitive(self) -> frozenset[str]:
        """The sensitive columns, which decide nothing where no model is asked for."""
        named = {caseless(name) for name in self.call.roles.sensitive}
        return frozenset(name for name in self.types if caseless(name) in named)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a block needs, in the order of the files."""
        return tuple(self.types)


def read_asked(session: Session, data: Any, options: Mapping[str, Any]) -> Asked:
    """What is asked of files.

    Args:
        session: over a connection of our own.
        data: the files.
        options: those of anonymize.

    Raises:
        OptionError: what anonymize refuses, and what can't be kept block by block.
    """
    source, held = asked(session, data, options)
    call = read_call("anonymize", source, held, session.catalog)
    assert isinstance(call, GroupingCall)
    _refuse(call)
    found = bound(session.con, f"FROM {source.sql}")
    known = dict(zip(found.columns, map(str, found.types), strict=True))
    roles, by_name = call.roles, {caseless(name): name for name in known}
    named = {caseless(name) for name in roles.named}
    unnamed = tuple(name for name in known if caseless(name) not in named)
    if unnamed and roles.rest == "error":
        shown = ", ".join(map(repr, unnamed[:LISTED])) + (", ..." if unnamed[LISTED:] else "")
        have = "1 column has" if len(unnamed) == 1 else f"{len(unnamed)} columns have"
        raise OptionError(UNRULED.format(have, shown))
    questioned = unnamed if roles.rest == "release" else ()
    passing = (*(by_name[caseless(name)] for name in roles.passing), *questioned)
    entity = None if roles.entity is None else by_name[caseless(roles.entity)]
    wanted = {caseless(name) for name in (*roles.quasi_identifiers, *passing, entity or "")}
    types = {name: kind for name, kind in known.items() if caseless(name) in wanted}
    return Asked(source, call, types, passing, questioned, entity)


def _refuse(call: GroupingCall) -> None:
    task, method = call.task, call.task.method
    if call.roles.open:
        raise OptionError(UNNAMED)
    if not method.in_blocks or method is AUTO:
        raise OptionError(WHOLE.format(f"The method {method.name!r}"))
    if task.own.needs_all_rows is not None:
        raise OptionError(WHOLE.format(task.own.needs_all_rows))
    for model in task.models:
        if model.of_all_rows:
            raise OptionError(WHOLE.format(f"The privacy model {model.option!r}"))
    refused = {
        "ledger": call.ledger is not None,
        "class_id": call.release.class_id, "keep_order": call.release.keep_order,
        "facility_cost": task.own.cost_column is not None, "refine_seconds": bool(
            task.refine_seconds), "release": bool(call.release.of_method),
        "within": bool(call.roles.within),
    }
    for name, given in refused.items():
        if given:
            raise OptionError(WHOLE.format(f"The option {name!r}"))


def block_call(
    call: GroupingCall, asked: Asked, relation: Relation, scales: Mapping[str, Any], rows: int,
    name: str,
) -> GroupingCall:
    """The call over one block.

    Args:
        call: the call over all rows, its hierarchies those of all rows.
        relation: the rows of the block.
        scales: of the columns, as they were learned from all rows.
        rows: how many rows it has.
        name: the name under which its facts are kept.
    """
    sensitive = {caseless(name) for name in call.roles.sensitive}
    other = tuple(name for name in asked.passing if caseless(name) not in sensitive)
    dropped = () if asked.entity is None else (asked.entity,)
    roles = replace(call.roles, identifiers=dropped, rest="error", other=other)
    size = call.task.block_size()
    # a block that came out a little larger than asked isn't cut again
    task = replace(call.task, scales=scales, block_rows=rows if size < rows < 2 * size else size)
    return replace(
        call, source=relation, roles=roles, task=task, role_table=None, seen=(), progress=False,
        block=name,
    )
