"""Groups under change, and what a change does to their squared error.

All that the search in annealing.py knows about the loss is here: what a group costs, and by how
much the costs change when a record joins, leaves, or changes places with another. What
moves_by_information_loss.py is for Total-IL; moves.py has the search use one or the other.

With |i - g|^2 the squared distance of record i to the centroid of group g of m records, the squared
error of g grows by m / (m + 1) |i - g|^2 when i joins, and falls by m / (m - 1) |i - g|^2 when
member i leaves.

The functions that every step calls are inlined and don't check divisors, which are never 0: to
pass a dozen arrays to a function takes longer than what it does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inlined, inner
from kanon_sql.points.distances import squared_distance
from kanon_sql.points.points import Codes, Floats, Labels, Points


class SquaredRecords(NamedTuple):
    """n records as the kernels take them: fields of Points.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: float64, shape (c,).
        first: int64, shape (c + 1,); where the codes of each column begin in a tally of a group,
            and how wide that is: 0 where codes are not tallied.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    first: Labels


class SquaredGroups(NamedTuple):
    """Groups under change. Fields up to ``members`` are those of LossGroups too.

    Attributes:
        labels: int64, shape (n,); the group of each record, -1 for one that is in none.
        place: int64, shape (n,); the place of each record among the members of its group.
        sizes: int64, shape (groups,).
        members: int32, shape (groups, capacity); the first ``sizes`` of a row count.
        sums: float64, shape (groups, d); sums of the numeric attributes.
        squares: int64, shape (groups, c); sums of squared category counts.
        changes: int64, shape (groups,); changes since the sums were last recomputed.
        tally: int16, shape (groups, width); how many members have each code, or of width 0.
    """

    labels: Labels
    place: Labels
    sizes: Labels
    members: Codes
    sums: Floats
    squares: Labels
    changes: Labels
    tally: Codes


TALLIED, TALLIES = 256, 1 << 25
"""The most codes of all columns that groups have a tally of, and the most entries of all tallies:
otherwise members are counted one by one, with the same result."""

LARGEST = 32_767
"""The most members of a group with a tally."""


def squared_records(points: Points) -> SquaredRecords:
    """The records as the kernels take them."""
    codes = points.codes
    many = codes.max(axis=0).astype(np.int64) + 1 if len(codes) else np.zeros(codes.shape[1])
    first = np.append(0, np.cumsum(many)).astype(np.int64)
    if first[-1] > TALLIED:
        first = np.zeros_like(first)
    return SquaredRecords(points.numeric, codes, points.scale, first)


def has_tallies(points: Points, room: int, capacity: int) -> bool:
    """Whether so many groups of so many records have tallies: see ``hold_groups``."""
    width = int(squared_records(points).first[-1])
    return width > 0 and room * width <= TALLIES and capacity <= LARGEST


@inner
def hold_groups(data: SquaredRecords, room: int, capacity: int) -> SquaredGroups:
    """Room for that many groups of that many records, all empty."""
    numeric, codes, n = data.numeric, data.codes, data.numeric.shape[0]
    width = int(data.first[codes.shape[1]])
    if room * width > TALLIES or capacity > LARGEST:
        width = 0
    return SquaredGroups(
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, capacity), np.int32),
        np.zeros((room, numeric.shape[1])),
        np.zeros((room, codes.shape[1]), np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, width), np.int16),
    )


@inlined
def _count_alike(codes: Any, a: int, i: int, g: int, members: Any, size: int) -> int:
    """How many of the first ``size`` members of group g have record i's code in column a."""
    same = 0
    for p in range(size):
        if codes[members[g, p], a] == codes[i, a]:
            same += 1
    return same


@inner
def _renew(numeric: Any, g: int, groups: SquaredGroups) -> None:
    """Notes a change; after as many as there are members the sums are recomputed, so that
    rounding errors don't pile up."""
    sizes, members, sums, changes = groups.sizes, groups.members, groups.sums, groups.changes
    changes[g] += 1
    if changes[g] < sizes[g]:
        return
    changes[g] = 0
    for a in range(numeric.shape[1]):
        sums[g, a] = 0.0
    # row by row, since the members of a large group lie far apart in memory
    for p in range(sizes[g]):
        i = members[g, p]
        for a in range(numeric.shape[1]):
            sums[g, a] += numeric[i, a]


@inner
def join(data: SquaredRecords, i: int, g: int, groups: SquaredGroups) -> None:
    """Puts record i, which is in no group, into group g."""
    numeric, codes = data.numeric, data.codes
    labels, place, sizes, members, sums, squares, _, tally = groups
    first, size, tallied = data.first, sizes[g], tally.shape[1] > 0
    # (m + 1)^2 - m^2 = 2 m + 1: integers, so squares never drift and need no renewal
    for a in range(codes.shape[1]):
        if tallied:
            at = first[a] + codes[i, a]
            squares[g, a] += 2 * tally[g, at] + 1
            tally[g, at] += 1
        else:
            squares[g, a] += 2 * _count_alike(codes, a, i, g, members, size) + 1
    for a in range(numeric.shape[1]):
        sums[g, a] += numeric[i, a]
    members[g, size] = i
    labels[i], place[i], sizes[g] = g, size, size + 1
    _renew(numeric, g, groups)


