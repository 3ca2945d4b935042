"""Ledgers: which releases there were, who was in which class, and what each class published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.options import Options
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.call.roles import Roles
from kanon_sql.call.rules import ReleaseForm
from kanon_sql.errors import OptionError
from kanon_sql.methods import GroupTask
from kanon_sql.methods.auto import AUTO
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless

COLUMNS = ("release", "entity", "class", "published", "source", "options")
"""The columns of a ledger."""

HEADROOM = 1


@dataclass(frozen=True)
class Ledger:
    """How a call goes on from earlier releases.

    Attributes:
        relation: the ledger; None for the first release.
        entity: the column that says whose row a row is.
        attacker: whom releases are kept from, 'knows_presence' or 'knows_absence'.
        headroom: how many persons above k new classes get, or 'auto'.
        largest: the largest number of a class before, where the rows are a block of those who were
            never released; then the relation has the classes that go on, and what they published.
    """

    relation: Relation | None
    entity: str
    attacker: str
    headroom: int | str
    largest: int | None = None


def refuse_no_ledger(ledger: Relation, columns: Sequence[str]) -> None:
    """Raises OptionError for a relation that is known to lack one of these columns."""
    known = {caseless(name) for name in ledger.columns or columns}
    for name in columns:
        if name not in known:
            raise OptionError(
                f"The ledger {'.'.join(ledger.parts)!r} has no column {name!r}. Give a table that "
                "was made by CREATE TABLE ... AS FROM anonymize_ledger(...)."
            )


def read_ledger(
    options: Options, roles: Roles, task: GroupTask, release: ReleaseForm, catalog: Catalog,
    by_tree: bool = False,
) -> Ledger | None:
    """How a call goes on from earlier releases, or begins them; None of one that does neither.
    ``by_tree`` says whether a model goes by a hierarchy.

    Raises:
        OptionError: what can't be kept over several releases.
    """
    requested = options.ledger
    begins = options.call == "anonymize_ledger" or requested.headroom is not None
    if requested.ledger is None and not begins:
        if requested.attacker is not None:
            raise OptionError(
                "attacker says whom several releases are kept from, and nothing says that there "
                "are several. Add ledger='releases', or headroom=1 to the first of them."
            )
        return None
    asked = "ledger" if requested.ledger is not None else (
        "anonymize_ledger" if options.call == "anonymize_ledger" else "headroom"
    )
    if roles.entity is None:
        raise OptionError(
            f"{asked} is about persons in several releases, and no column identifies the person of "
            "each row. Name it in entity='patient_id', for example."
        )
    _refuse(asked, _hindrances(options, roles, task, release, by_tree))
    relation = None
    if requested.ledger is not None:
        relation = find_relation(requested.ledger, catalog)
        refuse_no_ledger(relation, COLUMNS)
        if task.suppress > 0.0:
            raise OptionError(
                "suppress and ledger both leave persons out, and only the ledger's rule says who "
                "may come back. Leave suppress out."
            )
    otherwise = HEADROOM if relation is not None else 0
    return Ledger(
        relation, roles.entity, requested.attacker or "knows_presence",
        otherwise if requested.headroom is None else requested.headroom,
    )


def _refuse(asked: str, hindrances: Mapping[str, bool]) -> None:
    for sentence, applies in hindrances.items():
        if applies:
            raise OptionError(sentence.format(asked))


def _hindrances(
    options: Options, roles: Roles, task: GroupTask, release: ReleaseForm, by_tree: bool
) -> Mapping[str, bool]:
    """What can't be kept over several releases, as sentences with a hole for the option."""
    name = repr(task.method.name)
    by_itself = (
        task.geometry.has_centers or isinstance(task.geometry, AttributeGeometry)
        or release.same_level or not task.method.promises_k or task.method is AUTO
    )
    whole = next((each.option for each in task.whole), "")
    return {
        f"{whole} is about all classes of a release, and with {{}} some aren't shown again. Leave "
        f"{whole} out.": bool(whole),
        "{} needs to know the quasi-identifiers before the query runs. Name them in "
        "quasi_identifiers=[...].": roles.open,
        f"The method {name} can't continue from the classes of an earlier release. Use mdav_star "
        "or k_member, for example, or leave {} out.": by_itself,
        "entity_rows 'apart' lets a person be in several classes, and {} follows one. Leave "
        "entity_rows out.": options.roles.entity_rows != "together",
        "Models by a hierarchy of a sensitive column are not kept over several releases. Leave it "
        "out of hierarchies, or {}.": by_tree,
        "refine_seconds gives other classes each time, and {} needs the same in the release and in "
        "the ledger. Use refine_steps.": "refine_seconds" in options.explicit,
    }


def used_ledger_options(ledger: Ledger | None) -> dict[str, Any]:
    """The options as they are used, for the metrics."""
    if ledger is None:
        return {}
    named = None if ledger.relation is None else ".".join(ledger.relation.parts)
    return {
        "entity": ledger.entity, "ledger": named, "attacker": ledger.attacker,
        "headroom": ledger.headroom,
    }
