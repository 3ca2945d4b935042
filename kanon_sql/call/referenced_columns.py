"""The columns that a call names, and what is said of one that its relation doesn't have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import Relation, find_relation, is_file
from kanon_sql.call.roles import Roles
from kanon_sql.errors import did_you_mean, printable
from kanon_sql.names import caseless


def named_columns(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Option and name of each column that the options name; no option where it is what a call of
    hierarchy() is about.

    Raises:
        OptionError: an option that names none as it should.
    """
    for option in OPTIONS.values():
        if not option.columns or options.get(option.name) is None:
            continue
        named = option.read(options[option.name])
        for name in [named] if isinstance(named, (str, float)) else named:
            if isinstance(name, str):  # a cost may be a number
                yield option.name, name
    by_column = options.get("representation")
    if isinstance(by_column, Mapping):
        yield from (("representation", str(name)) for name in by_column if name != "*")
    if options.get("column_name") is not None:
        yield "", str(options["column_name"])


def unknown_column(
    option: str, name: str, columns: Collection[str] | None, relation: str = ""
) -> str:
    """What is said of a column that there isn't.

    Args:
        option: the option that names it, if one does.
        name: the name.
        columns: the columns that there are; None where nobody knows them yet, and the hint is left
            out.
        relation: what should have it, where a call is about two relations.
    """
    lacks = f"{relation} doesn't have" if relation else "doesn't exist"
    said = f"{option} names the column {name!r}, which {lacks}."
    said = printable(said if option else f"The column {name!r} doesn't exist.")
    parts = [part.strip() for part in name.split(",")]
    if option and OPTIONS[option].type == "VARCHAR[]" and len(parts) > 1 and all(parts):
        return f"{said} For several columns write a list, such as {parts!r}."
    return said if columns is None else f"{said} {did_you_mean(name, columns)}"


@dataclass(frozen=True)
class ReferencedColumns:
    """The columns that a call names of a relation, and that the catalog doesn't show.

    Attributes:
        relation: the relation that should have them.
        sentences: what is said of each that there isn't, by name.
        listed: those whose sentence says what to write already.
    """

    relation: Relation
    sentences: Mapping[str, str]
    listed: frozenset[str] = frozenset()


def unsure_columns(source: Relation, options: Mapping[str, Any]) -> ReferencedColumns | None:
    """The columns of which only DuckDB knows whether they exist, to be looked up before the query
    is bound; None where there are none, where the name may be that of a CTE, and where a look would
    read a file that isn't Parquet, or one of another machine.

    Args:
        source: the relation.
        options: raw option values by name, which have been read once.
    """
    place = source.parts[-1]
    if is_file(place):
        alone = "://" not in place and place.lower().endswith(".parquet")
    else:
        alone = len(source.parts) > 1
    known = {caseless(name) for name in source.columns or ()}
    unknown = {
        name: unknown_column(option, name, None) for option, name in named_columns(options)
        if caseless(name) not in known
    }
    if not alone or not unknown:
        return None
    listed = frozenset(name for name, said in unknown.items() if not said.endswith("exist."))
    return ReferencedColumns(source, unknown, listed)


def lacking_columns(source: Relation, options: Mapping[str, Any]) -> dict[str, str]:
    """What is said of each column that the catalog doesn't show, by name, where a relation is named
    alone: a CTE may be meant, or a change that isn't committed, so that the query itself sees to
    it. Of a relation that the catalog doesn't show these are the names that read as lists.

    Args:
        source, options: as of ``unsure_columns``.
    """
    if len(source.parts) > 1 or is_file(source.parts[-1]):
        return {}
    said = _told(source, options)
    if source.columns:
        return said
    return {name: text for name, text in said.items() if not text.endswith("exist.")}


def audited_relation(
    release: str, roles: Roles, options: Mapping[str, Any], catalog: Catalog
) -> Relation:
    """The release of an audit, with what is said of columns that it should have, and that the
    catalog doesn't show: those that the call names, or that have a role elsewhere, without
    identifiers."""
    relation = find_relation(release, catalog)
    told = _told(relation, options, "the release")
    known = {caseless(name) for name in relation.columns or ()}
    lacking = {}
    for name in dict.fromkeys(roles.named):
        if name not in roles.identifiers and caseless(name) not in known:
            said = printable(f"The release has no column {name!r}, which has a role in the source.")
            hint = f" {did_you_mean(name, relation.columns)}" if relation.columns else ""
            lacking[name] = told.get(name, said + hint)
    return replace(relation, lacking=lacking)


def _told(
    relation: Relation, options: Mapping[str, Any], called: str = ""
) -> dict[str, str]:
    """What is said of each column that an option names and the catalog doesn't show, by name.

    Args:
        relation, options: as of ``unsure_columns``.
        called: what a sentence calls the relation, where a call is about two.
    """
    known = {caseless(name) for name in relation.columns or ()}
    return {
        name: unknown_column(option, name, relation.columns, called)
        for option, name in named_columns(options)
        if option and caseless(name) not in known
    }
