"""The compiled steps that the MDAV family shares.

Every distance is summed over the attributes in their order, without fastmath, and every tie goes
to the record that comes first in canonical order: so a kernel returns exactly what the readable
reference in tests/methods/microaggregation/reference.py returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import inner


@njit(cache=True, nogil=True)
def category_counts(codes: Any) -> Any:
    """How often each category occurs: int64, shape (c, widest domain)."""
    width = 1
    for a in range(codes.shape[1]):
        for i in range(codes.shape[0]):
            width = max(width, codes[i, a] + 1)
    counts = np.zeros((codes.shape[1], width), np.int64)
    for i in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            counts[a, codes[i, a]] += 1
    return counts


@inner
def centroid_distances(numeric: Any, codes: Any, scale: Any, center: Any, counts: Any) -> Any:
    """Squared distance of each record to the centroid of all: float64, shape (n,)."""
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    squares = np.zeros(c, np.int64)
    for a in range(c):
        for v in range(counts.shape[1]):
            squares[a] += counts[a, v] * counts[a, v]
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for a in range(d):
            gap = numeric[i, a] - center[a]
            total += gap * gap
        for a in range(c):
            total += scale[a] * ((squares[a] - 2 * n * counts[a, codes[i, a]] + n * n) / (n * n))
        out[i] = total
    return out


@njit(cache=True, nogil=True)
def _gaps_to_centroid(numeric: Any, codes: Any, scale: Any) -> Any:
    n = numeric.shape[0]
    sums = np.zeros(numeric.shape[1])
    for i in range(n):
        for a in range(numeric.shape[1]):
            sums[a] += numeric[i, a]
    return centroid_distances(numeric, codes, scale, sums / float(n), category_counts(codes))


def furthest_first(space: Any) -> Any:
    """All records, the one furthest from the global centroid first: int64, shape (n,)."""
    return np.argsort(-_gaps_to_centroid(*space[:3]), kind="stable")


@inner
def sse_of(numeric: Any, codes: Any, scale: Any, members: Any, m: int) -> float:
    """d_SSE of the group members[:m]: squared distances to its mean in the embedding."""
    d, c = numeric.shape[1], codes.shape[1]
    center = np.zeros(d)
    for p in range(m):
        for a in range(d):
            center[a] += numeric[members[p], a]
    center /= m
    total = 0.0
    for p in range(m):
        for a in range(d):
            gap = numeric[members[p], a] - center[a]
            total += gap * gap
    for a in range(c):
        same = 0
        for p in range(m):
            for q in range(m):
                if codes[members[p], a] == codes[members[q], a]:
                    same += 1
        total += scale[a] * ((m * m - same) / m)
    return total


@inner
def empty_groups(numeric: Any, codes: Any, room: int) -> Any:
    """Room for that many groups: sizes, sums, centroids, sums of squared category counts, and
    the members of each as a chain (head[group], then chain[record], -1 at the end)."""
    d, c = numeric.shape[1], codes.shape[1]
    return (
        np.zeros(room, np.int64),
        np.zeros((room, d)),
        np.zeros((room, d)),
        np.zeros((room, c), np.int64),
        np.full(room, -1, np.int64),
        np.full(numeric.shape[0], -1, np.int64),
    )


@inner
def count_alike(codes: Any, a: int, i: int, member: int, chain: Any) -> int:
    """How many records of a chain share record i's category of attribute a."""
    same = 0
    while member >= 0:
        if codes[member, a] == codes[i, a]:
            same += 1
        member = chain[member]
    return same


@inner
def join_group(numeric: Any, codes: Any, i: int, group: int, labels: Any, groups: Any) -> None:
    """Puts record i into a group and keeps the group's sums, centroid and category counts."""
    sizes, sums, centers, squares, head, chain = groups
    for a in range(codes.shape[1]):
        squares[group, a] += 2 * count_alike(codes, a, i, head[group], chain) + 1
    labels[i] = group
    sizes[group] += 1
    for a in range(numeric.shape[1]):
        sums[group, a] += numeric[i, a]
        centers[group, a] = sums[group, a] / sizes[group]
    chain[i] = head[group]
    head[group] = i


@njit(cache=True, nogil=True, inline="always")
def group_distance(
    numeric: Any, codes: Any, scale: Any, i: int, g: int, grow: bool, limit: float, groups: Any
) -> float:
    """How far record i is from group g: |x - c|^2, or with ``grow`` the growth of the group's
    SSE, n/(n+1) |x - c|^2 (thaeter2021, section 3). Infinite where it is above the limit."""
    sizes, _, centers, squares, head, chain = groups
    size = sizes[g]
    factor = size / (size + 1.0) if grow else 1.0
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - centers[g, a]
        total += gap * gap
    if factor * total > limit:
        return np.inf
    for a in range(codes.shape[1]):
        same = count_alike(codes, a, i, head[g], chain)
        total += scale[a] * ((squares[g, a] - 2 * size * same + size * size) / (size * size))
    return factor * total


@njit(cache=True, nogil=True)
def closest_group(
    numeric: Any, codes: Any, scale: Any, i: int, made: int, grow: bool, groups: Any
) -> Any:
    """The closest of the groups made so far to record i (clos(x) with ``grow``), and how far."""
    best, best_gap = -1, np.inf
    for g in range(made):
        gap = group_distance(numeric, codes, scale, i, g, grow, best_gap, groups)
        if gap < best_gap:
            best, best_gap = g, gap
    return best, best_gap


@inner
def place_leftovers(
    numeric: Any, codes: Any, scale: Any, active: Any, m: int, made: int, grow: bool,
    labels: Any, groups: Any,
) -> None:
    """Puts the records that are left, one by one, into their closest group."""
    for p in range(m):
        group, _ = closest_group(numeric, codes, scale, active[p], made, grow, groups)
        join_group(numeric, codes, active[p], group, labels, groups)
