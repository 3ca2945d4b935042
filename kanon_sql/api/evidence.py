"""Evidence: attacks on a release, with a control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kanon_sql.api.misspelt import refuse_misspelt
from kanon_sql.attacks.facts import Evidence
from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.population import compared_by
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import (
    Session,
    bound,
    given_options,
    relation_and_options,
)
from kanon_sql.errors import DataError, OptionError
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.names import caseless
from kanon_sql.plan.evidence import cells_sql, halves, people_sql
from kanon_sql.plan.hierarchies import hierarchy_sql

ATTACKS = 5_000
"""Guesses of each form of an attack, at most."""

LEAST = 100
"""The fewest people outside with whom anything can be said."""

PASSING = ("ledger", "headroom", "attacker", "class_id", "keep_order")
"""Options that change nothing of what is released of a row, or of which a trial knows nothing."""

LEDGER = (
    "Evidence makes a release of its own, which must not enter a ledger. Leave ledger out, or give "
    "the released rows as released, and people outside as control."
)
NUMBERED = (
    "With representation = 'number' a release shows no values to attack. Choose another "
    "representation."
)
FEW = (
    "Attacks need {1} people in the release and {1} outside, and there are {0}. Give a larger "
    "table, or more people as control."
)
UNHELD = (
    "released is given without control. Give as control rows of people who are not in the release, "
    "with the same columns."
)
LACKING = "The relation {} has no column {!r}. Give one with the columns of the table."
SAID = {"inside": "that is attacked", "outside": "control", "population": "population"}
"""What a relation is called in messages, by its place in an attack."""


@dataclass(frozen=True)
class EvidenceRequest:
    """What is attacked, and with what.

    Attributes:
        released: the relation of a release; None: one is made.
        control: rows of people outside; None: some are held out of a release that is made.
        attacks: guesses of each form of an attack.
    """

    released: Any = None
    control: Any = None
    attacks: int = ATTACKS


@dataclass(frozen=True)
class _Tables:
    """The relations of an attack, by what they are."""

    released: Relation
    people: Mapping[str, Relation]
    of_trial: bool


def evidence_of(
    data: Any, con: Any, request: EvidenceRequest, options: Mapping[str, Any]
) -> Evidence:
    """Attacks a release; see ``kanon_sql.evidence``."""
    refuse_forked()
    refuse_misspelt("evidence", options, ("control", "released", "attacks"))
    with Session(con) as session:
        source, held = relation_and_options(session, data, given_options(options))
        return gather(session, source, held, request)


def gather(
    session: Session, source: Relation, held: Mapping[str, Any], request: EvidenceRequest
) -> Evidence:
    """Attacks a release.

    Args:
        session: where the source is.
        source: the relation.
        held: the options of anonymize; the attacks measure delta-presence in population.
        request: what is attacked, and with what.

    Raises:
        OptionError, DataError, ReleaseError: as anonymize, or where an attack can't be made.
    """
    # here, since they load the compiler
    from kanon_sql.attacks.membership import presence_of
    from kanon_sql.attacks.people import BOTH
    from kanon_sql.attacks.run import attacked

    release, population, of_trial = attacked_release(session, source, held, request)
    inside, outside = (len(release.people[table].drawn) for table in BOTH)
    if min(inside, outside) < min(LEAST, request.attacks):
        raise DataError(FEW.format(min(inside, outside), LEAST))
    found, refused = attacked(release, request.attacks)
    inside, outside = (len(release.people[table].persons) for table in BOTH)
    return Evidence(
        inside, outside, of_trial, found, refused,
        None if population is None else presence_of(release, population),
    )


def attacked_release(
    session: Session, source: Relation, held: Mapping[str, Any], request: EvidenceRequest
) -> tuple[Any, Any, bool]:
    """What is attacked, the population as numbers where there is one, and whether the release was
    made for the attacks; as ``gather``."""
    attacks = request.attacks
    if isinstance(attacks, bool) or not isinstance(attacks, int) or not 1 <= attacks <= 1_000_000:
        raise OptionError("attacks is not a whole number from 1 to 1000000. Give one such as 2000.")
    call = _call_of(session, source, held, request)
    tables = _tables(session, source, call, held, request)
    return *_read(session, source, call, tables, attacks), tables.of_trial


def for_release(held: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the release that is attacked: a population that no limit of theirs compares
    the classes with is one of the attacks alone."""
    if compared_by(held) is not None:
        return dict(held)
    return {name: value for name, value in held.items() if name != "population"}


def _call_of(
    session: Session, source: Relation, held: Mapping[str, Any], request: EvidenceRequest
) -> GroupingCall:
    """The call of anonymize: what the columns are, and how they are released."""
    asked = for_release(held)
    if request.released is not None:
        if request.control is None:
            raise OptionError(UNHELD)
        # how it was made isn't known: k says nothing here
        asked.setdefault("k", 2)
    call = read_call("anonymize", source, asked, session.catalog)
    assert isinstance(call, GroupingCall)
    if call.ledger is not None and request.released is None:
        raise OptionError(LEDGER)
    if call.release.representation == "number":
        raise OptionError(NUMBERED)
    return call


