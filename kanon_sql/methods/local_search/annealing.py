"""The search behind refine: small changes at random, ever fewer of them for the worse.

Simulated annealing with a fixed clock. A step visits one record and proposes one change there; the
change is made if it costs less than a random allowance, which is proportional to the temperature.
The temperature falls over a cycle from ``hot`` to 0. All chance is a hash of the step's number, so
that a search can stop after any step and go on from there as if it had not stopped.

What a group costs is known to moves_by_squared_error.py and to moves_by_information_loss.py alone
(see moves.py). What can be judged before its turn comes is judged by judging.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inlined, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP
from kanon_sql.methods.local_search.moves import (
    choose,
    clear,
    cost,
    exchange,
    growth,
    join,
    leave,
    relief,
    settle,
    swap,
)
from kanon_sql.methods.local_search.penalty import (
    hold,
    hold_all,
    largest,
    may_make,
    note_made,
    number_of,
    partner,
    permits,
    reach,
)
from kanon_sql.methods.local_search.state import (
    Changes,
    Cycle,
    DistinctPoints,
    Judged,
    LocalSearch,
    Moved,
)

BLOCK = 256
"""Steps of one temperature, and between two looks at the beat."""

TOLERANCE = 1e-11
"""What a change must gain at temperature 0, as a share of the record's own unit: far more than
rounding errors, so that they make no change seem a gain."""

RARELY = 12
"""One step in 256 / RARELY proposes to dissolve a group or to make one."""

PULL = 64
"""PULL of 256 other steps bring the neighbour to the record's group, the rest the record to its."""

CLOSE = 16
"""How many of the nearest sites are looked at when a group is dissolved."""

ALIKE = 8
"""How many records of one site are looked at when a group is made."""

WAITS = np.array([round(-math.log((p + 0.5) / 4096), 6) for p in range(4096)])
"""Equally likely values of an exponential distribution with mean 1; rounded, since the last bit
of a logarithm is not the same everywhere."""

_GOLDEN, _FIRST, _SECOND = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)

_COIN, _COIN_BIT = np.uint64(40), np.uint64(1)


@inlined
def scramble(number: int) -> Any:
    """64 random bits for a number (splitmix64)."""
    bits = np.uint64(number + 1) * _GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


@inlined
def _pick(bits: Any, shift: int, width: int, count: int) -> Any:
    """A number below count from ``width`` of the bits."""
    part = (bits >> np.uint64(shift)) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))
    return np.int64((part * np.uint64(count)) >> np.uint64(width))


@inlined
def _at_site(sites: DistinctPoints, site: int, bits: Any) -> Any:
    """One of the records at a site."""
    start = sites.start
    count = start[site + 1] - start[site]
    return np.int64(sites.order[start[site] + (0 if count == 1 else _pick(bits, 40, 24, count))])


@inlined
def _neighbour(data: Any, sites: DistinctPoints, i: int, bits: Any) -> Any:
    """A record at the site of i or at one of the nearest, which may be i itself."""
    site, near = sites.site_of[i], sites.near
    own = 1 if sites.start[site + 1] - sites.start[site] > 1 else 0
    rank = choose(data, _pick(bits, 20, 12, 4096), near.shape[1], own)
    return _at_site(sites, site if rank == near.shape[1] else near[site, rank], bits)


@inlined
def note(changes: Changes, g: int) -> None:
    """Notes that group g is changed."""
    turn, last, many, groups, _, _ = changes
    if last[g] != turn[0]:
        last[g] = turn[0]
        groups[many[0]] = g
        many[0] += 1


@inlined
def warmth_at(cycle: Cycle, step: int) -> Any:
    """The temperature at a step."""
    begin, length, hot = cycle
    # by the step, not by what was done before: so a search that stopped can go on
    left = 1.0 - (step - begin) // BLOCK * BLOCK / length
    return hot * left * left * left  # falls fast, then stays low for long


@inlined
def limit_of(unit: float, bits: Any, warmth: float) -> Any:
    """What a change may cost, at a record of that unit."""
    # below an exponential wait with probability exp(-change / warmth), as Metropolis has it
    return unit * (WAITS[_pick(bits, 0, 12, 4096)] * warmth - TOLERANCE)


