"""Rows left out where that lowers the loss (row deletion of aggarwal2005, section 4).

A suppressed record costs as much as a record that is generalized to nothing: every cell of it, in
the loss of the method. Two changes are considered, the one that gains most first: a group of more
than k loses a member; or a group is dissolved, and each member joins the group nearby that grows
least, or is left out where that costs less.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import NO, YES, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.points.losses import sst
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Codes, Floats, Labels, LossPoints, Points
from kanon_sql.search.nearest_lists import nearest_lists

NEAR = 10
"""How many records near a record tell which groups it may join."""

LARGE = 100
"""A group of more records is left as it is."""

TOLERANCE = 1e-9
"""What a change must gain, as a share of a suppressed record's charge."""


class LossRecords(NamedTuple):
    """n records, in squared errors or in information loss.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: float64, shape (c,).
        cap: float64, shape (d,), and limit: int32, shape (c,); of LossPoints, else not used.
        squared: whether squared errors count.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    cap: Floats
    limit: Codes
    squared: bool


class ChainedGroups(NamedTuple):
    """Groups under change, the members of each chained in canonical order.

    Attributes:
        labels: int64, shape (n,); the group of each record, -1 for one that is in none.
        first: int64, shape (groups,); the first member of each, -1 where there is none.
        follow: int64, shape (n,); the next member of the same group, -1 after the last.
    """

    labels: Labels
    first: Labels
    follow: Labels


class ListBuffers(NamedTuple):
    """Room for lists of records, int64, shape (LARGE + 2,).

    Attributes:
        members: those of the group that is tried.
        rest: all of them but one.
        joined: those of a group that one of them may join, and that one.
    """

    members: Labels
    rest: Labels
    joined: Labels


class SuppressionSearch(NamedTuple):
    """What the search works on.

    Attributes:
        records: n records.
        near: int32, shape (n, count); the records near each.
        groups: the groups under change.
        k: the least group size.
        charge: what a suppressed record costs.
        room: written to by each trial.
    """

    records: LossRecords
    near: Codes
    groups: ChainedGroups
    k: int
    charge: float
    room: ListBuffers


def records_of(points: Points) -> LossRecords:
    """The records as the kernels take them."""
    if isinstance(points, LossPoints):
        cap, limit, squared = points.cap, points.limit, False
    else:
        cap, limit = np.zeros(points.numeric.shape[1]), np.zeros(points.codes.shape[1], np.int32)
        squared = True
    return LossRecords(points.numeric, points.codes, points.scale, cap, limit, squared)


def charge_of(points: Points) -> float:
    """What a suppressed record costs: in squared errors what all records cost on average when they
    are one group, in information loss 1 in each cell, times its weight."""
    if isinstance(points, LossPoints):
        return float(np.sum(points.cap) + np.sum(points.scale * points.limit))
    return sst(points) / len(points)


@inner
def cost(records: LossRecords, members: Any, size: int) -> float:
    """The loss of a group of members[:size]. Repeats points.losses.sse or, times the size,
    points.losses.class_losses, for one group."""
    numeric, codes, scale, cap, limit, squared = records
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
        # pairs of equal codes, whose number is the sum of squared counts; or distinct codes.
        # Comparing all members needs no table of codes, and groups are small
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
                break  # more of them cost no more
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
def _list_group(groups: ChainedGroups, g: int, members: Any) -> int:
    """Writes the members of a group, in canonical order; returns their number."""
    size, i = 0, groups.first[g]
    while i >= 0:
        # a group too large for the room is told by its size, and left as it is
        if size < members.shape[0]:
            members[size] = i
        size += 1
        i = groups.follow[i]
    return size


@inner
def _relist(groups: ChainedGroups) -> None:
    """Chains the members of each group in canonical order."""
    labels, first, follow = groups
    first[:] = -1
    # from the last record to the first, so that each is put before those behind it
    for i in range(len(labels) - 1, -1, -1):
        if labels[i] >= 0:
            follow[i] = first[labels[i]]
            first[labels[i]] = i


@inner
def _put(groups: ChainedGroups, i: int, g: int) -> None:
    """Puts record i, which is in no group, into one, so that its chain stays in order."""
    labels, first, follow = groups
    labels[i] = g
    # in order, since sums of squared errors have other bits in another one
    last, current = -1, first[g]
    while 0 <= current < i:
        last, current = current, follow[current]
    follow[i] = current
    if last < 0:
        first[g] = i
    else:
        follow[last] = i


@inner
def _take(groups: ChainedGroups, i: int) -> None:
    """Takes record i out of its group."""
    labels, first, follow = groups
    g = labels[i]
    labels[i] = -1
    if first[g] == i:
        first[g] = follow[i]
        return
    previous = first[g]
    while follow[previous] != i:
        previous = follow[previous]
    follow[previous] = follow[i]


@inner
def _place(search: SuppressionSearch, i: int, g: int) -> Any:
    """The group nearby, not g, that grows least by record i, and by how much; -1 for none."""
    records, near, groups = search.records, search.near, search.groups
    joined, first = search.room.joined, groups.first
    best, least = -1, np.inf
    for rank in range(near.shape[1]):
        b = groups.labels[near[i, rank]]
        if b in (-1, g, best):
            continue
        size = _list_group(groups, b, joined)
        if size >= LARGE:
            continue
        before = cost(records, joined, size)
        joined[size] = i
        grown = cost(records, joined, size + 1) - before
        # ties to the group of the lower first record, since numbers of groups must not matter
        if grown < least or (grown == least and first[b] < first[best]):
            best, least = b, grown
    return best, least


@inner
def _dissolve(search: SuppressionSearch, g: int, size: int, out: int, forced: int,
              apply: bool) -> Any:
    """What it gains to dissolve group g, and how many members are left out, ``out`` at most: its
    cost less the growth of the groups that members join, one after another, and the charges.

    The ``size`` members are in room.members, in canonical order. The one at place ``forced`` is
    left out in any case (-1: none is forced). Undone unless ``apply``.
    """
    groups, members, charge = search.groups, search.room.members, search.charge
    labels, first, follow = groups
    gain, suppressed, placed = cost(search.records, members, size), 0, 0
    # all at once: a member must not join one that is still to leave
    for p in range(size):
        _take(groups, members[p])
    for p in range(size):
        best, grown = _place(search, members[p], g)
        # the one that is forced takes one of ``out`` from those before it
        if p == forced or (suppressed + (p < forced) < out and grown > charge):
            suppressed += 1
            gain -= charge
        elif best < 0:
            gain = -np.inf
            break
        else:
            gain -= grown
            _put(groups, members[p], best)
        placed += 1
        # what follows only costs, so a gain that is gone is gone
        if not gain > 0.0:
            break
    if apply:
        return gain, suppressed
    for p in range(placed):
        if labels[members[p]] >= 0:
            _take(groups, members[p])
    for p in range(size):
        labels[members[p]] = g
        follow[members[p]] = members[p + 1] if p < size - 1 else -1
    first[g] = members[0]
    return gain if placed == size and suppressed > 0 else -np.inf, suppressed


@inner
def _try_group(search: SuppressionSearch, g: int, out: int, apply: bool) -> Any:
    """What the best change of group g gains, and how many records it leaves out, ``out`` at most;
    made, if ``apply`` says so."""
    records, _, groups, k, charge, (members, rest, _) = search
    size = _list_group(groups, g, members)
    if size < k or size > LARGE:
        return 0.0, 0
    whole, best, gain, count = cost(records, members, size), -1, charge * TOLERANCE, 0
    # no change saves more than the whole cost, and each is charged for one record at least
    if whole <= charge:
        return 0.0, 0
    for p in range(size if size > k else 0):
        _without(members, size, p, rest)
        saving = whole - charge - cost(records, rest, size - 1)
        if saving > gain:
            best, gain, count = p, saving, 1
    # a group of 2k or more loses one member after another; to dissolve it would take long
    for p in range(-1, size if size < 2 * k else 0):
        saving, suppressed = _dissolve(search, g, size, out, p, NO)
        if saving > gain:
            # one number says which change: below size who leaves, else size + 1 + forced
            best, gain, count = size + 1 + p, saving, suppressed
    if best < 0:
        return 0.0, 0
    if apply and best < size:
        _take(groups, members[best])
    elif apply:
        _dissolve(search, g, size, out, best - size - 1, YES)
    return gain, count


@kernel
def _suppress(search: SuppressionSearch, out: int, beat: Any) -> None:
    """Leaves out up to ``out`` records."""
    _relist(search.groups)
    gains = np.zeros(len(search.groups.first))
    for g in range(len(gains)):
        gains[g], _ = _try_group(search, g, out, NO)
        if beat[STOP] == 1:
            return
    while out > 0:
        # gains are kept from when they were found: only the largest is found anew, and made if
        # it is still as large
        g = int(np.argmax(gains))
        if gains[g] <= 0.0 or beat[STOP] == 1:
            break
        now, _ = _try_group(search, g, out, NO)
        if now < gains[g]:  # the groups around it have changed, or fewer may be left out
            gains[g] = now
            continue
        _, count = _try_group(search, g, out, YES)
        out -= count
        beat[DONE] += count
        gains[g], _ = _try_group(search, g, out, NO)


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
    kept = number_by_first(labels)
    beat = watch.beat()
    near = nearest_lists(points, NEAR, beat)
    watch.check()
    chains = ChainedGroups(kept, np.full(groups, -1), np.full(len(kept), -1))
    room = ListBuffers(*(np.empty(LARGE + 2, np.int64) for _ in range(3)))
    _suppress(SuppressionSearch(records_of(points), near, chains, k, charge, room), out, beat)
    watch.check()
    return number_by_first(kept)
