"""Some records are marked: how many of those lie within a distance of a record.

Where a whole box of the tree is within the distance, its records are not looked at.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.parallel import cores, in_parallel
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.points.points import Labels, MetricPoints
from kanon_sql.search.box_tree import FAN, LEAF, new_stack
from kanon_sql.search.queries import padded
from kanon_sql.search.space import make_space
from kanon_sql.search.unassigned import plant

ANY = np.int64(1)
"""One is enough, for ``count_marked``. A plain 1 would have it compiled a second time."""

PIECE = 2_000
"""Records at least for which a core of its own is worth it."""


def prepare(points: MetricPoints) -> Any:
    """The ground for searches: (space, tree, leaves, alone) of all records.

    alone: uint64, shape (c,); all bits set for an attribute whose categories have a bit of their
    own each in the tree's sets, else none: a set of one bit then says nothing certain.
    """
    space = make_space(points, whole=True)
    tree, leaves, _, _ = plant(space, np.arange(len(points)))
    alone = points.codes.max(axis=0, initial=0) < 64
    return space, tree, leaves, np.where(alone, ~np.uint64(0), np.uint64(0))


@njit(cache=True, nogil=True)
def _farthest_bound(ground: Any, node: int, s: int, origin: int) -> Any:
    """No record below a node's child s has a larger key to the origin than this."""
    space, tree, _, alone = ground
    apart, axes, sets, slack = space[3], space[4], space[5], space[7]
    low, high, held = tree[2], tree[3], tree[4]
    total = 0.0
    for a in range(axes.shape[1]):
        gap = max(axes[origin, a] - low[node, a, s], high[node, a, s] - axes[origin, a])
        total += gap * gap
    total = padded(total, slack)
    for a in range(sets.shape[1]):
        if held[node, a, s] != sets[origin, a] & alone[a]:
            total += apart[a]
    return total


@njit(cache=True, nogil=True)
def no_marks(ground: Any) -> Any:
    """Marks for all records of a ground (see prepare), none of which is set.

    Returns (marked, below): bool, shape (n,), and how many are marked below each child of a node,
    int64, shape (groups, FAN).
    """
    tree = ground[1]
    return np.zeros(len(tree[1]), np.bool_), np.zeros(tree[7].shape, np.int64)


@njit(cache=True, nogil=True)
def change_mark(ground: Any, marks: Any, i: int) -> None:
    """Marks record i, or takes its mark away."""
    tree = ground[1]
    marked, below = marks
    marked[i] = not marked[i]
    more = 1 if marked[i] else -1
    first, node = tree[8], tree[1][i] // LEAF
    for level in range(len(first) - 2, -1, -1):
        below[first[level] + node // FAN, node % FAN] += more
        node //= FAN


@njit(cache=True, nogil=True)
def count_marked(
    ground: Any, marks: Any, stack: Any, origin: int, limit: float, enough: int
) -> int:
    """How many marked records lie within a key of the origin; stops at ``enough``, or beyond."""
    space, tree, leaves, _ = ground
    marked, below = marks
    axes, sets, slack = space[4], space[5], space[7]
    low, high, held, start, first = tree[2], tree[3], tree[4], tree[6], tree[8]
    waiting, sums, bounds = stack[1], stack[3], stack[4]
    loose, room, count, top = padded(limit, slack), tree[8][-1], 0, 1
    waiting[0] = 0
    while top > 0 and count < enough:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                low, high, held, start, node, axes, sets, origin, space[3], 1.0, loose, bounds
            )
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                if below[node, s] == 0:
                    continue
                if _farthest_bound(ground, node, s, origin) <= limit:
                    count += below[node, s]
                else:
                    waiting[top] = base + s
                    top += 1
            continue
        leaf = node - room
        hits = record_lanes(
            leaves[0], leaves[1], leaves[2], leaf, space[0], space[1], origin, space[3], limit,
            sums,
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if sums[s] < np.inf:
                count += marked[tree[0][leaf * LEAF + s]]
    return count


@njit(cache=True, nogil=True)
def _fill_sizes(
    ground: Any, limit: float, first: int, last: int, sizes: Any, beat: Any
) -> None:
    """The sizes of the balls of the records first .. last-1."""
    marks, stack = no_marks(ground), new_stack()
    for i in range(len(sizes)):
        change_mark(ground, marks, i)
    for i in range(first, last):
        if beat[STOP] != 0:
            return
        sizes[i] = count_marked(ground, marks, stack, i, limit, len(sizes) + 1)


def ball_sizes(ground: Any, limit: float, watch: Watch) -> Labels:
    """How many records lie within a key of each record: int64, shape (n,). Runs on all cores."""
    n, beat = len(ground[0][0]), watch.beat()
    sizes = np.zeros(n, np.int64)
    pieces = max(1, min(cores(), n // PIECE))
    bounds = [n * piece // pieces for piece in range(pieces + 1)]
    in_parallel(
        [partial(_fill_sizes, ground, limit, *ends, sizes, beat) for ends in pairwise(bounds)]
    )
    watch.check()
    return sizes