@inlined
def is_rare(bits: Any) -> Any:
    """Whether a step proposes to dissolve a group or to make one."""
    return _pick(bits, 12, 8, 256) < RARELY


@inlined
def weigh(search: LocalSearch, i: int, bits: Any, limit: float) -> Any:
    """What a step that is not rare comes to, at record i: the mover's group, the group of the one
    that stays, the mover, and the record that it is to change places with.

    The mover is -1 where nothing is to be done, the last -1 where it is to join the other group.
    All follows from the two groups, wherever else they are not changed.
    """
    data, groups, sites, _, _, k, _, penalty = search
    labels, sizes = groups.labels, groups.sizes
    # one of the two is to join the other's group
    mover, stays = i, _neighbour(data, sites, i, bits)
    if _pick(bits, 32, 8, 256) < PULL:
        mover, stays = stays, mover
    a, b, done, other = labels[mover], labels[stays], np.int64(-1), np.int64(-1)
    if a != b and sizes[a] > k and sizes[b] < largest(penalty, k):
        change = growth(data, mover, b, groups) - relief(data, mover, groups)
        if change < reach(penalty, a, b, limit) and permits(
            penalty, groups, mover, b, other, limit - change
        ):
            done = mover
    if a != b and done < 0:
        # one record alone gains nothing or is not allowed: it may still change places with another
        at = _pick(bits, 40, 24, sizes[b])
        other = np.int64(partner(penalty, groups, b, mover, at, (bits >> _COIN) & _COIN_BIT))
        if other != stays or mover == i:
            most = reach(penalty, a, b, limit)
            change = exchange(data, mover, other, groups, most)
            if change < most and permits(penalty, groups, mover, b, other, limit - change):
                done = mover
    return a, b, done, other


@inner
def _dissolve(search: LocalSearch, g: int, bits: Any, limit: float, room: Moved) -> bool:
    """Puts the members of group g, one by one, into the group nearby that grows least; undone if
    that costs more than the limit."""
    data, groups, sites, spare, _, k, changes, penalty = search
    labels, sizes, near = groups.labels, groups.sizes, sites.near
    count, total, done = sizes[g], -cost(data, g, groups), 0
    moved, into = room
    visited = changes.visited
    most = reach(penalty, g, g, limit)
    note(changes, g)
    # a copy, since members change their places when one leaves
    for p in range(count):
        moved[p] = groups.members[g, p]
    while done < count:
        i = moved[done]
        best, least = -1, np.inf
        if visited.shape[0] > 0:
            visited[-1] += 1
        for rank in range(min(near.shape[1], CLOSE) + 1):
            site = sites.site_of[i] if rank == 0 else near[sites.site_of[i], rank - 1]
            b = labels[_at_site(sites, site, bits)]
            # g itself is to go, and one with the most records is full
            if b in (g, best) or sizes[b] >= largest(penalty, k):
                continue
            if visited.shape[0] > 0:
                # it grows by no less at another look
                if visited[b] == visited[-1]:
                    continue
                visited[b] = visited[-1]
            grown = growth(data, i, b, groups)
            if grown < least:
                best, least = b, grown
        total += least
        # growths are 0 or more: once too dear, too dear with the rest; inf where nothing is near
        if not total < most:
            break
        note(changes, best)
        leave(data, i, groups)
        join(data, i, best, groups)
        done += 1
    if done == count:
        for p in range(count):
            into[p] = labels[moved[p]]
        total += hold(penalty, groups, g) + hold_all(penalty, groups, into, count)
        if total < limit:
            spare.numbers[spare.left[0]] = g
            spare.left[0] += 1
            return True
    for p in range(done):
        into[p] = labels[moved[p]]
        leave(data, moved[p], groups)
        join(data, moved[p], g, groups)
    if done == count:  # else nothing was held yet
        hold_all(penalty, groups, into, done)
        hold(penalty, groups, g)
    return False


