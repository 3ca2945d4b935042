"""The compiled steps that the MDAV family shares.

Every distance is summed over the attributes in their order, without fastmath, and every tie goes
to the record that comes first in canonical order: so a kernel returns exactly what the readable
reference in tests/methods/microaggregation/reference.py returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inlined, inner
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.points.points import Codes, Floats, Labels, Points
from kanon_sql.search.axes import make_space
from kanon_sql.search.prefetch import FEW
from kanon_sql.search.space import Space

PAIRS = 32
"""The most records whose pairs are looked at one by one; more are counted in a table. It is also
the least room for each group, on average, from which on groups have a tally."""

TALLIES = 1 << 23
"""The most entries of all tallies: otherwise members are counted one by one, with the same
result."""

_GOLDEN, _WORD, _WORD_BITS = 2_654_435_769, (1 << 32) - 1, 32


class GroupBuffers(NamedTuple):
    """Room for m groups of n records, d numeric attributes and c categorical ones.

    Attributes:
        sizes: how many records each group has; int64, shape (m,).
        sums: of their numeric attributes; float64, shape (m, d).
        centers: their means; float64, shape (m, d).
        squares: sums of the squared counts of their categories; int64, shape (m, c).
        head: the record that each group's chain of members begins with, -1: none; int64, shape
            (m,).
        chain: the next record of the same group, -1 at the end; int64, shape (n,).
        first: where the categories of each attribute begin in a tally; int64, shape (c,).
        tally: how often each category is in each group, or of width 0; int32, shape (m, width).
    """

    sizes: Labels
    sums: Floats
    centers: Floats
    squares: Labels
    head: Labels
    chain: Labels
    first: Labels
    tally: Codes


def category_counts(codes: Any) -> Labels:
    """How often each category occurs: int64, shape (c, widest domain)."""
    width = int(codes.max(initial=0)) + 1
    counts = np.zeros((codes.shape[1], width), np.int64)
    for a in range(codes.shape[1]):
        counts[a] = np.bincount(codes[:, a], minlength=width)
    return counts


def _gaps_to_centroid(numeric: Any, codes: Any, scale: Any) -> Floats:
    """Squared distance of each record to the centroid of all: float64, shape (n,)."""
    n, counts = len(numeric), category_counts(codes)
    total = np.zeros(n)
    for column in numeric.T:
        # one by one in canonical order: any other would round in another way
        gap = column - np.cumsum(column)[-1] / float(n)
        total += gap * gap
    # |one-hot vector - shares|^2 as a fraction of whole numbers, which are exact up to the
    # division: records that tie do so to the bit
    for a in range(codes.shape[1]):
        squares = np.sum(counts[a] * counts[a])
        terms = scale[a] * ((squares - 2 * n * counts[a] + n * n) / (n * n))
        total += terms[codes[:, a]]
    return total


def furthest_first(points: Points) -> Any:
    """All records, the one furthest from the global centroid first: int64, shape (n,)."""
    # stable, so that of those that tie the first in canonical order comes first
    gaps = _gaps_to_centroid(points.numeric, points.codes, points.scale)
    return np.argsort(-gaps, kind="stable")


def space_and_order(points: Points) -> tuple[Space, Any]:
    """The space of the records, and these, the one furthest from the global centroid first."""
    jobs: list[Callable[[], Any]] = [
        partial(make_space, points), partial(furthest_first, points)
    ]
    space, order = in_parallel(jobs) if len(points) >= FEW else [job() for job in jobs]
    return space, order


@inner
def sse_of(space: Space, members: Any, m: int) -> float:
    """d_SSE of the group members[:m]: squared distances to its mean in the embedding."""
    numeric, codes, scale = space.numeric, space.codes, space.scale
    d, c = numeric.shape[1], codes.shape[1]
    center = np.empty(d)
    for a in range(d):
        center[a] = 0.0
        for p in range(m):
            center[a] += numeric[members[p], a]
        center[a] /= m
    # a second pass over the members: sums of squares less a squared sum would cancel
    total = 0.0
    for p in range(m):
        for a in range(d):
            gap = numeric[members[p], a] - center[a]
            total += gap * gap
    room = 1
    while m > PAIRS and room < 2 * m:
        room *= 2
    who, often = np.empty(room, np.int32), np.empty(room, np.int64)
    for a in range(c):
        same = 0
        if m > PAIRS:
            same = _pairs_alike(codes, a, members, m, who, often)
        else:
            for p in range(m):
                for q in range(m):
                    if codes[members[p], a] == codes[members[q], a]:
                        same += 1
        total += scale[a] * ((m * m - same) / m)
    return total


@inner
def _pairs_alike(codes: Any, a: int, members: Any, m: int, who: Any, often: Any) -> int:
    """How many pairs of members[:m], each with itself too, share a category of attribute a.

    Args:
        who, often: room for a hash table, whose size is a power of 2 and 2m or more; the domain
            may be as large as the input, so no table is indexed by categories.
    """
    room, bits, same = len(who), 0, 0
    while (1 << bits) < room:
        bits += 1
    for s in range(room):
        often[s] = 0
    for p in range(m):
        code = codes[members[p], a]
        s = ((np.int64(code) * _GOLDEN) & _WORD) >> (_WORD_BITS - bits)
        while often[s] > 0 and who[s] != code:
            s = (s + 1) & (room - 1)
        # (q + 1)^2 - q^2 = 2q + 1, q being those alike so far
        same += 2 * often[s] + 1
        who[s] = code
        often[s] += 1
    return same


def empty_groups(space: Space, room: int) -> GroupBuffers:
    """Room for that many groups."""
    n, d, c = space.numeric.shape[0], space.numeric.shape[1], space.codes.shape[1]
    first, width = np.zeros(c, np.int64), 0
    # small groups are counted as fast as a tally is found in memory
    if n > PAIRS * room:
        ends = np.cumsum(space.codes.max(axis=0).astype(np.int64) + 1)
        width = int(ends[-1]) if c > 0 else 0
        first[1:] = ends[:-1]
    if room * width > TALLIES:
        width = 0
    return GroupBuffers(
        np.zeros(room, np.int64),
        np.zeros((room, d)),
        np.zeros((room, d)),
        np.zeros((room, c), np.int64),
        np.full(room, -1, np.int64),
        np.full(n, -1, np.int64),
        first,
        np.zeros((room, width), np.int32),
    )


@inner
def _count_alike(codes: Any, a: int, i: int, group: int, groups: GroupBuffers) -> Any:
    """How many records of a group share record i's category of attribute a."""
    if groups.tally.shape[1] > 0:
        return np.int64(groups.tally[group, groups.first[a] + codes[i, a]])
    same, member, chain = 0, groups.head[group], groups.chain
    while member >= 0:
        if codes[member, a] == codes[i, a]:
            same += 1
        member = chain[member]
    return same


