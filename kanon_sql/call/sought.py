"""The relations that a call names, and what is said where DuckDB finds none of the name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from kanon_sql.call.call import Call, GroupingCall
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.call.relation import Relation, is_file
from kanon_sql.errors import did_you_mean
from kanon_sql.hierarchies.kinds import KINDS

WHOLE = re.compile(r"\s*(from|select|with|create|copy|insert|explain|describe|summarize)\b")
"""How a query begins, in lower case."""


@dataclass(frozen=True)
class Sought:
    """A relation that a call names.

    Attributes:
        relation: the relation, as its name was read.
        sentence: what is said where there is none.
        nearly_a_kind: whether its name is nearly that of a kind of hierarchy, and stands for one.
    """

    relation: Relation
    sentence: str
    nearly_a_kind: bool = False

    @property
    def name(self) -> str:
        """What to look for in an error and in a query: the name, without what qualifies it."""
        return self.relation.parts[-1]

    @property
    def may_be_missing(self) -> bool:
        """Whether only DuckDB can tell: no committed table or view, no file that lies here."""
        if self.relation.columns is not None or "://" in self.name:
            return False
        return not (is_file(self.name) and Path(self.name).exists())

    def is_no_cte(self, call: str, texts: Sequence[str]) -> bool:
        """Whether no CTE can be what is meant, which only DuckDB knows.

        What is qualified or a file is none. A word that is nearly a kind is none where the whole
        query is in sight, and has the word nowhere else; all other names are left to DuckDB.

        Args:
            call: the SQL call.
            texts: what may be the query, or parts of it.
        """
        if len(self.relation.parts) > 1 or is_file(self.name):
            return True
        name = self.name.lower()
        near = sorted({text.lower() for text in texts if name in text.lower()}, key=len)
        made = re.compile(rf"\b{call}\s*\(.*['\"]{re.escape(name)}['\"]", re.DOTALL)
        if not (self.nearly_a_kind and near and all(map(made.search, near))):
            return False
        query = near[-1]  # and the others are what it is made of
        whole = WHOLE.match(query) and query.count("(") == query.count(")")
        return bool(whole) and query.count(name) == 1 and all(part in query for part in near)


def _told(relation: Relation) -> str:
    return repr(".".join(relation.parts))


def _of_source(relation: Relation) -> Sought:
    said = f"The relation {_told(relation)} is no table, view, file or variable here."
    if is_file(relation.parts[-1]):
        return Sought(relation, f"There is no file {_told(relation)}. Check the path.")
    return Sought(relation, f"{said} Check its name.")


def _of_option(option: str, relation: Relation) -> Sought:
    return Sought(
        relation,
        f"{option} names {_told(relation)}, which is no table, view, file or variable here. Check "
        "its name.",
    )


def _of_hierarchy(spec: HierarchySpec) -> Iterator[Sought]:
    if spec.table is not None:
        yield _of_option(f"The hierarchy of {spec.column!r}", spec.table)
    if spec.levels is not None:
        yield Sought(
            spec.levels,
            f"The hierarchy of {spec.column!r} is given as {_told(spec.levels)}, which is neither "
            f"a kind nor a table, view or file here. {did_you_mean(spec.levels.parts[-1], KINDS)}",
            bool(get_close_matches(spec.levels.parts[-1].lower(), KINDS)),
        )


def relations_of(call: Call) -> tuple[Sought, ...]:
    """Every relation that a call names, in the order in which it says them."""
    tables: Mapping[str, Relation] = call.tables if isinstance(call, GroupingCall) else {}
    audited = () if call.audited is None else (_of_option("release", call.audited),)
    return (
        _of_source(call.source),
        *audited,
        *(sought for spec in call.hierarchies for sought in _of_hierarchy(spec)),
        *(_of_option(option, relation) for option, relation in tables.items()),
    )


def relations_of_hierarchy(source: Relation, spec: HierarchySpec) -> tuple[Sought, ...]:
    """The same of a call of hierarchy()."""
    return (_of_source(source), *_of_hierarchy(spec))