def _tables(
    session: Session, source: Relation, call: GroupingCall, held: Mapping[str, Any],
    request: EvidenceRequest,
) -> _Tables:
    """The release and the people, where nobody is known outside by a trial."""
    # here, since it loads NumPy
    from kanon_sql.attacks.people import INSIDE, OUTSIDE, POPULATION

    people = {INSIDE: source}
    beside = {OUTSIDE: request.control, POPULATION: held.get("population")}
    people.update({
        table: session.source(data) for table, data in beside.items() if data is not None
    })
    if request.released is not None:
        return _Tables(session.source(request.released), people, False)
    options = {
        name: value for name, value in for_release(held).items() if name not in PASSING
    }
    if request.control is None:
        people[INSIDE], people[OUTSIDE] = halves(
            source, list(source.columns or ()), call.roles.entity, call.task.seed
        )
    released = session.run(
        "anonymize", people[INSIDE], options, lambda relation: relation.to_arrow_table()
    )
    return _Tables(
        session.source(session.hold("released", released)), people, request.control is None
    )


def _read(
    session: Session, source: Relation, call: GroupingCall, tables: _Tables, attacks: int
) -> tuple[Any, Any]:
    """What an attacker has, and the population as numbers where there is one."""
    # here, since they load what only attacks need
    from kanon_sql.attacks.cells import profiles_of, read_column
    from kanon_sql.attacks.people import BOTH, POPULATION, AttackedRelease, people_of

    shown = _columns(session, tables.released)
    kinds = _columns(session, tables.people["inside"])
    secrets = [name for name in _named(kinds, call.roles.sensitive) if caseless(name) in shown]
    known = [
        name for name in _named(
            kinds, (*call.roles.known_columns(source), *call.roles.within)
        )
        if name not in secrets
    ]
    lacking = [name for name in known if caseless(name) not in shown]
    if lacking:
        raise OptionError(LACKING.format("released", lacking[0]))
    rows = {
        table: _rows(
            session, relation, call, [*known, *(secrets if table in BOTH else ())], SAID[table]
        )
        for table, relation in tables.people.items()
    }
    cells = session.query(
        cells_sql(tables.released, [shown[caseless(name)][0] for name in (*known, *secrets)]),
        lambda relation: relation.to_arrow_table(),
    )
    trees = _trees(session, source, call)
    columns = [
        read_column(
            name, kinds[caseless(name)][1], shown[caseless(name)][1],
            cells.column(j).combine_chunks(),
            {
                table: rows[table].column(name).combine_chunks()
                for table in (rows if j < len(known) else BOTH)
            },
            trees.get(caseless(name)),
        )
        for j, name in enumerate((*known, *secrets))
    ]
    looked = columns[:len(known)]
    release = AttackedRelease(
        tuple(looked), tuple(columns[len(known):]),
        people_of({
            table: rows[table].column("__kanon_person").combine_chunks() for table in BOTH
        }, attacks),
        frozenset(
            name for name in (*known, *secrets)
            if kinds[caseless(name)][1].startswith(("DATE", "TIME"))
        ),
        call.task.seed,
    )
    if POPULATION not in tables.people:
        return release, None
    return release, profiles_of(looked).known(POPULATION)


def _columns(session: Session, relation: Relation) -> dict[str, tuple[str, str]]:
    """Name and type of each column, by its name in lower case."""
    schema = bound(session.con, f"FROM {relation.sql}")
    return {
        caseless(name): (name, str(kind))
        for name, kind in zip(schema.columns, schema.types, strict=True)
    }


def _named(kinds: Mapping[str, tuple[str, str]], names: Sequence[str]) -> list[str]:
    """These columns as the table names them, each once."""
    return list(dict.fromkeys(kinds[caseless(name)][0] for name in names))


def _rows(
    session: Session, relation: Relation, call: GroupingCall, names: Sequence[str], said: str
) -> pa.Table:
    """The rows of people as texts."""
    there = _columns(session, relation)
    for name in names:
        if caseless(name) not in there:
            raise OptionError(LACKING.format(said, name))
    entity = call.roles.entity
    if entity is not None and caseless(entity) not in there:
        entity = None
    return session.query(
        people_sql(relation, names, entity, call.task.seed), lambda found: found.to_arrow_table()
    )


def _trees(session: Session, source: Relation, call: GroupingCall) -> dict[str, Any]:
    """The hierarchies by column, in lower case."""
    # here, since it loads what only attacks need
    from kanon_sql.attacks.cells import tree_of

    return {
        caseless(spec.column): tree_of(session.query(
            hierarchy_sql(source, spec), lambda relation: relation.to_arrow_table()
        ))
        for spec in call.hierarchies
    }
