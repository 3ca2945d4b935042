"""Whether a release by any tool is one of its source: columns, types, and what passes unchanged."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import ENUM, Session, bound
from kanon_sql.names import caseless, quoted

GENERALIZED = re.compile(r"VARCHAR|DOUBLE|BIGINT|STRUCT\(.*|.*\[\]", re.DOTALL)
"""The types that a quasi-identifier may have in a release, whatever it has in the source."""


def strangers(
    session: Session, release: Relation, source: Relation, quasi: Collection[str],
    excused: Collection[str],
) -> Iterator[str]:
    """What the release has and its source doesn't, or the other way round, in a sentence each.

    Args:
        session: where both relations are.
        release, source: the relations.
        quasi: the quasi-identifiers of the release, which may have other values and types.
        excused: columns that only one of them may have.
    """
    before, after = _types(session, source), _types(session, release)
    for name, (shown, _) in before.items():
        if name not in after and not has(excused, name):
            yield (f"The release lacks the column {shown!r} of the source. Release it, or name it "
                   "in identifiers or allowed.")
    passing = []
    for name, (shown, kind) in after.items():
        if name not in before:
            if not has(excused, name):
                yield (f"The release has the column {shown!r}, and the source doesn't. Drop it, or "
                       "name it in allowed.")
        elif kind != before[name][1] and not (has(quasi, name) and GENERALIZED.fullmatch(kind)):
            yield (f"The column {shown!r} has the type {kind} in the release, and "
                   f"{before[name][1]} in the source. Read both alike, or keep the type.")
        elif not has(quasi, name):  # texts as bytes, which have no collation
            text = f"encode({quoted(shown)}::VARCHAR)"
            passing.append(text if kind == "VARCHAR" else quoted(shown))
    if passing:
        chosen = [f"SELECT {', '.join(passing)} FROM {each.sql}" for each in (release, source)]
        ((n,),) = session.rows(f"SELECT count(*) FROM ({' EXCEPT ALL '.join(chosen)})")
        if n:
            yield (f"{n} rows of the release have values, outside the quasi-identifiers, that the "
                   "source has less often. Give its own source.")


def has(names: Iterable[str], name: str) -> bool:
    """Whether a name is among these, as DuckDB compares names."""
    return caseless(name) in map(caseless, names)


def _types(session: Session, relation: Relation) -> dict[str, tuple[str, str]]:
    """By the name as it is compared, each column's name and type, where an ENUM is a text."""
    schema = bound(session.con, f"FROM {relation.sql}")
    return {
        caseless(name): (name, ENUM.sub("VARCHAR", str(kind)))
        for name, kind in zip(schema.columns, schema.types, strict=True)
    }