@inner
def _create(search: LocalSearch, i: int, bits: Any, limit: float, moved: Moved) -> bool:
    """Makes a group of record i and the k-1 nearest that other groups can do without; undone if
    that costs more than the limit."""
    data, groups, sites, spare, _, k, changes, penalty = search
    labels, sizes = groups.labels, groups.sizes
    site_of, start, order, near = sites
    record, origin = moved
    looked = changes.looked
    if spare.left[0] == 0:
        return False
    if looked.shape[0] > 0:
        looked[-1] += 1
    # all that groups have beyond k: where that is less, nothing comes of it once it is gone
    most = min(k, labels.shape[0] - k * (sizes.shape[0] - spare.left[0]))
    new, count, total, head = spare.numbers[spare.left[0] - 1], 0, 0.0, -1
    note(changes, new)
    while head < count < most:
        # around i itself first, then around those that came along
        center = i if head < 0 else record[head]
        for rank in range(-2 if head < 0 else 0, near.shape[1]):  # -2: i, -1: its own site
            site = site_of[center] if rank < 0 else near[site_of[center], rank]
            if looked.shape[0] > 0 and rank != -2:
                # who was not taken at the first look can't be at another: groups only shrink
                if looked[site] == looked[-1]:
                    continue
                looked[site] = looked[-1]
            size = start[site + 1] - start[site]
            skip = 0 if size == 1 else _pick(bits, 40, 24, size)
            for p in range(1 if rank == -2 else min(size, ALIKE)):
                j = i if rank == -2 else order[start[site] + (skip + p) % size]
                if count == most or labels[j] == new or sizes[labels[j]] <= k:
                    continue
                # moved at once, so that the next relief counts that this one is gone
                note(changes, labels[j])
                total -= relief(data, j, groups)
                record[count], origin[count] = j, labels[j]
                leave(data, j, groups)
                labels[j] = new
                count += 1
        head += 1
    held = False
    if count == k:
        for p in range(count):
            join(data, record[p], new, groups)
        total += cost(data, new, groups)
        if total < limit:
            held = True
            total += hold(penalty, groups, new) + hold_all(penalty, groups, origin, count)
            if total < limit:
                spare.left[0] -= 1
                return True
        clear(data, new, groups)
    for p in range(count - 1, -1, -1):
        join(data, record[p], origin[p], groups)
    if held:
        hold_all(penalty, groups, origin, count)
        hold(penalty, groups, new)
    return False


@kernel
def anneal(
    search: LocalSearch, cycle: Cycle, first: int, last: int, judged: Judged, beat: Any
) -> None:
    """Steps first .. last - 1, all within the cycle; of those that were judged before, what was
    found is taken where neither group was changed since."""
    data, groups, _, _, unit, k, changes, penalty = search
    labels, sizes, n = groups.labels, groups.sizes, groups.labels.shape[0]
    known, seen, most = judged.proposals, changes.last, largest(penalty, k) + 1
    moved = Moved(np.empty(most, np.int64), np.empty(most, np.int64))
    warmth = 0.0
    changes.turn[0] += 1
    changes.many[0] = 0
    for step in range(first, last):
        if step == first or (step - cycle.begin) % BLOCK == 0:
            if beat[STOP] == 1:
                return
            beat[DONE] += min(BLOCK, last - step)
            warmth = warmth_at(cycle, step)
        at, a, b = step - judged.begin, np.int64(-1), np.int64(-1)
        if 0 <= at < judged.steps:
            a, b = np.int64(known[at, 0]), np.int64(known[at, 1])
        if a >= 0 and seen[a] < judged.since and seen[b] < judged.since:
            mover, other = np.int64(known[at, 2]), np.int64(known[at, 3])
        else:
            i = step % n
            bits = scramble(number_of(penalty, step))
            limit = limit_of(unit[i], bits, warmth)
            if is_rare(bits):
                if sizes[labels[i]] == k:
                    _dissolve(search, labels[i], bits, limit, moved)
                elif may_make(penalty, bits):
                    note_made(penalty, _create(search, i, bits, limit, moved))
                continue
            a, b, mover, other = weigh(search, i, bits, limit)
        if mover < 0:
            continue
        note(changes, a)
        note(changes, b)
        if other < 0:
            leave(data, mover, groups)
            join(data, mover, b, groups)
        else:
            swap(data, mover, other, groups)
        hold(penalty, groups, a)
        hold(penalty, groups, b)
    # others read the groups while the next steps are made, in which nothing else may be written
    if known.shape[0] > 0:
        for p in range(changes.many[0]):
            settle(data, changes.groups[p], groups)