@inner
def join_group(space: Space, i: int, group: int, labels: Any, groups: GroupBuffers) -> None:
    """Puts record i into a group and keeps the group's sums, centroid and category counts."""
    numeric, codes = space.numeric, space.codes
    sizes, sums, centers = groups.sizes, groups.sums, groups.centers
    squares, head, chain = groups.squares, groups.head, groups.chain
    # before the record is in the chain: (q + 1)^2 - q^2 = 2q + 1, q being those alike so far
    for a in range(codes.shape[1]):
        squares[group, a] += 2 * _count_alike(codes, a, i, group, groups) + 1
        if groups.tally.shape[1] > 0:
            groups.tally[group, groups.first[a] + codes[i, a]] += 1
    labels[i] = group
    sizes[group] += 1
    for a in range(numeric.shape[1]):
        sums[group, a] += numeric[i, a]
        centers[group, a] = sums[group, a] / sizes[group]
    chain[i] = head[group]
    head[group] = i


@inlined
def group_distance(
    space: Space, i: int, g: int, grow: bool, limit: float, groups: GroupBuffers
) -> float:
    """How far record i is from group g: |x - c|^2, or with ``grow`` the growth of the group's
    SSE, n/(n+1) |x - c|^2 (thaeter2021, section 3). Infinite where it is above the limit."""
    numeric, codes, scale = space.numeric, space.codes, space.scale
    centers, squares, size = groups.centers, groups.squares, groups.sizes[g]
    factor = size / (size + 1.0) if grow else 1.0
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - centers[g, a]
        total += gap * gap
    # categories only add to it; a tie goes on, since the lower number may win it
    if factor * total > limit:
        return np.inf
    for a in range(codes.shape[1]):
        same = _count_alike(codes, a, i, g, groups)
        total += scale[a] * ((squares[g, a] - 2 * size * same + size * size) / (size * size))
        # to count those alike takes longest, and no term is below 0
        if factor * total > limit:
            return np.inf
    return factor * total


@inner
def closest_group(space: Space, i: int, count: int, grow: bool, groups: GroupBuffers) -> Any:
    """The closest of the groups made so far to record i (clos(x) with ``grow``), and how far."""
    best, best_gap = -1, np.inf
    for g in range(count):
        gap = group_distance(space, i, g, grow, best_gap, groups)
        if gap < best_gap:
            best, best_gap = g, gap
    return best, best_gap


@inner
def place_leftovers(
    space: Space, rest: Any, count: int, grow: bool, labels: Any, groups: GroupBuffers
) -> None:
    """Puts the records that are left, one by one, into their closest group."""
    # each record that joins moves a centroid, so the order matters: it is the canonical one
    for p in range(len(rest)):
        group, _ = closest_group(space, rest[p], count, grow, groups)
        join_group(space, rest[p], group, labels, groups)
