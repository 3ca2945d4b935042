"""The blocks of a release, and each of them through the query that ``anonymize`` runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.blocks.request import Request
from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation
from kanon_sql.errors import DataError, ReleaseError
from kanon_sql.methods import GroupTask
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import helpers, listed, quasi
from kanon_sql.plan.pipeline import passing, pipeline_sql
from kanon_sql.sql import statement

LOST = (
    "The release was stopped: a block has {} rows, but {} are in the output and {} were left out. "
    "Nothing was written; please report this as a bug."
)


class BlockError(DataError):
    """What no larger block would make good."""


@dataclass(frozen=True)
class Leaf:
    """The rows of one leaf of the cuts.

    Attributes:
        name: by which the engine knows them.
        rows: how many there are.
        persons: whose they are; each row is a person where nothing says whose it is.
        most: the rows of the person who has the most.
    """

    name: str
    rows: int
    persons: int
    most: int = 1


@dataclass(frozen=True)
class Block:
    """Leaves that are grouped as one.

    Attributes:
        part: the number of what is cut by itself.
        first, last: where the leaves stand among those of the part.
        leaves: their names.
        rows: how many they have.
        before: how many rows the blocks of the part before it have.
    """

    part: int
    first: int
    last: int
    leaves: tuple[str, ...]
    rows: int
    before: int = 0

    @property
    def name(self) -> str:
        """A name that no other block of the release has."""
        return f"{self.part:06}-{self.first:06}-{self.last:06}"


@dataclass(frozen=True)
class BlockFacts:
    """What is kept of a block beside its rows: sums, of which those of all blocks follow.

    Attributes:
        rows, rows_released: those that went in, and that came out.
        records: rows or, where these are of persons, persons.
        classes: how many there are.
        seconds_group: how long the grouping took.
        sse, total_il: what the classes lose in the geometry in which they were made, if it is that.
    """

    rows: int
    rows_released: int
    records: float = 0.0
    classes: float = 0.0
    seconds_group: float = 0.0
    sse: float | None = None
    total_il: float | None = None

    @staticmethod
    def of(request: Request, facts: Mapping[str, Any], rows: int, released: int) -> BlockFacts:
        """From the facts of a query over so many rows, of which so many came out.

        Raises:
            ReleaseError: rows came out that didn't go in, or the other way round.
        """
        # of persons the query has counted the rows
        counted = request.entity is not None or (
            facts.get("records_released") == released and facts.get("records") == rows
        )
        if not counted or released > rows:
            raise ReleaseError(LOST.format(rows, released, rows - released))
        names = ("records", "classes", "seconds_group", "sse", "total_il")
        return BlockFacts(rows, released, **{n: float(facts[n]) for n in names if n in facts})


def blocks_of(
    leaves: Sequence[Leaf], task: GroupTask, part: int = 0, headroom: int = 0
) -> list[Block]:
    """Leaves as blocks that are large enough: one that is too small joins its neighbour, from which
    it was cut last; ``headroom``: how many persons more a class gets than it must have.

    Large enough are a fourth of the rows that a block should have, two classes of persons, and
    where the rows of a person are kept apart, a class for the person who has the most.
    """
    least_size = task.least_size + headroom
    least = max(task.block_size() // 4, 2 * least_size)

    def small(leaf: Leaf) -> bool:
        apart = not task.persons and leaf.rows < least_size * leaf.most
        return leaf.rows < least or leaf.persons < 2 * least_size or apart

    merged: list[tuple[list[str], Leaf]] = []
    for leaf in leaves:
        if merged and small(merged[-1][1]):
            merged[-1] = ([*merged[-1][0], leaf.name], _both(merged[-1][1], leaf))
        else:
            merged.append(([leaf.name], leaf))
    if len(merged) > 1 and small(merged[-1][1]):
        names, last = merged.pop()
        merged[-1] = ([*merged[-1][0], *names], _both(merged[-1][1], last))
    blocks, first, before = [], 0, 0
    for names, leaf in merged:
        end = first + len(names)
        blocks.append(Block(part, first, end - 1, tuple(names), leaf.rows, before))
        first, before = end, before + leaf.rows
    return blocks


def _both(one: Leaf, other: Leaf) -> Leaf:
    """Two leaves as one; no person is in both."""
    return Leaf(
        one.name, one.rows + other.rows, one.persons + other.persons, max(one.most, other.most)
    )


LARGEST = 8
"""Times the rows that a block should have: blocks that can't keep a model join up to so many."""


