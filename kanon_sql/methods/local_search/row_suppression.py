"""Rows left out where that lowers the loss (row deletion of aggarwal2005, section 4).

A suppressed record costs as much as a record that is generalized to nothing: every cell of it, in
the loss of the method. Two changes are considered, the one that gains most first: a group of more
than k loses a member; or a group is dissolved, and each member joins the group nearby that grows
least, or is left out where that costs less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import NO, YES, inner
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.points.losses import sst
from kanon_sql.points.points import Labels, LossPoints, Points
from kanon_sql.search.nearest_lists import nearest_lists

NEAR = 10
"""How many records near a record tell which groups it may join."""

LARGE = 100
"""A group of more records is left as it is."""

TOLERANCE = 1e-9
"""What a change must gain, as a share of a suppressed record's charge."""


def charge_of(points: Points) -> float:
    """What a suppressed record costs: in squared errors what all records cost on average when they
    are one group, in information loss 1 in each cell, times its weight."""
    if isinstance(points, LossPoints):
        return float(np.sum(points.cap) + np.sum(points.scale * points.limit))
    return sst(points) / len(points)


@inner
def _cost(data: Any, members: Any, size: int) -> float:
    """The loss of a group of members[:size]."""
    numeric, codes, scale, cap, limit, squared = data
    total = 0.0
    for a in range(numeric.shape[1]):
        low = high = numeric[members[0], a]
        mean = 0.0
        for p in range(size):
            value = numeric[members[p], a]
            low, high, mean = min(low, value), max(high, value), mean + value
        if squared:
            mean /= size
            for p in range(size):
                gap = numeric[members[p], a] - mean
                total += gap * gap
        else:
            total += size * min(high - low, cap[a])
    for a in range(codes.shape[1]):
        alike, distinct = 0, 0
        for p in range(size):
            fresh = True
            for q in range(size if squared else p):
                if codes[members[p], a] == codes[members[q], a]:
                    alike += 1
                    fresh = False
                    if not squared:
                        break
            distinct += fresh
            if not squared and distinct > limit[a]:
                break
        if squared:
            total += scale[a] * (size - alike / size)
        else:
            total += size * scale[a] * min(distinct - 1, limit[a])
    return total


@inner
def _without(members: Any, size: int, p: int, rest: Any) -> None:
    """Writes members[:size] but the p-th to ``rest``."""
    for q in range(size):
        if q != p:
            rest[q - (q > p)] = members[q]


@inner
def _list_group(first: Any, follow: Any, g: int, members: Any) -> int:
    """Writes the members of a group, in canonical order; returns their number."""
    size, i = 0, first[g]
    while i >= 0:
        if size < members.shape[0]:
            members[size] = i
        size += 1
        i = follow[i]
    return size


@inner
def _relist(labels: Any, first: Any, follow: Any) -> None:
    """Chains the members of each group in canonical order."""
    first[:] = -1
    for i in range(len(labels) - 1, -1, -1):
        if labels[i] >= 0:
            follow[i] = first[labels[i]]
            first[labels[i]] = i


@inner
def _put(first: Any, follow: Any, labels: Any, i: int, g: int) -> None:
    """Puts record i, which is in no group, into one, so that its chain stays in order."""
    labels[i] = g
    last, here = -1, first[g]
    while 0 <= here < i:
        last, here = here, follow[here]
    follow[i] = here
    if last < 0:
        first[g] = i
    else:
        follow[last] = i


@inner
def _take(first: Any, follow: Any, labels: Any, i: int) -> None:
    """Takes record i out of its group."""
    g = labels[i]
    labels[i] = -1
    if first[g] == i:
        first[g] = follow[i]
        return
    here = first[g]
    while follow[here] != i:
        here = follow[here]
    follow[here] = follow[i]


@inner
def _place(
    data: Any, near: Any, first: Any, follow: Any, labels: Any, i: int, g: int, room: Any
) -> Any:
    """The group nearby, not g, that grows least by record i, and by how much; -1 for none."""
    best, least = -1, np.inf
    for rank in range(near.shape[1]):
        b = labels[near[i, rank]]
        if b in (-1, g, best):
            continue
        size = _list_group(first, follow, b, room)
        if size >= LARGE:
            continue
        before = _cost(data, room, size)
        room[size] = i
        grown = _cost(data, room, size + 1) - before
        if grown < least or (grown == least and first[b] < first[best]):
            best, least = b, grown
    return best, least


