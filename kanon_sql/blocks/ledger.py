"""A ledger as every engine goes on from it: what is decided of its persons is decided by their
histories, of which there are few, and where the persons are the engine knows.

What of a block's classes is new has numbers that no other block's have. At the end stands what
the query of ``anonymize_ledger`` gives, and what can be linked over all releases is counted there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import BlockFacts
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.metrics import Output
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import BlockSource, rows_sql
from kanon_sql.call.call import GroupingCall
from kanon_sql.call.ledger import Ledger
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.arrow import SideTable
from kanon_sql.ledger.headroom import ASSUMED, Headroom, churn_of, headroom_for
from kanon_sql.ledger.histories import read_histories
from kanon_sql.ledger.shown import STAY
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import one_empty_row, quasi
from kanon_sql.plan.ledger import asked_sql, joined
from kanon_sql.plan.pipeline import trees_of
from kanon_sql.sql import statement
from kanon_sql.stages.block import GoingOn

FIRST = 1
"""The number of the first release."""


@dataclass(frozen=True)
class Known:
    """What is decided of those who were released before, and what newcomers go on from.

    Attributes:
        release: the number of the release.
        largest: the largest number of a class before; 0 without any.
        least: the least k before; None without any.
        present: how many persons of the ledger take part.
        shown: how many of them are released.
        stale: how many changed since they were.
        newcomers: how many persons take part who were never released.
        churn: the share of the persons that leaves from one release to the next.
    """

    release: int
    largest: int
    least: int | None
    present: int
    shown: int
    stale: int
    newcomers: int
    churn: float

    @property
    def facts(self) -> BlockFacts:
        """Those of who was released before, as of a block."""
        return BlockFacts(self.present, self.shown, records=float(self.present))


def first_release(newcomers: int) -> Known:
    """Before the first release nobody is known."""
    return Known(FIRST, 0, None, 0, 0, 0, newcomers, ASSUMED)


class LinkedCrowds(NamedTuple):
    """What can be linked once the entries of a release are in its ledger.

    Attributes:
        least: the smallest crowd of all in the ledger; None without any.
        crowd: that of those in this release.
        rows: how many rows the entries have.
        persons: whose they are.
        unfrozen: how many classes published two things.
        unlike: how many combinations came out of which the entries have other numbers of persons.
        joining: how many newcomers joined a class that was there.
    """

    least: int | None
    crowd: int | None
    rows: int
    persons: int
    unfrozen: int
    unlike: int
    joining: int


S = TypeVar("S", bound=BlockSource, covariant=True)


class EarlierReleases(Protocol[S]):
    """A ledger, and the persons that an engine holds beside it."""

    @property
    def learned(self) -> Learned:
        """What was learned of all rows."""

    @property
    def going_on(self) -> Relation | None:
        """The classes that go on: class, published; None before the second release."""

    @property
    def free(self) -> bool:
        """Whether it is known that newcomers keep no model by themselves."""

    def decide(self) -> Known:
        """Decides over all persons who is released as before, and keeps their released rows.

        Raises:
            OptionError, DataError: a ledger that can't be gone on from, or a person with several
                rows.
        """

    def newcomers(self) -> S:
        """The rows of who was never released."""

    def numbers(self, name: str) -> Mapping[Any, int]:
        """How many of all rows have each number of a quasi-identifier."""

    def let_free(self) -> None:
        """Notes that newcomers keep no model by themselves."""

    def keep_models(
        self, parts: Sequence[Part], facts: Sequence[BlockFacts], known: Known
    ) -> tuple[Known, list[BlockFacts]]:
        """Leaves out who has to be so that every class and every crowd keeps the models; what is
        known, and the facts of the blocks, without them."""

    def entered(self, known: Known, parts: Sequence[Part], output: Output) -> LinkedCrowds:
        """Keeps what the ledger gets, and counts what can be linked then."""

    def verify_models(self, known: Known, parts: Sequence[Part]) -> None:
        """Raises ReleaseError unless every class of the release keeps the models, and every crowd.
        """


def ledger_of(call: GroupingCall) -> Ledger:
    """How a call goes on."""
    assert call.ledger is not None
    return call.ledger


def stages_of(request: Request, call: GroupingCall) -> str:
    """SQL of the stages over which a ledger is read."""
    everybody = replace(request, call=replace(call, task=replace(call.task, nulls="value")))
    kept = ["true"]
    if call.task.nulls == "suppress":
        kept = [f"__kanon_value({quoted(name)}) IS NOT NULL" for name in request.quasi]
    return statement(
        "blocks.ledger_stages", kept=" AND ".join(kept), rows=rows_sql(everybody, keyed=False),
        quasi=quasi(call.roles, ()),
        one_keyed=one_empty_row(trees_of(call).keyed("__kanon_source")),
    )


def options_of(session: Session, request: Request, call: GroupingCall) -> str:
    """What is asked of a release, as its ledger keeps it."""
    text = statement(
        "blocks.ledger_asked", stages=stages_of(request, call),
        asked=asked_sql(call, ledger_of(call)),
    )
    ((options,),) = session.rows(text)
    return str(options)


class Stays(NamedTuple):
    """Who is shown again, by history.

    Attributes:
        table: history VARCHAR, stay BIGINT, class BIGINT; of each history how many are shown, and
            in which class.
        present: how many persons might be shown.
        shown: how many are.
        churn: the share of the persons that leaves from one release to the next.
    """

    table: pa.Table
    present: int
    shown: int
    churn: float


def stays_of(table: pa.Table, call: GroupingCall) -> Stays:
    """Decides who is shown again.

    Args:
        table: of each history of the ledger: history, persons, and how many of these are present.
        call: over all rows.
    """
    texts = table.column("history").combine_chunks().cast(pa.string())
    histories, places = read_histories(texts.to_pylist())
    persons, present = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    persons[places] = table.column("persons").to_numpy()
    present[places] = table.column("present").to_numpy()
    histories = replace(histories, persons=persons)
    stay = STAY[ledger_of(call).attacker](histories, present, call.task.k)
    stays = pa.table({
        "history": texts, "stay": stay[places], "class": histories.last_class[places],
    })
    return Stays(stays, int(present.sum()), int(stay.sum()), churn_of(histories, present))


def room_of(call: GroupingCall, known: Known) -> Headroom:
    """The room of new classes."""
    ledger = ledger_of(call)
    if isinstance(ledger.headroom, int):
        return Headroom(ledger.headroom)
    return headroom_for(call.task.k, ledger.attacker, known.churn)


def call_of_newcomers(
    call: GroupingCall, going_on: Relation | None, largest: int, headroom: int
) -> GroupingCall:
    """The call over newcomers, whose classes have numbers from there on."""
    ledger = replace(ledger_of(call), relation=going_on, largest=largest, headroom=headroom)
    return replace(call, ledger=ledger)


def learned_of_newcomers(
    past: EarlierReleases[S], known: Known, classes: GoingOn | None
) -> Learned:
    """What was learned, for the newcomers, who may join these classes."""
    learned = past.learned
    room = room_of(learned.call, known).persons
    call = call_of_newcomers(learned.call, past.going_on, known.largest, room)
    return replace(learned, rows=known.newcomers, call=call, counts={}, going_on=classes)


def classes_of(
    session: Session, request: Request, learned: Learned, going_on: Relation | None,
    numbers: Callable[[str], Mapping[Any, int]],
) -> GoingOn | None:
    """The classes that newcomers may join; None where they may not.

    Args:
        session: over a connection of our own.
        request: what is asked of all rows.
        learned: of them.
        going_on: the classes that go on.
        numbers: how many of all rows have each number of a quasi-identifier.
    """
    how, attacker = joined(learned.call), ledger_of(learned.call).attacker
    if going_on is None or how is None or attacker != "knows_presence":
        return None
    names = list(request.quasi)
    cells = ", ".join(
        f"(__kanon_cell({_published(name)})).number::VARCHAR AS n{i}, "
        f"__kanon_key({_published(name)}) AS t{i}" for i, name in enumerate(names)
    )
    text = statement("blocks.ledger_cells", cells=cells, classes=going_on.sql)
    published = session.query(text, lambda relation: relation.to_arrow_table())
    if published.num_rows == 0:
        return None
    table = SideTable(
        ("class", *(each for name in names for each in (caseless(name), ""))),
        tuple(column.combine_chunks().cast(pa.string()) for column in published.columns),
    )
    counts: dict[str, Mapping[Any, int]] = {}
    if how == "sets":
        for name in names:
            known = learned.counts.get(name)
            counts[caseless(name)] = numbers(name) if known is None else known
    return GoingOn(table, counts)


def _published(name: str) -> str:
    return f"published[{literal(caseless(name))}]"