@inner
def leave(data: SquaredRecords, i: int, groups: SquaredGroups) -> None:
    """Takes record i out of its group."""
    numeric, codes = data.numeric, data.codes
    labels, place, sizes, members, sums, squares, _, tally = groups
    g = labels[i]
    first, size, tallied = data.first, sizes[g], tally.shape[1] > 0
    for a in range(codes.shape[1]):
        if tallied:
            at = first[a] + codes[i, a]
            squares[g, a] -= 2 * tally[g, at] - 1
            tally[g, at] -= 1
        else:
            squares[g, a] -= 2 * _count_alike(codes, a, i, g, members, size) - 1
    for a in range(numeric.shape[1]):
        sums[g, a] -= numeric[i, a]
    # the last member takes the free place, so that no other has to move
    last = members[g, size - 1]
    members[g, place[i]] = last
    place[last] = place[i]
    labels[i], sizes[g] = -1, size - 1
    _renew(numeric, g, groups)


@inner
def clear(data: SquaredRecords, g: int, groups: SquaredGroups) -> None:
    """Has group g be as if all its records had left, of which each is to join another one next."""
    _, _, sizes, _, sums, squares, changes, tally = groups
    sizes[g] = changes[g] = 0
    for a in range(sums.shape[1]):
        sums[g, a] = 0.0
    for a in range(squares.shape[1]):
        squares[g, a] = 0
    for at in range(tally.shape[1]):
        tally[g, at] = 0


@inner
def swap(data: SquaredRecords, i: int, j: int, groups: SquaredGroups) -> None:
    """Lets two records of different groups change places."""
    a, b = groups.labels[i], groups.labels[j]
    # both leave before one joins: a full group has no room for one more
    leave(data, i, groups)
    leave(data, j, groups)
    join(data, i, b, groups)
    join(data, j, a, groups)


@inlined
def settle(data: SquaredRecords, g: int, groups: SquaredGroups) -> None:
    """Has what is kept for group g be up to date, which it always is."""


def frozen(groups: SquaredGroups) -> SquaredGroups:
    """The groups as nothing but a change writes to them, which they always are."""
    return groups


@inlined
def _gap(data: SquaredRecords, i: int, g: int, groups: SquaredGroups) -> Any:
    """|i - g|^2."""
    numeric, codes, scale, first = data
    _, _, sizes, members, sums, squares, _, tally = groups
    size, tallied = sizes[g], tally.shape[1] > 0
    share = 1.0 / size  # one division for all attributes
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - sums[g, a] * share
        total += gap * gap
    for a in range(codes.shape[1]):
        if tallied:
            same = np.int64(tally[g, first[a] + codes[i, a]])
        else:
            same = _count_alike(codes, a, i, g, members, size)
        # |one-hot - mean of one-hots|^2: the mean's square, less twice the share, and 1
        total += scale[a] * ((squares[g, a] - 2 * size * same + size * size) / (size * size))
    return total


@inlined
def cost(data: SquaredRecords, g: int, groups: SquaredGroups) -> Any:
    """The squared error of group g. Repeats points.losses.sse, for one group, from its sums."""
    total = 0.0
    for p in range(groups.sizes[g]):
        total += _gap(data, groups.members[g, p], g, groups)
    return total


@inlined
def growth(data: SquaredRecords, i: int, g: int, groups: SquaredGroups) -> Any:
    """By how much the cost of group g grows when record i of another group joins."""
    size = groups.sizes[g]
    return size / (size + 1.0) * _gap(data, i, g, groups)


@inlined
def relief(data: SquaredRecords, i: int, groups: SquaredGroups) -> Any:
    """By how much the cost of record i's group, of two or more, falls when i leaves."""
    g = groups.labels[i]
    size = groups.sizes[g]
    return size / (size - 1.0) * _gap(data, i, g, groups)


@inlined
def exchange(data: SquaredRecords, i: int, j: int, groups: SquaredGroups, limit: float) -> Any:
    """By how much the cost grows when two records of different groups change places; whatever the
    limit.

    With d = j - i, group a's sum grows by d and b's falls by it, and so do the sums' squares over
    the sizes: 2 d (b - a) - d^2 (1 / size of a + 1 / size of b) is what the squared errors gain.
    """
    numeric, codes, scale, first = data
    labels, _, sizes, members, sums, _, _, tally = groups
    a, b, tallied = labels[i], labels[j], tally.shape[1] > 0
    share_a, share_b = 1.0 / sizes[a], 1.0 / sizes[b]
    along, length = 0.0, 0.0
    for p in range(numeric.shape[1]):
        gap = numeric[j, p] - numeric[i, p]
        along += gap * (sums[b, p] * share_b - sums[a, p] * share_a)
        length += gap * gap
    total = 2.0 * along - length * (share_a + share_b)
    for p in range(codes.shape[1]):
        mine, other = codes[i, p], codes[j, p]
        if mine == other:
            continue
        if tallied:
            at, to = first[p] + mine, first[p] + other
            more_a = np.int64(tally[a, to]) - np.int64(tally[a, at])
            more_b = np.int64(tally[b, at]) - np.int64(tally[b, to])
        else:
            more_a = _count_alike(codes, p, j, a, members, sizes[a])
            more_a -= _count_alike(codes, p, i, a, members, sizes[a])
            more_b = _count_alike(codes, p, i, b, members, sizes[b])
            more_b -= _count_alike(codes, p, j, b, members, sizes[b])
        # a square of counts grows by 2 (more + 1), and is divided by the size
        total -= 2.0 * scale[p] * ((more_a + 1) * share_a + (more_b + 1) * share_b)
    return total


@inner
def distance(data: SquaredRecords, i: int, j: int) -> Any:
    """|i - j|^2."""
    numeric, codes, scale, _ = data
    return squared_distance(numeric, codes, scale, i, j)


@inlined
def choose(data: SquaredRecords, chance: int, count: int, own: int) -> Any:
    """One of ``count`` neighbours, and of ``own`` behind these, by a number below 4096: all equally
    often."""
    return (chance * (count + own)) >> 12
