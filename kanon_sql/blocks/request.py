"""What is asked: the call, refused where blocks can't keep what it promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session, bound, relation_and_options
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import check_types
from kanon_sql.errors import OptionError
from kanon_sql.methods.auto import AUTO
from kanon_sql.names import caseless
from kanon_sql.plan.bind_checks import LISTED

UNNAMED = (
    "quasi_identifiers is not given. Name the columns to generalize, because they can't be "
    "determined from a block of the rows."
)
UNRULED = (
    "{} no role: {}. Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], "
    "or say others='drop' or others='release'."
)
WHOLE = (
    "{} looks at all rows at once, and here they are released block by block. Use anonymize, or "
    "leave it out."
)


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        source: the rows.
        call: the call over them.
        types: the SQL type of each column that has a part in the release, by name.
        passing: those that pass unchanged.
        questioned: those of them that nobody named, so that they may be identifiers.
        entity: the column that says whose row a row is, if there is one.
        within: those that divide the rows into parts.
        carried: whether the rows of the source carry their places already.
    """

    source: Relation
    call: GroupingCall
    types: Mapping[str, str]
    passing: tuple[str, ...]
    questioned: tuple[str, ...]
    entity: str | None = None
    within: tuple[str, ...] = ()
    carried: bool = False

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.call.roles.quasi_identifiers

    def type_of(self, name: str) -> str:
        """The SQL type of one of the columns."""
        return next(kind for each, kind in self.types.items() if caseless(each) == caseless(name))

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each quasi-identifier lies on an axis.

        Raises:
            OptionError: one of a type that can't be encoded.
        """
        types = {caseless(name): kind for name, kind in self.types.items()}
        trees = {caseless(spec.column) for spec in self.call.hierarchies}
        as_texts = trees | {caseless(name) for name in self.call.categorical}
        check_types([Column(name, types[caseless(name)]) for name in self.quasi])
        return tuple(
            is_numeric(types[caseless(name)]) and caseless(name) not in as_texts
            for name in self.quasi
        )

    @property
    def sensitive(self) -> frozenset[str]:
        """The sensitive columns, which decide nothing where no model is asked for."""
        named = {caseless(name) for name in self.call.roles.sensitive}
        return frozenset(name for name in self.types if caseless(name) in named)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a block needs, in the order of the files."""
        return tuple(self.types)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns by whose released values k is counted."""
        return (*self.quasi, *self.within)

    @property
    def place(self) -> str | None:
        """The column in which each row carries its place among all, where it is released there: a
        name that no other column has."""
        if not self.call.release.keep_order:
            return None
        taken = set(map(caseless, self.source.columns or self.types))
        return next(name for i in count() if (name := f"place_{i}") not in taken)

    def of_part(self, part: Relation, kinds: Mapping[str, str]) -> Request:
        """The same of the rows of one part of its own, whose columns have these types."""
        call = replace(self.call, roles=replace(self.call.roles, within=()))
        return replace(
            self, source=part, call=call, passing=(*self.passing, *self.within), questioned=(),
            within=(), carried=True, types={name: kinds[name] for name in self.types},
        )


def read_request(session: Session, data: Any, options: Mapping[str, Any]) -> Request:
    """What is asked.

    Args:
        session: over a connection of our own.
        data: the files, or a table with the columns of what is to be released.
        options: those of anonymize.

    Raises:
        OptionError: what anonymize refuses, and what can't be kept block by block.
    """
    source, held = relation_and_options(session, data, options)
    call = read_call("anonymize", source, held, session.catalog)
    assert isinstance(call, GroupingCall)
    _refuse(call)
    relation = bound(session.con, f"FROM {source.sql}")
    known = dict(zip(relation.columns, map(str, relation.types), strict=True))
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
    within = tuple(by_name[caseless(name)] for name in roles.within)
    wanted = {
        caseless(name) for name in (*roles.quasi_identifiers, *passing, entity or "", *within)
    }
    types = {name: kind for name, kind in known.items() if caseless(name) in wanted}
    return Request(source, call, types, passing, questioned, entity, within)


def _refuse(call: GroupingCall) -> None:
    if call.roles.open:
        raise OptionError(UNNAMED)
    for said in _of_all_rows(call):
        raise OptionError(WHOLE.format(said))


def _of_all_rows(call: GroupingCall) -> Iterator[str]:
    """What of a call blocks can't keep, in words: all that is refused here."""
    task, release = call.task, call.release
    if not task.method.in_blocks and task.method is not AUTO:
        yield f"The method {task.method.name!r}"
    if task.own.needs_all_rows is not None:
        yield task.own.needs_all_rows
    for model in task.models:
        if model.of_all_rows and task.left_out[1] > 0.0:
            # the shares that count are of what comes out, which is known when all blocks are done
            yield f"The privacy model {model.option!r} with {task.left_out[0]}"
    for demand in task.of_population:
        yield f"The option {demand.option!r}"
    for each in task.whole:
        if task.apart is not None:
            # whoever is in several blocks would count in each of them
            yield f"The option {each.option!r} with entity_rows 'apart'"
    requested = {
        "refine_seconds": bool(task.refine_seconds), "release": bool(release.of_method),
    }
    yield from (f"The option {name!r}" for name, is_given in requested.items() if is_given)
    if release.class_id and release.keep_order:
        yield "The option 'class_id' with keep_order"
