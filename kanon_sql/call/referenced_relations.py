"""The relations that a call names, and what is said where DuckDB finds none of the name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from kanon_sql.call.call import Call, GroupingCall
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.call.relation import Relation, is_file
from kanon_sql.errors import did_you_mean
from kanon_sql.hierarchies.kinds import KINDS, SUGGESTED

NEAR = 0.7
"""How like a kind's name a word must be (see difflib) to be taken for it misspelt."""


CHECK = "Check its name."
OF_ALL = (
    "The hierarchy of {!r} is given as 'suggested', which stands for all columns, and no table has "
    "this name. Say hierarchies='suggested', or {{'*': 'suggested'}} with other columns."
)


@dataclass(frozen=True)
class ReferencedRelation:
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

    @property
    def place(self) -> str:
        """What qualifies the name, with a dot behind it, or nothing."""
        return "".join(f"{part}." for part in self.relation.parts[:-1])

    @property
    def may_be_misspelt(self) -> bool:
        """Whether the name of another relation may be meant."""
        return self.sentence.endswith(CHECK)

    @property
    def is_no_cte(self) -> bool:
        """Whether no CTE is meant, which only DuckDB could find: what is qualified or a file is
        none, and a CTE of levels may not have a name that is nearly a kind's."""
        return len(self.relation.parts) > 1 or is_file(self.name) or self.nearly_a_kind


def _told(relation: Relation) -> str:
    return repr(".".join(relation.parts))


def _of_source(relation: Relation) -> ReferencedRelation:
    said = f"The relation {_told(relation)} is not a table, view, file or variable here."
    if is_file(relation.parts[-1]):
        return ReferencedRelation(relation, f"There is no file {_told(relation)}. Check the path.")
    return ReferencedRelation(relation, f"{said} {CHECK}")


def _of_option(option: str, relation: Relation) -> ReferencedRelation:
    return ReferencedRelation(
        relation,
        f"{option} names {_told(relation)}, which is not a table, view, file or variable here. "
        + CHECK,
    )


def _of_hierarchy(spec: HierarchySpec) -> Iterator[ReferencedRelation]:
    if spec.table is not None:
        yield _of_option(f"The hierarchy of {spec.column!r}", spec.table)
    if spec.levels is not None and [part.lower() for part in spec.levels.parts] == [SUGGESTED]:
        yield ReferencedRelation(spec.levels, OF_ALL.format(spec.column), True)
    elif spec.levels is not None:
        yield ReferencedRelation(
            spec.levels,
            f"The hierarchy of {spec.column!r} is given as {_told(spec.levels)}, which is neither "
            f"a kind nor a table, view or file here. {did_you_mean(spec.levels.parts[-1], KINDS)}",
            bool(get_close_matches(spec.levels.parts[-1].lower(), KINDS, cutoff=NEAR)),
        )


def relations_of(call: Call) -> tuple[ReferencedRelation, ...]:
    """Every relation that a call names, in the order in which it says them."""
    tables: Mapping[str, Relation] = call.tables if isinstance(call, GroupingCall) else {}
    trees = call.hierarchies
    if isinstance(call, GroupingCall):
        trees = (*trees, *call.of_sensitive)
    ledger = call.ledger if isinstance(call, GroupingCall) else None
    ledgers = () if ledger is None or ledger.relation is None else (ledger.relation,)
    audited = () if call.audited is None else (_of_option("release", call.audited),)
    people = () if call.population is None else (_of_option("population", call.population),)
    return (
        _of_source(call.source),
        *audited,
        *people,
        *(sought for spec in trees for sought in _of_hierarchy(spec)),
        *(_of_option(option, relation) for option, relation in tables.items()),
        *(_of_option("ledger", relation) for relation in ledgers),
    )


def relations_of_hierarchy(source: Relation, spec: HierarchySpec) -> tuple[ReferencedRelation, ...]:
    """The same of a call of hierarchy()."""
    return (_of_source(source), *_of_hierarchy(spec))


def relations_of_ledger(ledger: Relation) -> tuple[ReferencedRelation, ...]:
    """The same of a call of ledger_check()."""
    return (_of_source(ledger),)
