"""Steps of a search judged before their turn comes, on several threads.

Which record a step visits and what it proposes follows from its number alone, and what comes of the
proposal from the two groups that it is about. Threads weigh the steps of a batch ahead of time,
while another thread still makes those of the batch before. Most proposals are turned down, so few
groups change meanwhile. If neither of the two has when the turn comes, what was found then is what
would be found now; otherwise the step is weighed again. So are steps of which nothing is known:
those that dissolve a group or make one look at many groups. Which of the two it is may depend on
the threads, the groups never do.

A thread may read a group that changes at that moment, and find anything; but such a group was
changed when the turn comes, so that nothing of it is believed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kanon_sql.kernel.atomic_counter import claim
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import Helpers, threads
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.methods.local_search.annealing import (
    BLOCK,
    anneal,
    is_rare,
    limit_of,
    scramble,
    warmth_at,
    weigh,
)
from kanon_sql.methods.local_search.moves import frozen
from kanon_sql.methods.local_search.penalty import number_of
from kanon_sql.methods.local_search.state import Cycle, Judged, LocalSearch

FEW = 50_000
"""Records below which no other threads help: a batch of steps takes hardly longer than to wake
them."""

HELPERS = 2
"""Threads that help at most: with two of them, nothing is left to this one but the steps that can't
be judged before their turn, which take half of the time."""

SHARE = BLOCK
"""Steps that a thread takes at a time."""

LEAST, MOST, PART = BLOCK, 8_192, 40
"""Steps of a batch at least, at most, and as a part of the records: the more of them, the more
groups change before their turn."""


@kernel
def _judge(search: LocalSearch, cycle: Cycle, judged: Judged) -> None:
    """Weighs steps until all are taken."""
    begin, steps, _, proposals, turns = judged
    unit, penalty = search.unit, search.penalty
    n = search.groups.labels.shape[0]
    lo = claim(turns, SHARE)
    while lo < steps:
        warmth = warmth_at(cycle, begin + lo)
        for at in range(lo, min(lo + SHARE, steps)):
            step = begin + at
            if (step - cycle.begin) % BLOCK == 0:
                warmth = warmth_at(cycle, step)
            bits = scramble(number_of(penalty, step))
            a = b = mover = other = np.int64(-1)
            if not is_rare(bits):
                i = step % n
                limit = limit_of(unit[i], bits, warmth)
                a, b, mover, other = weigh(search, i, bits, limit)
            # a record on its way from one group to another is in none
            proposals[at, 0] = a if b >= 0 else -1
            proposals[at, 1], proposals[at, 2], proposals[at, 3] = b, mover, other
        lo = claim(turns, SHARE)


def helpers_for(n: int) -> Helpers:
    """The threads that help this one to search among n records."""
    return Helpers(min(threads() - 1, HELPERS) if n >= FEW else 0)


def _room(steps: int) -> Judged:
    """Room for what is found of so many steps, none of which was judged."""
    return Judged(0, 0, 0, np.empty((steps, 4), np.int32), np.zeros(1, np.int64))


def _judge_as(search: LocalSearch, cycle: Cycle, judged: Judged, _: int) -> None:
    """One thread's part of a batch."""
    _judge(search, cycle, judged)


class Judging:
    """A search that goes on, with the helpers' help."""

    def __init__(self, n: int, helpers: Helpers | None) -> None:
        """For n records. Without helpers every step is weighed when its turn comes."""
        self._helpers = Helpers(0) if helpers is None else helpers
        # on one thread one batch is enough: it compiles what large tables need
        self._once = helpers is not None and helpers.count == 0 and threads() > 1
        many = max(LEAST, min(MOST, n // PART // BLOCK * BLOCK))
        self._many = many if self._once or self._helpers.count > 0 else 0
        self._judged, self._free = _room(self._many), _room(self._many)
        self._of: tuple[LocalSearch, Cycle] | None = None
        self._view: Any = None

    def anneal(self, search: LocalSearch, cycle: Cycle, first: int, last: int, beat: Beat) -> None:
        """Steps first .. last - 1, all within the cycle, as ``anneal`` makes them."""
        if self._of is None or self._of[0] is not search or self._of[1] != cycle:
            self._of, self._judged = (search, cycle), self._judged._replace(steps=0)
            # helpers change nothing, not even what is only kept to be found sooner
            self._view = search._replace(groups=frozen(search.groups))
        while first < last and beat[STOP] == 0:
            if self._many == 0:
                anneal(search, cycle, first, last, self._judged, beat)
                return
            known = self._judged
            end = min(known.begin + known.steps, last) if known.begin == first else first
            self._ask(end, last)
            anneal(search, cycle, first, end, known, beat)
            self._answer()
            first = end

    def _ask(self, begin: int, last: int) -> None:
        """Has the steps from ``begin`` on judged, those of the next call if it is the last."""
        assert self._of is not None
        search, cycle = self._of
        end = cycle.begin + cycle.length if begin == last else last
        self._free.turns[0] = 0
        self._free = self._free._replace(
            begin=begin, steps=min(self._many, end - begin), since=int(search.changes.turn[0]) + 1
        )
        self._helpers.start(partial(_judge_as, self._view, cycle, self._free))

    def _answer(self) -> None:
        """Has them judged to the last."""
        assert self._of is not None
        _judge(self._view, self._of[1], self._free)
        self._helpers.finish()
        self._judged, self._free = self._free, self._judged
        if self._once:
            self._many = 0
