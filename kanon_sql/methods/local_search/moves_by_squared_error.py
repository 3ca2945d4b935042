"""Groups under change, and what a change does to their squared error.

All that the search in annealing.py knows about the loss is here: what a group costs, and by how
much the costs change when a record joins, leaves, or changes places with another. What
moves_by_information_loss.py is for Total-IL; moves.py has the search use one or the other.

Data is (numeric, codes, scale) of Points. With |i - g|^2 the squared distance of record i to the
centroid of group g of m records, the squared error of g grows by m / (m + 1) |i - g|^2 when i
joins, and falls by m / (m - 1) |i - g|^2 when member i leaves.

The functions that every step calls are inlined and don't check divisors, which are never 0: to
pass a dozen arrays to a function takes longer than what it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inlined, inner, unchecked
from kanon_sql.points.distances import squared_distance


@unchecked
def hold_groups(data: Any, room: int, capacity: int) -> Any:
    """Room for that many groups of that many records.

    The group of each record, its place among the members, sizes, members, sums of the numeric
    attributes, sums of squared category counts, and changes since the sums were last recomputed.
    """
    numeric, codes, _ = data
    n = numeric.shape[0]
    return (
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, capacity), np.int32),
        np.zeros((room, numeric.shape[1])),
        np.zeros((room, codes.shape[1]), np.int64),
        np.zeros(room, np.int64),
    )


@inlined
def _count_alike(codes: Any, a: int, i: int, g: int, members: Any, size: int) -> int:
    same = 0
    for p in range(size):
        if codes[members[g, p], a] == codes[i, a]:
            same += 1
    return same


@unchecked
def _renew(numeric: Any, g: int, groups: Any) -> None:
    """Notes a change; after as many as there are members the sums are recomputed, so that
    rounding errors don't pile up."""
    _, _, sizes, members, sums, _, changes = groups
    changes[g] += 1
    if changes[g] < sizes[g]:
        return
    changes[g] = 0
    for a in range(numeric.shape[1]):
        total = 0.0
        for p in range(sizes[g]):
            total += numeric[members[g, p], a]
        sums[g, a] = total


@unchecked
def join(data: Any, i: int, g: int, groups: Any) -> None:
    """Puts record i, which is in no group, into group g."""
    numeric, codes, _ = data
    labels, place, sizes, members, sums, squares, _ = groups
    size = sizes[g]
    for a in range(codes.shape[1]):
        squares[g, a] += 2 * _count_alike(codes, a, i, g, members, size) + 1
    for a in range(numeric.shape[1]):
        sums[g, a] += numeric[i, a]
    members[g, size] = i
    labels[i], place[i], sizes[g] = g, size, size + 1
    _renew(numeric, g, groups)


@unchecked
def leave(data: Any, i: int, groups: Any) -> None:
    """Takes record i out of its group."""
    numeric, codes, _ = data
    labels, place, sizes, members, sums, squares, _ = groups
    g = labels[i]
    size = sizes[g]
    for a in range(codes.shape[1]):
        squares[g, a] -= 2 * _count_alike(codes, a, i, g, members, size) - 1
    for a in range(numeric.shape[1]):
        sums[g, a] -= numeric[i, a]
    last = members[g, size - 1]
    members[g, place[i]] = last
    place[last] = place[i]
    labels[i], sizes[g] = -1, size - 1
    _renew(numeric, g, groups)


@unchecked
def swap(data: Any, i: int, j: int, groups: Any) -> None:
    """Lets two records of different groups change places."""
    labels = groups[0]
    a, b = labels[i], labels[j]
    leave(data, i, groups)
    leave(data, j, groups)
    join(data, i, b, groups)
    join(data, j, a, groups)


@inlined
def _gap(data: Any, i: int, g: int, groups: Any) -> Any:
    """|i - g|^2."""
    numeric, codes, scale = data
    _, _, sizes, members, sums, squares, _ = groups
    size = sizes[g]
    share = 1.0 / size
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - sums[g, a] * share
        total += gap * gap
    for a in range(codes.shape[1]):
        same = _count_alike(codes, a, i, g, members, size)
        total += scale[a] * ((squares[g, a] - 2 * size * same + size * size) / (size * size))
    return total


@unchecked
def cost(data: Any, g: int, groups: Any) -> Any:
    """The squared error of group g."""
    _, _, sizes, members, _, _, _ = groups
    total = 0.0
    for p in range(sizes[g]):
        total += _gap(data, members[g, p], g, groups)
    return total


@inlined
def growth(data: Any, i: int, g: int, groups: Any) -> Any:
    """By how much the cost of group g grows when record i of another group joins."""
    size = groups[2][g]
    return size / (size + 1.0) * _gap(data, i, g, groups)


@inlined
def relief(data: Any, i: int, groups: Any) -> Any:
    """By how much the cost of record i's group, of two or more, falls when i leaves."""
    g = groups[0][i]
    size = groups[2][g]
    return size / (size - 1.0) * _gap(data, i, g, groups)


@inlined
def exchange(data: Any, i: int, j: int, groups: Any, limit: float) -> Any:
    """By how much the cost grows when two records of different groups change places; whatever the
    limit."""
    numeric, codes, scale = data
    labels, sizes = groups[0], groups[2]
    a, b = labels[i], labels[j]
    away = _gap(data, i, a, groups) + _gap(data, j, b, groups)
    there = _gap(data, i, b, groups) + _gap(data, j, a, groups)
    between = squared_distance(numeric, codes, scale, i, j)
    return there - away - between * (1.0 / sizes[a] + 1.0 / sizes[b])


@inner
def distance(data: Any, i: int, j: int) -> Any:
    """|i - j|^2."""
    numeric, codes, scale = data
    return squared_distance(numeric, codes, scale, i, j)


@inlined
def choose(data: Any, chance: int, count: int, own: int) -> Any:
    """One of ``count`` neighbours, and of ``own`` behind these, by a number below 4096: all equally
    often."""
    return (chance * (count + own)) >> 12