def join_refused(blocks: Sequence[Block], refused: Collection[Block], size: int) -> list[Block]:
    """Blocks in which each one that was refused has joined its neighbour: the one before, or the
    first the one after. The same blocks where one has none, or there would be too many rows.

    Args:
        blocks: of one part, in their order.
        refused: those of them that can't keep a model by themselves.
        size: how many rows a block should have.
    """
    merged: list[Block] = []
    waiting: Block | None = None
    for block in blocks:
        whole = block if waiting is None else _joined(waiting, block)
        waiting = None
        if block not in refused or whole is not block:
            merged.append(whole)
        elif merged:
            merged[-1] = _joined(merged[-1], whole)
        else:
            waiting = whole
    if waiting is not None:
        merged.append(waiting)
    return list(blocks) if max(block.rows for block in merged) > LARGEST * size else merged


def _joined(one: Block, other: Block) -> Block:
    """Two neighbours as one."""
    return Block(
        one.part, one.first, other.last, (*one.leaves, *other.leaves), one.rows + other.rows,
        one.before,
    )


def block_call(
    request: Request, call: GroupingCall, scales: Mapping[str, Any] | None, relation: Relation,
    rows: int, name: str,
) -> GroupingCall:
    """The call over one block.

    Args:
        request: what is asked.
        call: the call over all rows, its hierarchies those of all rows.
        scales: of the columns, as they were learned from all rows; None where the rows are in
            parts, each with its own.
        relation: the rows of the block.
        rows: how many rows it has.
        name: the name under which its facts are kept.
    """
    sensitive = {caseless(name) for name in call.roles.sensitive}
    other = tuple(name for name in request.passing if caseless(name) not in sensitive)
    uncounted = () if request.place is None else (request.place,)
    dropped = () if request.entity is None else (request.entity,)
    roles = replace(call.roles, identifiers=dropped, rest="error", other=(*other, *uncounted))
    size = call.task.block_size()
    # a block that came out a little larger than asked isn't cut again
    task = replace(call.task, scales=scales, block_rows=rows if size < rows < 2 * size else size)
    return replace(
        call, source=relation, roles=roles, task=task, role_table=None, seen=(), progress=False,
        release=replace(call.release, class_id=False, keep_order=False), uncounted=uncounted,
        small_parts="error", block=name,
    )


def call_over(call: GroupingCall, before: int) -> GroupingCall:
    """The call over a block, where so many rows are in blocks before it. Beside a ledger, what of
    its classes is new has numbers that no other block's have, whatever blocks join: each class has
    k rows or more."""
    if call.ledger is None or call.ledger.largest is None:
        return call
    largest = call.ledger.largest + before // call.task.k
    return replace(call, ledger=replace(call.ledger, largest=largest))


WHOSE = ("__kanon_whose", "__kanon_number")
"""Beside a ledger, columns of a released block that don't come out: whose each row is, and the
number of its class."""


def values_of(call: GroupingCall) -> str:
    """All that is released of a row, over rows of a block."""
    without = "" if call.ledger is None else f" EXCLUDE ({', '.join(WHOSE)})"
    return f"*COLUMNS(__kanon.*{without})"


def block_sql(call: GroupingCall) -> str:
    """SQL of the released rows of one block."""
    beside = ""
    if call.ledger is not None:
        entity = quoted(call.ledger.entity)
        beside = f", __kanon_labelled.{entity} AS {WHOSE[0]}, __kanon_class AS {WHOSE[1]}"
    return statement(
        "blocks.block",
        pipeline=pipeline_sql(call),
        dropped=listed((*helpers(call.roles), *call.roles.identifiers)),
        passing=passing(call) + beside,
        values=values_of(call),
        seed=call.task.seed,
        quasi=f"*{quasi(call.roles, ())}",
    )
