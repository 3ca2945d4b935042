"""The records within a distance of a record, by a tree (see box_tree.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.points.points import Points
from kanon_sql.search.box_tree import FAN, LEAF, build_tree, new_stack
from kanon_sql.search.queries import fill_leaves, padded
from kanon_sql.search.space import make_space


@njit(cache=True, nogil=True)
def ball_in_tree(
    space: Any, tree: Any, leaves: Any, stack: Any, origin: int, limit: float, found: Any,
    gaps: Any,
) -> int:
    """The live records whose key to the origin is ``limit`` or less, the origin among them.

    Args:
        space, tree, leaves: of all records, see make_space, build_tree and fill_leaves.
        stack: room for the search, see new_stack.
        origin: a record.
        limit: the largest key; squared where distances are roots.
        found, gaps: filled with the records, as they lie in the tree, and their keys, summed in
            the order of the columns: int64 and float64, shape (n,).

    Returns:
        How many there are.
    """
    _, _, _, apart, axes, sets, _, slack = space
    low, high, held_sets, start, room = tree[2], tree[3], tree[4], tree[6], tree[8][-1]
    waiting, sums, bounds = stack[1], stack[3], stack[4]
    loose = padded(limit, slack)
    waiting[0], top, count = 0, 1, 0
    first = tree[8]
    while top > 0:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                low, high, held_sets, start, node, axes, sets, origin, apart, 1.0, loose, bounds
            )
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                if bounds[s] <= loose and bounds[s] < np.inf:
                    waiting[top] = base + s
                    top += 1
            continue
        leaf = node - room
        hits = record_lanes(
            leaves[0], leaves[1], leaves[2], leaf, space[0], space[1], origin, apart, limit, sums
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if sums[s] <= limit and sums[s] < np.inf:
                found[count] = tree[0][leaf * LEAF + s]
                gaps[count] = sums[s]
                count += 1
    return count


@njit(cache=True, nogil=True)
def _plant(space: Any, members: Any) -> Any:
    tree = build_tree(space[4], space[5], space[2], members)
    return tree, fill_leaves(space[0], space[1], tree), new_stack()


def grow(points: Points) -> Any:
    """What ``ball_in_tree`` searches: (space, tree, leaves, stack) of all records."""
    space = make_space(points)
    return space, *_plant(space, np.arange(len(points)))


@njit(cache=True, nogil=True)
def ball(grown: Any, origin: int, limit: float, found: Any, gaps: Any) -> int:
    """The records within a key of the origin; see ball_in_tree."""
    space, tree, leaves, stack = grown
    return ball_in_tree(space, tree, leaves, stack, origin, limit, found, gaps)
