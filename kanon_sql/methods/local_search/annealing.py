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
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import inlined, unchecked
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
def _at_site(start: Any, order: Any, site: int, bits: Any) -> Any:
    """One of the records at a site."""
    count = start[site + 1] - start[site]
    return np.int64(order[start[site] + (0 if count == 1 else _pick(bits, 40, 24, count))])


@inlined
def _neighbour(
    data: Any, site_of: Any, start: Any, order: Any, near: Any, i: int, bits: Any
) -> Any:
    """A record at the site of i or at one of the nearest, which may be i itself."""
    site = site_of[i]
    own = 1 if start[site + 1] - start[site] > 1 else 0
    rank = choose(data, _pick(bits, 20, 12, 4096), near.shape[1], own)
    return _at_site(start, order, site if rank == near.shape[1] else near[site, rank], bits)


@unchecked
def _dissolve(
    data: Any, sites: Any, groups: Any, spare: Any, k: int, g: int, bits: Any, limit: float,
    moved: Any,
) -> bool:
    """Puts the members of group g, one by one, into the group nearby that grows least; undone if
    that costs more than the limit."""
    labels, _, sizes, members = groups[:4]
    site_of, start, order, near = sites
    count, total, done = sizes[g], -cost(data, g, groups), 0
    for p in range(count):
        moved[p] = members[g, p]
    while done < count:
        i = moved[done]
        best, least = -1, np.inf
        for rank in range(min(near.shape[1], CLOSE) + 1):
            site = site_of[i] if rank == 0 else near[site_of[i], rank - 1]
            b = labels[_at_site(start, order, site, bits)]
            if b in (g, best) or sizes[b] >= 2 * k - 1:
                continue
            grown = growth(data, i, b, groups)
            if grown < least:
                best, least = b, grown
        total += least
        if not total < limit:
            break
        leave(data, i, groups)
        join(data, i, best, groups)
        done += 1
    if done == count:
        spare[0][spare[1][0]] = g
        spare[1][0] += 1
        return True
    for p in range(done):
        leave(data, moved[p], groups)
        join(data, moved[p], g, groups)
    return False


@unchecked
def _create(
    data: Any, sites: Any, groups: Any, spare: Any, k: int, i: int, bits: Any, limit: float,
    moved: Any, origin: Any,
) -> bool:
    """Makes a group of record i and the k-1 nearest that other groups can do without; undone if
    that costs more than the limit."""
    labels, _, sizes = groups[:3]
    site_of, start, order, near = sites
    if spare[1][0] == 0:
        return False
    new, count, total, head = spare[0][spare[1][0] - 1], 0, 0.0, -1
    while head < count < k:
        # around i itself first, then around those that came along
        center = i if head < 0 else moved[head]
        for rank in range(-2 if head < 0 else 0, near.shape[1]):
            site = site_of[center] if rank < 0 else near[site_of[center], rank]
            here = start[site + 1] - start[site]
            skip = 0 if here == 1 else _pick(bits, 40, 24, here)
            for p in range(1 if rank == -2 else min(here, ALIKE)):
                j = i if rank == -2 else order[start[site] + (skip + p) % here]
                if count == k or labels[j] == new or sizes[labels[j]] <= k:
                    continue
                total -= relief(data, j, groups)
                moved[count], origin[count] = j, labels[j]
                leave(data, j, groups)
                join(data, j, new, groups)
                count += 1
        head += 1
    if count == k and total + cost(data, new, groups) < limit:
        spare[1][0] -= 1
        return True
    for p in range(count - 1, -1, -1):
        leave(data, moved[p], groups)
        join(data, moved[p], origin[p], groups)
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def anneal(
    data: Any, sites: Any, groups: Any, spare: Any, unit: Any, k: int, cycle: Any, first: int,
    last: int, beat: Any,
) -> None:
    """Steps first .. last - 1, all within the cycle (its first step, its length, hot).

    Sites are the distinct points: the site of each record, where each site's records start in
    ``order``, that order, and the nearest sites of each. Spare are the numbers of groups that are
    empty, and how many. Unit is what an allowance counts at temperature 1, per record.
    """
    labels, _, sizes, members = groups[:4]
    site_of, start, order, near = sites
    n = labels.shape[0]
    begin, length, hot = cycle
    moved, origin = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    warmth = 0.0
    for step in range(first, last):
        block = (step - begin) // BLOCK
        if step == first or step - begin == block * BLOCK:
            if beat[STOP] == 1:
                return
            beat[DONE] += min(BLOCK, last - step)
            left = 1.0 - block * BLOCK / length
            warmth = hot * left * left * left
        i = step % n
        bits = scramble(step)
        limit = unit[i] * (WAITS[_pick(bits, 0, 12, 4096)] * warmth - TOLERANCE)
        if _pick(bits, 12, 8, 256) < RARELY:
            if sizes[labels[i]] == k:
                _dissolve(data, sites, groups, spare, k, labels[i], bits, limit, moved)
            else:
                _create(data, sites, groups, spare, k, i, bits, limit, moved, origin)
            continue
        mover, stays = i, _neighbour(data, site_of, start, order, near, i, bits)
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
        other = np.int64(members[b, _pick(bits, 40, 24, sizes[b])])
        if other == stays and mover != i:
            continue
        if exchange(data, mover, other, groups, limit) < limit:
            swap(data, mover, other, groups)
