"""The search behind refine: small changes at random, ever fewer of them for the worse.

Simulated annealing with a fixed clock. A step visits one record and proposes one change there; the
change is made if it costs less than a random allowance, which is proportional to the temperature.
The temperature falls over a cycle from ``hot`` to 0. All chance is a hash of the step's number, so
that a search can stop after any step and go on from there as if it had not stopped.

What a group costs is known to moves_by_squared_error.py and to moves_by_information_loss.py alone
(see moves.py).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inlined, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP
from kanon_sql.methods.local_search.moves import (
    choose,
    cost,
    exchange,
    growth,
    join,
    leave,
    relief,
    swap,
)
from kanon_sql.points.points import Codes, Floats, Labels

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


class Sites(NamedTuple):
    """The distinct points among n records.

    Attributes:
        site_of: int64, shape (n,); the site of each record.
        start: int64, shape (sites + 1,); where the records of each site start in ``order``.
        order: int64, shape (n,); the records, site by site.
        near: int32, shape (sites, count); the nearest sites of each, nearest first.
    """

    site_of: Labels
    start: Labels
    order: Labels
    near: Codes


class Spare(NamedTuple):
    """Groups that are empty.

    Attributes:
        numbers: int64, shape (groups,); the first ``left`` are theirs.
        left: int64, shape (1,); how many there are.
    """

    numbers: Labels
    left: Labels


class Cycle(NamedTuple):
    """Steps during which the temperature falls: the first, how many, and what it falls from."""

    begin: int
    length: int
    hot: float


class Search(NamedTuple):
    """What the search works on.

    Attributes:
        data: the records, SquaredRecords or PackedRecords.
        groups: the groups under change, SquaredGroups or LossGroups.
        sites: the distinct points.
        spare: the groups that are empty.
        unit: float64, shape (n,); what an allowance counts at temperature 1, per record.
        k: the least group size.
    """

    data: Any
    groups: Any
    sites: Sites
    spare: Spare
    unit: Floats
    k: int


class Moved(NamedTuple):
    """Room for the records that a proposal moves, and where each was before: int64, shape (2k,)."""

    record: Labels
    origin: Labels


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
def _at_site(sites: Sites, site: int, bits: Any) -> Any:
    """One of the records at a site."""
    start = sites.start
    count = start[site + 1] - start[site]
    return np.int64(sites.order[start[site] + (0 if count == 1 else _pick(bits, 40, 24, count))])


@inlined
def _neighbour(data: Any, sites: Sites, i: int, bits: Any) -> Any:
    """A record at the site of i or at one of the nearest, which may be i itself."""
    site, near = sites.site_of[i], sites.near
    own = 1 if sites.start[site + 1] - sites.start[site] > 1 else 0
    rank = choose(data, _pick(bits, 20, 12, 4096), near.shape[1], own)
    return _at_site(sites, site if rank == near.shape[1] else near[site, rank], bits)


@inner
def _dissolve(search: Search, g: int, bits: Any, limit: float, moved: Any) -> bool:
    """Puts the members of group g, one by one, into the group nearby that grows least; undone if
    that costs more than the limit."""
    data, groups, sites, spare, _, k = search
    labels, sizes, near = groups.labels, groups.sizes, sites.near
    count, total, done = sizes[g], -cost(data, g, groups), 0
    # a copy, since members change their places when one leaves
    for p in range(count):
        moved[p] = groups.members[g, p]
    while done < count:
        i = moved[done]
        best, least = -1, np.inf
        for rank in range(min(near.shape[1], CLOSE) + 1):
            site = sites.site_of[i] if rank == 0 else near[sites.site_of[i], rank - 1]
            b = labels[_at_site(sites, site, bits)]
            # g itself is to go, and a group of 2k - 1 is full
            if b in (g, best) or sizes[b] >= 2 * k - 1:
                continue
            grown = growth(data, i, b, groups)
            if grown < least:
                best, least = b, grown
        total += least
        # growths are 0 or more: once too dear, too dear with the rest; inf where nothing is near
        if not total < limit:
            break
        leave(data, i, groups)
        join(data, i, best, groups)
        done += 1
    if done == count:
        spare.numbers[spare.left[0]] = g
        spare.left[0] += 1
        return True
    for p in range(done):
        leave(data, moved[p], groups)
        join(data, moved[p], g, groups)
    return False


@inner
def _create(search: Search, i: int, bits: Any, limit: float, moved: Moved) -> bool:
    """Makes a group of record i and the k-1 nearest that other groups can do without; undone if
    that costs more than the limit."""
    data, groups, sites, spare, _, k = search
    labels, sizes = groups.labels, groups.sizes
    site_of, start, order, near = sites
    record, origin = moved
    if spare.left[0] == 0:
        return False
    new, count, total, head = spare.numbers[spare.left[0] - 1], 0, 0.0, -1
    while head < count < k:
        # around i itself first, then around those that came along
        center = i if head < 0 else record[head]
        for rank in range(-2 if head < 0 else 0, near.shape[1]):  # -2: i, -1: its own site
            site = site_of[center] if rank < 0 else near[site_of[center], rank]
            here = start[site + 1] - start[site]
            skip = 0 if here == 1 else _pick(bits, 40, 24, here)
            for p in range(1 if rank == -2 else min(here, ALIKE)):
                j = i if rank == -2 else order[start[site] + (skip + p) % here]
                if count == k or labels[j] == new or sizes[labels[j]] <= k:
                    continue
                # moved at once, so that the next relief counts that this one is gone
                total -= relief(data, j, groups)
                record[count], origin[count] = j, labels[j]
                leave(data, j, groups)
                join(data, j, new, groups)
                count += 1
        head += 1
    if count == k and total + cost(data, new, groups) < limit:
        spare.left[0] -= 1
        return True
    for p in range(count - 1, -1, -1):
        leave(data, record[p], groups)
        join(data, record[p], origin[p], groups)
    return False


@kernel
def anneal(search: Search, cycle: Cycle, first: int, last: int, beat: Any) -> None:
    """Steps first .. last - 1, all within the cycle."""
    data, groups, sites, _, unit, k = search
    labels, sizes, members = groups.labels, groups.sizes, groups.members
    n = labels.shape[0]
    begin, length, hot = cycle
    moved = Moved(np.empty(2 * k, np.int64), np.empty(2 * k, np.int64))
    warmth = 0.0
    for step in range(first, last):
        # by the step, not by what was done before: so a search that stopped can go on
        block = (step - begin) // BLOCK
        if step == first or step - begin == block * BLOCK:
            if beat[STOP] == 1:
                return
            beat[DONE] += min(BLOCK, last - step)
            left = 1.0 - block * BLOCK / length
            warmth = hot * left * left * left  # falls fast, then stays low for long
        i = step % n
        bits = scramble(step)
        # below an exponential wait with probability exp(-change / warmth), as Metropolis has it
        limit = unit[i] * (WAITS[_pick(bits, 0, 12, 4096)] * warmth - TOLERANCE)
        if _pick(bits, 12, 8, 256) < RARELY:
            if sizes[labels[i]] == k:
                _dissolve(search, labels[i], bits, limit, moved.record)
            else:
                _create(search, i, bits, limit, moved)
            continue
        # one of the two is to join the other's group
        mover, stays = i, _neighbour(data, sites, i, bits)
        if _pick(bits, 32, 8, 256) < PULL:
            mover, stays = stays, mover
        a, b = labels[mover], labels[stays]
        if a == b:
            continue
        if sizes[a] > k and sizes[b] < 2 * k - 1:
            change = growth(data, mover, b, groups) - relief(data, mover, groups)
            if change < limit:
                leave(data, mover, groups)
                join(data, mover, b, groups)
                continue
        # one record alone gains nothing or is not allowed: it may still change places with another
        other = np.int64(members[b, _pick(bits, 40, 24, sizes[b])])
        if other == stays and mover != i:
            continue
        if exchange(data, mover, other, groups, limit) < limit:
            swap(data, mover, other, groups)