@inner
def _dissolve(
    data: Any, near: Any, first: Any, follow: Any, labels: Any, g: int, members: Any, size: int,
    charge: float, out: int, forced: int, apply: bool, room: Any,
) -> Any:
    """What it gains to dissolve group g, and how many members are left out, ``out`` at most: its
    cost less the growth of the groups that members join, one after another, and the charges. The
    member ``forced`` is left out in any case. Undone unless ``apply``."""
    gain, suppressed, placed = _cost(data, members, size), 0, 0
    for p in range(size):
        _take(first, follow, labels, members[p])
    for p in range(size):
        best, grown = _place(data, near, first, follow, labels, members[p], g, room)
        if p == forced or (suppressed + (p < forced) < out and grown > charge):
            suppressed += 1
            gain -= charge
        elif best < 0:
            gain = -np.inf
            break
        else:
            gain -= grown
            _put(first, follow, labels, members[p], best)
        placed += 1
        if not gain > 0.0:
            break
    if apply:
        return gain, suppressed
    for p in range(placed):
        if labels[members[p]] >= 0:
            _take(first, follow, labels, members[p])
    for p in range(size):
        labels[members[p]] = g
        follow[members[p]] = members[p + 1] if p < size - 1 else -1
    first[g] = members[0]
    return gain if placed == size and suppressed > 0 else -np.inf, suppressed


@inner
def _try_group(
    data: Any, near: Any, first: Any, follow: Any, labels: Any, g: int, k: int, charge: float,
    out: int, apply: bool, rooms: Any,
) -> Any:
    """What the best change of group g gains, and how many records it leaves out; made, if
    ``apply`` says so."""
    members, rest, room = rooms
    size = _list_group(first, follow, g, members)
    if size < k or size > LARGE:
        return 0.0, 0
    cost, best, gain, count = _cost(data, members, size), -1, charge * TOLERANCE, 0
    if cost <= charge:
        return 0.0, 0
    for p in range(size if size > k else 0):
        _without(members, size, p, rest)
        found = cost - charge - _cost(data, rest, size - 1)
        if found > gain:
            best, gain, count = p, found, 1
    for p in range(-1, size if size < 2 * k else 0):
        found, suppressed = _dissolve(
            data, near, first, follow, labels, g, members, size, charge, out, p, NO, room
        )
        if found > gain:
            best, gain, count = size + 1 + p, found, suppressed
    if best < 0:
        return 0.0, 0
    if apply and best < size:
        _take(first, follow, labels, members[best])
    elif apply:
        _dissolve(
            data, near, first, follow, labels, g, members, size, charge, out, best - size - 1,
            YES, room,
        )
    return gain, count


@njit(cache=True, nogil=True)
def _suppress(
    data: Any, near: Any, labels: Any, groups: int, k: int, charge: float, out: int, beat: Any
) -> None:
    """Leaves out up to ``out`` records."""
    n = len(labels)
    first, follow = np.full(groups, -1, np.int64), np.full(n, -1, np.int64)
    _relist(labels, first, follow)
    rooms = (np.empty(LARGE + 2, np.int64), np.empty(LARGE + 2, np.int64),
             np.empty(LARGE + 2, np.int64))
    gains = np.zeros(groups)
    for g in range(groups):
        gains[g], _ = _try_group(
            data, near, first, follow, labels, g, k, charge, out, NO, rooms
        )
        if beat[STOP] == 1:
            return
    while out > 0:
        g = int(np.argmax(gains))
        if gains[g] <= 0.0 or beat[STOP] == 1:
            break
        now, _ = _try_group(data, near, first, follow, labels, g, k, charge, out, NO, rooms)
        if now < gains[g]:  # the groups around it have changed, or fewer may be left out
            gains[g] = now
            continue
        _, count = _try_group(data, near, first, follow, labels, g, k, charge, out, YES, rooms)
        out -= count
        beat[DONE] += count
        gains[g], _ = _try_group(
            data, near, first, follow, labels, g, k, charge, out, NO, rooms
        )


def suppress_rows(points: Points, labels: Labels, k: int, out: int, watch: Watch) -> Labels:
    """The grouping without up to ``out`` records, each of which lowers the loss by being left out
    (its own charge counted): int64, shape (n,), -1 for a suppressed record, groups numbered by
    their first records.

    Every group keeps k records or more, and no fewer than one group is left. Deterministic.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1; every group has k records or more.
        k: the least group size.
        out: how many records may be left out.
        watch: told of the records left out; its stop ends the search with StoppedError.
    """
    charge = charge_of(points)
    groups = int(labels.max()) + 1 if len(labels) else 0
    if out <= 0 or groups < 2 or charge <= 0.0:
        return labels
    _, start, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(start))
    kept = np.ascontiguousarray(rank[inverse.reshape(-1)], np.int64)
    loss = isinstance(points, LossPoints)
    cap = points.cap if isinstance(points, LossPoints) else np.zeros(points.numeric.shape[1])
    limit = points.limit if isinstance(points, LossPoints) else np.zeros(
        points.codes.shape[1], np.int32
    )
    data = (points.numeric, points.codes, points.scale, cap, limit, not loss)
    beat = watch.beat()
    near = nearest_lists(points, NEAR, beat)
    watch.check()
    _suppress(data, near, kept, len(start), k, charge, out, beat)
    watch.check()
    released = kept >= 0
    found = np.full(len(kept), -1, np.int64)
    _, start, inverse = np.unique(kept[released], return_index=True, return_inverse=True)
    found[released] = np.argsort(np.argsort(start))[inverse.reshape(-1)]
    return found
