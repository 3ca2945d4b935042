"""Searches among the unassigned, made before their turn comes, on several threads.

A method visits its origins in an order that it knows beforehand, and asks for the records nearest
to each that are unassigned when its turn comes. Threads ask for a batch of origins ahead of time,
while another thread still makes groups around those of the batch before. Records only ever leave
the pool. So if nobody of those that were found has left when the turn comes, they are what is found
then: everybody who is still there was there all the while, and was not nearer. Otherwise the
question is asked again. Which of the two it is may depend on the threads, the groups never do.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from kanon_sql.kernel.atomic_counter import claim
from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.parallel import Helpers, threads
from kanon_sql.points.points import Floats, Labels
from kanon_sql.search.box_tree import Stack, new_stack
from kanon_sql.search.unassigned import LEFT, Pool

FEW = 20_000
"""Records below which no other threads help: a group takes microseconds, to wake a thread 100."""

FIRST, LEAST, MOST = 64, 64, 4_096
"""Origins of the first batch, and of the smallest and the largest one."""

ROOM = 1 << 18
"""Records that a batch may find, at most."""

PLAIN = 4_096
"""Origins that are visited one by one where too many of the smallest batch were asked again."""

RUN = 8
"""Records that are looked at for each origin of a batch at a time."""

SHARE = 8
"""Origins that a thread takes at a time."""

COUNT, NEXT, AGAIN = range(3)
"""Places in a batch's counts: origins in it, the one whose turn is next, and those that were asked
for in vain."""


class Batch(NamedTuple):
    """Origins, and what was found for them ahead of time.

    Attributes:
        origins: those that come next; int64, shape (b,).
        neighbours: each origin and the records nearest to it; int64, shape (b, q).
        around: the nearest to neighbours[:, 1] likewise, where a method asks for them; int64, shape
            (b, q).
        costs: what a method makes of both; float64, shape (b, 2).
        counts: indexed by COUNT .. AGAIN; int64, shape (3,).
        turns: how many origins threads have taken; int64, shape (1,).
    """

    origins: Labels
    neighbours: Labels
    around: Labels
    costs: Floats
    counts: Labels
    turns: Labels


class Desk(NamedTuple):
    """What one thread needs for itself.

    Attributes:
        stack: room for one search.
        counts: as of a Pool; int64, shape (5,).
    """

    stack: Stack
    counts: Labels


class Rounds(Protocol):
    """What a method does at its origins."""

    pool: Pool

    def ask(self, batch: Batch, pool: Pool) -> None:
        """Finds for the batch's origins what they need, until all are taken; ``pool`` is the pool
        as this thread searches it."""

    def visit(self, batch: Batch) -> None:
        """Makes the groups around the batch's origins, one after another, of those that are
        unassigned when their turn comes."""


def own_pool(pool: Pool, desk: Desk) -> Pool:
    """The pool as one of several threads searches it."""
    # how to search each thread judges by its own searches
    desk.counts[LEFT] = pool.counts[LEFT]
    return Pool(pool.tree, pool.leaves, desk.stack, desk.counts)


@inner
def next_share(batch: Batch) -> Any:
    """The origins that a thread is to ask for next: from the first number up to the second."""
    lo, count = claim(batch.turns, SHARE), batch.counts[COUNT]
    return min(lo, count), min(lo + SHARE, count)


@inner
def all_left(records: Any, count: int, labels: Any) -> bool:
    """Whether none of records[:count] has a label."""
    p = 0
    while p < count and labels[records[p]] < 0:
        p += 1
    return p == count


def _pick(order: Any, place: int, labels: Any, many: int, batch: Batch) -> int:
    """Puts the next unassigned records from a place in the order on into a batch; returns the place
    behind them."""
    count = 0
    while place < len(order) and count < many:
        some = order[place : place + RUN * many]
        picked = np.flatnonzero(labels[some] < 0)[: many - count]
        batch.origins[count : count + len(picked)] = some[picked]
        count += len(picked)
        place += int(picked[-1]) + 1 if count == many else len(some)
    batch.counts[:], batch.turns[0] = (count, 0, 0), 0
    return place


def _room(most: int, width: int) -> Batch:
    """An empty batch."""
    return Batch(
        np.empty(most, np.int64), np.empty((most, width), np.int64),
        np.empty((most, width), np.int64), np.empty((most, 2)), np.zeros(3, np.int64),
        np.zeros(1, np.int64),
    )


def unasked(origins: Any, width: int) -> Batch:
    """These origins, none of which was asked for."""
    batch = _room(0, width)
    batch.counts[COUNT] = len(origins)
    return batch._replace(origins=origins)


def _desk() -> Desk:
    """A free desk."""
    # as plain Python: it is compiled for kernels only
    return Desk(new_stack.py_func(), np.zeros(5, np.int64))


def _ask_as(rounds: Rounds, batch: Batch, desks: list[Desk], h: int) -> None:
    """One thread's part of a batch."""
    rounds.ask(batch, own_pool(rounds.pool, desks[h]))


def _next_size(many: int, batch: Batch) -> int:
    """How many origins to ask for next, after a batch was visited."""
    vain, count = int(batch.counts[AGAIN]), int(batch.counts[COUNT])
    if vain * 10 > count:
        return many // 2
    return many * 2 if vain * 25 < count else many


def visit_all(order: Any, labels: Any, rounds: Rounds, width: int) -> None:
    """Visits the records in their order, on as many threads as this one may take.

    Args:
        order: int64, shape (n,).
        labels: int64, shape (n,), -1 for an unassigned record; the rounds write them.
        rounds: what is done at each.
        width: how many records are found for each at most.
    """
    place, many, most = 0, FIRST, max(FIRST, min(MOST, ROOM // width))
    alone = len(order) < FEW
    desks = [_desk() for _ in range(threads())]
    with Helpers(0 if alone else threads() - 1) as helpers:
        # while one of the two is asked for, the other is visited
        batch, before = _room(most, width), _room(most, width)
        # as many as no search can run out of while all of both find theirs
        while threads() > 1 and rounds.pool.counts[LEFT] > (4 * many + 2) * width:
            place = int(_pick(order, place, labels, many, batch))
            helpers.start(partial(_ask_as, rounds, batch, desks))
            rounds.visit(before)
            _ask_as(rounds, batch, desks, 0)
            helpers.finish()
            if before.counts[COUNT] > 0:
                many = min(_next_size(many, before), most)
            batch, before = before, batch
            if many < LEAST:
                # origins lie so close that one takes what was found for the other
                rounds.visit(before)
                rounds.visit(unasked(order[place : place + PLAIN], width))
                place, many = place + PLAIN, LEAST
                before.counts[COUNT] = 0
            # on one thread the first batch is enough: it compiles what large tables need
            if alone:
                break
        rounds.visit(before)
    rounds.visit(unasked(order[place:], width))
